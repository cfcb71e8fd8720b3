package pack_test

import (
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/pack"
	"github.com/quiverspark/quiver/native/pack/internal/corpus"
)

// BenchmarkColumns encodes and decodes one batch of 10,000 rows of each column,
// over and over, so that everything stays in L2. Bytes are those of the Arrow
// buffers. The encoder has seen the column before, as in all but a task's first
// batch; reviews of the choice are part of the time.
func BenchmarkColumns(b *testing.B) {
	for _, rel := range []corpus.Relation{corpus.Flat, corpus.Lineitem, corpus.Orders, corpus.Public} {
		for batch := range rel.Batches(corpus.BatchRows) {
			for i, c := range batch {
				benchColumn(b, rel.Name+"."+rel.Columns[i], c)
			}
		}
	}
}

func benchColumn(b *testing.B, name string, c *column.Column) {
	e, d := pack.NewEncoder(1), pack.NewDecoder()
	dst := make([]byte, 0, pack.MaxStored(c))
	var lens [3]int64
	out := e.AppendNode(dst, 0, c, &lens)
	stored := split(out, lens)
	raw := corpus.RawSize(c)
	name += "/" + pack.Describe(c, stored)
	b.Run("encode/"+name, func(b *testing.B) {
		b.SetBytes(int64(raw))
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			e.AppendNode(dst, 0, c, &lens)
		}
		b.ReportMetric(float64(raw)/float64(len(out)), "ratio")
	})
	// Encoding again may have changed dst.
	stored = split(e.AppendNode(make([]byte, 0, pack.MaxStored(c)), 0, c, &lens), lens)
	b.Run("decode/"+name, func(b *testing.B) {
		arena := memory.NewArena(new(memory.Checked))
		defer arena.Close()
		got := column.New(c.Type)
		b.SetBytes(int64(raw))
		b.ReportAllocs()
		for i := 0; i < b.N; i++ {
			arena.Reset()
			if err := d.Node(got, c.Len, c.Nulls, stored, arena); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTask encodes what one task caches of a relation, 31 batches: "new"
// with an encoder that has to choose encodings and to train, as tasks have,
// "known" with one that has seen the batches before. The difference is what
// choosing costs.
func BenchmarkTask(b *testing.B) {
	for _, rel := range []corpus.Relation{corpus.Flat, corpus.Lineitem} {
		var batches [][]*column.Column
		raw, need := 0, 0
		for batch := range rel.Batches(31 * corpus.BatchRows) {
			batches = append(batches, batch)
			for _, c := range batch {
				raw += corpus.RawSize(c)
				need = max(need, pack.MaxStored(c))
			}
		}
		dst := make([]byte, 0, need)
		encode := func(e *pack.Encoder) {
			var lens [3]int64
			for _, batch := range batches {
				for i, c := range batch {
					e.AppendNode(dst, i, c, &lens)
				}
			}
		}
		b.Run(rel.Name+"/new", func(b *testing.B) {
			b.SetBytes(int64(raw))
			for i := 0; i < b.N; i++ {
				encode(pack.NewEncoder(len(rel.Columns)))
			}
		})
		b.Run(rel.Name+"/known", func(b *testing.B) {
			e := pack.NewEncoder(len(rel.Columns))
			encode(e)
			b.SetBytes(int64(raw))
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				encode(e)
			}
		})
	}
}
