package row

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/row/rowtest"
	"github.com/quiverspark/quiver/native/schema"
)

// FuzzHostileRows reads arbitrary bytes as rows of one of Spark's schemas. What
// is accepted must survive the way back.
func FuzzHostileRows(f *testing.F) {
	cases := rowtest.Cases(f, golden)
	for i, c := range cases {
		if c.Name == "wide" {
			continue // large, and nothing in it that the others do not have
		}
		rows, ends := c.Concat([]int{0, len(c.Rows) - 1})
		f.Add(uint16(i), rows, uint16(ends[0]/8))
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte, cut uint16) {
		c := cases[int(which)%len(cases)]
		rows := guardedCopy(t, data)
		ends := []int64{min(int64(cut)*8, int64(len(rows))), int64(len(rows))}
		a := newArena(t)
		cols, err := NewFromRows(c.Schema).Columns(rows, ends, a)
		if limit := 64*len(rows) + 4096*(c.Schema.FirstBuffer[len(c.Schema.Fields)]+8); a.Allocated() > max(limit, 4<<20) {
			t.Fatalf("%d bytes allocated for rows of %d", a.Allocated(), len(rows))
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Row < 0 || e.Row > 1 {
				t.Fatal(err)
			}
			return
		}
		for _, col := range cols {
			checkColumns(t, col)
		}
		there := toRows(t, NewToRows(c.Schema), cols, 2, 1<<30, 10, newArena(t))
		again, err := NewFromRows(c.Schema).Columns(there, endsOf(t, c.Schema, cols, 2), newArena(t))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			if got, want := rowtest.Row(again, i), rowtest.Row(cols, i); got != want {
				t.Fatalf("row %d is %s, was %s", i, got, want)
			}
		}
	})
}

// endsOf returns the end offsets of n rows.
func endsOf(t testing.TB, s *schema.Schema, cols []*column.Column, n int) []int64 {
	w := NewToRows(s)
	if err := w.Begin(cols, n); err != nil {
		t.Fatal(err)
	}
	ends := make([]int32, n)
	w.Plan(1<<30, ends)
	wide := make([]int64, n)
	for i, e := range ends {
		wide[i] = int64(e)
	}
	return wide
}

var leafNames = []string{"void", "boolean", "byte", "short", "integer", "long", "float", "double", "decimal(10,2)", "decimal(38,3)",
	"string", "binary", "date", "timestamp", "interval", "variant"}

// randomType returns a type of at most the depth, with its JSON.
func randomType(r *rand.Rand, depth int) string {
	if depth > 0 {
		switch r.IntN(6) {
		case 0:
			return fmt.Sprintf(`{"type":"array","elementType":%s,"containsNull":true}`, randomType(r, depth-1))
		case 1:
			return fmt.Sprintf(`{"type":"map","keyType":%s,"valueType":%s,"valueContainsNull":true}`,
				randomType(r, depth-1), randomType(r, depth-1))
		case 2, 3:
			return `{"type":"struct","fields":[` + randomFields(r, r.IntN(4), depth-1) + `]}`
		}
	}
	return `"` + leafNames[r.IntN(len(leafNames))] + `"`
}

func randomFields(r *rand.Rand, n, depth int) string {
	fields := ""
	for i := range n {
		if i > 0 {
			fields += ","
		}
		fields += fmt.Sprintf(`{"name":"f%d","type":%s,"nullable":true,"metadata":{}}`, i, randomType(r, depth))
	}
	return fields
}

// FuzzColumnsThereAndBack pivots random columns of random types: nulls are also
// where their parents are null, and anything is in null slots.
func FuzzColumnsThereAndBack(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, err := schema.ParseSpark([]byte(`{"type":"struct","fields":[` + randomFields(r, r.IntN(12), 3) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		n := r.IntN(300)
		var cols []*column.Column
		for _, field := range s.Fields {
			cols = append(cols, randomColumn(r, field.Type, n, []int{0, 1, 2, 10, 1000}[r.IntN(5)]))
		}
		w := NewToRows(s)
		rows := toRows(t, w, cols, n, 1+r.IntN(20000), 1+r.IntN(700), newArena(t))
		back, err := NewFromRows(s).Columns(rows, endsOf(t, s, cols, n), newArena(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range back {
			checkColumns(t, c)
		}
		for i := range n {
			if got, want := rowtest.Row(back, i), rowtest.Row(cols, i); got != want {
				t.Fatalf("row %d is %s, was %s", i, got, want)
			}
		}
		if again := toRows(t, w, back, n, 1<<30, n+1, newArena(t)); !bytes.Equal(again, rows) {
			t.Fatal("rows differ the second time")
		}
	})
}
