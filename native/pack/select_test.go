package pack

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

func valueAt(c *column.Column, i int) int64 {
	switch c.Type.Kind {
	case schema.Int8:
		return int64(column.View[int8](c.Values)[i])
	case schema.Int16:
		return int64(column.View[int16](c.Values)[i])
	case schema.Int32:
		return int64(column.View[int32](c.Values)[i])
	case schema.Decimal:
		return column.View[int64](c.Values)[2*i]
	}
	return column.View[int64](c.Values)[i]
}

// checkSelection compares sel with want for each slot.
func checkSelection(t *testing.T, name string, c *column.Column, sel []byte, want func(i int) bool) {
	t.Helper()
	for i := range c.Len {
		if w := !c.IsNull(i) && want(i); bit(sel, i) != w {
			t.Fatalf("%s: slot %d selected %v, want %v", name, i, bit(sel, i), w)
		}
	}
	if c.Len&7 != 0 && sel[len(sel)-1]>>(c.Len&7) != 0 {
		t.Fatalf("%s: bits behind the last slot are set", name)
	}
}

func TestSelectRange(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	const n = 2100
	done := map[string]int{}
	for _, kind := range []string{"int8", "int16", "int32", "int64", "decimal"} {
		for name, values := range valuesOf(kinds[kind].Kind, n) {
			for nullName, validity := range nullPatterns(n) {
				c := newColumn(kinds[kind], n, validity, values, nil)
				p := newPair()
				stored := p.encode(t, c)
				for range 6 {
					lo, hi := valueAt(c, r.Intn(n)), valueAt(c, r.Intn(n))
					switch r.Intn(5) {
					case 0:
						hi = lo
					case 1:
						lo, hi = math.MinInt64, lo
					case 2:
						lo, hi = lo+1, math.MaxInt64
					}
					sel := make([]byte, (n+7)/8)
					_, ok, err := p.d.SelectRange(c.Type.Kind, stored[1], c.Validity, n, lo, hi, sel, p.arena)
					if err != nil {
						t.Fatal(err)
					}
					if !ok {
						continue
					}
					id := fmt.Sprintf("%s %s %s [%d, %d] (%s)", kind, name, nullName, lo, hi, describe(stored))
					done[kind]++
					checkSelection(t, id, c, sel, func(i int) bool {
						v := valueAt(c, i)
						// A decimal that needs more than 64 bits is in no range.
						fits := kind != "decimal" || column.View[int64](c.Values)[2*i+1] == v>>63
						return fits && lo <= v && v <= hi
					})
				}
			}
		}
	}
	for k, v := range done {
		if v < 100 {
			t.Errorf("only %d selections on %s", v, k)
		}
	}
}

func TestSelectRangeSkipsBlocks(t *testing.T) {
	const n = 10240
	s := intSeries(n, 1)
	maps.Copy(s, factorSeries(n, 1))
	for _, c := range []struct {
		name     string
		lo, hi   int64
		unpacked int
	}{
		{"sequence", 1<<40 + 5000, 1<<40 + 5100, 1},
		{"sequence", 1<<40 + 1024, 1<<40 + 2047, 0},
		{"quadratic", 0, 1000, 10}, // delta2: heads do not tell
		{"dates", 0, 100, 0},
		{"wrap", 5000, 6000, 0},
		{"constant", 0, 1, 0},
		{"seconds", 1700040000e6, 1700040100e6, 10},
		{"seconds", 0, 1699999999e6, 0},
		{"seconds", 1700132000e6, math.MaxInt64, 0}, // 17 bits,
		{"seconds", 1690000000e6, 1710000000e6, 0},
		{"secondsSorted", 1700000000e6, 1700000100e6, 1},
		{"outliersOfHundred", -5000, 100000, 10},
		{"outliersOfHundred", math.MinInt64, -9e15, 10},
	} {
		p := newPair()
		stored := p.encode(t, newColumn(kinds["int64"], n, nil, bytesOf(s[c.name]), nil))
		sel := make([]byte, n/8)
		got, ok, err := p.d.SelectRange(schema.Int64, stored[1], nil, n, c.lo, c.hi, sel, p.arena)
		if err != nil || !ok || got.Unpacked != c.unpacked {
			t.Errorf("%s: %+v %v %v, want %d blocks unpacked", c.name, got, ok, err, c.unpacked)
		}
	}
}

func TestSelectEqual(t *testing.T) {
	const n = 2100
	done := 0
	for name, texts := range textsOf(n) {
		for nullName, validity := range nullPatterns(n) {
			c := newColumn(kinds["string"], n, validity, nil, texts)
			p := newPair()
			stored := p.encode(t, c)
			for _, value := range []string{texts[0], texts[n/2], texts[n-1], "", "not there", "1", texts[7] + "x"} {
				sel := make([]byte, (n+7)/8)
				_, ok, err := p.d.SelectEqual(stored, c.Validity, n, []byte(value), sel, p.arena)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					done++
					checkSelection(t, fmt.Sprintf("%s %s %q", name, nullName, value), c, sel, func(i int) bool { return texts[i] == value })
				}
			}
		}
	}
	if done < 200 {
		t.Errorf("only %d selections", done)
	}
}

func TestSelectOnDamagedBuffers(t *testing.T) {
	cols, stored := samples(t)
	r := rand.New(rand.NewSource(10))
	d, h := NewDecoder(), newHostileArena()
	for i, c := range cols {
		for range 20 {
			s := stored[i]
			for k := 1; k < 3; k++ {
				if len(s[k]) == 0 {
					continue
				}
				bad := append([]byte(nil), s[k][:1+r.Intn(len(s[k]))]...)
				bad[r.Intn(min(len(bad), 30))] = byte(r.Uint32())
				s[k] = guarded(bad)
			}
			sel := make([]byte, (c.Len+7)/8)
			h.prepare()
			if c.Type.Kind.HasOffsets() {
				_, _, _ = d.SelectEqual(s, nil, c.Len, []byte("x"), sel, h.arena)
			} else {
				_, _, _ = d.SelectRange(c.Type.Kind, s[1], nil, c.Len, 0, 10, sel, h.arena)
			}
		}
	}
	if _, _, err := d.SelectRange(schema.Int64, nil, nil, 100, 0, 1, make([]byte, 12), h.arena); err == nil {
		t.Error("a selection that is too short")
	}
}

// BenchmarkSelect compares selecting on packed data with decoding and comparing.
func BenchmarkSelect(b *testing.B) {
	const n = 10240
	series := intSeries(n, 1)
	series["codes"] = make([]int64, n)
	for i := range n {
		series["codes"][i] = series["random"][i] & 15 << 40
	}
	for _, c := range []struct {
		name   string
		lo, hi int64
	}{{"sequence", 1<<40 + 5000, 1<<40 + 5100}, {"clock", 1700003000000000, 1700003100000000}, {"dates", 9000, 9100}, {"dates", 0, 100},
		{"codes", 3 << 40, 3 << 40}} {
		p := newPair()
		col := newColumn(kinds["int64"], n, nil, bytesOf(series[c.name]), nil)
		stored := p.encode(b, col)
		sel := make([]byte, n/8)
		name := fmt.Sprintf("%s %d-%d", c.name, c.lo, c.hi)
		b.Run("packed/"+name, func(b *testing.B) {
			b.SetBytes(n * 8)
			for i := 0; i < b.N; i++ {
				if _, ok, err := p.d.SelectRange(schema.Int64, stored[1], nil, n, c.lo, c.hi, sel, p.arena); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
		b.Run("decoded/"+name, func(b *testing.B) {
			b.SetBytes(n * 8)
			out := column.New(col.Type)
			for i := 0; i < b.N; i++ {
				p.arena.Reset()
				if err := p.d.Node(out, n, 0, stored, p.arena); err != nil {
					b.Fatal(err)
				}
				q := selection{lo: c.lo, hi: c.hi, sel: sel, n: n}
				compare(&q, 0, column.View[uint64](out.Values))
			}
		})
	}
	texts := textsOf(n)
	for name, value := range map[string]string{"mode": "MAIL", "instruct": "COLLECT COD", "key": "str_c_37000"} {
		p := newPair()
		col := newColumn(kinds["string"], n, nil, nil, texts[name])
		stored := p.encode(b, col)
		sel := make([]byte, n/8)
		b.Run("packed/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(col.Data) + len(col.Offsets)))
			for i := 0; i < b.N; i++ {
				if _, ok, err := p.d.SelectEqual(stored, nil, n, []byte(value), sel, p.arena); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
		b.Run("decoded/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(col.Data) + len(col.Offsets)))
			out := column.New(col.Type)
			for i := 0; i < b.N; i++ {
				p.arena.Reset()
				if err := p.d.Node(out, n, 0, stored, p.arena); err != nil {
					b.Fatal(err)
				}
				o := column.View[int32](out.Offsets)
				for k := range n {
					sel[k>>3] &^= 1 << (k & 7)
					if string(out.Data[o[k]:o[k+1]]) == value {
						sel[k>>3] |= 1 << (k & 7)
					}
				}
			}
		})
	}
}

// The format lets a stream's values wrap around at their width, where reference and width do not tell what they are.
func TestSelectionOnValuesThatWrapAround(t *testing.T) {
	const n = 100
	h, d := newHostileArena(), NewDecoder()
	h.prepare()
	for name, stored := range map[string][]byte{
		"reference": slices.Concat([]byte{encInts, modeReference, 4, 0xF0, 0x01}, bytes.Repeat([]byte{0x98}, n/2), make([]byte, guardLen)),         // 120 + 8 or 9
		"constant":  slices.Concat([]byte{encInts, modeConstant, 0x81, 0x02}, make([]byte, guardLen)),                                              // -129
		"factor":    slices.Concat([]byte{encInts, modeReference | hasFactor, 100, 4, 0}, bytes.Repeat([]byte{0x21}, n/2), make([]byte, guardLen)), // 100 or 200
		"delta":     slices.Concat([]byte{encInts, modeDelta | hasFactor, 100, 4, 0, 0}, bytes.Repeat([]byte{0x20}, n/2), make([]byte, guardLen)),  // 0 or 200 more
	} {
		c := column.New(kinds["int8"])
		if err := d.Node(c, n, 0, [3][]byte{nil, stored, nil}, h.arena); err != nil {
			t.Fatal(err)
		}
		for _, hi := range []int64{-100, 127} {
			want, got := make([]byte, (n+7)/8), make([]byte, (n+7)/8)
			column.SelectRange(want, column.View[uint8](c.Values), -127, hi)
			if _, ok, err := d.SelectRange(schema.Int8, stored, nil, n, -127, hi, got, h.arena); !ok || err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: got %x, want %x, %v %v", name, got, want, ok, err)
			}
		}
	}
}
