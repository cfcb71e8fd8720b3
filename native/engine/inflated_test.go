package engine

import (
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
)

// A few stored bytes that add up may stand for very many values: nulls and
// structs of nulls take no bytes. What reading them needs is native memory,
// which has a limit, and not the Go heap, which ends the process.
func TestFewBytesThatSayVeryMuch(t *testing.T) {
	const many = 100_000_000
	offsets := make([]byte, 8)
	binary.LittleEndian.PutUint32(offsets[4:], many)
	allNull, none := ipc.Node{Length: many, Nulls: many}, ipc.Node{Length: many}
	for name, c := range map[string]struct {
		typ     string
		rows    int64
		nodes   []ipc.Node
		buffers []ipc.Buffer
		segment []byte
	}{
		"rows":       {`"void"`, many, []ipc.Node{allNull}, nil, nil},
		"structs":    {structOfVoid, many, []ipc.Node{none, allNull}, []ipc.Buffer{{}}, nil},
		"elements":   {arrayOf(structOfVoid), 1, []ipc.Node{{Length: 1}, none, allNull}, []ipc.Buffer{{}, {Length: 8}, {Offset: 8}}, offsets},
		"map values": {mapTo(structOfVoid), 1, mapNodes(allNull, none), []ipc.Buffer{{}, {Length: 8}, {Offset: 8}, {Offset: 8}, {Offset: 8}}, offsets},
	} {
		t.Run(name, func(t *testing.T) {
			s := sparkSchema(t, c.typ)
			m := &ipc.Message{Rows: c.rows, Codec: ipc.CodecNone, Nodes: c.nodes, Buffers: c.buffers, BodyLength: int64(len(c.segment))}
			b := stored{header: ipc.AppendMessage(nil, m), segments: [][]byte{c.segment}}
			for _, how := range everyRead {
				var mem memory.Checked
				mem.SetLimit(64 << 20)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := read(s, []int{0}, b, how, &mem)
				runtime.ReadMemStats(&after)
				if err != nil && !errors.As(err, new(*memory.LimitError)) && !errors.As(err, new(*ipc.CorruptError)) {
					t.Errorf("read %d: %v", how, err)
				}
				if how == ReadRows && err == nil {
					t.Errorf("%d sizes fit into 64 MiB", many)
				}
				if grown := after.TotalAlloc - before.TotalAlloc; grown > 128<<20 {
					t.Errorf("read %d took %d bytes, with a limit of 64 MiB", how, grown)
				}
				if mem.Live() != 0 {
					t.Errorf("read %d: %d allocations leak", how, mem.Live())
				}
			}
		})
	}
}

const structOfVoid = `{"type":"struct","fields":[{"name":"x","type":"void","nullable":true,"metadata":{}}]}`

func arrayOf(typ string) string {
	return `{"type":"array","elementType":` + typ + `,"containsNull":true}`
}

func mapTo(typ string) string {
	return `{"type":"map","keyType":` + structOfVoid + `,"valueType":` + typ + `,"valueContainsNull":true}`
}

// mapNodes are those of one map whose keys and values are structs of void.
func mapNodes(allNull, none ipc.Node) []ipc.Node {
	return []ipc.Node{{Length: 1}, none, none, allNull, none, allNull}
}
