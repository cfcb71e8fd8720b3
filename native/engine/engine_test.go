package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// sparkTypes has one column of each storable kind and nested ones.
var sparkTypes = []string{
	`"void"`, `"boolean"`, `"byte"`, `"short"`, `"integer"`, `"long"`, `"float"`, `"double"`, `"decimal(7,2)"`, `"decimal(18,0)"`,
	`"decimal(38,10)"`, `"string"`, `"binary"`, `"date"`, `"timestamp"`, `"timestamp_ntz"`, `"interval"`, `"interval year to month"`,
	`"interval day to second"`, `"variant"`,
	`{"type":"array","elementType":"long","containsNull":true}`,
	`{"type":"array","elementType":"string","containsNull":true}`,
	`{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"boolean","containsNull":true},"valueContainsNull":true}`,
	`{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}},` +
		`{"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"x","type":"double","nullable":true,"metadata":{}}]},` +
		`"containsNull":true},"nullable":true,"metadata":{}}]}`,
}

func sparkSchema(t testing.TB, types ...string) *schema.Schema {
	t.Helper()
	var fields []string
	for i, typ := range types {
		fields = append(fields, fmt.Sprintf(`{"name":"c%d","type":%s,"nullable":true,"metadata":{}}`, i, typ))
	}
	s, err := schema.ParseSpark([]byte(`{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fill appends n random values to b; about nulls per cent of them null.
func fill(r *rand.Rand, b array.Builder, n, nulls int) {
	for range n {
		if r.IntN(100) < nulls {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.NullBuilder:
			b.AppendNull()
		case *array.BooleanBuilder:
			b.Append(r.IntN(2) == 0)
		case *array.Int8Builder:
			b.Append(int8(r.Uint32()))
		case *array.Int16Builder:
			b.Append(int16(r.Uint32()))
		case *array.Int32Builder:
			b.Append(int32(r.Uint32N(1000)) - 500)
		case *array.Date32Builder:
			b.Append(arrow.Date32(r.IntN(20000)))
		case *array.Int64Builder:
			b.Append(int64(r.Uint64()))
		case *array.Float32Builder:
			b.Append(float32(r.NormFloat64()))
		case *array.Float64Builder:
			b.Append([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), r.NormFloat64()}[r.IntN(5)])
		case *array.Decimal128Builder:
			if err := b.AppendValueFromString(fmt.Sprint(r.IntN(99999) - 50000)); err != nil {
				panic(err)
			}
		case *array.StringBuilder:
			b.Append(strings.Repeat("ab€", r.IntN(9)))
		case *array.BinaryBuilder:
			b.Append([]byte(strings.Repeat("\xff\x00", r.IntN(20))))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(r.Int64N(1 << 50)))
		case *array.MonthIntervalBuilder:
			b.Append(arrow.MonthInterval(r.IntN(1000)))
		case *array.DurationBuilder:
			b.Append(arrow.Duration(r.Int64N(1 << 50)))
		case *array.ListBuilder:
			b.Append(true)
			fill(r, b.ValueBuilder(), r.IntN(4), nulls)
		case *array.MapBuilder:
			b.Append(true)
			m := r.IntN(4)
			fill(r, b.KeyBuilder(), m, 0)
			fill(r, b.ItemBuilder(), m, nulls)
		case *array.StructBuilder:
			b.Append(true)
			below := nulls
			if f := b.Type().(*arrow.StructType).Field(0).Name; f == "months" || f == "value" {
				below = 0 // parts of an interval or variant are null only with it
			}
			for i := range b.NumField() {
				fill(r, b.FieldBuilder(i), 1, below)
			}
		default:
			panic(fmt.Sprintf("no values for %T", b))
		}
	}
}

func randomRecord(r *rand.Rand, s *schema.Schema, n, nulls int) arrow.RecordBatch {
	b := array.NewRecordBuilder(arrowmem.DefaultAllocator, s.Arrow())
	defer b.Release()
	for _, f := range b.Fields() {
		fill(r, f, n, nulls)
	}
	return b.NewRecordBatch()
}

// stored is an encoded batch copied out of its encoder.
type stored struct {
	header    []byte
	segments  [][]byte
	checksums []byte // nil: read without a check
}

func copyBatch(b *Batch) stored {
	s := stored{header: append([]byte(nil), b.Header...)}
	for _, seg := range b.Segments {
		s.segments = append(s.segments, append([]byte(nil), seg...))
	}
	return s
}

// feed does what a caller of Plan has to do.
func feed(d *Decoder, read Read, b stored) error {
	needs, err := d.Plan(read, b.header, len(b.segments), b.checksums)
	if err != nil {
		return err
	}
	for i := range needs {
		n := &needs[i]
		stored := b.segments[n.FirstSegment]
		if n.NumSegments > 1 {
			stored = bytes.Join(b.segments[n.FirstSegment:n.FirstSegment+n.NumSegments], nil)
		}
		if len(stored) >= int(n.Skip) { // else they are not those of the header
			copy(n.Data, stored[n.Skip:])
		}
		n.Present = int64(len(stored))
	}
	return nil
}

func decodeRecord(d *Decoder, b stored) (arrow.RecordBatch, error) {
	if err := feed(d, ReadArrow, b); err != nil {
		return nil, err
	}
	return d.Record()
}

func TestRoundTripEveryTypeAndCodec(t *testing.T) {
	s := sparkSchema(t, sparkTypes...)
	sizes := []int{0, 1, 7, 64, 1000, 10001}
	if testing.Short() {
		sizes = []int{0, 1, 7, 300}
	}
	for _, name := range ipc.CodecNames() {
		for _, n := range sizes {
			for _, nulls := range []int{0, 20, 100} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, n, nulls), func(t *testing.T) {
					var mem memory.Checked
					rec := randomRecord(rand.New(rand.NewPCG(1, uint64(n))), s, n, nulls)
					defer rec.Release()
					enc, err := NewEncoder(s, Options{Codec: name, ZstdLevel: 1}, &mem)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 { // the second round meets used scratch
						b, err := enc.EncodeRecord(rec)
						if err != nil {
							t.Fatal(err)
						}
						if b.Rows != n || len(b.Segments) != len(s.Fields) {
							t.Fatalf("%d rows, %d segments", b.Rows, len(b.Segments))
						}
						projections(t, s, rec, copyBatch(b), &mem)
					}
					enc.Close()
					if mem.Live() != 0 {
						t.Fatalf("%d allocations leaked", mem.Live())
					}
				})
			}
		}
	}
}

// projections decodes all columns, none, and the odd ones backwards.
func projections(t *testing.T, s *schema.Schema, rec arrow.RecordBatch, b stored, mem memory.Allocator) {
	t.Helper()
	var all, odd []int
	for i := range s.Fields {
		all = append(all, i)
		if i%2 == 1 {
			odd = append([]int{i}, odd...)
		}
	}
	for _, p := range [][]int{all, {}, odd, {3, 3}} {
		d, err := NewDecoder(s, p, mem)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeRecord(d, b)
		d.Close() // the record outlives its decoder
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range p {
			if !array.ApproxEqual(rec.Column(c), got.Column(i), array.WithNaNsEqual(true), array.WithAbsTolerance(0)) {
				t.Fatalf("column %d (%s) differs:\n%.1000s\n%.1000s", c, s.Fields[c].Type.Name, rec.Column(c).String(), got.Column(i).String())
			}
		}
		if got.NumRows() != rec.NumRows() {
			t.Fatalf("%d rows", got.NumRows())
		}
		got.Release()
	}
}

func TestRowsRoundTrip(t *testing.T) {
	s := sparkSchema(t, sparkTypes...)
	var mem memory.Checked
	rec := randomRecord(rand.New(rand.NewPCG(2, 2)), s, 777, 15)
	defer rec.Release()
	for _, name := range ipc.CodecNames() {
		enc, err := NewEncoder(s, Options{Codec: name, ZstdLevel: 1}, &mem)
		if err != nil {
			t.Fatal(err)
		}
		b, err := enc.EncodeRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for i := range s.Fields {
			all = append(all, i)
		}
		first := copyBatch(b)
		rows, ends := allRows(t, s, all, first, &mem)
		if len(ends) != 777 {
			t.Fatalf("%d rows", len(ends))
		}
		// Rows go in again and must give the same columns.
		if b, err = enc.EncodeRows(rows, ends); err != nil {
			t.Fatal(err)
		}
		second := copyBatch(b)
		d, _ := NewDecoder(s, all, &mem)
		got, err := decodeRecord(d, second)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if !array.ApproxEqual(rec.Column(i), got.Column(i), array.WithNaNsEqual(true)) {
				t.Fatalf("%s: column %d (%s) differs:\n%.1000s\n%.1000s", name, i, s.Fields[i].Type.Name, rec.Column(i).String(), got.Column(i).String())
			}
		}
		got.Release()
		d.Close()
		enc.Close()
	}
	if mem.Live() != 0 {
		t.Fatalf("%d allocations leaked", mem.Live())
	}
}

func allRows(t *testing.T, s *schema.Schema, p []int, b stored, mem memory.Allocator) (rows []byte, ends []int64) {
	t.Helper()
	d, err := NewDecoder(s, p, mem)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := feed(d, ReadRows, b); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Rows(); err != nil {
		t.Fatal(err)
	}
	return restOfRows(t, d)
}

// restOfRows reads all blocks of rows of the batch that d reads.
func restOfRows(t *testing.T, d *Decoder) (rows []byte, ends []int64) {
	t.Helper()
	room := make([]int32, 100)
	for {
		block, n, err := d.NextRows(4096, room)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return rows, ends
		}
		for _, e := range room[:n] {
			ends = append(ends, int64(len(rows))+int64(e))
		}
		rows = append(rows, block...)
	}
}

func TestColumnLongerThanASegmentIsSplit(t *testing.T) {
	s := sparkSchema(t, `"long"`, `"binary"`, `"long"`)
	var mem memory.Checked
	b := array.NewRecordBuilder(arrowmem.DefaultAllocator, s.Arrow())
	r := rand.New(rand.NewPCG(3, 3))
	big := make([]byte, MaxSegment/2+1<<20)
	for i := 0; i < len(big); i += 64 {
		big[i] = byte(r.Uint32())
	}
	for i := range int64(3) {
		b.Field(0).(*array.Int64Builder).Append(i)
		b.Field(1).(*array.BinaryBuilder).Append(big[:len(big)-int(i)])
		b.Field(2).(*array.Int64Builder).Append(-i)
	}
	rec := b.NewRecordBatch()
	for _, name := range ipc.CodecNames() {
		enc, _ := NewEncoder(s, Options{Codec: name, ZstdLevel: 1}, &mem)
		batch, err := enc.EncodeRecord(rec)
		if err != nil {
			t.Fatal(err)
		}
		if name == ipc.CodecNone && len(batch.Segments) != 2+2 {
			t.Fatalf("%d segments", len(batch.Segments))
		}
		projections3(t, s, rec, copyBatch(batch), &mem)
		enc.Close()
	}
	if mem.Live() != 0 {
		t.Fatal("leak")
	}
}

func projections3(t *testing.T, s *schema.Schema, rec arrow.RecordBatch, b stored, mem memory.Allocator) {
	t.Helper()
	for _, p := range [][]int{{0, 1, 2}, {1}, {2}, {2, 0}} {
		d, _ := NewDecoder(s, p, mem)
		got, err := decodeRecord(d, b)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range p {
			if !array.Equal(rec.Column(c), got.Column(i)) {
				t.Fatalf("column %d differs", c)
			}
		}
		got.Release()
		d.Close()
	}
}

func TestProjectionTouchesItsSegmentOnly(t *testing.T) {
	s := sparkSchema(t, `"long"`, `"string"`, `"long"`)
	var mem memory.Checked
	rec := randomRecord(rand.New(rand.NewPCG(4, 4)), s, 1000, 10)
	enc, _ := NewEncoder(s, Options{Codec: ipc.CodecZstd, ZstdLevel: 1}, &mem)
	defer enc.Close()
	b, err := enc.EncodeRecord(rec)
	if err != nil {
		t.Fatal(err)
	}
	st := copyBatch(b)
	d, _ := NewDecoder(s, []int{1}, &mem)
	defer d.Close()
	want := int64(len(st.segments[1]))
	st.segments[0], st.segments[2] = nil, nil
	if err := feed(d, ReadVectors, st); err != nil {
		t.Fatal(err)
	}
	v, err := d.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	if v.BytesRead != want || v.Nodes != 1 || v.Rows != 1000 {
		t.Fatalf("%+v, want %d bytes", v.ReadStats, want)
	}
}

func TestUncompressedVectorsStayInTheirSegments(t *testing.T) {
	s := sparkSchema(t, `"long"`, `"string"`, `"boolean"`)
	var mem memory.Checked
	rec := randomRecord(rand.New(rand.NewPCG(4, 4)), s, 1000, 10)
	enc, _ := NewEncoder(s, Options{Codec: ipc.CodecNone}, &mem)
	defer enc.Close()
	b, err := enc.EncodeRecord(rec)
	if err != nil {
		t.Fatal(err)
	}
	st := copyBatch(b)
	d, _ := NewDecoder(s, []int{1, 0, 2}, &mem)
	defer d.Close()
	if err := feed(d, ReadVectors, st); err != nil {
		t.Fatal(err)
	}
	v, err := d.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	want := []Source{Copy, InSegment, InSegment, Copy, InSegment, Absent, Copy, Copy, Absent}
	for i, b := range v.Buffers {
		if b.Source != want[i] {
			t.Fatalf("buffer %d: source %d, want %d", i, b.Source, want[i])
		}
	}
	longs := rec.Column(0).(*array.Int64)
	seg := st.segments[v.Buffers[4].Segment][v.Layout[LayoutHeader+LayoutNode+4]:]
	for i := range 1000 {
		if !longs.IsNull(i) && int64(le64(seg[i*8:])) != longs.Value(i) {
			t.Fatalf("slot %d", i)
		}
		if nulls := v.Buffers[3].Data; (nulls[i] == 1) != longs.IsNull(i) {
			t.Fatalf("null of slot %d", i)
		}
	}
}

func le64(b []byte) (v uint64) {
	for i := range 8 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func TestSlicedAndDictionaryInput(t *testing.T) {
	s := sparkSchema(t, sparkTypes...)
	var mem memory.Checked
	rec := randomRecord(rand.New(rand.NewPCG(5, 5)), s, 300, 20)
	slice := rec.NewSlice(13, 250)
	enc, _ := NewEncoder(s, Options{Codec: ipc.CodecZstd, ZstdLevel: 1}, &mem)
	b, err := enc.EncodeRecord(slice)
	if err != nil {
		t.Fatal(err)
	}
	projections(t, s, slice, copyBatch(b), &mem)
	enc.Close()

	one := sparkSchema(t, `"string"`)
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	db := array.NewDictionaryBuilder(arrowmem.DefaultAllocator, dt).(*array.BinaryDictionaryBuilder)
	sb := array.NewStringBuilder(arrowmem.DefaultAllocator)
	for i := range 100 {
		if i%7 == 0 {
			db.AppendNull()
			sb.AppendNull()
			continue
		}
		v := fmt.Sprint("value ", i%5)
		if err := db.AppendString(v); err != nil {
			t.Fatal(err)
		}
		sb.Append(v)
	}
	dict := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}}, nil), []arrow.Array{db.NewArray()}, 100)
	enc, _ = NewEncoder(one, Options{Codec: ipc.CodecNone}, &mem)
	defer enc.Close()
	if b, err = enc.EncodeRecord(dict); err != nil {
		t.Fatal(err)
	}
	d, _ := NewDecoder(one, []int{0}, &mem)
	defer d.Close()
	got, err := decodeRecord(d, copyBatch(b))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if want := sb.NewArray(); !array.Equal(want, got.Column(0)) {
		t.Fatalf("%v", got.Column(0))
	}
}

// Whatever is flipped or cut, reading gives an error that says what is wrong,
// or a batch; it never panics or reads elsewhere. (zstd and lz4 without
// checksums cannot tell every flipped bit.)
func TestDamagedBatches(t *testing.T) {
	s := sparkSchema(t, sparkTypes...)
	rec := randomRecord(rand.New(rand.NewPCG(6, 6)), s, 200, 20)
	var all []int
	for i := range s.Fields {
		all = append(all, i)
	}
	for _, name := range ipc.CodecNames() {
		t.Run(name, func(t *testing.T) {
			var mem memory.Checked
			mem.SetLimit(1 << 30)
			enc, _ := NewEncoder(s, Options{Codec: name, ZstdLevel: 1}, &mem)
			b, err := enc.EncodeRecord(rec)
			if err != nil {
				t.Fatal(err)
			}
			good := copyBatch(b)
			enc.Close()
			r := rand.New(rand.NewPCG(7, 7))
			failed, rounds := 0, 3000
			if testing.Short() {
				rounds = 600
			}
			for i := range rounds {
				bad := stored{header: append([]byte(nil), good.header...)}
				for _, seg := range good.segments {
					bad.segments = append(bad.segments, append([]byte(nil), seg...))
				}
				damage(r, &bad, i)
				if err := read(s, all, bad, everyRead[i%len(everyRead)], &mem); err != nil {
					failed++
					if !errors.As(err, new(*ipc.CorruptError)) && !errors.As(err, new(*ipc.VersionError)) &&
						!errors.As(err, new(*ipc.CodecError)) && !errors.As(err, new(*memory.LimitError)) {
						t.Fatalf("%T: %v", err, err)
					}
				}
			}
			if failed < rounds/10 {
				t.Fatalf("only %d of %d damaged batches were noticed", failed, rounds)
			}
			if mem.Live() != 0 {
				t.Fatal("leak")
			}
		})
	}
}

func damage(r *rand.Rand, b *stored, i int) {
	target := &b.header
	if i%2 == 0 {
		target = &b.segments[r.IntN(len(b.segments))]
	}
	switch {
	case len(*target) == 0 || i%7 == 0:
		b.segments = b.segments[:r.IntN(len(b.segments))]
	case i%5 == 0:
		*target = (*target)[:r.IntN(len(*target))]
	default:
		(*target)[r.IntN(len(*target))] ^= 1 << r.IntN(8)
	}
}

// A length is damaged to the longest there is: nothing is computed with it that overflows.
func TestTheLongestBody(t *testing.T) {
	s := sparkSchema(t, `"long"`)
	const length = math.MaxInt64 &^ 7
	m := &ipc.Message{Rows: 1, Codec: ipc.CodecNone, Nodes: []ipc.Node{{Length: 1}}, Buffers: []ipc.Buffer{{}, {Length: length}}, BodyLength: length}
	b := stored{header: ipc.AppendMessage(nil, m), segments: [][]byte{make([]byte, 8)}}
	for _, how := range everyRead {
		var mem memory.Checked
		if err := read(s, []int{0}, b, how, &mem); !errors.As(err, new(*ipc.CorruptError)) {
			t.Errorf("read %d: %v", how, err)
		}
	}
}

func TestOptions(t *testing.T) {
	o, err := ParseOptions("codec=zstd\nzstd.level=3\n")
	if err != nil || o.Codec != "zstd" || o.ZstdLevel != 3 {
		t.Fatalf("%+v %v", o, err)
	}
	for text, want := range map[string]string{
		"codec=snappy":    `unknown codec "snappy"; the codecs are none, lz4, zstd, pack`,
		"zstd.level=23":   "zstd level 23 is out of range; it must be 1 to 22",
		"zstd.level=fast": `zstd level "fast" is not a number; it must be 1 to 22`,
		"inject=panic":    "option inject exists in test builds only",
		"level=1":         `unknown encoder option "level"; the options are codec and zstd.level`,
	} {
		if _, err := ParseOptions(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestADecodedPlanIsUsedUp(t *testing.T) {
	s := sparkSchema(t, `"long"`)
	var mem memory.Checked
	enc, _ := NewEncoder(s, Options{Codec: ipc.CodecNone}, &mem)
	defer enc.Close()
	b, err := enc.EncodeRecord(randomRecord(rand.New(rand.NewPCG(8, 8)), s, 10, 0))
	if err != nil {
		t.Fatal(err)
	}
	st := copyBatch(b)
	d, _ := NewDecoder(s, []int{0}, &mem)
	defer d.Close()
	if _, err := d.Vectors(); err == nil {
		t.Fatal("decoded without a plan")
	}
	rec, err := decodeRecord(d, st)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	if _, err := d.Record(); err == nil {
		t.Fatal("decoded the same plan twice")
	}
	if err := feed(d, ReadRows, st); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.NextRows(1000, make([]int32, 8)); err == nil {
		t.Fatal("rows before decoding")
	}
}
