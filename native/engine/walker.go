package engine

import (
	"encoding/binary"

	"github.com/quiverspark/quiver/native/codec"
	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/schema"
)

// walker decodes one top-level column, node by node in pre-order. Everything
// it reads from header and segment is checked before it is used: what comes out
// can be read without further checks.
type walker struct {
	d       *Decoder
	stretch *stretch
	node    int   // next field node of the message
	buffer  int   // next buffer of the message
	place   int   // next of the decoder's places
	end     int64 // body offset behind the previous buffer
}

// column decodes the next node, of type stored, into c, which must have n slots.
func (w *walker) column(c *column.Column, stored *schema.Type, n int64) error {
	if c.Type.Kind != stored.Kind {
		w.leaveOut(c, stored, n)
		return nil
	}
	node, err := w.d.head.Node(w.node)
	if err != nil {
		return err
	}
	w.node++
	if node.Length != n {
		return ipc.Corrupt("field node %d has %d slots where %d are due", w.node-1, node.Length, n)
	}
	if c.Type.Kind == schema.Null && node.Nulls != n {
		return ipc.Corrupt("field node %d has %d nulls in %d slots", w.node-1, node.Nulls, n)
	}
	c.Len, c.Nulls = int(n), int(node.Nulls)
	c.Validity, c.Values, c.Offsets, c.Data = nil, nil, nil, nil
	places := w.d.places[w.place : w.place+3]
	w.place += 3
	if w.d.head.Codec == ipc.CodecPack {
		err = w.packed(c, places)
	} else {
		err = w.plain(c, places)
	}
	if err != nil {
		return err
	}
	if c.Validity != nil && column.CountNulls(c.Validity, c.Len) != c.Nulls {
		return ipc.Corrupt("field node %d has %d nulls, its validity bitmap %d", w.node-1, c.Nulls, column.CountNulls(c.Validity, c.Len))
	}
	for i, child := range c.Children {
		slots := n
		if c.Type.Kind.HasOffsets() {
			slots = int64(lastOffset(c))
		}
		if err := w.column(child, stored.Children[i].Type, slots); err != nil {
			return inColumn(err, i, c.Type.Children[i].Name)
		}
	}
	return nil
}

// leaveOut passes over a node and makes c, a void, of n slots.
func (w *walker) leaveOut(c *column.Column, stored *schema.Type, n int64) {
	nodes, buffers := stored.NodesAndBuffers()
	w.node += nodes
	w.buffer += buffers
	c.Len, c.Nulls = int(n), int(n)
	w.place += 3 // which are clear
}

func lastOffset(c *column.Column) int32 {
	if c.Len == 0 {
		return 0
	}
	return int32(binary.LittleEndian.Uint32(c.Offsets[c.Len*4:]))
}

// next returns the place of the next buffer within the column's segment. Buffers lie one
// behind the other, each at a multiple of 8. Unless seen, its bytes may be in the segment only.
func (w *walker) next(seen bool) (place, error) {
	b, err := w.d.head.Buffer(w.buffer)
	if err != nil {
		return place{}, err
	}
	w.buffer++
	s := w.stretch
	off := b.Offset - s.start
	if b.Offset < w.end || b.Length > s.length-off {
		return place{}, ipc.Corrupt("buffer %d is at %d with %d bytes, in a column at %d with %d bytes",
			w.buffer-1, b.Offset, b.Length, s.start, s.length)
	}
	w.end = b.Offset + b.Length
	p := place{offset: off, length: b.Length, inSeg: s.needs[0].NumSegments == 1, data: s.at(off, b.Length)}
	if p.data == nil && b.Length > 0 && (seen || !s.inPlace) {
		return place{}, ipc.Corrupt("buffer %d is at %d with %d bytes, part of which belong to a field that is left out",
			w.buffer-1, b.Offset, b.Length)
	}
	return p, nil
}

// plain decodes a node whose buffers are stored as Arrow IPC stores them.
func (w *walker) plain(c *column.Column, places []place) error {
	k := c.Type.Kind
	n := int64(c.Len)
	for i := range k.NumBuffers() {
		p, err := w.next(i == 0 || i == 1 && (k.HasOffsets() || k == schema.Bool))
		if err != nil {
			return err
		}
		var want int64
		switch {
		case i == 0:
			if c.Nulls == 0 {
				places[0] = place{}
				continue // some writers store a bitmap without nulls
			}
			want = (n + 7) / 8
		case i == 2:
			want = int64(lastOffset(c))
		case k == schema.Bool:
			want = (n + 7) / 8
		case k.HasOffsets():
			want = (n + 1) * 4
			if p.length == 0 && n == 0 {
				c.Offsets = w.d.arena.Zeroed(4)
				places[1] = place{data: c.Offsets, length: 4}
				continue
			}
		default:
			want = n * int64(k.ValueWidth())
		}
		if p, err = w.decompress(p, want); err != nil {
			return err
		}
		places[i] = p
		switch {
		case i == 0:
			c.Validity = p.data
		case i == 2:
			c.Data = p.data
		case k.HasOffsets():
			c.Offsets = p.data
			if err := checkOffsets(p.data, c.Len, w.buffer-1); err != nil {
				return err
			}
		default:
			c.Values = p.data
		}
	}
	return nil
}

// decompress returns the want plain bytes of a stored buffer.
func (w *walker) decompress(p place, want int64) (place, error) {
	if p.data == nil { // codec none, values that stay in their segment
		if p.length < want {
			return p, ipc.Corrupt("buffer %d has %d bytes where %d are due", w.buffer-1, p.length, want)
		}
		p.length = want
		return p, nil
	}
	st, err := codec.ParseStored(w.d.codec, p.data)
	if err != nil {
		return p, err
	}
	if int64(st.Length) < want || !st.Raw && int64(st.Length) != want {
		return p, ipc.Corrupt("buffer %d has %d bytes where %d are due", w.buffer-1, st.Length, want)
	}
	if st.Raw {
		p.offset += int64(len(p.data) - len(st.Payload))
		p.length = want
		p.data = st.Payload[:want:want]
		return p, nil
	}
	out := w.d.arena.Bytes(int(want))
	if err := st.Decode(w.d.codec, out); err != nil {
		return p, ipc.Corrupt("buffer %d: %v", w.buffer-1, err)
	}
	return place{data: out, length: want}, nil
}

// packed decodes a node that codec pack has stored.
func (w *walker) packed(c *column.Column, places []place) error {
	var stored [3][]byte
	for i := range c.Type.Kind.NumBuffers() {
		p, err := w.next(true)
		if err != nil {
			return err
		}
		stored[i] = p.data
	}
	if err := w.d.pack.Node(c, c.Len, c.Nulls, stored, w.d.arena); err != nil {
		return ipc.Corrupt("field node %d: %v", w.node-1, err)
	}
	w.stretch.placeBuffers(places, c)
	return nil
}

// placeBuffers fills in where the buffers of a decoded node are.
func (s *stretch) placeBuffers(places []place, c *column.Column) {
	places[0] = s.placeOf(c.Validity)
	if c.Type.Kind.HasOffsets() {
		places[1], places[2] = s.placeOf(c.Offsets), s.placeOf(c.Data)
	} else {
		places[1], places[2] = s.placeOf(c.Values), place{}
	}
}

// placeOf tells whether b is part of the copied segment or of its own.
func (s *stretch) placeOf(b []byte) place {
	p := place{data: b, length: int64(len(b))}
	if len(b) > 0 && s.needs[0].NumSegments == 1 {
		p.offset, p.inSeg = s.find(b)
	}
	return p
}

// checkOffsets checks that n+1 offsets start at 0 and never fall.
func checkOffsets(b []byte, n, buffer int) error {
	o := column.View[int32](b)[:n+1]
	if o[0] != 0 {
		return ipc.Corrupt("buffer %d: offsets start at %d", buffer, o[0])
	}
	var bad int32
	prev := int32(0)
	for _, v := range o { // the sign bit of any fall or negative offset sticks
		bad |= v | (v - prev)
		prev = v
	}
	if bad < 0 {
		return ipc.Corrupt("buffer %d: offsets fall or are negative", buffer)
	}
	return nil
}
