package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/quiverspark/quiver/native/filter"
	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// filterCases are conditions on columns of sparkTypes, with what Arrow's own
// arrays say about a slot that is not null. Some let more than a quarter pass.
var filterCases = []struct {
	name, typ, condition string
	meets                func(a arrow.Array, i int) bool
}{
	{"bool", "boolean", "range 1 1", func(a arrow.Array, i int) bool { return a.(*array.Boolean).Value(i) }},
	{"byte", "byte", "range -500 -100 100 101", func(a arrow.Array, i int) bool {
		v := a.(*array.Int8).Value(i)
		return v <= -100 || v == 100 || v == 101
	}},
	{"short", "short", "range 30000 9223372036854775807", func(a arrow.Array, i int) bool { return a.(*array.Int16).Value(i) >= 30000 }},
	{"int", "integer", "range -20 -10 30 30", func(a arrow.Array, i int) bool {
		v := a.(*array.Int32).Value(i)
		return -20 <= v && v <= -10 || v == 30
	}},
	{"many ranges", "integer", "range -9 -9 -7 -7 -5 -5 -3 -3 -1 -1 1 1 3 3 5 5 7 7 9 9", func(a arrow.Array, i int) bool {
		v := a.(*array.Int32).Value(i)
		return v&1 == 1 && -10 < v && v < 10
	}},
	{"long", "long", "range -9223372036854775808 -6000000000000000000", func(a arrow.Array, i int) bool {
		return a.(*array.Int64).Value(i) <= -6e18
	}},
	{"never", "long", "range 5 5", func(arrow.Array, int) bool { return false }},
	{"decimal", "decimal(7,2)", "range -100 100", func(a arrow.Array, i int) bool {
		v := a.(*array.Decimal128).Value(i)
		return v.Cmp(decimal128.FromI64(-100)) >= 0 && v.Cmp(decimal128.FromI64(100)) <= 0
	}},
	{"zeros", "double", "range 0 0", func(a arrow.Array, i int) bool { return a.(*array.Float64).Value(i) == 0 }},
	{"NaN", "double", "range 9223372036854775807 9223372036854775807", func(a arrow.Array, i int) bool {
		v := a.(*array.Float64).Value(i)
		return v != v
	}},
	{"negative", "float", "range -9223372036854775808 -1", func(a arrow.Array, i int) bool { return a.(*array.Float32).Value(i) < 0 }},
	{"date", "date", "range 100 900", func(a arrow.Array, i int) bool {
		v := a.(*array.Date32).Value(i)
		return 100 <= v && v <= 900
	}},
	{"string", "string", "equal xe282ac61 x6162e282ac", func(a arrow.Array, i int) bool { return a.(*array.String).Value(i) == "ab€" }},
	{"empty string", "string", "equal x", func(a arrow.Array, i int) bool { return a.(*array.String).Value(i) == "" }},
	{"prefix", "string", "prefix x6162e282ac6162e282ac6162e282ac6162e282ac6162e282ac", func(a arrow.Array, i int) bool {
		return strings.HasPrefix(a.(*array.String).Value(i), strings.Repeat("ab€", 5))
	}},
}

func TestFilterLeavesExactlyTheRowsThatMeetIt(t *testing.T) {
	s := sparkSchema(t, sparkTypes...)
	all := make([]int, len(s.Fields))
	for i := range all {
		all[i] = i
	}
	for _, codec := range ipc.CodecNames() {
		for _, nulls := range []int{0, 30} {
			for _, n := range []int{1, 9, 1500} {
				if testing.Short() && n > 1000 {
					continue
				}
				rec := randomRecord(rand.New(rand.NewPCG(11, uint64(n))), s, n, nulls)
				var mem memory.Checked
				enc, err := NewEncoder(s, Options{Codec: codec, ZstdLevel: 1}, &mem)
				if err != nil {
					t.Fatal(err)
				}
				b, err := enc.EncodeRecord(rec)
				if err != nil {
					t.Fatal(err)
				}
				batch := copyBatch(b)
				enc.Close()
				rows, ends := allRows(t, s, all, batch, &mem)
				for _, c := range filterCases {
					t.Run(fmt.Sprintf("%s/%d/%d/%s", codec, nulls, n, c.name), func(t *testing.T) {
						checkFilter(t, s, all, rec, batch, rows, ends, c.typ, c.condition, c.meets)
					})
				}
				rec.Release()
				if mem.Live() != 0 {
					t.Fatalf("%d allocations leak", mem.Live())
				}
			}
		}
	}
}

func checkFilter(t *testing.T, s *schema.Schema, all []int, rec arrow.RecordBatch, batch stored, rows []byte, ends []int64,
	typ, condition string, meets func(arrow.Array, int) bool) {
	column := -1
	for i, f := range s.Fields {
		if f.Type.Name == typ {
			column = i
			break
		}
	}
	var want []byte
	var kept []int
	start := int64(0)
	for i, end := range ends {
		if a := rec.Column(column); a.IsValid(i) && meets(a, i) {
			want = append(want, rows[start:end]...)
			kept = append(kept, i)
		}
		start = end
	}
	if 4*len(kept) > len(ends) {
		want, kept = rows, nil
		for i := range ends {
			kept = append(kept, i)
		}
	}
	var mem memory.Checked
	d, err := NewDecoder(s, all, &mem)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SetFilter(fmt.Sprintf("%d %s\n", column, condition)); err != nil {
		t.Fatal(err)
	}
	if err := feed(d, ReadRows, batch); err != nil {
		t.Fatal(err)
	}
	st, err := d.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if st.Kept != int64(len(kept)) || st.Rows != int64(len(ends)) {
		t.Fatalf("%d of %d rows kept, want %d", st.Kept, st.Rows, len(kept))
	}
	got, _ := restOfRows(t, d)
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes of rows, want %d", len(got), len(want))
	}
	d.pause = 0 // look at the batch again, whatever the first time taught
	checkFilteredVectors(t, d, rec, batch, kept)
	d.Close()
	if mem.Live() != 0 {
		t.Fatalf("%d allocations leak", mem.Live())
	}
}

// checkFilteredVectors compares null counts of all columns, longs and strings.
func checkFilteredVectors(t *testing.T, d *Decoder, rec arrow.RecordBatch, batch stored, kept []int) {
	t.Helper()
	if err := feed(d, ReadVectors, batch); err != nil {
		t.Fatal(err)
	}
	v, err := d.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	if v.Layout[3] != int64(len(kept)) {
		t.Fatalf("layout says %d rows are kept, want %d", v.Layout[3], len(kept))
	}
	buffer := func(node, which int) []byte {
		b, at := v.Buffers[3*node+which], v.Layout[LayoutHeader+LayoutNode*node+2+2*which:]
		if b.Source == InSegment {
			return batch.segments[b.Segment][at[0] : at[0]+at[1]]
		}
		return b.Data
	}
	for i, f := range d.projected.Fields {
		node, a, nulls := d.projected.FirstNode[i], rec.Column(i), 0
		if f.Type.Kind == schema.Null {
			continue // arrow-go says that no slot of these is null
		}
		for _, k := range kept {
			if a.IsNull(k) {
				nulls++
			}
		}
		layout := v.Layout[LayoutHeader+LayoutNode*node:]
		if layout[0] != int64(len(kept)) || layout[1] != int64(nulls) {
			t.Fatalf("%s: %d slots, %d nulls; want %d, %d", f.Type.Name, layout[0], layout[1], len(kept), nulls)
		}
		if nulls > 0 {
			for j, k := range kept {
				if (buffer(node, 0)[j] == 1) != a.IsNull(k) {
					t.Fatalf("%s: slot %d is null: %v", f.Type.Name, j, !a.IsNull(k))
				}
			}
		}
		for j, k := range kept {
			if a.IsNull(k) {
				continue
			}
			switch a := a.(type) {
			case *array.Int64:
				if got := int64(binary.LittleEndian.Uint64(buffer(node, 1)[8*j:])); got != a.Value(k) {
					t.Fatalf("slot %d is %d, want %d", j, got, a.Value(k))
				}
			case *array.String:
				o := buffer(node, 1)[4*j:]
				got := string(buffer(node, 2)[binary.LittleEndian.Uint32(o):binary.LittleEndian.Uint32(o[4:])])
				if got != a.Value(k) {
					t.Fatalf("slot %d is %q, want %q", j, got, a.Value(k))
				}
			}
		}
	}
}

func TestNullConditions(t *testing.T) {
	s := sparkSchema(t, sparkTypes...)
	rec := randomRecord(rand.New(rand.NewPCG(12, 1)), s, 100, 20)
	defer rec.Release()
	var mem memory.Checked
	enc, _ := NewEncoder(s, Options{Codec: ipc.CodecPack, ZstdLevel: 1}, &mem)
	defer enc.Close()
	b, err := enc.EncodeRecord(rec)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range s.Fields {
		d, _ := NewDecoder(s, []int{i}, &mem)
		for _, condition := range []string{"null", "value"} {
			if err := d.SetFilter("0 " + condition); err != nil {
				t.Fatal(err)
			}
			if err := feed(d, ReadRows, copyBatch(b)); err != nil {
				t.Fatal(err)
			}
			st, err := d.Rows()
			if err != nil {
				t.Fatal(err)
			}
			want := int64(rec.Column(i).NullN())
			if f.Type.Kind == schema.Null {
				want = 100
			}
			if condition == "value" {
				want = 100 - want
			}
			if want > 25 {
				want = 100 // not worth dropping any
			}
			if st.Kept != want {
				t.Errorf("%s %s: %d rows kept, want %d", f.Type.Name, condition, st.Kept, want)
			}
		}
		d.Close()
	}
}

func TestUselessFiltersPause(t *testing.T) {
	var f rowFilter
	if f.wanted() {
		t.Fatal("wanted without conditions")
	}
	f.conditions = make([]filter.Condition, 1)
	looked := 0
	for range 1000 {
		if f.wanted() {
			looked++
			f.learn(9, 10)
		}
	}
	if looked < 20 || looked > 40 {
		t.Fatalf("looked at %d of 1000 batches", looked)
	}
	for !f.wanted() {
	}
	f.learn(1, 10)
	if !f.wanted() {
		t.Fatal("not wanted after it was useful")
	}
}

func TestWrongFilters(t *testing.T) {
	var mem memory.Checked
	s := sparkSchema(t, `"long"`, `"string"`, `"decimal(38,10)"`, `"binary"`)
	d, _ := NewDecoder(s, []int{0, 1, 2, 3}, &mem)
	defer d.Close()
	for text, want := range map[string]string{
		"0":                  "is no condition",
		"x range 1 2":        "column x of 4",
		"4 null":             "column 4 of 4",
		"-1 null":            "column -1 of 4",
		"0 range 1":          "odd number of ends",
		"0 range 2 1":        "does not rise",
		"0 range 1 2 2 3":    "does not rise",
		"0 range a b":        "invalid syntax",
		"0 equal x61":        "no string",
		"1 range 0 1":        "no ranges",
		"2 range 0 1":        "no ranges",
		"3 prefix x00":       "no string",
		"1 equal 61":         "not x and hexadecimal",
		"1 equal x6":         "not x and hexadecimal",
		"1 prefix x61 x62":   "2 prefixes",
		"1 null 3":           "1 operands",
		"1 like x61":         "no such condition",
		"1 null\n\n1 value":  "is no condition",
		"1 value\n0 range 1": "odd number of ends",
	} {
		if err := d.SetFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The pause must stay long, however many batches in a row conditions leave in.
func TestPauseStaysLong(t *testing.T) {
	var f rowFilter
	for i, want := range []int{1, 3, 7, 15, 31} {
		if f.learn(10, 10) || f.pause != want {
			t.Fatalf("a pause of %d after %d batches, want %d", f.pause, i+1, want)
		}
	}
	for i := range 1000 {
		if f.learn(10, 10); f.pause != maxPause {
			t.Fatalf("a pause of %d after %d batches", f.pause, i+6)
		}
	}
	if !f.learn(1, 10) {
		t.Fatal("rows are not dropped where few are left")
	}
	if f.learn(10, 10); f.pause != 1 {
		t.Fatalf("a pause of %d after a batch that was of use", f.pause)
	}
}
