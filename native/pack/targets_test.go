package pack_test

import (
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/pack"
	"github.com/quiverspark/quiver/native/pack/internal/corpus"
)

// relationSize packs a relation and returns its size packed and as Arrow buffers.
func relationSize(rel corpus.Relation, rows int) (packed, raw int) {
	var e *pack.Encoder
	for batch := range rel.Batches(rows) {
		var nodes []*column.Column
		for _, c := range batch {
			nodes = corpus.Nodes(nodes, c)
			raw += corpus.RawSize(c)
		}
		if e == nil {
			e = pack.NewEncoder(len(nodes))
		}
		for i, c := range nodes {
			var lens [3]int64
			packed += len(e.AppendNode(make([]byte, 0, pack.MaxStored(c)), i, c, &lens))
		}
	}
	return packed, raw
}

// Sizes that the project promises, for a tenth of the rows or columns or so.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		rel   corpus.Relation
		rows  int
		limit int // bytes
	}{
		{corpus.Flat, 100_000, 80 << 10}, // Spark's format takes 4.3 MiB
		{corpus.Nested, 50_000, 50 << 10},
		{corpus.Wide(100), 20_000, 200 << 10}, // 2.6 MiB
		{corpus.Lineitem, 50_000, 50_000 * 23},
		{corpus.Orders, 50_000, 50_000 * 22},
		{corpus.Public, 10_000, 10_000 * 215},
	} {
		packed, raw := relationSize(c.rel, c.rows)
		if packed > c.limit {
			t.Errorf("%s takes %d bytes of %d, at most %d expected", c.rel.Name, packed, raw, c.limit)
		}
	}
}

// Once warm, neither encoding nor decoding allocates.
func TestNoAllocationsWhenWarm(t *testing.T) {
	for _, rel := range []corpus.Relation{corpus.Flat, corpus.Lineitem} {
		for batch := range rel.Batches(corpus.BatchRows) {
			for i, c := range batch {
				e, d, arena := pack.NewEncoder(1), pack.NewDecoder(), memory.NewArena(new(memory.Checked))
				dst := make([]byte, 0, pack.MaxStored(c))
				var lens [3]int64
				name := rel.Name + "." + rel.Columns[i]
				if n := testing.AllocsPerRun(20, func() { e.AppendNode(dst, 0, c, &lens) }); n >= 1 {
					t.Errorf("%s: %v allocations a batch encoded", name, n)
				}
				stored := split(e.AppendNode(dst, 0, c, &lens), lens)
				got := column.New(c.Type)
				if n := testing.AllocsPerRun(20, func() {
					arena.Reset()
					if err := d.Node(got, c.Len, c.Nulls, stored, arena); err != nil {
						t.Fatal(err)
					}
				}); n > 0 {
					t.Errorf("%s: %v allocations a batch decoded", name, n)
				}
				arena.Close()
			}
		}
	}
}

func split(out []byte, lens [3]int64) (stored [3][]byte) {
	at := int64(0)
	for i, l := range lens {
		if l > 0 {
			stored[i] = out[at : at+l]
		}
		at += (l + 7) &^ 7
	}
	return stored
}
