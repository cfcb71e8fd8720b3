package engine

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// handedOver owns the arena behind an exported record batch; the last released buffer frees it.
// It is an arrow allocator only so that buffers call Free.
type handedOver struct {
	arena *memory.Arena
	refs  atomic.Int64
}

func (h *handedOver) Allocate(int) []byte { panic("engine: not for allocation") }

func (h *handedOver) Reallocate(int, []byte) []byte { panic("engine: not for allocation") }

func (h *handedOver) Free([]byte) {
	if h.refs.Add(-1) == 0 {
		h.arena.Close()
	}
}

func (h *handedOver) buffer(b []byte) *arrowmem.Buffer {
	h.refs.Add(1)
	return arrowmem.NewBufferWithAllocator(b, h)
}

// Record decodes the planned batch into a record batch that owns its memory:
// it outlives the decoder and is freed, from any goroutine, when released.
func (d *Decoder) Record() (arrow.RecordBatch, error) {
	if err := d.expect(ReadArrow); err != nil {
		return nil, err
	}
	if err := d.decode(); err != nil {
		return nil, err
	}
	h := &handedOver{arena: d.arena}
	h.refs.Add(1) // until the record holds what it needs
	d.arena = memory.NewArena(d.alloc)
	defer h.Free(nil)

	s := d.projected.Arrow()
	arrays := make([]arrow.Array, len(d.cols))
	for i, c := range d.cols {
		data := h.data(c, s.Field(i).Type)
		arrays[i] = array.MakeFromData(data)
		data.Release()
	}
	rec := array.NewRecordBatch(s, arrays, d.stats.Rows)
	for _, a := range arrays {
		a.Release()
	}
	return rec, nil
}

// data makes array data of type t, which is what c's type maps to.
func (h *handedOver) data(c *column.Column, t arrow.DataType) arrow.ArrayData {
	var buffers []*arrowmem.Buffer
	if n := c.Type.Kind.NumBuffers(); n > 0 {
		buffers = make([]*arrowmem.Buffer, n)
		if c.Validity != nil {
			buffers[0] = h.buffer(c.Validity)
		}
		if n > 1 {
			b := c.Values
			if c.Type.Kind.HasOffsets() {
				b = c.Offsets
			}
			buffers[1] = h.buffer(b)
		}
		if n > 2 {
			buffers[2] = h.buffer(c.Data)
		}
	} else {
		buffers = []*arrowmem.Buffer{nil}
	}
	var children []arrow.ArrayData
	for i, child := range c.Children {
		ct := childType(t, i)
		children = append(children, h.data(child, ct))
	}
	data := array.NewData(t, c.Len, buffers, children, c.Nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, child := range children {
		child.Release()
	}
	return data
}

func childType(t arrow.DataType, i int) arrow.DataType {
	switch t := t.(type) {
	case *arrow.MapType:
		return t.Elem() // the entries
	case arrow.NestedType:
		return t.Fields()[i].Type
	}
	panic("engine: a type with children maps to " + t.String())
}
