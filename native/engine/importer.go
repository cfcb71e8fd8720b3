package engine

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// importRecord makes Columns of rec's arrays. Buffers that can be used as they
// are (no offset, nothing to be filled in) are not copied.
func (e *Encoder) importRecord(rec arrow.RecordBatch) ([]*column.Column, error) {
	if e.imported == nil {
		e.imported = make([]*column.Column, len(e.schema.Fields))
		for i, f := range e.schema.Fields {
			e.imported[i] = column.New(f.Type)
		}
	}
	for i, f := range e.schema.Fields {
		data := rec.Column(i).Data()
		if err := f.Type.Matches(data.DataType()); err != nil {
			return nil, fmt.Errorf("column %d (%s): %w", i, f.Name, err)
		}
		if data.Len() != int(rec.NumRows()) {
			return nil, &OptionError{fmt.Sprintf("column %d (%s) has %d rows, the batch %d", i, f.Name, data.Len(), rec.NumRows())}
		}
		if err := e.importArray(e.imported[i], data); err != nil {
			return nil, fmt.Errorf("column %d (%s): %w", i, f.Name, err)
		}
	}
	return e.imported, nil
}

// importArray fills c from data, which has a matching type. Buffer lengths are
// those that arrow-go derives from length, offset and offsets buffer.
func (e *Encoder) importArray(c *column.Column, data arrow.ArrayData) error {
	if d, ok := data.DataType().(*arrow.DictionaryType); ok {
		return e.importDictionary(c, data, d)
	}
	k := c.Type.Kind
	n, off := data.Len(), data.Offset()
	c.Len, c.Nulls, c.Validity = n, 0, nil
	c.Values, c.Offsets, c.Data = nil, nil, nil
	if k == schema.Null {
		c.Nulls = n
		return nil
	}
	buffers := data.Buffers()
	if len(buffers) < k.NumBuffers() {
		return &OptionError{fmt.Sprintf("an array of type %s has %d buffers", data.DataType(), len(buffers))}
	}
	if data.NullN() != 0 && buffers[0] != nil && buffers[0].Len() > 0 {
		bits, err := e.bitmap(buffers[0].Bytes(), off, n)
		if err != nil {
			return err
		}
		if c.Nulls = column.CountNulls(bits, n); c.Nulls > 0 {
			c.Validity = bits
		}
	}
	switch {
	case k == schema.Bool:
		bits, err := e.bitmap(bytesOf(buffers, 1), off, n)
		if err != nil {
			return err
		}
		c.Values = bits
	case k.ValueWidth() > 0:
		w := k.ValueWidth()
		b := bytesOf(buffers, 1)
		if len(b) < (off+n)*w {
			return shortBuffer(data.DataType(), "values", len(b), (off+n)*w)
		}
		c.Values = b[off*w : (off+n)*w : (off+n)*w]
		if c.Nulls > 0 && e.codec != nil { // null slots get filled before compression
			c.Values = append(e.arena.Bytes(n * w)[:0], c.Values...)
		}
	case k.HasOffsets():
		return e.importVarWidth(c, data)
	default:
		for i, child := range data.Children() {
			if err := e.importSliced(c.Children[i], child, off, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// importVarWidth imports offsets, rebased to start at 0, and what they point into.
func (e *Encoder) importVarWidth(c *column.Column, data arrow.ArrayData) error {
	n, off := data.Len(), data.Offset()
	var first, last int32
	if n > 0 {
		b := bytesOf(data.Buffers(), 1)
		if len(b) < (off+n+1)*4 {
			return shortBuffer(data.DataType(), "offsets", len(b), (off+n+1)*4)
		}
		b = b[off*4 : (off+n+1)*4]
		src := column.View[int32](b)
		first, last = src[0], src[n]
		prev := first
		for i, o := range src {
			if o < prev {
				return &OptionError{fmt.Sprintf("offsets of an array of type %s fall at slot %d", data.DataType(), i)}
			}
			prev = o
		}
		if first < 0 {
			return &OptionError{fmt.Sprintf("an array of type %s has a negative offset", data.DataType())}
		}
		c.Offsets = b[:len(b):len(b)]
		if first != 0 {
			c.Offsets = e.arena.Bytes(len(b))
			dst := column.View[int32](c.Offsets)
			for i, o := range src {
				dst[i] = o - first
			}
		}
	} else {
		c.Offsets = e.arena.Zeroed(4)
	}
	if c.Type.Kind == schema.List || c.Type.Kind == schema.Map {
		return e.importSliced(c.Children[0], data.Children()[0], int(first), int(last-first))
	}
	var b []byte
	if last > 0 {
		if b = bytesOf(data.Buffers(), 2); len(b) < int(last) {
			return shortBuffer(data.DataType(), "data", len(b), int(last))
		}
	}
	c.Data = b[first:last:last]
	return nil
}

// importSliced imports slots [off, off+n) of child.
func (e *Encoder) importSliced(c *column.Column, child arrow.ArrayData, off, n int) error {
	if off+n > child.Len() {
		return &OptionError{fmt.Sprintf("a child array of type %s has %d slots where %d are needed", child.DataType(), child.Len(), off+n)}
	}
	if off == 0 && n == child.Len() {
		return e.importArray(c, child)
	}
	s := array.NewSliceData(child, int64(off), int64(off+n))
	defer s.Release()
	return e.importArray(c, s)
}

// bitmap returns n bits of src from bit off on, as a bitmap that starts at bit 0.
func (e *Encoder) bitmap(src []byte, off, n int) ([]byte, error) {
	if len(src) < (off+n+7)/8 {
		return nil, &OptionError{fmt.Sprintf("a bitmap has %d bytes where %d bits are needed", len(src), off+n)}
	}
	if off == 0 && n&7 == 0 {
		return src[: n/8 : n/8], nil
	}
	// Bits behind the last slot are zeroed, so that equal columns have equal bytes.
	dst := e.arena.Zeroed((n + 7) / 8)
	bitutil.CopyBitmap(src, off, n, dst, 0)
	return dst, nil
}

// importDictionary decodes dictionary-encoded values into plain ones.
func (e *Encoder) importDictionary(c *column.Column, data arrow.ArrayData, t *arrow.DictionaryType) error {
	dict := column.New(c.Type)
	if err := e.importArray(dict, data.Dictionary()); err != nil {
		return err
	}
	if len(dict.Children) > 0 {
		return &OptionError{fmt.Sprintf("dictionary-encoded values of the nested type %s are not supported", t.ValueType)}
	}
	n, off := data.Len(), data.Offset()
	w := t.IndexType.(arrow.FixedWidthDataType).Bytes()
	raw := bytesOf(data.Buffers(), 1)
	if len(raw) < (off+n)*w {
		return shortBuffer(t, "indices", len(raw), (off+n)*w)
	}
	var valid []byte
	if b := data.Buffers()[0]; data.NullN() != 0 && b != nil && b.Len() > 0 {
		var err error
		if valid, err = e.bitmap(b.Bytes(), off, n); err != nil {
			return err
		}
	}
	idx := column.View[int32](e.arena.Bytes(n * 4))
	nulls := 0
	for i := range n {
		idx[i] = -1
		if valid != nil && valid[i>>3]&(1<<(i&7)) == 0 {
			nulls++
			continue
		}
		v := readIndex(raw[(off+i)*w:], w)
		if v >= uint64(dict.Len) {
			return &OptionError{fmt.Sprintf("dictionary index %d at slot %d, the dictionary has %d entries", int64(v), i, dict.Len)}
		}
		if dict.IsNull(int(v)) {
			nulls++
			continue
		}
		idx[i] = int32(v)
	}
	return e.gather(c, dict, idx, nulls)
}

func readIndex(b []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// gather makes c the values of dict at idx, -1 = null.
func (e *Encoder) gather(c, dict *column.Column, idx []int32, nulls int) error {
	n := len(idx)
	c.Len, c.Nulls, c.Validity = n, nulls, nil
	c.Values, c.Offsets, c.Data = nil, nil, nil
	k := c.Type.Kind
	if k == schema.Null {
		c.Nulls = n
		return nil
	}
	if nulls > 0 {
		c.Validity = e.arena.Zeroed((n + 7) / 8)
		for i, v := range idx {
			if v >= 0 {
				c.Validity[i>>3] |= 1 << (i & 7)
			}
		}
	}
	switch {
	case k == schema.Bool:
		c.Values = e.arena.Zeroed((n + 7) / 8)
		for i, v := range idx {
			if v >= 0 && dict.Values[v>>3]&(1<<(v&7)) != 0 {
				c.Values[i>>3] |= 1 << (i & 7)
			}
		}
	case k.ValueWidth() > 0:
		w := k.ValueWidth()
		c.Values = e.arena.Zeroed(n * w)
		for i, v := range idx {
			if v >= 0 {
				copy(c.Values[i*w:(i+1)*w], dict.Values[int(v)*w:])
			}
		}
	default:
		return e.gatherBytes(c, dict, idx)
	}
	return nil
}

func (e *Encoder) gatherBytes(c, dict *column.Column, idx []int32) error {
	from := column.View[int32](dict.Offsets)
	c.Offsets = e.arena.Bytes((len(idx) + 1) * 4)
	to := column.View[int32](c.Offsets)
	total := int64(0)
	to[0] = 0
	for i, v := range idx {
		if v >= 0 {
			total += int64(from[v+1] - from[v])
		}
		if total > 1<<31-1 {
			return &OptionError{"a dictionary-encoded column decodes to more than 2 GiB; cache smaller batches"}
		}
		to[i+1] = int32(total)
	}
	c.Data = e.arena.Bytes(int(total))
	for i, v := range idx {
		if v >= 0 {
			copy(c.Data[to[i]:], dict.Data[from[v]:from[v+1]])
		}
	}
	return nil
}

func bytesOf(buffers []*arrowmem.Buffer, i int) []byte {
	if buffers[i] == nil {
		return nil
	}
	return buffers[i].Bytes()
}

func shortBuffer(t arrow.DataType, which string, got, want int) error {
	return &OptionError{fmt.Sprintf("the %s buffer of an array of type %s has %d bytes where %d are needed", which, t, got, want)}
}
