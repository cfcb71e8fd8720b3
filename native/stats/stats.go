// Package stats computes the per-column statistics of a batch and writes them
// as the UnsafeRow that Spark calls a batch's stats: for each column its lower
// and upper bound (of the column's type), null count, count (both int), and
// size in bytes (long), as PartitionStatistics in Spark's ColumnStats.scala.
//
// Bounds follow Catalyst's order: NaN is greatest and equal to itself, -0.0 and
// 0.0 are equal (a lower bound of zero is written as -0.0, an upper one as 0.0,
// so that they also hold for who orders the zeros), strings compare as unsigned
// bytes, decimals by value. A column without a bound has nulls there: its type
// has none (schema.NoBounds) or all its values are null. Spark's own filter
// takes a null bound for "nothing matches"; ours must not.
//
// Bounds of strings are cut at 64 bytes, the upper one raised behind the cut, so
// lower ≤ every value ≤ upper holds by unsigned bytes. That is also what makes
// pruning by prefix sound, whether prefixes are taken by bytes or by UTF-8
// characters: where a bound differs from a value first, it differs to the right
// side, and up to there both split into the same characters.
//
// Sizes are what Spark's ColumnStats count (4 bytes for a null, 8 for every
// decimal, 4 and the bytes for strings …), because planner decisions hang on them.
package stats

import (
	"encoding/binary"
	"math"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/row"
	"github.com/quiverspark/quiver/native/schema"
)

// fieldsPerColumn is the number of fields of the statistics row for a column.
const fieldsPerColumn = 5

// Computer computes statistics of batches of one schema. It is used by one
// goroutine at a time and keeps its scratch from batch to batch.
type Computer struct {
	schema *schema.Schema
	sizers []*row.Sizer // of the columns that need one
}

// NewComputer returns a Computer for batches of schema s.
func NewComputer(s *schema.Schema) *Computer {
	c := &Computer{schema: s, sizers: make([]*row.Sizer, len(s.Fields))}
	for i, f := range s.Fields {
		switch f.Type.Kind {
		case schema.Variant, schema.List, schema.Map, schema.Struct:
			c.sizers[i] = row.NewSizer(f.Type)
		}
	}
	return c
}

// Append appends the statistics row of cols to dst, as UnsafeRow bytes, and
// returns it with the batch's size: the sum of its columns' sizes in bytes. A
// column whose offsets do not add up gives a *row.Error.
func (c *Computer) Append(dst []byte, cols []*column.Column) ([]byte, int64, error) {
	w := newWriter(dst, fieldsPerColumn*len(cols))
	total := int64(0)
	for i, col := range cols {
		size, err := c.size(i, col)
		if err != nil {
			return dst, 0, err
		}
		total += size
		w.bounds(col)
		w.slot(uint64(uint32(col.Nulls)))
		w.slot(uint64(uint32(col.Len)))
		w.slot(uint64(size))
	}
	return w.dst, total, nil
}

// size is a column's size as Spark's ColumnStats count it.
func (c *Computer) size(i int, col *column.Column) (int64, error) {
	nulls, valid := int64(col.Nulls), int64(col.Len-col.Nulls)
	size := 4 * nulls
	switch k := col.Type.Kind; k {
	case schema.Null:
		return size, nil
	case schema.Bool:
		return size + valid, nil
	case schema.Decimal:
		return size + 8*valid, nil // Spark counts 8 beyond 18 digits too
	case schema.Interval:
		return size + 16*valid, nil
	case schema.String, schema.Binary:
		return size + 4*valid + stringBytes(col), nil
	case schema.Variant, schema.List, schema.Map, schema.Struct:
		sum, err := c.sizers[i].Sum(col, col.Len)
		if err != nil {
			err.(*row.Error).Path = joinPath(c.schema.Fields[i].Name, err.(*row.Error).Path)
			return 0, err
		}
		// Of a variant too: two lengths are counted, its region has one of them.
		return size + 4*valid + sum, nil
	default:
		return size + int64(k.ValueWidth())*valid, nil
	}
}

func joinPath(column, rest string) string {
	if rest == "" {
		return column
	}
	return column + "." + rest
}

// stringBytes sums the lengths of the values that are not null.
func stringBytes(c *column.Column) int64 {
	if c.Len == 0 {
		return 0
	}
	offsets := column.View[int32](c.Offsets)[:c.Len+1]
	if c.Nulls == 0 {
		return int64(offsets[c.Len]) - int64(offsets[0])
	}
	sum := int64(0)
	for i, end := range offsets[1:] {
		sum += int64(end-offsets[i]) & -int64(c.Validity[i>>3]>>(i&7)&1)
	}
	return sum
}

// writer writes an UnsafeRow field by field.
type writer struct {
	dst   []byte
	base  int // where the row starts
	slots int // where its slots start
	field int // the next one
}

func newWriter(dst []byte, fields int) *writer {
	bitset := (fields + 63) / 64 * 8
	w := &writer{base: len(dst), slots: len(dst) + bitset}
	w.dst = append(dst, make([]byte, bitset+8*fields)...)
	return w
}

// slot writes a field that is in its slot.
func (w *writer) slot(v uint64) {
	binary.LittleEndian.PutUint64(w.dst[w.slots+8*w.field:], v)
	w.field++
}

// null writes a null field whose type reserves as many bytes, for which Spark
// keeps the offset and this size.
func (w *writer) null(reserved, size int) {
	w.dst[w.base+w.field>>3] |= 1 << (w.field & 7)
	if reserved == 0 {
		w.slot(0)
		return
	}
	var zeros [16]byte
	w.region(zeros[:reserved], size)
}

// region writes a field whose value is padded, of which the first size bytes count.
func (w *writer) region(padded []byte, size int) {
	off := len(w.dst) - w.base
	w.dst = append(w.dst, padded...)
	for len(w.dst)&7 != w.base&7 {
		w.dst = append(w.dst, 0)
	}
	w.slot(uint64(off)<<32 | uint64(size))
}

// bounds writes the lower and upper bound of a column.
func (w *writer) bounds(c *column.Column) {
	t := c.Type
	if c.Nulls == c.Len || t.Bounds == schema.NoBounds {
		for range 2 {
			switch {
			case t.Kind == schema.Interval:
				w.null(16, 16)
			case t.Kind == schema.Decimal && t.Precision > 18:
				w.null(16, 0)
			default:
				w.null(0, 0)
			}
		}
		return
	}
	validity := c.Validity
	if c.Nulls == 0 {
		validity = nil
	}
	switch t.Kind {
	case schema.Bool:
		lo, hi := boolBounds(c.Values, validity, c.Len)
		w.slot(lo)
		w.slot(hi)
	case schema.Int8:
		lo, hi := intBounds(column.View[int8](c.Values)[:c.Len], validity)
		w.slot(uint64(uint8(lo)))
		w.slot(uint64(uint8(hi)))
	case schema.Int16:
		lo, hi := intBounds(column.View[int16](c.Values)[:c.Len], validity)
		w.slot(uint64(uint16(lo)))
		w.slot(uint64(uint16(hi)))
	case schema.Int32:
		lo, hi := intBounds(column.View[int32](c.Values)[:c.Len], validity)
		w.slot(uint64(uint32(lo)))
		w.slot(uint64(uint32(hi)))
	case schema.Int64:
		lo, hi := intBounds(column.View[int64](c.Values)[:c.Len], validity)
		w.slot(uint64(lo))
		w.slot(uint64(hi))
	case schema.Float32:
		lo, hi := floatBounds(column.View[float32](c.Values)[:c.Len], validity)
		w.slot(uint64(math.Float32bits(lo)))
		w.slot(uint64(math.Float32bits(hi)))
	case schema.Float64:
		lo, hi := floatBounds(column.View[float64](c.Values)[:c.Len], validity)
		w.slot(math.Float64bits(lo))
		w.slot(math.Float64bits(hi))
	case schema.Decimal:
		lo, hi := decimalBounds(column.View[uint64](c.Values)[:2*c.Len], validity)
		for _, v := range [2]decimal{lo, hi} {
			if t.Precision <= 18 {
				w.slot(v.lo)
				continue
			}
			padded, size := row.BigEndianDecimal(v.lo, uint64(v.hi))
			w.region(padded[:], size)
		}
	case schema.String:
		lo, hi := stringBounds(c, validity)
		lo = cutLower(lo)
		w.region(lo, len(lo))
		hi = cutUpper(hi)
		w.region(hi, len(hi))
	default:
		w.null(0, 0)
		w.null(0, 0)
	}
}
