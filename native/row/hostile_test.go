package row

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/row/rowtest"
	"github.com/quiverspark/quiver/native/schema"
)

func parse(t testing.TB, types string) *schema.Schema {
	t.Helper()
	s, err := schema.ParseSpark([]byte(`{"type":"struct","fields":[` + fieldsOf(types) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// words is a row of 8-byte words.
func words(w ...uint64) []byte {
	var b []byte
	for _, x := range w {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// ref is a slot that refers to a region.
func ref(off, size uint64) uint64 { return off<<32 | size }

func TestHostileRowsAreErrors(t *testing.T) {
	const (
		list    = `{"type":"array","elementType":"string","containsNull":true}`
		mapping = `{"type":"map","keyType":"integer","valueType":"long","valueContainsNull":true}`
		nested  = `{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}},` +
			`{"name":"b","type":` + list + `,"nullable":true,"metadata":{}}]}`
	)
	for _, c := range []struct {
		name, types string
		row         []byte
		want        string
	}{
		{"short row", `"long","long"`, words(0, 1), "16 bytes, fewer than the 24 of 2 fields"},
		{"string outside", `"string"`, words(0, ref(16, 9), 0), "row 1: column c0: 9 bytes at offset 16 are outside of the 24"},
		{"string far outside", `"long","string"`, words(0, 0, ref(1<<32-1, 1<<32-1)), "column c7: 4294967295 bytes at offset 4294967295"},
		{"overlapping strings", `"string","string"`, words(0, ref(24, 8), ref(24, 8), 0), "variable-length values overlap"},
		{"decimal of no bytes", `"decimal(38,0)"`, words(0, ref(16, 0), 0, 0), "column c0: decimal of 0 bytes"},
		{"decimal of 17 bytes", `"decimal(38,0)"`, words(0, ref(16, 17), 0, 0, 0), "decimal of 17 bytes, not 1 to 16"},
		{"short interval", `"interval"`, words(0, ref(16, 8), 0, 0), "calendar interval of 8 bytes"},
		{"variant without size", `"variant"`, words(0, ref(16, 3), 0), "variant of 3 bytes"},
		{"variant value too long", `"variant"`, words(0, ref(16, 8), 5), "variant of 8 bytes with a value of 5"},
		{"variant value negative", `"variant"`, words(0, ref(16, 8), 1<<32-1), "with a value of 4294967295"},
		{"array without count", list, words(0, ref(16, 7), 0), "column c0: array of 7 bytes"},
		{"array of too many", list, words(0, ref(16, 16), 2, 0), "array of 16 bytes with 2 elements"},
		{"array of very many", list, words(0, ref(16, 16), 1<<62, 0), "array of 16 bytes with 4611686018427387904 elements"},
		{"array of negative count", list, words(0, ref(16, 16), 1<<64-1, 0), "with -1 elements"},
		{"element outside", list, words(0, ref(16, 24), 1, 0, ref(24, 1)), "column c0.element: 1 bytes at offset 24 are outside"},
		{"overlapping elements", list, words(0, ref(16, 40), 2, 0, ref(0, 30), ref(0, 30), 0), "column c0.element: variable-length values overlap"},
		{"map without size", mapping, words(0, ref(16, 4), 0), "map of 4 bytes"},
		{"keys too long", mapping, words(0, ref(16, 16), 9, 0), "map of 16 bytes with 9 bytes of keys"},
		{"keys without count", mapping, words(0, ref(16, 16), 4, 0), "column c0.key: array of 4 bytes"},
		{"values without count", mapping, words(0, ref(16, 16), 8, 0), "column c0.value: array of 0 bytes"},
		{"more keys than values", mapping, words(0, ref(16, 40), 24, 1, 0, 7, 0), "map of 1 keys and 0 values"},
		{"short struct", nested, words(0, ref(16, 16), 0, 0), "struct of 16 bytes, fewer than the 24 of its 2 fields"},
		{"deep", nested, words(0, ref(16, 64), 0, 0, ref(24, 40), 2, 0, ref(32, 8), ref(99, 1), 0), "column c0.b.element: 1 bytes at offset 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, c.types)
			// A good row, all null, comes first: the message must name the second.
			good := make([]byte, fixedBytes(len(s.Fields)))
			for i := range s.Fields {
				good[i>>3] |= 1 << (i & 7)
			}
			rows := guardedCopy(t, append(good[:len(good):len(good)], c.row...))
			_, err := NewFromRows(s).Columns(rows, []int64{int64(len(good)), int64(len(rows))}, newArena(t))
			var e *Error
			if !errors.As(err, &e) || e.Row != 1 || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "row: row 1: ") {
				t.Fatalf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestRowEndsThatDoNotFitAreErrors(t *testing.T) {
	rows := make([]byte, 64)
	for _, ends := range [][]int64{{-16}, {16, 0}, {16, 8}, {16, 80}, {16, 1 << 62}, {-1 << 63, 16}, {16, -1 << 63}, {16, -1 << 63, 32},
		{32, 1 << 63 >> 1}} {
		if _, err := NewFromRows(parse(t, `"long"`)).Columns(rows, ends, newArena(t)); err == nil {
			t.Errorf("ends %v are accepted", ends)
		}
	}
}

// TestHostileColumnsAreErrors damages columns that a decoder might hand over.
func TestHostileColumnsAreErrors(t *testing.T) {
	const list = `{"type":"array","elementType":"string","containsNull":true}`
	for _, c := range []struct {
		name, types string
		damage      func(c *column.Column)
		want        string
	}{
		{"too few slots", `"long"`, func(c *column.Column) { c.Len = 9 }, "c0: 9 slots instead of 10"},
		{"short values", `"long"`, func(c *column.Column) { c.Values = c.Values[:79] }, "79 bytes of values for 10 slots"},
		{"short bits", `"boolean"`, func(c *column.Column) { c.Values = c.Values[:1] }, "1 bytes of values"},
		{"short validity", `"long"`, func(c *column.Column) { c.Validity = []byte{1} }, "validity of 1 bytes"},
		{"short offsets", `"string"`, func(c *column.Column) { c.Offsets = c.Offsets[:40] }, "40 bytes of offsets"},
		{"falling offsets", `"string"`, func(c *column.Column) { column.View[int32](c.Offsets)[5] = -1 }, "falling offsets"},
		{"offsets beyond data", `"string"`, func(c *column.Column) { column.View[int32](c.Offsets)[10]++ }, "bytes of data"},
		{"negative last offset", `"string"`, func(c *column.Column) { column.View[int32](c.Offsets)[10] = -1 }, "negative offset"},
		{"negative first offset", `"string"`, func(c *column.Column) { column.View[int32](c.Offsets)[0] = -5 }, "negative offset"},
		{"other type", `"long"`, func(c *column.Column) { c.Type = &schema.Type{Kind: schema.String} }, "not a column of type long"},
		{"list beyond child", list, func(c *column.Column) { column.View[int32](c.Offsets)[10] += 100 }, "c0.element: "},
		{"list jumps", list, func(c *column.Column) { column.View[int32](c.Offsets)[4] = 1 << 30 }, "falling offsets"},
		{"element offsets", list, func(c *column.Column) { column.View[int32](c.Children[0].Offsets)[1] = 1 << 30 }, "c0.element: falling offsets"},
		{"no children", list, func(c *column.Column) { c.Children = nil }, "not a column of type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, c.types)
			cols := []*column.Column{randomColumn(rand.New(rand.NewPCG(1, 2)), s.Fields[0].Type, 10, 0)}
			w := NewToRows(s)
			if err := w.Begin(cols, 10); err != nil {
				t.Fatal(err)
			}
			c.damage(cols[0])
			err := w.Begin(cols, 10)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			if block, n, again := w.Next(newArena(t), 1000, make([]int32, 10)); block != nil || n != 0 || again != err {
				t.Fatalf("after the error Next gives %d rows and %v", n, again)
			}
		})
	}
}

func TestRowsBeyondTwoGiBAreErrors(t *testing.T) {
	s := parse(t, `{"type":"array","elementType":"void","containsNull":true}`)
	c := column.New(s.Fields[0].Type)
	c.Len = 1
	c.Offsets = column.Bytes([]int32{0, 1 << 30})
	c.Children[0].Len, c.Children[0].Nulls = 1<<30, 1<<30
	err := NewToRows(s).Begin([]*column.Column{c}, 1)
	if err == nil || !strings.Contains(err.Error(), "more than 2 GiB") {
		t.Fatal(err)
	}
}

// TestExactBuffers reads columns and rows behind which no byte may be touched.
func TestExactBuffers(t *testing.T) {
	for _, c := range rowtest.Cases(t, golden) {
		t.Run(c.Name, func(t *testing.T) {
			pick := make([]int, 3*len(c.Rows))
			for i := range pick {
				pick[i] = i % len(c.Rows)
			}
			rows, ends := c.Concat(pick)
			rows = guardedCopy(t, rows)
			cols, err := NewFromRows(c.Schema).Columns(rows, ends, newArena(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, col := range cols {
				guardColumn(t, col)
			}
			w := NewToRows(c.Schema)
			if err := w.Begin(cols, len(pick)); err != nil {
				t.Fatal(err)
			}
			ends32 := make([]int32, len(pick))
			_, n := w.Plan(1<<30, ends32)
			got := guarded(t, n)
			w.Write(got)
			if !bytes.Equal(got, rows) {
				t.Fatal("rows differ")
			}
		})
	}
}
