package row

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/row/rowtest"
	"github.com/quiverspark/quiver/native/schema"
)

const golden = "testdata/spark.golden"

func newArena(t testing.TB) *memory.Arena {
	var c memory.Checked
	a := memory.NewArena(&c)
	t.Cleanup(func() {
		a.Close()
		if c.Live() != 0 {
			t.Errorf("%d allocations leak", c.Live())
		}
	})
	return a
}

// dirty fills the arena with ones so that nothing depends on zeroed memory.
func dirty(a *memory.Arena, n int) {
	a.Reset()
	b := a.Bytes(n)
	for i := range b {
		b[i] = 0xFF
	}
	a.Reset()
}

// checkColumns checks what every column promises.
func checkColumns(t testing.TB, c *column.Column) {
	t.Helper()
	if c.Validity == nil && c.Nulls != 0 && c.Type.Kind != schema.Null {
		t.Fatalf("%s: %d nulls without validity", c.Type.Name, c.Nulls)
	}
	if c.Validity != nil {
		if c.Nulls == 0 {
			t.Fatalf("%s: validity without nulls", c.Type.Name)
		}
		if n := column.CountNulls(c.Validity, c.Len); n != c.Nulls {
			t.Fatalf("%s: %d nulls, %d counted", c.Type.Name, n, c.Nulls)
		}
		if len(c.Validity) != (c.Len+7)/8 {
			t.Fatalf("%s: validity of %d bytes for %d", c.Type.Name, len(c.Validity), c.Len)
		}
	}
	if w := c.Type.Kind.ValueWidth(); len(c.Values) != w*c.Len && c.Type.Kind != schema.Bool {
		t.Fatalf("%s: %d bytes of values", c.Type.Name, len(c.Values))
	}
	childLen := c.Len
	if c.Type.Kind.HasOffsets() {
		o := column.View[int32](c.Offsets)
		if len(o) != c.Len+1 || o[0] != 0 {
			t.Fatalf("%s: %d offsets from %d on", c.Type.Name, len(o), o[0])
		}
		childLen = int(o[c.Len])
		if (c.Type.Kind == schema.String || c.Type.Kind == schema.Binary) && childLen != len(c.Data) {
			t.Fatalf("%s: %d bytes of data, offsets up to %d", c.Type.Name, len(c.Data), childLen)
		}
	}
	for _, child := range c.Children {
		if child.Len != childLen {
			t.Fatalf("%s: child has %d slots, not %d", c.Type.Name, child.Len, childLen)
		}
		checkColumns(t, child)
	}
}

// toRows writes all rows in blocks of about maxBytes and returns them concatenated.
func toRows(t testing.TB, w *ToRows, cols []*column.Column, n, maxBytes, maxRows int, a *memory.Arena) []byte {
	t.Helper()
	if err := w.Begin(cols, n); err != nil {
		t.Fatal(err)
	}
	defer w.End()
	ends := make([]int32, maxRows)
	var all []byte
	rows := 0
	for {
		block, k, err := w.Next(a, maxBytes, ends)
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			break
		}
		if k > 1 && len(block) > maxBytes || int(ends[k-1]) != len(block) {
			t.Fatalf("block of %d rows and %d bytes, last end %d", k, len(block), ends[k-1])
		}
		rows += k
		all = append(all, block...)
	}
	if rows != n {
		t.Fatalf("%d rows of %d", rows, n)
	}
	return all
}

// picks returns which rows of a case make the batches of a test.
func picks(n int) [][]int {
	r := rand.New(rand.NewPCG(1, 2))
	var all [][]int
	for _, size := range []int{0, 1, n, 63, 64, 65, 257, 600} {
		pick := make([]int, size)
		for i := range pick {
			pick[i] = i % n
			if size != n {
				pick[i] = r.IntN(n)
			}
		}
		all = append(all, pick)
	}
	return all
}

func TestSparksRowsThereAndBack(t *testing.T) {
	for _, c := range rowtest.Cases(t, golden) {
		t.Run(c.Name, func(t *testing.T) {
			from, to := NewFromRows(c.Schema), NewToRows(c.Schema)
			a, b := newArena(t), newArena(t)
			for _, pick := range picks(len(c.Rows)) {
				rows, ends := c.Concat(pick)
				dirty(a, 100_000)
				cols, err := from.Columns(rows, ends, a)
				if err != nil {
					t.Fatal(err)
				}
				for _, col := range cols {
					if col.Len != len(pick) {
						t.Fatalf("%d slots for %d rows", col.Len, len(pick))
					}
					checkColumns(t, col)
				}
				for i := range pick {
					if len(cols) == 0 {
						break
					}
					if got := rowtest.Row(cols, i); got != c.Values[pick[i]] {
						t.Fatalf("row %d is %s, Spark has %s", i, got, c.Values[pick[i]])
					}
				}
				for _, limit := range [][2]int{{1 << 30, 1 << 20}, {1, 7}, {777, 100}} {
					dirty(b, 100_000)
					got := toRows(t, to, cols, len(pick), limit[0], limit[1], b)
					if !bytes.Equal(got, rows) {
						start := int64(0)
						for i, end := range ends {
							if !bytes.Equal(got[start:end], rows[start:end]) {
								t.Fatalf("row %d is\n%s, Spark has\n%s", i, hex.EncodeToString(got[start:end]), hex.EncodeToString(rows[start:end]))
							}
							start = end
						}
					}
				}
			}
		})
	}
}
