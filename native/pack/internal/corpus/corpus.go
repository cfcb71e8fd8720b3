// Package corpus makes the relations that pack is measured and tested on:
// always the same for the same arguments, batch by batch, as a cache meets them.
package corpus

import (
	"fmt"
	"iter"
	"math/rand"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// BatchRows is the number of rows of a batch.
const BatchRows = 10000

// Relation is a named relation and a way to make its batches: top-level
// columns, all of the same length.
type Relation struct {
	Name    string
	Columns []string
	Batches func(rows int) iter.Seq[[]*column.Column]
}

// Types of the columns made here.
var (
	Int32   = &schema.Type{Kind: schema.Int32, Name: "integer"}
	Int64   = &schema.Type{Kind: schema.Int64, Name: "long"}
	Float64 = &schema.Type{Kind: schema.Float64, Name: "double"}
	Decimal = &schema.Type{Kind: schema.Decimal, Name: "decimal(15,2)", Precision: 15, Scale: 2}
	String  = &schema.Type{Kind: schema.String, Name: "string"}
)

// textCell makes the values of one column; ok false is a null.
type textCell func(dst []byte, row int) (out []byte, ok bool)

type builder struct {
	col *column.Column
	set []byte
}

func newBuilder(t *schema.Type, n int) builder {
	c := column.New(t)
	c.Len = n
	return builder{col: c, set: make([]byte, (n+7)/8)}
}

func (b *builder) put(i int, ok bool) {
	if ok {
		b.set[i>>3] |= 1 << (i & 7)
	} else {
		b.col.Nulls++
	}
}

func (b *builder) done() *column.Column {
	if b.col.Nulls > 0 {
		b.col.Validity = b.set
	}
	return b.col
}

// Longs makes a column of Int64, Int32 or Decimal from rows [from, from+n).
func Longs(t *schema.Type, from, n int, f func(row int) (int64, bool)) *column.Column {
	b := newBuilder(t, n)
	w := t.Kind.ValueWidth()
	out := make([]byte, n*w)
	for i := range n {
		v, ok := f(from + i)
		b.put(i, ok)
		switch w {
		case 4:
			column.View[int32](out)[i] = int32(v)
		case 8:
			column.View[int64](out)[i] = v
		case 16:
			column.View[int64](out)[2*i] = v
			column.View[int64](out)[2*i+1] = v >> 63
		}
	}
	b.col.Values = out
	return b.done()
}

// Doubles makes a Float64 column.
func Doubles(from, n int, f func(row int) (float64, bool)) *column.Column {
	b := newBuilder(Float64, n)
	out := make([]float64, n)
	for i := range n {
		v, ok := f(from + i)
		b.put(i, ok)
		out[i] = v
	}
	b.col.Values = column.Bytes(out)
	return b.done()
}

// Texts makes a String column; f appends a row's bytes to dst.
func Texts(from, n int, f func(dst []byte, row int) ([]byte, bool)) *column.Column {
	b := newBuilder(String, n)
	offsets := make([]int32, n+1)
	var data []byte
	for i := range n {
		out, ok := f(data, from+i)
		if ok {
			data = out
		}
		b.put(i, ok)
		offsets[i+1] = int32(len(data))
	}
	b.col.Offsets = column.Bytes(offsets)
	b.col.Data = data
	if data == nil {
		b.col.Data = []byte{}
	}
	return b.done()
}

func structOf(children ...*column.Column) *column.Column {
	t := &schema.Type{Kind: schema.Struct, Name: "struct"}
	for i, c := range children {
		t.Children = append(t.Children, schema.Field{Name: fmt.Sprint("f", i), Type: c.Type, Nullable: true})
	}
	return &column.Column{Type: t, Len: children[0].Len, Children: children}
}

// cut runs f over batches of at most BatchRows rows.
func cut(rows int, f func(from, n int) []*column.Column) iter.Seq[[]*column.Column] {
	return func(yield func([]*column.Column) bool) {
		for from := 0; from < rows; from += BatchRows {
			if !yield(f(from, min(BatchRows, rows-from))) {
				return
			}
		}
	}
}

// all adapts a function without nulls.
func all[T any](f func(row int) T) func(row int) (T, bool) {
	return func(row int) (T, bool) { return f(row), true }
}

func every8[T any](null int, f func(row int) T) func(row int) (T, bool) {
	return func(row int) (T, bool) { return f(row), row%8 != null }
}

func key(prefix string, null int, f func(row int) int) textCell {
	return func(dst []byte, row int) ([]byte, bool) {
		return fmt.Append(append(dst, prefix...), f(row)), row%8 != null
	}
}

// Flat is the flat relation of the cache-format benchmark: three longs and
// three strings, an eighth of each null.
var Flat = Relation{Name: "flat", Columns: []string{"id", "k", "v", "s1", "s2", "s3"},
	Batches: func(rows int) iter.Seq[[]*column.Column] {
		return cut(rows, func(from, n int) []*column.Column {
			return []*column.Column{
				Longs(Int64, from, n, every8(0, func(r int) int64 { return int64(r) })),
				Longs(Int64, from, n, every8(1, func(r int) int64 { return int64(r % 1000) })),
				Longs(Int64, from, n, every8(2, func(r int) int64 { return int64(r + 1) })),
				Texts(from, n, key("str_a_", 3, func(r int) int { return r % 100000 })),
				Texts(from, n, key("str_b_", 4, func(r int) int { return r % 7919 })),
				Texts(from, n, key("str_c_", 5, func(r int) int { return r })),
			}
		})
	}}

// Nested is the nested relation of the cache-format benchmark.
var Nested = Relation{Name: "nested", Columns: []string{"id", "sc", "deep", "wide", "tail", "d"},
	Batches: func(rows int) iter.Seq[[]*column.Column] {
		return cut(rows, func(from, n int) []*column.Column {
			long := func(null int, f func(r int) int64) *column.Column { return Longs(Int64, from, n, every8(null, f)) }
			return []*column.Column{
				long(0, func(r int) int64 { return int64(r) }),
				structOf(long(1, func(r int) int64 { return int64(r % 1000) }),
					Texts(from, n, key("b_", -1, func(r int) int { return r % 100000 }))),
				structOf(structOf(long(2, func(r int) int64 { return int64(r + 1) }),
					Texts(from, n, key("w_", -1, func(r int) int { return r % 7919 })))),
				structOf(long(3, func(r int) int64 { return int64(r + 2) }), long(4, func(r int) int64 { return int64(r * 3) }),
					Texts(from, n, key("r_", -1, func(r int) int { return r }))),
				Texts(from, n, key("tail_", 5, func(r int) int { return r })),
				Doubles(from, n, every8(6, func(r int) float64 { return float64(r) / 3 })),
			}
		})
	}}

// Wide returns the relation of that many bigint columns of the benchmark, in
// batches as Spark cuts them for it: rows in 16 partitions.
func Wide(columns int) Relation {
	r := Relation{Name: fmt.Sprint("wide", columns)}
	for i := range columns {
		r.Columns = append(r.Columns, fmt.Sprint("c", i))
	}
	r.Batches = func(rows int) iter.Seq[[]*column.Column] {
		return func(yield func([]*column.Column) bool) {
			for p := range 16 {
				from, to := rows*p/16, rows*(p+1)/16
				for ; from < to; from += BatchRows {
					n := min(BatchRows, to-from)
					batch := make([]*column.Column, columns)
					for c := range batch {
						batch[c] = Longs(Int64, from, n, func(row int) (int64, bool) { return int64(row + c), (row+c)%8 != 0 })
					}
					if !yield(batch) {
						return
					}
				}
			}
		}
	}
	return r
}

// RawSize is the number of bytes of c's Arrow buffers, children included.
func RawSize(c *column.Column) int {
	n := len(c.Values) + len(c.Offsets) + len(c.Data)
	if c.Nulls > 0 {
		n += len(c.Validity)
	}
	for _, child := range c.Children {
		n += RawSize(child)
	}
	return n
}

// Nodes lists c and its descendants in pre-order, the order of Arrow's field nodes.
func Nodes(dst []*column.Column, c *column.Column) []*column.Column {
	dst = append(dst, c)
	for _, child := range c.Children {
		dst = Nodes(dst, child)
	}
	return dst
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.Intn(len(from))] }
