package engine

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
)

// crc32c is the definition, bit by bit: polynomial 1EDC6F41, reflected.
func crc32c(parts ...[]byte) uint32 {
	crc := ^uint32(0)
	for _, part := range parts {
		for _, b := range part {
			crc ^= uint32(b)
			for range 8 {
				crc = crc>>1 ^ 0x82F63B78&-(crc&1)
			}
		}
	}
	return ^crc
}

// checked is a batch with all that its checksums cover.
type checked struct {
	stored
	rows, columns, size int64
	stats               []byte
}

func checkedBatch(t *testing.T, codec string) (checked, func(stored, []int, Read) error) {
	t.Helper()
	s := sparkSchema(t, `"long"`, `"string"`, `"boolean"`, `{"type":"array","elementType":"double","containsNull":true}`)
	var mem memory.Checked
	enc, err := NewEncoder(s, Options{Codec: codec, ZstdLevel: 1}, &mem)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	b, err := enc.EncodeRecord(randomRecord(rand.New(rand.NewPCG(5, 5)), s, 20, 20))
	if err != nil {
		t.Fatal(err)
	}
	c := checked{copyBatch(b), int64(b.Rows), int64(len(s.Fields)), b.DecodedSize, slices.Clone(b.Stats)}
	c.checksums = slices.Clone(b.Checksums)
	return c, func(b stored, projection []int, how Read) error { return read(s, projection, b, how, &mem) }
}

func (c checked) checkHead() error {
	return CheckHead(c.rows, c.columns, c.size, c.header, c.stats, len(c.segments), c.checksums)
}

func TestChecksumsAreThoseOfTheDocument(t *testing.T) {
	if crc32c([]byte("123456789")) != 0xE3069283 {
		t.Fatal("the reference is not CRC32C")
	}
	c, _ := checkedBatch(t, ipc.CodecPack)
	var numbers []byte
	for _, n := range []int64{c.rows, c.columns, c.size, int64(len(c.header)), int64(len(c.stats)), int64(len(c.segments))} {
		numbers = binary.LittleEndian.AppendUint64(numbers, uint64(n))
	}
	want := binary.LittleEndian.AppendUint32(nil, crc32c(numbers, c.header, c.stats, c.checksums[4:]))
	for _, segment := range c.segments {
		want = binary.LittleEndian.AppendUint32(want, crc32c(segment))
	}
	if !slices.Equal(c.checksums, want) {
		t.Fatalf("%x, want %x", c.checksums, want)
	}
}

// Every bit of the segments, with every codec and way to read.
func TestEveryFlippedBitOfASegmentIsFound(t *testing.T) {
	for _, codec := range ipc.CodecNames() {
		t.Run(codec, func(t *testing.T) {
			c, read := checkedBatch(t, codec)
			all := []int{3, 2, 1, 0}
			for _, how := range everyRead {
				if err := read(c.stored, all, how); err != nil {
					t.Fatal(err)
				}
			}
			step := 1
			if testing.Short() {
				step = 7
			}
			for k, segment := range c.segments {
				for bit := 0; bit < 8*len(segment); bit += step {
					segment[bit/8] ^= 1 << (bit % 8)
					err := read(c.stored, all, Read(bit%3))
					if !errors.As(err, new(*ipc.CorruptError)) || !strings.Contains(err.Error(), "checksum") {
						t.Fatalf("bit %d of segment %d: %v", bit, k, err)
					}
					if err := read(c.stored, []int{(k + 1) % 4}, Read(bit%3)); bit%97 == 0 && err != nil {
						t.Fatalf("segment %d matters to another column: %v", k, err)
					}
					segment[bit/8] ^= 1 << (bit % 8)
				}
			}
		})
	}
}

func TestEveryFlippedBitOfTheHeadIsFound(t *testing.T) {
	c, _ := checkedBatch(t, ipc.CodecPack)
	if err := c.checkHead(); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string][]byte{"header": c.header, "statistics": c.stats, "checksums": c.checksums} {
		for bit := range 8 * len(part) {
			part[bit/8] ^= 1 << (bit % 8)
			if err := c.checkHead(); !errors.As(err, new(*ipc.CorruptError)) {
				t.Fatalf("bit %d of the %s: %v", bit, name, err)
			}
			part[bit/8] ^= 1 << (bit % 8)
		}
	}
	for name, n := range map[string]*int64{"rows": &c.rows, "columns": &c.columns, "size": &c.size} {
		for bit := range 64 {
			*n ^= 1 << bit
			if err := c.checkHead(); !errors.As(err, new(*ipc.CorruptError)) {
				t.Fatalf("bit %d of %s: %v", bit, name, err)
			}
			*n ^= 1 << bit
		}
	}
	moved := c
	moved.header, moved.stats = append(slices.Clone(c.header), c.stats[:8]...), c.stats[8:]
	if moved.checkHead() == nil {
		t.Fatal("bytes that went from statistics to header are not noticed")
	}
}

func TestMissingChecksumsAreAnError(t *testing.T) {
	c, read := checkedBatch(t, ipc.CodecLZ4)
	c.checksums = c.checksums[:len(c.checksums)-4]
	if err := c.checkHead(); !errors.As(err, new(*ipc.CorruptError)) {
		t.Fatal(err)
	}
	if err := read(c.stored, []int{0}, ReadRows); !errors.As(err, new(*ipc.CorruptError)) {
		t.Fatal(err)
	}
}

// A column that has several segments is checked piece by piece.
func TestSplitColumnIsChecked(t *testing.T) {
	s := sparkSchema(t, `"long"`, `"binary"`, `"long"`)
	var mem memory.Checked
	rb := array.NewRecordBuilder(arrowmem.DefaultAllocator, s.Arrow())
	for range 3 {
		rb.Field(0).(*array.Int64Builder).Append(1)
		rb.Field(1).(*array.BinaryBuilder).Append(make([]byte, MaxSegment/2+5))
		rb.Field(2).(*array.Int64Builder).Append(2)
	}
	enc, _ := NewEncoder(s, Options{Codec: ipc.CodecNone}, &mem)
	defer enc.Close()
	b, err := enc.EncodeRecord(rb.NewRecordBatch())
	if err != nil {
		t.Fatal(err)
	}
	st := copyBatch(b)
	st.checksums = slices.Clone(b.Checksums)
	if len(st.segments) != 4 {
		t.Fatalf("%d segments", len(st.segments))
	}
	for k := range st.segments {
		segment := st.segments[k]
		segment[len(segment)-1] ^= 16
		for c, mine := range [][]int{{0}, {1, 2}, {3}} {
			err := read(s, []int{c}, st, ReadVectors, &mem)
			if found := errors.As(err, new(*ipc.CorruptError)); found != slices.Contains(mine, k) {
				t.Errorf("segment %d, column %d: %v", k, c, err)
			}
		}
		segment[len(segment)-1] ^= 16
	}
}
