package engine

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// FuzzDecoder reads arbitrary header and segment bytes as a batch of one column
// of any type, in each of the ways, with and without a filter and without a field: an error that says what is wrong, or
// a batch; no panic, nothing beyond the limit, nothing left.
func FuzzDecoder(f *testing.F) {
	for i, typ := range sparkTypes {
		s := sparkSchema(f, typ)
		rec := randomRecord(rand.New(rand.NewPCG(9, uint64(i))), s, 70, 20)
		for _, codec := range ipc.CodecNames() {
			var mem memory.Checked
			enc, err := NewEncoder(s, Options{Codec: codec, ZstdLevel: 1}, &mem)
			if err != nil {
				f.Fatal(err)
			}
			b, err := enc.EncodeRecord(rec)
			if err != nil || len(b.Segments) != 1 {
				f.Fatal(len(b.Segments), err)
			}
			f.Add(byte(i), b.Header, b.Segments[0])
			enc.Close()
		}
		rec.Release()
	}
	f.Fuzz(func(t *testing.T, typ byte, header, segment []byte) {
		s := sparkSchema(t, sparkTypes[int(typ)%len(sparkTypes)])
		b := stored{header: header, segments: [][]byte{segment}}
		filters := []string{"", "0 null", "0 value"}
		switch k := s.Fields[0].Type.Kind; {
		case k == schema.String:
			filters[2] = "0 prefix x6162"
		case k != schema.Null && k < schema.Decimal:
			filters[2] = "0 range -10 10"
		}
		for i, how := range append(everyRead, ReadVectors, ReadRows, ReadVectors, ReadRows) {
			var mem memory.Checked
			mem.SetLimit(64 << 20)
			var unread []int
			if s.Fields[0].Type.Kind == schema.Struct && len(header)%3 > 0 {
				unread = []int{len(header) % 3} // the long or the array
			}
			err := readFiltered(s, []int{0}, filters[max(0, i-2)/2], b, how, &mem, unread...)
			if err != nil && !errors.As(err, new(*ipc.CorruptError)) && !errors.As(err, new(*ipc.VersionError)) &&
				!errors.As(err, new(*ipc.CodecError)) && !errors.As(err, new(*memory.LimitError)) {
				t.Fatalf("read %d: %T: %v", how, err, err)
			}
			if mem.Live() != 0 {
				t.Fatalf("read %d: %d allocations leak", how, mem.Live())
			}
		}
	})
}
