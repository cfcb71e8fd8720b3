package main

import (
	"fmt"
	"iter"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/pack/internal/corpus"
	"github.com/quiverspark/quiver/native/schema"
)

// arrowFile reads an Arrow IPC file, whose batches must have offset 0.
func arrowFile(path string) (rel corpus.Relation, err error) {
	f, err := os.Open(path)
	if err != nil {
		return rel, err
	}
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return rel, err
	}
	rel.Name = path
	for _, field := range r.Schema().Fields() {
		rel.Columns = append(rel.Columns, field.Name)
	}
	rel.Batches = func(int) iter.Seq[[]*column.Column] {
		return func(yield func([]*column.Column) bool) {
			for i := range r.NumRecords() {
				rec, err := r.RecordBatch(i)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				batch := make([]*column.Column, rec.NumCols())
				for c := range batch {
					batch[c] = fromArrow(rec.Column(c))
				}
				if !yield(batch) {
					return
				}
			}
		}
	}
	return rel, nil
}

var arrowKinds = map[arrow.Type]schema.Kind{
	arrow.BOOL: schema.Bool, arrow.INT8: schema.Int8, arrow.INT16: schema.Int16, arrow.INT32: schema.Int32, arrow.DATE32: schema.Int32,
	arrow.INT64: schema.Int64, arrow.TIMESTAMP: schema.Int64, arrow.FLOAT32: schema.Float32, arrow.FLOAT64: schema.Float64,
	arrow.DECIMAL128: schema.Decimal, arrow.STRING: schema.String, arrow.BINARY: schema.Binary,
}

func fromArrow(a arrow.Array) *column.Column {
	kind, ok := arrowKinds[a.DataType().ID()]
	if !ok {
		fmt.Fprintln(os.Stderr, "type", a.DataType(), "is not supported")
		os.Exit(1)
	}
	d := a.Data().(*array.Data)
	buf := func(i int) []byte {
		if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
			return nil
		}
		return d.Buffers()[i].Bytes()
	}
	c := column.New(&schema.Type{Kind: kind, Name: a.DataType().Name()})
	c.Len, c.Nulls = a.Len(), a.NullN()
	if c.Nulls > 0 {
		c.Validity = buf(0)[:(c.Len+7)/8]
	}
	switch w := kind.ValueWidth(); {
	case kind.HasOffsets():
		c.Offsets = buf(1)[:4*(c.Len+1)]
		c.Data = buf(2)[:column.View[int32](c.Offsets)[c.Len]]
	case w > 0:
		c.Values = buf(1)[:w*c.Len]
	default:
		c.Values = buf(1)[:(c.Len+7)/8]
	}
	return c
}
