package engine

import (
	"encoding/binary"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// Source tells where a vector's buffer comes from.
type Source int32

const (
	// Absent: the node has no such buffer, or no slot of it is null.
	Absent Source = iota
	// Copy: Data has to be copied out before the decoder's next call.
	Copy
	// InSegment: the stored segment has the bytes as they are.
	InSegment
)

// VectorBuffer is a buffer of a heap-backed vector.
type VectorBuffer struct {
	Source  Source
	Segment int    // index of the segment, for InSegment
	Data    []byte // for Copy
}

// LayoutHeader and LayoutNode are the longs that Vectors.Layout has before
// the first node and for each node.
const (
	LayoutHeader = 4
	LayoutNode   = 8
)

// Vectors are decoded columns for heap-backed vectors, in pre-order. They are
// memory of the decoder.
type Vectors struct {
	ReadStats
	Nodes int
	// Layout has rows stored, bytes read, nanoseconds and rows kept, then for each node its
	// length, its null count, and offset and length of nulls, first and second
	// buffer within the array that Buffers says.
	Layout []int64
	// Buffers has three entries a node: nulls (one byte a slot, 1 = null),
	// first (values, booleans as one byte a slot, or offsets), second (bytes).
	Buffers []VectorBuffer
}

// Vectors decodes the planned batch for heap-backed vectors.
func (d *Decoder) Vectors() (*Vectors, error) {
	if err := d.expect(ReadVectors); err != nil {
		return nil, err
	}
	if err := d.decode(); err != nil {
		return nil, err
	}
	v := &d.vec
	v.Nodes = len(d.places) / 3
	v.Layout = append(v.Layout[:0], d.stats.Rows, d.stats.BytesRead, d.stats.Nanos, d.stats.Kept)
	v.Buffers = v.Buffers[:0]
	node := 0
	for i, c := range d.cols {
		d.appendVector(c, d.stretches[i].needs[0].FirstSegment, &node)
	}
	v.ReadStats = d.stats
	return v, nil
}

func (d *Decoder) appendVector(c *column.Column, segment int, node *int) {
	p := d.places[*node*3 : *node*3+3]
	*node++
	v := &d.vec
	v.Layout = append(v.Layout, int64(c.Len), int64(c.Nulls))
	if c.Validity != nil {
		nulls := d.arena.Bytes(c.Len)
		expand(nulls, c.Validity, 0xFF)
		p[0] = place{data: nulls, length: int64(c.Len)}
	} else {
		p[0] = place{}
	}
	if c.Type.Kind == schema.Bool {
		values := d.arena.Bytes(c.Len)
		expand(values, c.Values, 0)
		p[1] = place{data: values, length: int64(c.Len)}
	}
	for _, b := range p {
		switch {
		case b.length == 0:
			v.Layout = append(v.Layout, 0, 0)
			v.Buffers = append(v.Buffers, VectorBuffer{})
		case b.inSeg:
			v.Layout = append(v.Layout, b.offset, b.length)
			v.Buffers = append(v.Buffers, VectorBuffer{Source: InSegment, Segment: segment})
		default:
			v.Layout = append(v.Layout, 0, b.length)
			v.Buffers = append(v.Buffers, VectorBuffer{Source: Copy, Data: b.data})
		}
	}
	for _, child := range c.Children {
		d.appendVector(child, segment, node)
	}
}

// spread[b] has bit i of b as byte i.
var spread = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return
}()

// expand writes one byte, 0 or 1, for each of the first len(dst) bits; bits are
// flipped where invert is 0xFF. dst has memory.Slack spare bytes.
func expand(dst, bits []byte, invert byte) {
	n := len(dst)
	dst = dst[:(n+7)&^7]
	for i, b := range bits[:(n+7)/8] {
		binary.LittleEndian.PutUint64(dst[i*8:], spread[b^invert])
	}
}
