package row

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// regions pivots the n values whose regions are known. k.col has its Validity,
// Nulls and Len; null slots have size 0.
func (p *FromRows) regions(k *node, n int, base, size []int) *fault {
	c := k.col
	switch c.Type.Kind {
	case schema.String, schema.Binary:
		return p.bytesOf(c, n, base, size)
	case schema.Decimal:
		c.Values = p.arena.Bytes(16 * n)
		return p.fillBigDecimals(c.Values, base, size, c.Validity, 0)
	case schema.Interval:
		for _, child := range c.Children {
			*child = column.Column{Type: child.Type, Len: n, Values: p.arena.Bytes(n * child.Type.Kind.ValueWidth())}
		}
		shareValidity(c)
		return p.fillIntervals(c, 0, base, size, c.Validity, 0)
	case schema.Variant:
		return p.variants(k, n, base, size)
	case schema.Struct:
		return p.structs(k, n, base, size)
	case schema.List:
		num := p.ints(n)
		total, f := p.arrays(c, k.kids[0].t, n, base, size, num)
		if f != nil {
			return f
		}
		return p.elements(k.kids[0], total, base, size, num).in("element")
	}
	return p.maps(k, n, base, size)
}

func (p *FromRows) bytesOf(c *column.Column, n int, base, size []int) *fault {
	total := 0
	for _, s := range size {
		total += s
	}
	if total > math.MaxInt32 {
		return faultf(base[0], "more than 2 GiB in one batch; lower spark.quiver.batch.maxBytes")
	}
	c.Offsets = p.offsets(n)
	appendOffsets(column.View[int32](c.Offsets), size)
	c.Data = p.arena.Bytes(total)
	copyRegions(c.Data, p.rows, base, size)
	return nil
}

func (p *FromRows) variants(k *node, n int, base, size []int) *fault {
	c := k.col
	metaBase, metaSize := p.ints(n), p.ints(n)
	for i, s := range size {
		if s < 4 {
			if s == 0 && c.IsNull(i) {
				metaBase[i], metaSize[i] = base[i], 0
				continue
			}
			return faultf(begin(base[i], s), "variant of %d bytes", s)
		}
		v := int(uint32(load32(p.p, base[i])))
		if v > s-4 {
			return faultf(base[i], "variant of %d bytes with a value of %d bytes", s, v)
		}
		base[i] += 4
		size[i] = v
		metaBase[i], metaSize[i] = base[i]+v, s-4-v
	}
	for _, child := range c.Children {
		*child = column.Column{Type: child.Type, Len: n}
	}
	shareValidity(c)
	if f := p.bytesOf(c.Children[0], n, base, size); f != nil {
		return f
	}
	return p.bytesOf(c.Children[1], n, metaBase, metaSize)
}

func (p *FromRows) structs(k *node, n int, base, size []int) *fault {
	c, s := k.col, k.set
	m := n
	if c.Nulls > 0 {
		m = 0
		for i := range base {
			if c.Validity[i>>3]>>(i&7)&1 != 0 {
				base[m], size[m] = base[i], size[i]
				m++
			}
		}
		base, size = base[:m], size[:m]
	}
	s.budget = 0
	for i, b := range size {
		if b < s.fixed {
			return faultf(begin(base[i], b), "struct of %d bytes, fewer than the %d of its %d fields", b, s.fixed, len(s.fields))
		}
		s.budget += b - s.fixed
	}
	p.begin(s, m)
	for r0 := 0; r0 < m; r0 += blockRows {
		r1 := min(r0+blockRows, m)
		if f := p.block(s, r0, m, base[r0:r1], size[r0:r1]); f != nil {
			return f
		}
	}
	if f := p.end(s, m); f != nil {
		return f
	}
	if m < n {
		for _, child := range c.Children {
			p.spread(child, c.Validity, m, n)
		}
	}
	return nil
}

// arrays reads the headers of the n arrays of c (a List or a Map), whose
// elements are of type elem: num becomes their element counts, c gets its offsets.
func (p *FromRows) arrays(c *column.Column, elem *schema.Type, n int, base, size, num []int) (int, *fault) {
	c.Offsets = p.offsets(n)
	offsets := column.View[int32](c.Offsets)[1:]
	width := elemWidth(elem)
	total := 0
	for i, s := range size {
		count := 0
		if s < 8 {
			if s != 0 || !c.IsNull(i) {
				return 0, faultf(begin(base[i], s), "array of %d bytes", s)
			}
		} else {
			w := load64(p.p, base[i])
			// Each element takes a byte at least, so this excludes overflow below.
			if w > uint64(s) || arrayHeader(int(w))+round8(int(w)*width) > s {
				return 0, faultf(base[i], "array of %d bytes with %d elements", s, int64(w))
			}
			count = int(w)
		}
		num[i] = count
		total += count
		offsets[i] = int32(total)
	}
	if total > math.MaxInt32 {
		return 0, faultf(base[0], "more than 2^31 array elements in one batch; lower spark.quiver.batch.maxBytes")
	}
	return total, nil
}

func (p *FromRows) maps(k *node, n int, base, size []int) *fault {
	c := k.col
	keySize, valueBase := p.ints(n), p.ints(n)
	for i, s := range size {
		if s == 0 && c.IsNull(i) {
			keySize[i], valueBase[i] = 0, base[i]
			continue
		}
		if s < 8 {
			return faultf(begin(base[i], s), "map of %d bytes", s)
		}
		w := load64(p.p, base[i])
		if w > uint64(s-8) {
			return faultf(base[i], "map of %d bytes with %d bytes of keys", s, int64(w))
		}
		base[i] += 8
		keySize[i], valueBase[i] = int(w), base[i]+int(w)
		size[i] = s - 8 - int(w)
	}
	keys, values := p.ints(n), p.ints(n)
	if _, f := p.arrays(c, k.kids[0].t, n, base, keySize, keys); f != nil {
		return f.in("key")
	}
	total, f := p.arrays(c, k.kids[1].t, n, valueBase, size, values)
	if f != nil {
		return f.in("value")
	}
	for i, keyCount := range keys {
		if keyCount != values[i] {
			return faultf(base[i], "map of %d keys and %d values", keyCount, values[i])
		}
	}
	entries := c.Children[0]
	*entries = column.Column{Type: entries.Type, Len: total, Children: entries.Children}
	if f := p.elements(k.kids[0], total, base, keySize, keys); f != nil {
		return f.in("key")
	}
	return p.elements(k.kids[1], total, valueBase, size, values).in("value")
}

// elements concatenates the elements of arrays, total in all, into k.
func (p *FromRows) elements(k *node, total int, base, size, num []int) *fault {
	c := k.col
	*c = column.Column{Type: c.Type, Len: total, Children: c.Children}
	if c.Type.Kind == schema.Null {
		c.Nulls = total
		return nil
	}
	p.elementNulls(c, total, base, num)
	if isVar(c.Type) {
		return p.elementRegions(k, total, base, size, num)
	}
	switch c.Type.Kind {
	case schema.Bool:
		c.Values = p.bitmap(total)
		p.elementBools(c.Values, base, num)
	case schema.Decimal:
		c.Values = p.arena.Bytes(16 * total)
		dst := column.View[int64](c.Values)
		i := 0
		for a, n := range num {
			b := base[a] + arrayHeader(n)
			for j := 0; j < n; j++ {
				v := int64(load64(p.p, b+8*j))
				dst[i], dst[i+1] = v, v>>63
				i += 2
			}
		}
	default:
		w := c.Type.Kind.ValueWidth()
		c.Values = p.arena.Bytes(w * total)
		p.elementValues(c.Values, w, base, num)
	}
	return nil
}

// elementNulls sets Validity and Nulls of c from the arrays' bitsets.
func (p *FromRows) elementNulls(c *column.Column, total int, base, num []int) {
	var any uint64
	for a, n := range num {
		for w := 0; w < n; w += 64 {
			any |= load64(p.p, base[a]+8+w>>3)
		}
	}
	if any == 0 {
		return
	}
	c.Validity = p.bitmap(total)
	out := newBitWriter(c.Validity)
	for a, n := range num {
		for w := 0; w < n; w += 64 {
			k := min(n-w, 64)
			valid := ^load64(p.p, base[a]+8+w>>3)
			if k < 64 {
				valid &= 1<<k - 1
			}
			c.Nulls += popcountZeros(valid, k)
			out.append(valid, k)
		}
	}
	out.flush()
	if c.Nulls == 0 { // only bits behind the last element were set
		c.Validity = nil
	}
}

func (p *FromRows) elementBools(dst []byte, base, num []int) {
	out := newBitWriter(dst)
	for a, n := range num {
		b := base[a] + arrayHeader(n)
		for j := 0; j < n; j += 8 {
			w := load64(p.p, b+j) // arrays are padded, so this stays within; see arrays
			k := min(n-j, 8)
			// Bring "not zero" of each byte to its top bit, then the top bits together.
			w |= (w & 0x7F7F7F7F7F7F7F7F) + 0x7F7F7F7F7F7F7F7F
			w = w >> 7 & 0x0101010101010101 * 0x0102040810204080 >> 56
			out.append(w&(1<<k-1), k)
		}
	}
	out.flush()
}

func (p *FromRows) elementValues(dst []byte, w int, base, num []int) {
	limit := len(p.rows) - 64
	pos := 0
	for a, n := range num {
		b, k := base[a]+arrayHeader(n), n*w
		if k <= 64 && b <= limit {
			// dst has memory.Slack spare bytes.
			*(*[64]byte)(at(ptr(dst), pos)) = *(*[64]byte)(at(p.p, b))
		} else {
			copy(dst[pos:pos+k], p.rows[b:b+k])
		}
		pos += k
	}
}

// elementRegions reads the references of elements and pivots what they refer to.
func (p *FromRows) elementRegions(k *node, total int, base, size, num []int) *fault {
	c := k.col
	regionBase, regionSize := p.ints(total), p.ints(total)
	i := 0
	for a, n := range num {
		b := base[a]
		slots := b + arrayHeader(n)
		room := size[a] - arrayHeader(n) - 8*n
		for j := 0; j < n; j++ {
			w := load64(p.p, slots+8*j)
			if c.Validity != nil {
				w &= -uint64(c.Validity[i>>3] >> (i & 7) & 1)
			}
			o, s := int(w>>32), int(uint32(w))
			if o+s > size[a] {
				return faultf(b, "%d bytes at offset %d are outside of the array's %d", s, o, size[a])
			}
			regionBase[i], regionSize[i] = b+o, s
			room -= s
			i++
		}
		if n > 0 && room < 0 {
			return faultf(b, "variable-length values overlap")
		}
	}
	return p.regions(k, total, regionBase, regionSize)
}

// spread makes room for the nulls of a struct in one of its children, which has
// been pivoted for the m valid structs only: afterwards it has n slots.
func (p *FromRows) spread(c *column.Column, parent []byte, m, n int) {
	c.Len = n
	if c.Type.Kind == schema.Null {
		c.Nulls = n
		return
	}
	c.Nulls += n - m
	if c.Validity == nil {
		c.Validity = parent
	} else {
		c.Validity = p.spreadBits(c.Validity, parent, n)
	}
	switch c.Type.Kind {
	case schema.Bool:
		c.Values = p.spreadBits(c.Values, parent, n)
	case schema.String, schema.Binary, schema.List, schema.Map:
		src, dst := column.View[int32](c.Offsets), p.offsets(n)
		k := 0
		for i, out := 0, column.View[int32](dst)[1:]; i < n; i++ {
			k += int(parent[i>>3] >> (i & 7) & 1)
			out[i] = src[k]
		}
		c.Offsets = dst
	case schema.Interval, schema.Variant, schema.Struct:
		for _, child := range c.Children {
			p.spread(child, parent, m, n)
		}
		if c.Type.Kind != schema.Struct {
			shareValidity(c)
		}
	default:
		w := c.Type.Kind.ValueWidth()
		dst := p.arena.Zeroed(n * w)
		switch w {
		case 1:
			spreadValues(column.View[uint8](dst), column.View[uint8](c.Values), parent)
		case 2:
			spreadValues(column.View[uint16](dst), column.View[uint16](c.Values), parent)
		case 4:
			spreadValues(column.View[uint32](dst), column.View[uint32](c.Values), parent)
		case 8:
			spreadValues(column.View[uint64](dst), column.View[uint64](c.Values), parent)
		case 16:
			spreadValues(pairs(dst), pairs(c.Values), parent)
		}
		c.Values = dst
	}
}

func spreadValues[T any](dst, src []T, parent []byte) {
	k := 0
	for w := 0; w < len(dst); w += 64 {
		for v := bitsAt(parent, w, min(64, len(dst)-w)); v != 0; v &= v - 1 {
			dst[w+bits.TrailingZeros64(v)] = src[k]
			k++
		}
	}
}

func (p *FromRows) spreadBits(src, parent []byte, n int) []byte {
	dst := p.bitmap(n)
	clear(dst)
	k := 0
	for w := 0; w < n; w += 64 {
		for v := bitsAt(parent, w, min(64, n-w)); v != 0; v &= v - 1 {
			i := w + bits.TrailingZeros64(v)
			dst[i>>3] |= src[k>>3] >> (k & 7) & 1 << (i & 7)
			k++
		}
	}
	return dst
}

// outside describes the first reference of a block that leaves its row.
func outside(rows unsafe.Pointer, starts, sizes []int, off int, valid []byte) *fault {
	for i, st := range starts {
		w := load64(rows, st+off)
		if valid != nil && valid[i>>3]>>(i&7)&1 == 0 {
			continue
		}
		if o, n := int(w>>32), int(uint32(w)); o+n > sizes[i] {
			return faultf(st, "%d bytes at offset %d are outside of the %d bytes they belong to", n, o, sizes[i])
		}
	}
	return faultf(starts[0], "reference outside of the row")
}

// overlap names a row whose fields refer to more bytes than it has.
func (p *FromRows) overlap(s *set, starts, sizes []int) *fault {
	for i, st := range starts {
		room := sizes[i] - s.fixed
		for c, k := range s.kids {
			null := load8(p.p, st+c>>3)>>(c&7)&1 != 0
			if isVar(k.t) && !null {
				room -= int(uint32(load64(p.p, st+bitsetBytes(len(s.kids))+8*c)))
			}
		}
		if room < 0 {
			return faultf(st, "variable-length values overlap")
		}
	}
	return faultf(starts[0], "variable-length values overlap")
}

// begin is a position by which to find the row of a region: one without bytes
// may lie at the very end of its row.
func begin(base, size int) int {
	if size == 0 && base > 0 {
		return base - 1
	}
	return base
}

// rowExtent describes a row that does not fit its block or its schema.
func rowExtent(start, end int64, all int, s *set) string {
	if end > int64(all) || end < start {
		return fmt.Sprintf("ends at %d, beyond or before the block's bytes (%d to %d)", end, start, all)
	}
	return fmt.Sprintf("%d bytes, fewer than the %d of %d fields", end-start, s.fixed, len(s.fields))
}
