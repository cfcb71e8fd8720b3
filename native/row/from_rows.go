package row

import (
	"math"
	"sort"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// FromRows turns UnsafeRow bytes into columns. It is used by one goroutine at a
// time and keeps its column trees and what it has learned about the sizes of
// strings from batch to batch.
type FromRows struct {
	root  *set
	cols  []*column.Column
	arena *memory.Arena
	rows  []byte
	p     unsafe.Pointer // first byte of rows

	// Scratch of the block at work: where each row (or nested struct) starts
	// and how long it is, the regions a column refers to, a word of each null
	// bitset, and the null bits of a tile, one byte a column in each word of
	// eight rows.
	starts, sizes [blockRows]int
	base, size    [blockRows]int
	bitsets       [blockRows]uint64
	nulls         [blockRows / 8]uint64
}

// set is a sequence of fields: a row's or a struct's.
type set struct {
	fields []schema.Field
	kids   []*node
	fixed  int // bytes of bitset and slots
	// Regions do not overlap, so no more bytes can be referred to than there
	// are: in the block at work, and in what is left altogether.
	room, budget int
}

// node is a column at work.
type node struct {
	t    *schema.Type
	col  *column.Column
	set  *set    // Struct: its fields
	kids []*node // List: the element; Map: key and value; Variant: value and metadata

	base, size []int  // Variant, List, Map, Struct: the region of each slot, size 0 for a null
	data       []byte // String, Binary within a set: the buffer being filled
	used       int    // bytes of data in use
	perSlot    int    // bytes a slot needed in the last batch, in 1/64 byte
}

// NewFromRows returns a FromRows for rows of schema s.
func NewFromRows(s *schema.Schema) *FromRows {
	p := &FromRows{cols: make([]*column.Column, len(s.Fields))}
	for i := range s.Fields {
		p.cols[i] = column.New(s.Fields[i].Type)
	}
	p.root = newSet(s.Fields, p.cols)
	return p
}

func newSet(fields []schema.Field, cols []*column.Column) *set {
	s := &set{fields: fields, fixed: fixedBytes(len(fields)), kids: make([]*node, len(fields))}
	for i := range fields {
		s.kids[i] = newNode(cols[i])
	}
	return s
}

func newNode(c *column.Column) *node {
	k := &node{t: c.Type, col: c}
	switch c.Type.Kind {
	case schema.Struct:
		k.set = newSet(c.Type.Children, c.Children)
	case schema.List:
		k.kids = []*node{newNode(c.Children[0])}
	case schema.Map:
		entries := c.Children[0]
		k.kids = []*node{newNode(entries.Children[0]), newNode(entries.Children[1])}
	case schema.Variant:
		k.kids = []*node{newNode(c.Children[0]), newNode(c.Children[1])}
	}
	return k
}

// Columns pivots len(ends) rows. rows is the concatenation of their UnsafeRow
// bytes, ends[i] the offset behind row i. The columns returned are the same
// objects on every call; their buffers belong to arena and none of them refers
// to rows. Rows that are not well formed give an *Error.
func (p *FromRows) Columns(rows []byte, ends []int64, arena *memory.Arena) ([]*column.Column, error) {
	p.rows, p.p, p.arena = rows, unsafe.Pointer(unsafe.SliceData(rows)), arena
	defer func() { p.rows, p.p, p.arena = nil, nil, nil }()
	n := len(ends)
	p.root.budget = len(rows) - n*p.root.fixed
	p.begin(p.root, n)
	var f *fault
	start := int64(0)
	for r0 := 0; r0 < n && f == nil; r0 += blockRows {
		block := ends[r0:min(r0+blockRows, n)]
		for i, end := range block {
			if end < start+int64(p.root.fixed) || end > int64(len(rows)) { // the difference of the two might overflow
				return nil, &Error{Row: r0 + i, What: rowExtent(start, end, len(rows), p.root)}
			}
			p.starts[i], p.sizes[i] = int(start), int(end-start)
			start = end
		}
		f = p.block(p.root, r0, n, p.starts[:len(block)], p.sizes[:len(block)])
	}
	if f == nil {
		f = p.end(p.root, n)
	}
	if f != nil {
		r := sort.Search(n, func(i int) bool { return ends[i] > int64(f.pos) })
		return nil, &Error{Row: r, Path: f.joined(), What: f.what}
	}
	return p.cols, nil
}

// begin prepares the fields of s for n slots.
func (p *FromRows) begin(s *set, n int) {
	for _, k := range s.kids {
		c := k.col
		*c = column.Column{Type: c.Type, Len: n, Children: c.Children}
		switch c.Type.Kind {
		case schema.Null:
			c.Nulls = n
		case schema.Bool:
			c.Values = p.bitmap(n)
		case schema.String, schema.Binary:
			c.Offsets = p.offsets(n)
			k.data, k.used = nil, 0
			if k.perSlot > 0 {
				k.data = p.arena.Bytes(min((k.perSlot*n>>6)*9/8, s.budget))
			}
		case schema.Interval:
			for _, child := range c.Children {
				*child = column.Column{Type: child.Type, Len: n, Values: p.arena.Bytes(n * child.Type.Kind.ValueWidth())}
			}
		case schema.Variant, schema.List, schema.Map, schema.Struct:
			k.base, k.size = p.ints(n), p.ints(n)
		default:
			c.Values = p.arena.Bytes(n * c.Type.Kind.ValueWidth())
		}
	}
}

// end finishes the fields of s after their blocks: nested values are pivoted
// now, from the regions that the blocks found.
func (p *FromRows) end(s *set, n int) *fault {
	for i, k := range s.kids {
		c := k.col
		if c.Validity != nil {
			c.Nulls = column.CountNulls(c.Validity, n)
		}
		switch c.Type.Kind {
		case schema.String, schema.Binary:
			c.Data = k.data[:k.used]
			k.data = nil
			if n > 0 {
				k.perSlot = k.used<<6/n + 1
			}
		case schema.Interval:
			shareValidity(c)
		case schema.Variant, schema.List, schema.Map, schema.Struct:
			f := p.regions(k, n, k.base, k.size)
			k.base, k.size = nil, nil
			if f != nil {
				return f.in(s.fields[i].Name)
			}
		}
	}
	return nil
}

// block pivots the rows (or structs) that are slots r0… of n.
func (p *FromRows) block(s *set, r0, n int, starts, sizes []int) *fault {
	s.room = -len(sizes) * s.fixed
	for _, size := range sizes {
		s.room += size
	}
	for w := 0; w < len(s.kids); w += 64 {
		var null uint64 // columns with a null in this block
		bitsets := p.bitsets[:len(starts)]
		for i, st := range starts {
			bitsets[i] = load64(p.p, st+w>>3)
			null |= bitsets[i]
		}
		for t := w; t < min(w+64, len(s.kids)); t += tile {
			if f := p.tile(s, t, uint8(null>>(t-w)), r0, n, starts, sizes); f != nil {
				return f
			}
		}
	}
	return nil
}

// tile pivots the eight columns from t on. null has a bit for each that has nulls.
func (p *FromRows) tile(s *set, t int, null uint8, r0, n int, starts, sizes []int) *fault {
	if null != 0 {
		p.transposeNulls(t&63, len(starts))
	}
	bits := bitsetBytes(len(s.kids))
	for c, k := range s.kids[t:min(t+tile, len(s.kids))] {
		if k.t.Kind == schema.Null {
			continue
		}
		var valid []byte // this block's part of the bitmap, nil if all are valid
		if null>>c&1 != 0 || k.col.Validity != nil {
			valid = p.blockValidity(k.col, c, null>>c&1 != 0, r0, n, len(starts))
		}
		if f := p.fill(s, k, bits+8*(t+c), r0, n, starts, sizes, valid); f != nil {
			return f.in(s.fields[t+c].Name)
		}
	}
	return nil
}

// transposeNulls collects eight bits, from shift on, of the n bitset words at
// hand into p.nulls.
func (p *FromRows) transposeNulls(shift, n int) {
	clear(p.bitsets[n:round8(n)])
	for i := 0; i < n; i += 8 {
		var w uint64
		for j, x := range (*[8]uint64)(p.bitsets[i:]) {
			w |= x >> (shift & 63) & 0xFF << (8 * j)
		}
		if w != 0 {
			w = transpose8(w)
		}
		p.nulls[i>>3] = w
	}
}

// blockValidity writes the validity of m slots from r0 on and returns that part
// of the bitmap. The bitmap comes into being with the column's first null.
func (p *FromRows) blockValidity(c *column.Column, bit int, null bool, r0, n, m int) []byte {
	if c.Validity == nil {
		c.Validity = p.bitmap(n)
		for i := range c.Validity[:r0>>3] {
			c.Validity[i] = 0xFF
		}
	}
	v := c.Validity[r0>>3 : (r0+m+7)>>3]
	if !null {
		for i := range v {
			v[i] = 0xFF
		}
	} else {
		for i := range v {
			v[i] = ^uint8(p.nulls[i] >> (8 * bit))
		}
	}
	if m&7 != 0 {
		v[len(v)-1] &= 1<<(m&7) - 1
	}
	if !null {
		return nil
	}
	return v
}

// fill pivots one column of one block; off is where its slot is in a row.
func (p *FromRows) fill(s *set, k *node, off, r0, n int, starts, sizes []int, valid []byte) *fault {
	c := k.col
	switch c.Type.Kind {
	case schema.Bool:
		fillBools(c.Values[r0>>3:], p.p, starts, off)
		return nil
	case schema.Int8:
		fillSlots[uint8](c.Values, r0, p.p, starts, off)
		return nil
	case schema.Int16:
		fillSlots[uint16](c.Values, r0, p.p, starts, off)
		return nil
	case schema.Int32, schema.Float32:
		fillSlots[uint32](c.Values, r0, p.p, starts, off)
		return nil
	case schema.Int64, schema.Float64:
		fillSlots[uint64](c.Values, r0, p.p, starts, off)
		return nil
	case schema.Decimal:
		if !isVar(c.Type) {
			fillDecimals(c.Values, r0, p.p, starts, off)
			return nil
		}
	}
	base, size := p.base[:len(starts)], p.size[:len(starts)]
	if k.base != nil {
		base, size = k.base[r0:r0+len(starts)], k.size[r0:r0+len(starts)]
	}
	total, bad := gather(base, size, p.p, starts, sizes, off, valid)
	if bad {
		return outside(p.p, starts, sizes, off, valid)
	}
	s.budget -= total
	if s.room -= total; s.room < 0 {
		return p.overlap(s, starts, sizes)
	}
	switch c.Type.Kind {
	case schema.String, schema.Binary:
		return p.fillBytes(s, k, r0, n, total, base, size)
	case schema.Decimal:
		return p.fillBigDecimals(c.Values[r0*16:], base, size, valid, 0)
	case schema.Interval:
		return p.fillIntervals(c, r0, base, size, valid, 0)
	}
	return nil
}

// fillBytes appends a block's strings, total bytes, to a column of n slots.
func (p *FromRows) fillBytes(s *set, k *node, r0, n, total int, base, size []int) *fault {
	need := k.used + total
	if need > math.MaxInt32 {
		return faultf(base[0], "more than 2 GiB in one batch; lower spark.quiver.batch.maxBytes")
	}
	if need > len(k.data) {
		// What the rows so far make likely, yet no more than the rows can hold
		// and never out of proportion to what was seen.
		likely := need*n/(r0+len(base))*9/8 + 64
		room := max(need, min(likely, 8*need, need+s.budget))
		data := p.arena.Bytes(room)
		copy(data, k.data[:k.used])
		k.data = data
	}
	appendOffsets(column.View[int32](k.col.Offsets)[r0:], size)
	if total > 0 {
		copyRegions(k.data[k.used:need], p.rows, base, size)
		k.used = need
	}
	return nil
}

// bitmap returns n bits of arbitrary content with room for whole words.
func (p *FromRows) bitmap(n int) []byte { return p.arena.Bytes(bitsetBytes(n) + 8)[:(n+7)>>3] }

// offsets returns room for n+1 offsets of which the first is set.
func (p *FromRows) offsets(n int) []byte {
	b := p.arena.Bytes(4 * (n + 1))
	column.View[int32](b)[0] = 0
	return b
}

// ints returns scratch for n ints. It lives in the arena, as the columns do,
// because there it is counted and reused.
func (p *FromRows) ints(n int) []int {
	return unsafe.Slice((*int)(unsafe.Pointer(unsafe.SliceData(p.arena.Bytes(8*n)))), n)
}

// shareValidity gives the children of an interval or a variant their parent's nulls.
func shareValidity(c *column.Column) {
	for _, child := range c.Children {
		child.Validity, child.Nulls = c.Validity, c.Nulls
	}
}
