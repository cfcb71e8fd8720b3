package ipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowipc "github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/quiverspark/quiver/native/ipc/flatbuf"
)

func message(columns int, codec string) *Message {
	m := &Message{Rows: 1000, Codec: codec}
	for i := range columns {
		m.Nodes = append(m.Nodes, Node{1000, int64(i % 7)})
		m.Buffers = append(m.Buffers, Buffer{m.BodyLength, 125}, Buffer{m.BodyLength + 128, 8000})
		m.BodyLength += 128 + 8000
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	for _, codec := range CodecNames() {
		for _, columns := range []int{0, 1, 2, 3, 100, 1500} {
			m := message(columns, codec)
			prefix := []byte("12345678")
			out := AppendMessage(prefix, m)
			if !bytes.HasPrefix(out, prefix) {
				t.Fatal("the prefix is gone")
			}
			b := out[len(prefix):]
			if len(b)%8 != 0 {
				t.Fatalf("%d bytes are no multiple of 8", len(b))
			}
			h, err := Parse(b)
			if err != nil {
				t.Fatalf("%s, %d columns: %v", codec, columns, err)
			}
			checkHeader(t, &h, m)
			if err := h.CheckShape(columns, 2*columns); err != nil {
				t.Fatal(err)
			}
			if err := h.CheckShape(columns+1, 2*columns); err == nil {
				t.Fatal("wrong shape not found")
			}
		}
	}
}

func checkHeader(t *testing.T, h *Header, m *Message) {
	t.Helper()
	if h.Rows != m.Rows || h.Codec != m.Codec || h.BodyLength != m.BodyLength ||
		h.NumNodes() != len(m.Nodes) || h.NumBuffers() != len(m.Buffers) {
		t.Fatalf("got %d rows, codec %s, body %d, %d nodes, %d buffers", h.Rows, h.Codec, h.BodyLength, h.NumNodes(), h.NumBuffers())
	}
	for i, want := range m.Nodes {
		if got, err := h.Node(i); err != nil || got != want {
			t.Fatalf("node %d: %v, %v instead of %v", i, got, err, want)
		}
	}
	for i, want := range m.Buffers {
		if got, err := h.Buffer(i); err != nil || got != want {
			t.Fatalf("buffer %d: %v, %v instead of %v", i, got, err, want)
		}
	}
	for _, i := range []int{-1, len(m.Nodes)} {
		if _, err := h.Node(i); err == nil {
			t.Fatalf("node %d exists", i)
		}
	}
	for _, i := range []int{-1, len(m.Buffers)} {
		if _, err := h.Buffer(i); err == nil {
			t.Fatalf("buffer %d exists", i)
		}
	}
}

// The accessors that flatc generates from Arrow's files are the reference.
func TestGeneratedAccessorsAgree(t *testing.T) {
	m := message(3, CodecZstd)
	b := AppendMessage(nil, m)
	if binary.LittleEndian.Uint32(b) != 0xFFFFFFFF || int(binary.LittleEndian.Uint32(b[4:])) != len(b)-8 {
		t.Fatalf("encapsulation: % x", b[:8])
	}
	msg := flatbuf.GetRootAsMessage(b[8:], 0)
	var tab flatbuffers.Table
	if msg.Version() != flatbuf.MetadataVersionV5 || msg.HeaderType() != flatbuf.MessageHeaderRecordBatch ||
		msg.BodyLength() != m.BodyLength || !msg.Header(&tab) || msg.CustomMetadataLength() != 2 {
		t.Fatal("message fields differ")
	}
	var batch flatbuf.RecordBatch
	batch.Init(tab.Bytes, tab.Pos)
	if batch.Length() != m.Rows || batch.NodesLength() != 3 || batch.BuffersLength() != 6 {
		t.Fatal("batch fields differ")
	}
	var node flatbuf.FieldNode
	var buf flatbuf.Buffer
	if !batch.Nodes(&node, 2) || node.Length() != 1000 || node.NullCount() != 2 ||
		!batch.Buffers(&buf, 3) || buf.Offset() != m.Buffers[3].Offset || buf.Length() != 8000 {
		t.Fatal("node or buffer differs")
	}
	if c := batch.Compression(nil); c == nil || c.Codec() != flatbuf.CompressionTypeZSTD || c.Method() != flatbuf.BodyCompressionMethodBUFFER {
		t.Fatal("compression differs")
	}
	for i, want := range [][2]string{{"quiver.format", "1"}, {"quiver.codec", "zstd"}} {
		var kv flatbuf.KeyValue
		if !msg.CustomMetadata(&kv, i) || string(kv.Key()) != want[0] || string(kv.Value()) != want[1] {
			t.Fatalf("metadata %d: %s=%s", i, kv.Key(), kv.Value())
		}
	}
}

// arrowSchemaMessage is a stream that holds the schema only, and the record
// batch message that arrow-go writes for rec.
func arrowMessages(t *testing.T, schema *arrow.Schema, rec arrow.RecordBatch) (schemaMsg, batchMsg []byte) {
	t.Helper()
	var s, r bytes.Buffer
	w := arrowipc.NewWriter(&s, arrowipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = arrowipc.NewWriter(&r, arrowipc.WithSchema(schema))
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	n := s.Len() - 8 // without the end of stream marker
	return s.Bytes()[:n], r.Bytes()[n:]
}

func int64Record(t *testing.T, values ...int64) (*arrow.Schema, arrow.RecordBatch) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	return schema, b.NewRecordBatch()
}

func TestArrowGoReadsOurMessage(t *testing.T) {
	schema, rec := int64Record(t, 1)
	stream, _ := arrowMessages(t, schema, rec)
	stream = AppendMessage(bytes.Clone(stream), &Message{Rows: 3, Codec: CodecNone, Nodes: []Node{{3, 0}},
		Buffers: []Buffer{{0, 0}, {0, 24}}, BodyLength: 24})
	for _, v := range []uint64{7, math.MaxUint64, 9} {
		stream = binary.LittleEndian.AppendUint64(stream, v)
	}
	r, err := arrowipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal(r.Err())
	}
	if got := r.RecordBatch().Column(0).(*array.Int64).Int64Values(); len(got) != 3 || got[0] != 7 || got[1] != -1 || got[2] != 9 {
		t.Fatal(got)
	}
}

func TestPlainArrowMessageIsRefused(t *testing.T) {
	schema, rec := int64Record(t, 1, 2)
	_, msg := arrowMessages(t, schema, rec)
	size := 8 + int(binary.LittleEndian.Uint32(msg[4:]))
	_, err := Parse(msg[:size])
	var ce *CorruptError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), "not written by Quiver") {
		t.Fatal(err)
	}
}

// patch replaces a length-prefixed string of the flatbuffer.
func patch(t *testing.T, b []byte, from, to string) []byte {
	t.Helper()
	str := func(s string) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...) }
	if len(from) != len(to) || bytes.Count(b, str(from)) != 1 {
		t.Fatalf("cannot patch %q", from)
	}
	return bytes.Replace(b, str(from), str(to), 1)
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	good := AppendMessage(nil, message(2, CodecLZ4))
	cases := []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"empty", nil, "corrupt batch: header has 0 bytes"},
		{"no marker", append([]byte{1, 2, 3, 4}, good[4:]...), "0x04030201 instead of the continuation marker"},
		{"cut", good[:len(good)-8], "there are"},
		{"too long", append(bytes.Clone(good), 0), "there are"},
		{"size only", []byte{255, 255, 255, 255, 0, 0, 0, 0}, "message table is out of bounds"},
		{"version", patch(t, good, "1", "7"), "batch has storage format version 7, this build reads 1"},
		{"codec", patch(t, good, "lz4", "br1"), `unknown codec "br1"; known codecs: none, lz4, zstd, pack`},
		{"keys", patch(t, good, "quiver.codec", "quiver.kodec"), "lacks quiver.format or quiver.codec"},
		{"zstd without compression", patch(t, AppendMessage(nil, message(2, CodecNone)), "none", "zstd"), "has no Arrow body compression"},
		{"pack with compression", patch(t, AppendMessage(nil, message(2, CodecZstd)), "zstd", "pack"), "codec is pack, yet"},
		{"negative rows", AppendMessage(nil, &Message{Rows: -5, Codec: CodecNone}), "row count is -5"},
		{"odd body", AppendMessage(nil, &Message{Codec: CodecNone, BodyLength: 12}), "body length 12"},
		{"negative body", AppendMessage(nil, &Message{Codec: CodecNone, BodyLength: -8}), "body length -8"},
	}
	for _, c := range cases {
		if _, err := Parse(c.bytes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestEntriesAreChecked(t *testing.T) {
	m := &Message{Rows: 1, Codec: CodecNone, BodyLength: 64,
		Nodes: []Node{{-1, 0}, {1, 2}, {1, -1}, {math.MaxInt32 + 1, 0}},
		Buffers: []Buffer{{-8, 8}, {0, -1}, {4, 4}, {64, 1}, {72, 0}, {8, math.MaxInt64},
			{math.MaxInt64 - 7, 8}, {56, 9}}}
	h, err := Parse(AppendMessage(nil, m))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Nodes {
		if n, err := h.Node(i); err == nil {
			t.Errorf("node %v accepted", n)
		}
	}
	for i := range m.Buffers {
		if b, err := h.Buffer(i); err == nil {
			t.Errorf("buffer %v accepted", b)
		}
	}
}

// readAll must neither panic nor read out of bounds, whatever b is.
func readAll(b []byte) {
	h, err := Parse(b[:len(b):len(b)])
	if err != nil {
		return
	}
	for i := range h.NumNodes() {
		_, _ = h.Node(i)
	}
	for i := range h.NumBuffers() {
		_, _ = h.Buffer(i)
	}
}

func TestDamagedBytes(t *testing.T) {
	good := AppendMessage(nil, message(3, CodecZstd))
	for n := range good {
		readAll(good[:n])
		// A size that fits what is left gets past the first check.
		cut := bytes.Clone(good[:n])
		if n >= 8 {
			binary.LittleEndian.PutUint32(cut[4:], uint32(n-8))
			readAll(cut)
		}
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff, good[n] + 1, good[n] - 4} {
			bad := bytes.Clone(good)
			bad[n] = v
			readAll(bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, codec := range CodecNames() {
		f.Add(AppendMessage(nil, message(2, codec)))
	}
	f.Add(AppendMessage(nil, message(0, CodecNone)))
	f.Fuzz(func(t *testing.T, b []byte) { readAll(b) })
}

func TestUnknownCodecIsNotWritten(t *testing.T) {
	defer func() {
		if _, ok := recover().(*CodecError); !ok {
			t.Fatal("no *CodecError")
		}
	}()
	AppendMessage(nil, &Message{Codec: "gzip"})
}

func TestNoGarbage(t *testing.T) {
	m := message(100, CodecLZ4)
	dst := AppendMessage(nil, m)
	var h Header
	if n := testing.AllocsPerRun(100, func() { dst = AppendMessage(dst[:0], m) }); n >= 1 && !raceEnabled {
		t.Errorf("AppendMessage allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { h, _ = Parse(dst) }); n != 0 {
		t.Errorf("Parse allocates %v times", n)
	}
	if h.NumNodes() != 100 {
		t.Fatal(h)
	}
}

func BenchmarkAppendMessage1500(b *testing.B) {
	m := message(1500, CodecZstd)
	dst := AppendMessage(nil, m)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendMessage(dst[:0], m)
	}
}

func BenchmarkParse1500ReadOne(b *testing.B) {
	buf := AppendMessage(nil, message(1500, CodecZstd))
	b.ReportAllocs()
	for b.Loop() {
		h, err := Parse(buf)
		if err != nil {
			b.Fatal(err)
		}
		if _, err = h.Buffer(2999); err != nil {
			b.Fatal(err)
		}
	}
}
