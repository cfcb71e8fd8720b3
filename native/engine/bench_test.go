package engine

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// flat makes batch b of the benchmark's flat relation: three nullable bigint
// columns and three short strings.
func flat(s *schema.Schema, b, rows int) arrow.RecordBatch {
	rb := array.NewRecordBuilder(arrowmem.DefaultAllocator, s.Arrow())
	defer rb.Release()
	long := func(c int, null bool, v int64) {
		if f := rb.Field(c).(*array.Int64Builder); null {
			f.AppendNull()
		} else {
			f.Append(v)
		}
	}
	text := func(c int, null bool, prefix string, v int) {
		if f := rb.Field(c).(*array.StringBuilder); null {
			f.AppendNull()
		} else {
			f.Append(fmt.Sprint(prefix, v))
		}
	}
	for i := b * rows; i < (b+1)*rows; i++ {
		long(0, i%8 == 0, int64(i))
		long(1, i%8 == 1, int64(i%1000))
		long(2, i%8 == 2, int64(i+1))
		text(3, i%8 == 3, "str_a_", i%100000)
		text(4, i%8 == 4, "str_b_", i%7919)
		text(5, i%8 == 5, "str_c_", i)
	}
	return rb.NewRecordBatch()
}

var flatTypes = []string{`"long"`, `"long"`, `"long"`, `"string"`, `"string"`, `"string"`}

const benchRows, benchBatches = 10000, 16

func flatBatches(tb testing.TB, codec string) (s *schema.Schema, recs []arrow.RecordBatch, encoded []stored) {
	s = sparkSchema(tb, flatTypes...)
	var mem memory.Checked
	enc, err := NewEncoder(s, Options{Codec: codec, ZstdLevel: 1}, &mem)
	if err != nil {
		tb.Fatal(err)
	}
	defer enc.Close()
	for b := range benchBatches {
		recs = append(recs, flat(s, b, benchRows))
		batch, err := enc.EncodeRecord(recs[b])
		if err != nil {
			tb.Fatal(err)
		}
		encoded = append(encoded, copyBatch(batch))
		encoded[b].checksums = slices.Clone(batch.Checksums)
	}
	return s, recs, encoded
}

func BenchmarkEncodeRows(b *testing.B) {
	for _, codec := range ipc.CodecNames() {
		b.Run(codec, func(b *testing.B) {
			s, _, encoded := flatBatches(b, codec)
			var mem memory.Checked
			enc, _ := NewEncoder(s, Options{Codec: codec, ZstdLevel: 1}, &mem)
			var rows [benchBatches][]byte
			var ends [benchBatches][]int64
			size := 0
			for i, e := range encoded {
				rows[i], ends[i] = benchAllRows(b, s, e, &mem)
				size += len(rows[i])
			}
			b.SetBytes(int64(size / benchBatches))
			stored := 0
			for i := 0; b.Loop(); i++ {
				batch, err := enc.EncodeRows(rows[i%benchBatches], ends[i%benchBatches])
				if err != nil {
					b.Fatal(err)
				}
				stored = len(batch.Header)
				for _, seg := range batch.Segments {
					stored += len(seg)
				}
			}
			b.ReportMetric(float64(stored), "stored-bytes/batch")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows/6, "ns/value")
		})
	}
}

func benchAllRows(tb testing.TB, s *schema.Schema, e stored, mem memory.Allocator) (rows []byte, ends []int64) {
	d, _ := NewDecoder(s, []int{0, 1, 2, 3, 4, 5}, mem)
	defer d.Close()
	if err := feed(d, ReadRows, e); err != nil {
		tb.Fatal(err)
	}
	if _, err := d.Rows(); err != nil {
		tb.Fatal(err)
	}
	room := make([]int32, benchRows)
	for {
		block, n, err := d.NextRows(256<<10, room)
		if err != nil {
			tb.Fatal(err)
		}
		if n == 0 {
			return rows, ends
		}
		for _, end := range room[:n] {
			ends = append(ends, int64(len(rows))+int64(end))
		}
		rows = append(rows, block...)
	}
}

// BenchmarkChecksums is what encoding a batch spends on its checksums.
func BenchmarkChecksums(b *testing.B) {
	for _, codec := range ipc.CodecNames() {
		b.Run(codec, func(b *testing.B) {
			_, _, encoded := flatBatches(b, codec)
			var sums []byte
			bytes := 0
			for i := 0; b.Loop(); i++ {
				e := encoded[i%benchBatches]
				sums = appendChecksums(sums[:0], &Batch{Rows: benchRows, Header: e.header, Segments: e.segments}, 6)
				bytes = len(e.header)
				for _, seg := range e.segments {
					bytes += len(seg)
				}
			}
			b.SetBytes(int64(bytes))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows/6, "ns/value")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, codec := range ipc.CodecNames() {
		for name, p := range map[string][]int{"3of6": {0, 1, 2}, "6of6": {0, 1, 2, 3, 4, 5}} {
			b.Run(codec+"/"+name+"/vectors", func(b *testing.B) {
				benchDecode(b, codec, p, func(d *Decoder, e stored) error {
					if err := feed(d, ReadVectors, e); err != nil {
						return err
					}
					_, err := d.Vectors()
					return err
				})
			})
			b.Run(codec+"/"+name+"/rows", func(b *testing.B) {
				room := make([]int32, 8192)
				benchDecode(b, codec, p, func(d *Decoder, e stored) error {
					if err := feed(d, ReadRows, e); err != nil {
						return err
					}
					if _, err := d.Rows(); err != nil {
						return err
					}
					for n := 1; n > 0; {
						var err error
						if _, n, err = d.NextRows(256<<10, room); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}

// checks makes the decode benchmarks verify checksums, as the first read of a
// batch does that has left the heap.
var checks = flag.Bool("checks", false, "decode benchmarks verify checksums")

func benchDecode(b *testing.B, codec string, p []int, read func(*Decoder, stored) error) {
	s, _, encoded := flatBatches(b, codec)
	if !*checks {
		for i := range encoded {
			encoded[i].checksums = nil
		}
	}
	var mem memory.Checked
	d, _ := NewDecoder(s, p, &mem)
	defer d.Close()
	for i := 0; b.Loop(); i++ {
		if err := read(d, encoded[i%benchBatches]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows/float64(len(p)), "ns/value")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*500/1e6, "ms/5M-rows")
}
