package stats

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/row"
	"github.com/quiverspark/quiver/native/row/rowtest"
)

func TestStatisticsRowIsSparks(t *testing.T) {
	for _, c := range rowtest.Cases(t, "../row/testdata/spark.golden") {
		t.Run(c.Name, func(t *testing.T) {
			var alloc memory.Checked
			arena := memory.NewArena(&alloc)
			defer arena.Close()
			pick := make([]int, len(c.Rows))
			for i := range pick {
				pick[i] = i
			}
			rows, ends := c.Concat(pick)
			cols, err := row.NewFromRows(c.Schema).Columns(rows, ends, arena)
			if err != nil {
				t.Fatal(err)
			}
			prefix := []byte("whatever")
			got, size, err := NewComputer(c.Schema).Append(prefix, cols)
			if err != nil {
				t.Fatal(err)
			}
			got = got[len(prefix):]
			if c.Stats == nil {
				return
			}
			if !bytes.Equal(got, c.Stats) {
				for i := 0; i+8 <= len(got) && i+8 <= len(c.Stats); i += 8 {
					if !bytes.Equal(got[i:i+8], c.Stats[i:i+8]) {
						t.Errorf("word %d is %x, Spark has %x", i/8, got[i:i+8], c.Stats[i:i+8])
					}
				}
				t.Fatalf("%d bytes, Spark has %d", len(got), len(c.Stats))
			}
			want := int64(0)
			slots := (5*len(cols) + 63) / 64 * 8
			for i := range cols {
				want += int64(binary.LittleEndian.Uint64(c.Stats[slots+8*(5*i+4):]))
			}
			if size != want {
				t.Fatalf("decoded size %d, Spark has %d", size, want)
			}
		})
	}
}
