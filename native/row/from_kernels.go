package row

import (
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
)

// fillSlots copies the low bytes of the slot at off of each row.
func fillSlots[T column.Fixed](values []byte, r0 int, rows unsafe.Pointer, starts []int, off int) {
	dst := column.View[T](values)[r0:][:len(starts)]
	rows = at(rows, off)
	for i, st := range starts {
		dst[i] = *(*T)(at(rows, st))
	}
}

// fillBools packs the slot's first byte, which is zero for false.
func fillBools(dst []byte, rows unsafe.Pointer, starts []int, off int) {
	rows = at(rows, off)
	for i := 0; i < len(starts); i += 8 {
		var b uint8
		for j, st := range starts[i:min(i+8, len(starts))] {
			v := load8(rows, st)
			b |= (v | -v) >> 7 << j
		}
		dst[i>>3] = b
	}
}

// fillDecimals widens decimals that are kept as longs.
func fillDecimals(values []byte, r0 int, rows unsafe.Pointer, starts []int, off int) {
	dst := column.View[int64](values)[2*r0:][:2*len(starts)]
	rows = at(rows, off)
	for i, st := range starts {
		v := *(*int64)(at(rows, st))
		dst[2*i], dst[2*i+1] = v, v>>63
	}
}

// gather reads the references in the slot at off: base becomes where in the
// rows the region is, size how long. Null slots get size 0. bad tells that some
// region does not lie in its row.
func gather(base, size []int, rows unsafe.Pointer, starts, sizes []int, off int, valid []byte) (total int, bad bool) {
	rows = at(rows, off)
	base, size, sizes = base[:len(starts)], size[:len(starts)], sizes[:len(starts)]
	sign := 0
	if valid == nil {
		for i, st := range starts {
			w := load64(rows, st)
			o, n := int(w>>32), int(uint32(w))
			sign |= sizes[i] - o - n
			base[i], size[i] = st+o, n
			total += n
		}
		return total, sign < 0
	}
	for i, st := range starts {
		w := load64(rows, st) & -uint64(valid[i>>3]>>(i&7)&1)
		o, n := int(w>>32), int(uint32(w))
		sign |= sizes[i] - o - n
		base[i], size[i] = st+o, n
		total += n
	}
	return total, sign < 0
}

// appendOffsets continues offsets[0] by the sizes.
func appendOffsets(offsets []int32, size []int) {
	o := offsets[0]
	offsets = offsets[1:][:len(size)]
	for i, n := range size {
		o += int32(n)
		offsets[i] = o
	}
}

// copyRegions concatenates the regions into dst, which has memory.Slack spare
// bytes: short regions are copied 32 bytes at a time whatever their length.
func copyRegions(dst, rows []byte, base, size []int) {
	limit := len(rows) - 32
	base = base[:len(size)]
	d, r := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(rows))
	pos := 0
	for i, n := range size {
		b := base[i]
		if n <= 32 && b <= limit {
			*(*[32]byte)(at(d, pos)) = *(*[32]byte)(at(r, b))
		} else {
			copy(dst[pos:pos+n], rows[b:b+n])
		}
		pos += n
	}
}

// bigDecimal reads n (1…16) big-endian bytes at b as a 128-bit integer.
func bigDecimal(rows []byte, b, n int) (lo, hi uint64) {
	var first, second uint64
	if b+16 <= len(rows) {
		p := unsafe.Pointer(unsafe.SliceData(rows))
		first, second = bits.ReverseBytes64(load64(p, b)), bits.ReverseBytes64(load64(p, b+8))
	} else {
		for i, x := range rows[b : b+n] {
			if i < 8 {
				first |= uint64(x) << (56 - 8*i)
			} else {
				second |= uint64(x) << (120 - 8*i)
			}
		}
	}
	// Shift the n leading bytes down, keeping the sign.
	s := 128 - 8*n
	if s >= 64 {
		return uint64(int64(first) >> (s - 64)), uint64(int64(first) >> 63)
	}
	return second>>s | first<<(64-s), uint64(int64(first) >> s)
}

// fillBigDecimals decodes decimals of more than 18 digits into 16-byte values.
// Bit i+v0 of valid tells whether region i is one; nil means all are.
func (p *FromRows) fillBigDecimals(values []byte, base, size []int, valid []byte, v0 int) *fault {
	dst := column.View[uint64](values)[:2*len(size)]
	for i, n := range size {
		if uint(n-1) >= decimalBytes {
			if n == 0 && valid != nil && valid[(v0+i)>>3]>>((v0+i)&7)&1 == 0 {
				dst[2*i], dst[2*i+1] = 0, 0
				continue
			}
			return faultf(begin(base[i], n), "decimal of %d bytes, not 1 to %d", n, decimalBytes)
		}
		dst[2*i], dst[2*i+1] = bigDecimal(p.rows, base[i], n)
	}
	return nil
}

// fillIntervals splits calendar intervals into slots r0… of c's children.
func (p *FromRows) fillIntervals(c *column.Column, r0 int, base, size []int, valid []byte, v0 int) *fault {
	months := column.View[uint32](c.Children[0].Values)[r0:][:len(size)]
	days := column.View[uint32](c.Children[1].Values)[r0:][:len(size)]
	micros := column.View[uint64](c.Children[2].Values)[r0:][:len(size)]
	for i, n := range size {
		if n < intervalBytes {
			if n == 0 && valid != nil && valid[(v0+i)>>3]>>((v0+i)&7)&1 == 0 {
				months[i], days[i], micros[i] = 0, 0, 0
				continue
			}
			return faultf(begin(base[i], n), "calendar interval of %d bytes, not %d", n, intervalBytes)
		}
		w := load64(p.p, base[i])
		months[i], days[i], micros[i] = uint32(w), uint32(w>>32), load64(p.p, base[i]+8)
	}
	return nil
}
