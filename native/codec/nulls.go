package codec

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// FillNulls overwrites the values of null slots, which mean nothing, by the
// value before, those at the start by the first value there is, and all by
// zero where every slot is null: that is what every codec stores most cheaply.
// Children are filled too. It writes to c.Values in place, so that these must
// be the caller's own: values of an imported array have to be copied first.
func FillNulls(c *column.Column) {
	for _, child := range c.Children {
		FillNulls(child)
	}
	if c.Nulls == 0 || c.Validity == nil || len(c.Values) == 0 {
		return
	}
	switch c.Type.Kind.ValueWidth() {
	case 1:
		fillNulls(column.View[uint8](c.Values)[:c.Len], c.Validity)
	case 2:
		fillNulls(column.View[uint16](c.Values)[:c.Len], c.Validity)
	case 4:
		fillNulls(column.View[uint32](c.Values)[:c.Len], c.Validity)
	case 8:
		fillNulls(column.View[uint64](c.Values)[:c.Len], c.Validity)
	case 16:
		v := unsafe.Slice((*[2]uint64)(unsafe.Pointer(unsafe.SliceData(c.Values))), len(c.Values)/16)
		fillNulls(v[:c.Len], c.Validity)
	default:
		if c.Type.Kind == schema.Bool {
			fillNullBools(c.Values[:(c.Len+7)/8], c.Validity, c.Len)
		}
	}
}

// nullWord returns the null slots among the 64 from i, as one bits. Bits of
// slots from n on are zero.
func nullWord(validity []byte, i, n int) uint64 {
	b := validity[i>>3:]
	if n-i >= 64 {
		return ^binary.LittleEndian.Uint64(b)
	}
	var w uint64
	for k := range (n - i + 7) / 8 {
		w |= uint64(^b[k]) << (8 * k)
	}
	return w & (1<<(n-i) - 1)
}

// firstValid returns the first slot that is not null, n if there is none.
func firstValid(validity []byte, n int) int {
	for i := 0; i < n; i += 64 {
		size := min(64, n-i)
		if k := bits.TrailingZeros64(^nullWord(validity, i, n)); k < size {
			return i + k
		}
	}
	return n
}

func fillNulls[T uint8 | uint16 | uint32 | uint64 | [2]uint64](v []T, validity []byte) {
	n := len(v)
	first := firstValid(validity, n)
	var lead T
	if first < n {
		lead = v[first]
	}
	for i := range v[:first] {
		v[i] = lead
	}
	// From here on each null has a slot before it.
	for i := first &^ 63; i < n; i += 64 {
		w := nullWord(validity, i, n)
		if w == ^uint64(0) && i > 0 {
			p, run := v[i-1], v[i:i+64]
			for k := range run {
				run[k] = p
			}
			continue
		}
		if i < first {
			w &^= 1<<(first-i) - 1
		}
		for ; w != 0; w &= w - 1 {
			k := i + bits.TrailingZeros64(w)
			v[k] = v[k-1]
		}
	}
}

// fillNullBools is fillNulls for bit-packed values. Bits behind the last slot
// of the last byte are cleared.
func fillNullBools(values, validity []byte, n int) {
	first := firstValid(validity, n)
	var prev uint64
	if first < n {
		prev = uint64(values[first>>3]>>(first&7)) & 1
	}
	for i := 0; i < n; i += 64 {
		b := values[i>>3:]
		size := min(64, n-i)
		var v uint64
		if size == 64 {
			v = binary.LittleEndian.Uint64(b)
		} else {
			for k := range (size + 7) / 8 {
				v |= uint64(b[k]) << (8 * k)
			}
			v &= 1<<size - 1
		}
		nulls := nullWord(validity, i, n)
		v &^= nulls
		for w := nulls; w != 0; w &= w - 1 {
			k := bits.TrailingZeros64(w)
			bit := prev
			if k > 0 {
				bit = v >> (k - 1) & 1
			}
			v |= bit << k
		}
		prev = v >> (size - 1) & 1
		if size == 64 {
			binary.LittleEndian.PutUint64(b, v)
			continue
		}
		for k := range (size + 7) / 8 {
			b[k] = byte(v >> (8 * k))
		}
	}
}
