package row

import (
	"math"
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// out is a column on its way into rows, or being measured.
type out struct {
	t       *schema.Type
	col     *column.Column
	set     *outSet
	kids    []*out // List: the element; Map: key and value; Variant: value and metadata
	isVar   bool
	sizes   []int32 // of each slot's region, padding excluded, 0 for a null; see measure
	keySize []int32 // Map: the size of each slot's key array
	pos     *[blockRows]int
	second  *[blockRows]int // Map: where the value arrays go
}

// outSet is the fields of a row or struct.
type outSet struct {
	fields []schema.Field
	kids   []*out
	fixed  int // bytes of bitset, slots and what is reserved whatever the values are
	head   int // bytes of bitset and slots
	cursor [blockRows]int
}

func newOutSet(fields []schema.Field) *outSet {
	s := &outSet{fields: fields, head: fixedBytes(len(fields)), kids: make([]*out, len(fields))}
	s.fixed = s.head
	for i := range fields {
		s.kids[i] = newOut(fields[i].Type)
		s.fixed += reserved(fields[i].Type)
	}
	return s
}

func newOut(t *schema.Type) *out {
	k := &out{t: t, isVar: isVar(t)}
	switch t.Kind {
	case schema.Struct:
		k.set = newOutSet(t.Children)
	case schema.List:
		k.kids = []*out{newOut(t.Children[0].Type)}
	case schema.Map:
		entry := t.Children[0].Type.Children
		k.kids = []*out{newOut(entry[0].Type), newOut(entry[1].Type)}
		k.second = new([blockRows]int)
	case schema.Variant:
		k.kids = []*out{newOut(t.Children[0].Type), newOut(t.Children[1].Type)}
	}
	if k.isVar {
		k.pos = new([blockRows]int)
	}
	return k
}

// reserved is what a row keeps in its variable part for a field of type t, null or not.
func reserved(t *schema.Type) int {
	if t.Kind == schema.Interval {
		return intervalBytes
	}
	if t.Kind == schema.Decimal && isVar(t) {
		return decimalBytes
	}
	return 0
}

// bind attaches a column and checks that its n first slots have the buffers
// that they need, children included. Whether offsets fall is left to measure.
func (k *out) bind(c *column.Column, n int) *fault {
	k.col = c
	switch {
	case c == nil || c.Type == nil || c.Type.Kind != k.t.Kind || len(c.Children) != len(k.t.Children):
		return faultf(-1, "not a column of type %s", k.t.Name)
	case c.Len < n:
		return faultf(-1, "%d slots instead of %d", c.Len, n)
	case c.Validity != nil && len(c.Validity) < (n+7)>>3:
		return faultf(-1, "validity of %d bytes for %d slots", len(c.Validity), n)
	case len(c.Values) < n*c.Type.Kind.ValueWidth(), c.Type.Kind == schema.Bool && len(c.Values) < (n+7)>>3:
		return faultf(-1, "%d bytes of values for %d slots", len(c.Values), n)
	}
	last := n
	if c.Type.Kind.HasOffsets() {
		if len(c.Offsets) < 4*(n+1) {
			return faultf(-1, "%d bytes of offsets for %d slots", len(c.Offsets), n)
		}
		offsets := column.View[int32](c.Offsets)
		last = int(offsets[n])
		if offsets[0] < 0 || last < 0 {
			return faultf(-1, "negative offset")
		}
	}
	switch c.Type.Kind {
	case schema.String, schema.Binary:
		if last > len(c.Data) {
			return faultf(-1, "offsets up to %d for %d bytes of data", last, len(c.Data))
		}
	case schema.Interval:
		for i, w := range [...]int{4, 4, 8} {
			if len(c.Children[i].Values) < w*n {
				return faultf(-1, "%d bytes of values for %d slots", len(c.Children[i].Values), n)
			}
		}
	case schema.Struct:
		for i, kid := range k.set.kids {
			if f := kid.bind(c.Children[i], n); f != nil {
				return f.in(k.t.Children[i].Name)
			}
		}
	case schema.Variant:
		for i, kid := range k.kids {
			if f := kid.bind(c.Children[i], n); f != nil {
				return f.in(k.t.Children[i].Name)
			}
		}
	case schema.List:
		return k.kids[0].bind(c.Children[0], last).in("element")
	case schema.Map:
		entries := c.Children[0]
		if len(entries.Children) != 2 {
			return faultf(-1, "not a map")
		}
		if f := k.kids[0].bind(entries.Children[0], last); f != nil {
			return f.in("key")
		}
		return k.kids[1].bind(entries.Children[1], last).in("value")
	}
	return nil
}

// tooLarge is the fault of a value that has no UnsafeRow form.
func tooLarge(i int) *fault {
	return faultf(-1, "value %d takes more than 2 GiB as an UnsafeRow", i)
}

// scratch hands out room for sizes: memory of an arena, or else of the Go heap, of which what is there is used again.
type scratch struct{ arena *memory.Arena }

func (s scratch) int32s(have []int32, n int) []int32 {
	if s.arena != nil {
		return column.View[int32](s.arena.Bytes(4 * n))[:n]
	}
	if cap(have) < n {
		have = make([]int32, n+n/8)
	}
	return have[:n]
}

// measure fills k.sizes for the n first slots of a column bound before. Only
// columns whose values live in the variable part are measured.
func (k *out) measure(n int, room scratch) *fault {
	c := k.col
	k.sizes = room.int32s(k.sizes, n)
	sizes := k.sizes
	switch c.Type.Kind {
	case schema.String, schema.Binary:
		offsets := column.View[int32](c.Offsets)[:n+1]
		var sign int32
		for i := range sizes {
			sizes[i] = offsets[i+1] - offsets[i]
			sign |= sizes[i]
		}
		if sign < 0 {
			return faultf(-1, "falling offsets")
		}
	case schema.Decimal:
		for i, v := range pairs(c.Values)[:n] {
			sizes[i] = int32(decimalSize(v))
		}
	case schema.Interval:
		for i := range sizes {
			sizes[i] = intervalBytes
		}
	case schema.Variant:
		for i, kid := range k.kids {
			if f := kid.measure(n, room); f != nil {
				return f.in(k.t.Children[i].Name)
			}
		}
		for i := range sizes {
			total := 4 + int64(k.kids[0].sizes[i]) + int64(k.kids[1].sizes[i])
			if total > math.MaxInt32 {
				return tooLarge(i)
			}
			sizes[i] = int32(total)
		}
	case schema.Struct:
		if f := k.set.measure(sizes, room); f != nil {
			return f
		}
	case schema.List:
		if f := k.kids[0].measureArrays(column.View[int32](c.Offsets), sizes, room); f != nil {
			return f.in("element")
		}
	case schema.Map:
		if f := k.measureMaps(sizes, room); f != nil {
			return f
		}
	}
	if c.Validity != nil {
		zeroNulls(sizes, c.Validity)
	}
	return nil
}

// measure computes the sizes of rows of s.
func (s *outSet) measure(sizes []int32, room scratch) *fault {
	if s.fixed > math.MaxInt32 {
		return tooLarge(0)
	}
	for i := range sizes {
		sizes[i] = int32(s.fixed)
	}
	for f, k := range s.kids {
		if !k.isVar || reserved(k.t) > 0 {
			continue
		}
		var sign int32
		switch k.t.Kind {
		case schema.String, schema.Binary:
			var falling bool
			if sign, falling = addLengths(sizes, k.col); falling {
				return faultf(-1, "falling offsets").in(s.fields[f].Name)
			}
		default:
			if fault := k.measure(len(sizes), room); fault != nil {
				return fault.in(s.fields[f].Name)
			}
			for i, n := range k.sizes {
				sizes[i] += int32(round8(int(n)))
				sign |= sizes[i]
			}
		}
		if sign < 0 {
			return tooLarge(0).in(s.fields[f].Name)
		}
	}
	return nil
}

// addLengths adds the padded lengths of the strings of c. A sum of two
// non-negative int32 that overflows is negative, which shows in sign.
func addLengths(sizes []int32, c *column.Column) (sign int32, falling bool) {
	offsets := column.View[int32](c.Offsets)[:len(sizes)+1]
	o := offsets[0]
	offsets = offsets[1:][:len(sizes)]
	var fall int32
	if c.Validity == nil {
		for i, e := range offsets {
			n := e - o
			o = e
			fall |= n
			sizes[i] += (n + 7) &^ 7
			sign |= sizes[i]
		}
		return sign, fall < 0
	}
	for i, e := range offsets {
		n := e - o
		o = e
		fall |= n
		sizes[i] += (n + 7) &^ 7 & -int32(c.Validity[i>>3]>>(i&7)&1)
		sign |= sizes[i]
	}
	return sign, fall < 0
}

// measureArrays computes the sizes of the arrays of k's elements that the offsets cut.
func (k *out) measureArrays(offsets []int32, sizes []int32, room scratch) *fault {
	offsets = offsets[:len(sizes)+1]
	if k.isVar {
		if f := k.measure(int(offsets[len(sizes)]), room); f != nil {
			return f
		}
	}
	width := elemWidth(k.t)
	for i := range sizes {
		lo, hi := int(offsets[i]), int(offsets[i+1])
		n := hi - lo
		if n < 0 || lo < 0 || k.isVar && hi > len(k.sizes) {
			return faultf(-1, "falling offsets")
		}
		total := arrayHeader(n) + round8(n*width)
		if k.isVar {
			for _, s := range k.sizes[lo:hi] {
				total += round8(int(s))
			}
		}
		if total > math.MaxInt32 {
			return tooLarge(i)
		}
		sizes[i] = int32(total)
	}
	return nil
}

func (k *out) measureMaps(sizes []int32, room scratch) *fault {
	offsets := column.View[int32](k.col.Offsets)
	k.keySize = room.int32s(k.keySize, len(sizes))
	if f := k.kids[0].measureArrays(offsets, k.keySize, room); f != nil {
		return f.in("key")
	}
	if f := k.kids[1].measureArrays(offsets, sizes, room); f != nil {
		return f.in("value")
	}
	for i, n := range k.keySize {
		total := 8 + int64(n) + int64(sizes[i])
		if total > math.MaxInt32 {
			return tooLarge(i)
		}
		sizes[i] = int32(total)
	}
	return nil
}

func zeroNulls(sizes []int32, validity []byte) {
	for i := range sizes {
		sizes[i] &= -int32(validity[i>>3] >> (i & 7) & 1)
	}
}

// decimalSize is the length of v's minimal big-endian two's complement form.
func decimalSize(v [2]uint64) int {
	sign := uint64(int64(v[1]) >> 63)
	if hi := v[1] ^ sign; hi != 0 {
		return (64+bits.Len64(hi))>>3 + 1
	}
	return bits.Len64(v[0]^sign)>>3 + 1
}

// Sizer measures what values take as parts of UnsafeRows. It is used by one
// goroutine at a time and keeps its scratch.
type Sizer struct{ k *out }

// NewSizer returns a Sizer for columns of type t.
func NewSizer(t *schema.Type) *Sizer { return &Sizer{k: newOut(t)} }

// Sum returns the bytes that the non-null values among the n first slots of c
// take in the variable part of rows, padding behind them excluded; 0 for
// types whose values live in the slot. Columns that do not add up give an *Error.
func (z *Sizer) Sum(c *column.Column, n int) (int64, error) {
	if !z.k.isVar {
		return 0, nil
	}
	f := z.k.bind(c, n)
	if f == nil {
		f = z.k.measure(n, scratch{})
	}
	z.k.unbind()
	if f != nil {
		return 0, &Error{Row: -1, Path: f.joined(), What: f.what}
	}
	sum := int64(0)
	for _, s := range z.k.sizes {
		sum += int64(s)
	}
	return sum, nil
}

// unbind lets go of the columns, which belong to someone else.
func (k *out) unbind() {
	k.col = nil
	for _, kid := range k.kids {
		kid.unbind()
	}
	if k.set != nil {
		k.set.unbind()
	}
}

func (s *outSet) unbind() {
	for _, kid := range s.kids {
		kid.unbind()
	}
}

// BigEndianDecimal returns the form that the 128-bit integer hi:lo has in a row
// as a decimal of more than 18 digits: 16 bytes, of which the first size are
// its minimal big-endian two's complement form.
func BigEndianDecimal(lo, hi uint64) (padded [decimalBytes]byte, size int) {
	size = decimalSize([2]uint64{lo, hi})
	first, second := bigEndian([2]uint64{lo, hi}, size)
	store64(ptr(padded[:]), 0, first)
	store64(ptr(padded[:]), 8, second)
	return padded, size
}
