package row

import (
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// regions writes the slots lo… of k, none of which is null, at pos.
func (w *ToRows) regions(k *out, lo int, pos []int) {
	c := k.col
	switch c.Type.Kind {
	case schema.String, schema.Binary:
		offsets := column.View[int32](c.Offsets)[lo:][:len(pos)+1]
		for i, p := range pos {
			copyPadded(at(w.dst, p), c.Data, int(offsets[i]), int(offsets[i+1]-offsets[i]))
		}
	case schema.Decimal:
		values := pairs(c.Values)[lo:][:len(pos)]
		for i, p := range pos {
			n := decimalSize(values[i])
			first, second := bigEndian(values[i], n)
			store64(w.dst, p, first)
			if n > 8 {
				store64(w.dst, p+8, second)
			}
		}
	case schema.Interval:
		months := column.View[uint32](c.Children[0].Values)[lo:]
		days := column.View[uint32](c.Children[1].Values)[lo:]
		micros := column.View[uint64](c.Children[2].Values)[lo:]
		for i, p := range pos {
			store64(w.dst, p, uint64(months[i])|uint64(days[i])<<32)
			store64(w.dst, p+8, micros[i])
		}
	case schema.Variant:
		w.variants(k, lo, pos)
	case schema.Struct:
		w.set(k.set, lo, pos)
	case schema.List:
		w.arrays(k.kids[0], column.View[int32](c.Offsets)[lo:], pos)
	case schema.Map:
		offsets := column.View[int32](c.Offsets)[lo:]
		keySize := k.keySize[lo:]
		values := k.second[:len(pos)]
		for i, p := range pos {
			store64(w.dst, p, uint64(keySize[i]))
			pos[i] = p + 8
			values[i] = p + 8 + int(keySize[i])
		}
		w.arrays(k.kids[0], offsets, pos)
		w.arrays(k.kids[1], offsets, values)
	}
}

func (w *ToRows) variants(k *out, lo int, pos []int) {
	value, meta := k.kids[0], k.kids[1]
	valueAt := column.View[int32](value.col.Offsets)[lo:]
	metaAt := column.View[int32](meta.col.Offsets)[lo:]
	for i, p := range pos {
		v, m := int(value.sizes[lo+i]), int(meta.sizes[lo+i])
		// The pieces are not aligned: clear the last word, then copy.
		store64(w.dst, p+(3+v+m)&^7, 0)
		*(*uint32)(at(w.dst, p)) = uint32(v)
		copyExact(at(w.dst, p+4), value.col.Data, int(valueAt[i]), v)
		copyExact(at(w.dst, p+4+v), meta.col.Data, int(metaAt[i]), m)
	}
}

// arrays writes arrays of k's elements, cut by the offsets, at pos.
func (w *ToRows) arrays(k *out, offsets []int32, pos []int) {
	offsets = offsets[:len(pos)+1]
	w.arrayHeads(k, offsets, pos)
	switch k.t.Kind {
	case schema.Null:
		for i, p := range pos {
			n := int(offsets[i+1] - offsets[i])
			for j := range n {
				store64(w.dst, p+arrayHeader(n)+8*j, 0)
			}
		}
	case schema.Bool:
		w.boolElements(k, offsets, pos)
	case schema.Decimal:
		if k.isVar {
			w.varElements(k, offsets, pos)
			return
		}
		values := pairs(k.col.Values)
		for i, p := range pos {
			lo, n := int(offsets[i]), int(offsets[i+1]-offsets[i])
			slots := p + arrayHeader(n)
			for j, v := range values[lo : lo+n] {
				store64(w.dst, slots+8*j, v[0])
			}
			w.zeroNullElements(k.col, lo, n, slots, 8)
		}
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64:
		width := k.t.Kind.ValueWidth()
		for i, p := range pos {
			lo, n := int(offsets[i]), int(offsets[i+1]-offsets[i])
			slots := p + arrayHeader(n)
			copyPadded(at(w.dst, slots), k.col.Values, lo*width, n*width)
			w.zeroNullElements(k.col, lo, n, slots, width)
		}
	default:
		w.varElements(k, offsets, pos)
	}
}

// arrayHeads writes counts and null bitsets.
func (w *ToRows) arrayHeads(k *out, offsets []int32, pos []int) {
	validity := k.col.Validity
	for i, p := range pos {
		lo, n := int(offsets[i]), int(offsets[i+1]-offsets[i])
		store64(w.dst, p, uint64(n))
		for b := 0; b < n; b += 64 {
			m := min(n-b, 64)
			var null uint64
			if k.t.Kind == schema.Null {
				null = ^uint64(0) >> (64 - m)
			} else if validity != nil {
				null = ^uint64(0) >> (64 - m) &^ bitsAt(validity, lo+b, m)
			}
			store64(w.dst, p+8+b>>3, null)
		}
	}
}

// zeroNullElements clears the null elements of an array just copied.
func (w *ToRows) zeroNullElements(c *column.Column, lo, n, slots, width int) {
	if c.Validity == nil {
		return
	}
	for b := 0; b < n; b += 64 {
		m := min(n-b, 64)
		for null := ^uint64(0) >> (64 - m) &^ bitsAt(c.Validity, lo+b, m); null != 0; null &= null - 1 {
			p := at(w.dst, slots+(b+bits.TrailingZeros64(null))*width)
			switch width {
			case 1:
				*(*uint8)(p) = 0
			case 2:
				*(*uint16)(p) = 0
			case 4:
				*(*uint32)(p) = 0
			case 8:
				*(*uint64)(p) = 0
			}
		}
	}
}

func (w *ToRows) boolElements(k *out, offsets []int32, pos []int) {
	for i, p := range pos {
		lo, n := int(offsets[i]), int(offsets[i+1]-offsets[i])
		slots := p + arrayHeader(n)
		for j := 0; j < n; j += 8 {
			m := min(n-j, 8)
			v := bitsAt(k.col.Values, lo+j, m)
			if k.col.Validity != nil {
				v &= bitsAt(k.col.Validity, lo+j, m)
			}
			store64(w.dst, slots+j, spreadByte(v))
		}
	}
}

// spreadByte turns bit i into byte i, 0 or 1.
func spreadByte(v uint64) uint64 {
	v = v * 0x0101010101010101 & 0x8040201008040201 // bit i of byte i
	return (v + 0x7F7F7F7F7F7F7F7F | v) >> 7 & 0x0101010101010101
}

// varElements writes the slots and regions of elements with sizes measured.
// Regions are written run by run of elements that are not null.
func (w *ToRows) varElements(k *out, offsets []int32, pos []int) {
	validity := k.col.Validity
	m := 0     // length of the run
	first := 0 // its first element
	next := -1 // the element that would continue it
	flush := func() {
		if m > 0 {
			w.regions(k, first, k.pos[:m])
			m = 0
		}
	}
	for i, p := range pos {
		lo, n := int(offsets[i]), int(offsets[i+1]-offsets[i])
		slots := p + arrayHeader(n)
		cursor := slots + 8*n
		for j := range n {
			e := lo + j
			if validity != nil && validity[e>>3]>>(e&7)&1 == 0 {
				store64(w.dst, slots+8*j, 0)
				continue
			}
			if e != next || m == blockRows {
				flush()
				first = e
			}
			size := int(k.sizes[e])
			store64(w.dst, slots+8*j, uint64(cursor-p)<<32|uint64(size))
			k.pos[m] = cursor
			m++
			next = e + 1
			cursor += round8(size)
		}
	}
	flush()
}
