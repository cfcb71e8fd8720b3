package engine

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
	"github.com/quiverspark/quiver/native/total"
)

var everyRead = []Read{ReadVectors, ReadRows, ReadArrow, ReadTotals}

// allTerms are those that the projected columns allow.
func allTerms(d *Decoder) (terms []Term) {
	node := int32(0)
	var visit func(t *schema.Type, repeated bool)
	visit = func(t *schema.Type, repeated bool) {
		for op := total.Count; op <= total.Lengths; op++ {
			if !repeated && total.Check(op, t) == nil {
				terms = append(terms, Term{node, op})
			}
		}
		node++
		for _, f := range t.Children {
			visit(f.Type, repeated || t.Kind != schema.Struct)
		}
	}
	for _, c := range d.cols {
		visit(c.Type, false)
	}
	return terms
}

// read decodes in one of the ways, turning a memory limit into an error
// as package abi does.
func read(s *schema.Schema, p []int, b stored, how Read, mem memory.Allocator) error {
	return readFiltered(s, p, "", b, how, mem)
}

func readFiltered(s *schema.Schema, p []int, filter string, b stored, how Read, mem memory.Allocator, unread ...int) (err error) {
	d, err := NewPartialDecoder(s, p, unread, mem)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.SetFilter(filter); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			le, ok := r.(*memory.LimitError)
			if !ok {
				panic(r)
			}
			err = le
		}
	}()
	if err := feed(d, how, b); err != nil {
		return err
	}
	switch how {
	case ReadVectors:
		_, err = d.Vectors()
	case ReadRows:
		if _, err = d.Rows(); err != nil {
			return err
		}
		room := make([]int32, 64)
		for n := 1; n > 0 && err == nil; {
			_, n, err = d.NextRows(1<<16, room)
		}
	case ReadArrow:
		var rec arrow.RecordBatch
		if rec, err = d.Record(); err == nil {
			rec.Release()
		}
	case ReadTotals:
		_, err = d.Totals(allTerms(d), make([]total.Total, len(allTerms(d))))
	}
	return err
}
