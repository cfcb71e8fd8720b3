package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

func structOf(fields ...string) string {
	out := ""
	for i, f := range fields {
		out += fmt.Sprintf(`,{"name":"f%d","type":%s,"nullable":true,"metadata":{}}`, i, f)
	}
	return `{"type":"struct","fields":[` + out[1:] + `]}`
}

// partialTypes: read in the order 2, 1 the nodes of column 1 are 1 itself, fields 2 and 3, the struct 4 of 5 to 7, the array 8 of structs
// 9 of 10 and 11, the map 12 with entries 13, key 14, value 15 of 16 and 17, the interval 18 to 21, and a boolean 22.
var partialTypes = []string{
	`"long"`,
	structOf(`"long"`, `"string"`, structOf(`"double"`, `"string"`, `"decimal(30,5)"`), arrayOf(structOf(`"long"`, `"string"`)),
		`{"type":"map","keyType":"string","valueType":`+structOf(`"long"`, `"string"`)+`,"valueContainsNull":true}`, `"interval"`, `"boolean"`),
	`"string"`,
}

var (
	partialProjection = []int{2, 1}
	partialNodes      = []int{2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 16, 17, 18, 22}
	partialEnd        = map[int]int{4: 8, 8: 12, 12: 18, 18: 22} // of what is below
)

// someNodes picks nodes that may be left out together.
func someNodes(r *rand.Rand) (unread []int) {
	end, share := 0, 1+r.IntN(9)
	for _, n := range partialNodes {
		if n >= end && r.IntN(10) < share {
			unread = append(unread, n)
			end = max(n+1, partialEnd[n])
		}
	}
	return unread
}

// withVoid is array data of the pruned type: what Arrow itself holds of a, with null arrays where fields are void.
func withVoid(a arrow.ArrayData, stored, pruned *schema.Type) arrow.ArrayData {
	if stored.Kind != pruned.Kind {
		return array.NewNull(a.Len()).Data()
	}
	if len(stored.Children) == 0 {
		return a
	}
	var children []arrow.ArrayData
	for i, child := range a.Children() {
		children = append(children, withVoid(child, stored.Children[i].Type, pruned.Children[i].Type))
	}
	return array.NewData(pruned.Arrow(), a.Len(), a.Buffers(), children, a.NullN(), a.Offset())
}

// What is decoded without some fields is what a relation gives whose fields are void there.
func TestFieldsLeftOutAreVoid(t *testing.T) {
	s := sparkSchema(t, partialTypes...)
	r := rand.New(rand.NewPCG(11, 11))
	for _, codec := range ipc.CodecNames() {
		for _, n := range []int{0, 1, 100, 1500} {
			rec := randomRecord(r, s, n, 15)
			for range 8 {
				unread := someNodes(r)
				t.Run(fmt.Sprintf("%s/%d/%v", codec, n, unread), func(t *testing.T) { checkPartial(t, s, rec, codec, unread) })
			}
		}
	}
}

func checkPartial(t *testing.T, s *schema.Schema, rec arrow.RecordBatch, codec string, unread []int) {
	var mem memory.Checked
	projected, err := s.Project(partialProjection)
	if err != nil {
		t.Fatal(err)
	}
	pruned, err := projected.Without(unread)
	if err != nil {
		t.Fatal(err)
	}
	var columns []arrow.Array
	for i, c := range partialProjection {
		columns = append(columns, array.MakeFromData(withVoid(rec.Column(c).Data(), projected.Fields[i].Type, pruned.Fields[i].Type)))
	}
	voided := array.NewRecordBatch(pruned.Arrow(), columns, rec.NumRows())
	want := encoded(t, pruned, voided, codec, &mem)
	whole := encoded(t, s, rec, codec, &mem)

	all := []int{0, 1}
	for _, filter := range []string{"", "0 prefix x6162\n1 value\n", "0 null\n"} {
		for _, verify := range []bool{false, true} {
			b := whole
			if !verify {
				b.checksums = nil
				b.segments = spoiled(t, s, whole, unread)
			}
			reference, _ := NewDecoder(pruned, all, &mem)
			partial, err := NewPartialDecoder(s, partialProjection, unread, &mem)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []*Decoder{reference, partial} {
				if err := d.SetFilter(filter); err != nil {
					t.Fatal(err)
				}
			}
			compareDecoders(t, reference, partial, want, b)
			if filter == "" && !verify {
				wantRead := int64(len(b.segments[1])+len(b.segments[2])) - unreadBytes(t, s, b, unread)
				if partial.stats.BytesRead != wantRead {
					t.Fatalf("%d bytes read, want %d", partial.stats.BytesRead, wantRead)
				}
			}
			reference.Close()
			partial.Close()
		}
	}
	if mem.Live() != 0 {
		t.Fatalf("%d allocations leak", mem.Live())
	}
}

func encoded(t testing.TB, s *schema.Schema, rec arrow.RecordBatch, codec string, mem memory.Allocator) stored {
	t.Helper()
	enc, err := NewEncoder(s, Options{Codec: codec, ZstdLevel: 1}, mem)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	b, err := enc.EncodeRecord(rec)
	if err != nil {
		t.Fatal(err)
	}
	out := copyBatch(b)
	out.checksums = slices.Clone(b.Checksums)
	return out
}

// unreadBuffers calls f with the extent in segment 1 of each field that is left out.
func unreadBuffers(t *testing.T, s *schema.Schema, b stored, unread []int, f func(from, to int64)) {
	t.Helper()
	head, err := ipc.Parse(b.header)
	if err != nil {
		t.Fatal(err)
	}
	offset := func(i int) int64 {
		buffer, err := head.Buffer(i)
		if err != nil {
			t.Fatal(err)
		}
		return buffer.Offset
	}
	start, node, buffer := offset(s.FirstBuffer[1]), 1, s.FirstBuffer[1]
	var walk func(typ *schema.Type)
	walk = func(typ *schema.Type) {
		if slices.Contains(unread, node) {
			nodes, buffers := typ.NodesAndBuffers()
			f(offset(buffer)-start, offset(buffer+buffers)-start)
			node, buffer = node+nodes, buffer+buffers
			return
		}
		node, buffer = node+1, buffer+typ.Kind.NumBuffers()
		for _, c := range typ.Children {
			walk(c.Type)
		}
	}
	walk(s.Fields[1].Type)
}

func unreadBytes(t *testing.T, s *schema.Schema, b stored, unread []int) (n int64) {
	unreadBuffers(t, s, b, unread, func(from, to int64) { n += to - from })
	return n
}

// spoiled returns segments in which the bytes of fields that are left out are noise.
func spoiled(t *testing.T, s *schema.Schema, b stored, unread []int) [][]byte {
	segments := slices.Clone(b.segments)
	segments[1] = bytes.Clone(segments[1])
	unreadBuffers(t, s, b, unread, func(from, to int64) {
		for i := from; i < to; i++ {
			segments[1][i] = 0xA5
		}
	})
	return segments
}

func compareDecoders(t *testing.T, reference, partial *Decoder, want, b stored) {
	t.Helper()
	wantRec, err := decodeRecord(reference, want)
	if err != nil {
		t.Fatal(err)
	}
	gotRec, err := decodeRecord(partial, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range wantRec.Columns() {
		if !array.ApproxEqual(wantRec.Column(i), gotRec.Column(i), array.WithNaNsEqual(true), array.WithAbsTolerance(0)) {
			t.Fatalf("column %d differs:\n%.2000s\n%.2000s", i, wantRec.Column(i), gotRec.Column(i))
		}
	}
	wantRec.Release()
	gotRec.Release()
	for _, d := range []*Decoder{reference, partial} {
		d.pause, d.useless = 0, 0
	}
	wantRows, gotRows := rowBytes(t, reference, want), rowBytes(t, partial, b)
	if !bytes.Equal(wantRows, gotRows) {
		t.Fatalf("%d bytes of rows, want %d, or others", len(gotRows), len(wantRows))
	}
	for _, d := range []*Decoder{reference, partial} {
		d.pause, d.useless = 0, 0
	}
	wantVectors, gotVectors := vectorBytes(t, reference, want), vectorBytes(t, partial, b)
	if !slices.EqualFunc(wantVectors, gotVectors, bytes.Equal) {
		t.Fatalf("other vectors:\n%.2000v\n%.2000v", wantVectors, gotVectors)
	}
}

func rowBytes(t *testing.T, d *Decoder, b stored) []byte {
	t.Helper()
	if err := feed(d, ReadRows, b); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Rows(); err != nil {
		t.Fatal(err)
	}
	rows, _ := restOfRows(t, d)
	return rows
}

// vectorBytes returns the buffers of all vectors, and their lengths and null counts.
func vectorBytes(t *testing.T, d *Decoder, b stored) (out [][]byte) {
	t.Helper()
	if err := feed(d, ReadVectors, b); err != nil {
		t.Fatal(err)
	}
	v, err := d.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	for node := range v.Nodes {
		layout := v.Layout[LayoutHeader+LayoutNode*node:][:LayoutNode]
		out = append(out, fmt.Append(nil, layout[0], layout[1]))
		for k, buffer := range v.Buffers[3*node:][:3] {
			data := buffer.Data
			if buffer.Source == InSegment {
				data = b.segments[buffer.Segment][layout[2+2*k]:][:layout[3+2*k]]
			}
			out = append(out, bytes.Clone(data))
		}
	}
	return out
}

// A batch that has to be checked is checked as a whole: its checksums are of segments, not of fields.
func TestFieldsLeftOutAreCheckedWithTheirSegment(t *testing.T) {
	s := sparkSchema(t, partialTypes...)
	var mem memory.Checked
	rec := randomRecord(rand.New(rand.NewPCG(12, 12)), s, 500, 10)
	b := encoded(t, s, rec, ipc.CodecPack, &mem)
	b.segments = spoiled(t, s, b, []int{3})
	d, err := NewPartialDecoder(s, partialProjection, []int{3}, &mem)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := feed(d, ReadRows, b); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Rows(); !errors.As(err, new(*ipc.CorruptError)) {
		t.Fatalf("%v", err)
	}
}

// Damage that says that buffers overlap with those that are left out, among others.
func TestDamagedBatchesWithoutFields(t *testing.T) {
	s := sparkSchema(t, partialTypes...)
	rec := randomRecord(rand.New(rand.NewPCG(14, 14)), s, 300, 20)
	for _, codec := range ipc.CodecNames() {
		var mem memory.Checked
		mem.SetLimit(1 << 30)
		good := encoded(t, s, rec, codec, &mem)
		r := rand.New(rand.NewPCG(15, 15))
		failed := 0
		for i := range 2000 {
			bad := stored{header: bytes.Clone(good.header)}
			for _, segment := range good.segments {
				bad.segments = append(bad.segments, bytes.Clone(segment))
			}
			damage(r, &bad, i|1)
			filter := []string{"", "0 prefix x6162\n"}[i/3%2]
			err := readFiltered(s, partialProjection, filter, bad, Read(i%3), &mem, someNodes(r)...)
			if err == nil {
				continue
			}
			failed++
			if !errors.As(err, new(*ipc.CorruptError)) && !errors.As(err, new(*ipc.VersionError)) &&
				!errors.As(err, new(*ipc.CodecError)) && !errors.As(err, new(*memory.LimitError)) {
				t.Fatalf("%T: %v", err, err)
			}
		}
		if failed < 200 || mem.Live() != 0 {
			t.Fatalf("%s: %d damaged batches were noticed, %d allocations leak", codec, failed, mem.Live())
		}
	}
}

func TestWhatCannotBeLeftOut(t *testing.T) {
	s := sparkSchema(t, partialTypes...)
	for _, unread := range [][]int{{0}, {1}, {9}, {13}, {14}, {15}, {19}, {23}, {-1}, {3, 2}, {3, 3}, {4, 5}} {
		var mem memory.Checked
		if _, err := NewPartialDecoder(s, partialProjection, unread, &mem); err == nil {
			t.Errorf("%v", unread)
		}
		if mem.Live() != 0 {
			t.Error("leak")
		}
	}
}

// A column of several segments, of which fields are left out across their borders.
func TestFieldsLeftOutOfAColumnOfSeveralSegments(t *testing.T) {
	s := sparkSchema(t, `"long"`, structOf(`"long"`, `"binary"`, `"long"`), `"long"`)
	var mem memory.Checked
	b := array.NewRecordBuilder(arrowmem.DefaultAllocator, s.Arrow())
	defer b.Release()
	r := rand.New(rand.NewPCG(13, 13))
	for i := range 40 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		sb := b.Field(1).(*array.StructBuilder)
		sb.Append(true)
		sb.FieldBuilder(0).(*array.Int64Builder).Append(int64(r.Uint64()))
		noise := make([]byte, MaxSegment/16)
		for j := range noise {
			noise[j] = byte(r.Uint32())
		}
		sb.FieldBuilder(1).(*array.BinaryBuilder).Append(noise)
		sb.FieldBuilder(2).(*array.Int64Builder).Append(int64(r.Uint64()))
		b.Field(2).(*array.Int64Builder).Append(-int64(i))
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	for _, codec := range []string{ipc.CodecNone, ipc.CodecPack} {
		batch := encoded(t, s, rec, codec, &mem)
		batch.checksums = nil
		if len(batch.segments) < 5 {
			t.Fatalf("%d segments", len(batch.segments))
		}
		for _, unread := range [][]int{{2}, {3}, {1, 2}} { // of a projection that begins with column 1
			d, err := NewPartialDecoder(s, []int{1, 2}, slices.Clone(unread), &mem)
			if err != nil {
				t.Fatal(err)
			}
			got, err := decodeRecord(d, batch)
			if err != nil {
				t.Fatal(err)
			}
			want, have := rec.Column(1).(*array.Struct), got.Column(0).(*array.Struct)
			for f := range 3 {
				if !slices.Contains(unread, f+1) && !array.Equal(want.Field(f), have.Field(f)) {
					t.Fatalf("%s: field %d differs without %v", codec, f, unread)
				}
			}
			if !array.Equal(rec.Column(2), got.Column(1)) {
				t.Fatal("the next column differs")
			}
			got.Release()
			d.Close()
		}
	}
	if mem.Live() != 0 {
		t.Fatal("leak")
	}
}

// BenchmarkDecodeOneFieldOfTwenty reads a struct of 20 fields whole, and without all but one of them.
func BenchmarkDecodeOneFieldOfTwenty(b *testing.B) {
	var fields []string
	for i := range 20 {
		fields = append(fields, []string{`"long"`, `"string"`, `"double"`, `"decimal(20,2)"`, `"integer"`}[i%5])
	}
	s := sparkSchema(b, structOf(fields...))
	rec := randomRecord(rand.New(rand.NewPCG(16, 16)), s, 10000, 5)
	defer rec.Release()
	one := make([]int, 0, 19)
	for i := range 19 {
		one = append(one, 2+i)
	}
	for _, codec := range ipc.CodecNames() {
		var mem memory.Checked
		batch := encoded(b, s, rec, codec, &mem)
		batch.checksums = nil
		for name, unread := range map[string][]int{"whole": nil, "one": one} {
			for how, read := range map[string]func(*Decoder) error{
				"vectors": func(d *Decoder) error { _, err := d.Vectors(); return err },
				"rows": func(d *Decoder) error {
					if _, err := d.Rows(); err != nil {
						return err
					}
					ends := make([]int32, 8192)
					for {
						if _, n, err := d.NextRows(256<<10, ends); n == 0 || err != nil {
							return err
						}
					}
				}} {
				b.Run(fmt.Sprintf("%s/%s/%s", codec, how, name), func(b *testing.B) {
					d, err := NewPartialDecoder(s, []int{0}, unread, &mem)
					if err != nil {
						b.Fatal(err)
					}
					defer d.Close()
					for b.Loop() {
						if err := feed(d, map[string]Read{"vectors": ReadVectors, "rows": ReadRows}[how], batch); err != nil {
							b.Fatal(err)
						}
						if err := read(d); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(d.stats.BytesRead), "stored-bytes/op")
				})
			}
		}
	}
}
