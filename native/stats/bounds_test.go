package stats

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/row"
	"github.com/quiverspark/quiver/native/row/rowtest"
	"github.com/quiverspark/quiver/native/schema"
)

// bitmap packs bits.
func bitmap(valid []bool) []byte {
	b := make([]byte, (len(valid)+7)/8)
	for i, v := range valid {
		if v {
			b[i>>3] |= 1 << (i & 7)
		}
	}
	return b
}

// someValid returns n flags, one in nulls of them false, one at least true.
func someValid(r *rand.Rand, n, nulls int) []bool {
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = r.IntN(nulls) != 0
	}
	valid[r.IntN(n)] = true
	return valid
}

func checkInts[T signed](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 4, 63, 64, 65, 128, 1000} {
		for _, nulls := range []int{1, 2, 10, 1 << 30} {
			v, valid := make([]T, n), someValid(r, n, nulls)
			lo, hi, first := T(0), T(0), true
			for i := range v {
				v[i] = T(r.Int64()) >> r.IntN(8)
				if valid[i] {
					if first {
						lo, hi, first = v[i], v[i], false
					}
					lo, hi = min(lo, v[i]), max(hi, v[i])
				}
			}
			if gotLo, gotHi := intBounds(v, bitmap(valid)); gotLo != lo || gotHi != hi {
				t.Fatalf("%T: got %d, %d, want %d, %d", lo, gotLo, gotHi, lo, hi)
			}
		}
	}
}

func TestIntBounds(t *testing.T) {
	checkInts[int8](t)
	checkInts[int16](t)
	checkInts[int32](t)
	checkInts[int64](t)
	if lo, hi := intBounds([]int64{math.MinInt64, math.MaxInt64}, nil); lo != math.MinInt64 || hi != math.MaxInt64 {
		t.Fatal(lo, hi)
	}
}

func TestFloatBoundsAreCatalysts(t *testing.T) {
	nan, inf, zero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	odd := math.Float64frombits(0xFFF0000000000001) // a negative NaN
	for _, c := range []struct {
		v      []float64
		lo, hi float64
	}{
		{[]float64{1, 2, -3}, -3, 2},
		{[]float64{nan}, nan, nan},
		{[]float64{odd, odd}, nan, nan},
		{[]float64{odd, 1, 7}, 1, nan},
		{[]float64{5, nan, -inf, inf}, -inf, nan},
		{[]float64{inf, -inf}, -inf, inf},
		{[]float64{0, 0}, zero, 0},
		{[]float64{zero, zero}, zero, 0},
		{[]float64{zero, 1}, zero, 1},
		{[]float64{-1, zero}, -1, 0},
		{[]float64{math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64}, -math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64},
		{[]float64{-2, -1}, -2, -1},
	} {
		for _, validity := range [][]byte{nil, bytes.Repeat([]byte{0xFF}, 8)} {
			v32 := make([]float32, len(c.v))
			for i, x := range c.v {
				v32[i] = float32(x)
			}
			if lo, hi := floatBounds(c.v, validity); !same(lo, c.lo) || !same(hi, c.hi) {
				t.Errorf("%v: got %v, %v", c.v, lo, hi)
			}
			lo, hi := floatBounds(v32, validity)
			if !same(float64(lo), float64(float32(c.lo))) || !same(float64(hi), float64(float32(c.hi))) {
				t.Errorf("%v as float: got %v, %v", c.v, lo, hi)
			}
		}
	}
	// Null slots do not count, whatever is in them.
	if lo, hi := floatBounds([]float64{nan, -5, 3, inf}, []byte{0b100}); lo != 3 || hi != 3 {
		t.Errorf("with nulls: got %v, %v", lo, hi)
	}
}

// same tells floats apart by sign of zero, but not NaN by its bits.
func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || a == b && math.Signbit(a) == math.Signbit(b)
}

func TestDecimalBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + r.IntN(200)
		words, valid := make([]uint64, 2*n), someValid(r, n, 3)
		var lo, hi *big.Int
		for i := range n {
			words[2*i], words[2*i+1] = r.Uint64(), uint64(r.Int64N(3)-1)
			v := new(big.Int).Lsh(big.NewInt(int64(words[2*i+1])), 64)
			v.Add(v, new(big.Int).SetUint64(words[2*i]))
			if valid[i] && (lo == nil || v.Cmp(lo) < 0) {
				lo = v
			}
			if valid[i] && (hi == nil || v.Cmp(hi) > 0) {
				hi = v
			}
		}
		gotLo, gotHi := decimalBounds(words, bitmap(valid))
		for _, c := range []struct {
			got  decimal
			want *big.Int
		}{{gotLo, lo}, {gotHi, hi}} {
			v := new(big.Int).Lsh(big.NewInt(c.got.hi), 64)
			if v.Add(v, new(big.Int).SetUint64(c.got.lo)).Cmp(c.want) != 0 {
				t.Fatalf("got %v, want %v", v, c.want)
			}
		}
	}
}

// strings2column makes a string column; null slots hold bytes too.
func strings2column(values []string, valid []bool) *column.Column {
	c := &column.Column{Type: &schema.Type{Kind: schema.String, Bounds: schema.StringBounds, Name: "string"}, Len: len(values)}
	o := make([]int32, len(values)+1)
	for i, v := range values {
		c.Data = append(c.Data, v...)
		o[i+1] = int32(len(c.Data))
	}
	c.Data = c.Data[:len(c.Data):len(c.Data)]
	c.Offsets = column.Bytes(o)
	if valid != nil {
		c.Validity = bitmap(valid)
		c.Nulls = column.CountNulls(c.Validity, c.Len)
	}
	return c
}

func TestStringBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabets := []string{"ab", "\x00a", "\x7f\x80\xff", "abcdefghijklmnopqrstuvwxyz"}
	for range 300 {
		n := 1 + r.IntN(150)
		alphabet, most := alphabets[r.IntN(len(alphabets))], []int{3, 20, 40}[r.IntN(3)]
		common := strings.Repeat("x", []int{0, 8, 15, 16, 17}[r.IntN(5)])
		values, valid := make([]string, n), someValid(r, n, 4)
		var lo, hi *string
		for i := range values {
			b := []byte(common)
			for range r.IntN(most) {
				b = append(b, alphabet[r.IntN(len(alphabet))])
			}
			values[i] = string(b)
			if valid[i] && (lo == nil || values[i] < *lo) {
				lo = &values[i]
			}
			if valid[i] && (hi == nil || values[i] > *hi) {
				hi = &values[i]
			}
		}
		c := strings2column(values, valid)
		if gotLo, gotHi := stringBounds(c, c.Validity); string(gotLo) != *lo || string(gotHi) != *hi {
			t.Fatalf("got %q, %q, want %q, %q of %q", gotLo, gotHi, *lo, *hi, values)
		}
	}
}

func TestCutBounds(t *testing.T) {
	a64 := strings.Repeat("a", 64)
	ff := strings.Repeat("\xff", 64)
	for _, c := range []struct{ whole, lower, upper string }{
		{"", "", ""},
		{"short", "short", "short"},
		{a64, a64, a64},
		{a64 + "b", a64, a64[:63] + "b"},
		{a64[:62] + "\xff\xff!", a64[:62] + "\xff\xff", a64[:61] + "b"},
		{a64[:63] + "\xfe!", a64[:63] + "\xfe", a64[:63] + "\xff"},
		{ff, ff, ff},
		{ff + "!", ff, ff + "!"},
		{"a" + ff[:63] + "!", "a" + ff[:63], "b"},
	} {
		lower, upper := string(cutLower([]byte(c.whole))), string(cutUpper([]byte(c.whole)))
		if lower != c.lower || upper != c.upper {
			t.Errorf("%q: got %q, %q", c.whole, lower, upper)
		}
		if lower > c.whole || upper < c.whole {
			t.Errorf("%q: %q, %q are not bounds", c.whole, lower, upper)
		}
	}
}

// FuzzCutBounds checks what pruning by prefix relies on.
func FuzzCutBounds(f *testing.F) {
	f.Add([]byte(strings.Repeat("ä", 40)), uint8(33))
	f.Add(bytes.Repeat([]byte{0xFF}, 70), uint8(64))
	f.Fuzz(func(t *testing.T, v []byte, n uint8) {
		whole := append([]byte(nil), v...)
		lower, upper := cutLower(v), cutUpper(v)
		if !bytes.Equal(whole, v) {
			t.Fatal("the value was changed")
		}
		if bytes.Compare(lower, v) > 0 || bytes.Compare(v, upper) > 0 {
			t.Fatalf("%q, %q do not bound %q", lower, upper, v)
		}
		prefix := v[:min(int(n), len(v))]
		cut := func(b []byte) []byte { return b[:min(len(prefix), len(b))] }
		if bytes.Compare(cut(lower), prefix) > 0 || bytes.Compare(prefix, cut(upper)) > 0 {
			t.Fatalf("%q, %q exclude values that begin with %q", lower, upper, prefix)
		}
	})
}

// TestNullSlotsAreNotMeasured gives null slots bytes and elements, as imported
// arrays may have them: they count as 4 bytes all the same.
func TestNullSlotsAreNotMeasured(t *testing.T) {
	c := strings2column([]string{"abc", "defgh", ""}, []bool{true, false, true})
	list := &schema.Type{Kind: schema.List, Name: "array", Children: []schema.Field{{Name: "element", Type: c.Type}}}
	lists := &column.Column{Type: list, Len: 2, Nulls: 1, Validity: []byte{2}, Offsets: column.Bytes([]int32{0, 1, 3}), Children: []*column.Column{c}}
	s := schema.New([]schema.Field{{Name: "s", Type: c.Type}, {Name: "l", Type: list}})
	_, size, err := NewComputer(s).Append(nil, []*column.Column{c, lists})
	if err != nil {
		t.Fatal(err)
	}
	// Strings: 4+3, 4 for the null, 4+0. Arrays: 4 for the null; 4, then count,
	// bitset, two slots and no bytes for the empty string and the null.
	if want := int64(4+3+4+4+0) + 4 + 4 + 8 + 8 + 16; size != want {
		t.Fatalf("got %d, want %d", size, want)
	}
}

func TestDamagedOffsetsAreAnError(t *testing.T) {
	c := strings2column([]string{"abc", "d"}, nil)
	list := &schema.Type{Kind: schema.List, Name: "array", Children: []schema.Field{{Name: "element", Type: c.Type}}}
	lists := &column.Column{Type: list, Len: 1, Offsets: column.Bytes([]int32{0, 3}), Children: []*column.Column{c}}
	s := schema.New([]schema.Field{{Name: "l", Type: list}})
	_, _, err := NewComputer(s).Append(nil, []*column.Column{lists})
	if e, ok := err.(*row.Error); !ok || e.Path != "l.element" {
		t.Fatal(err)
	}
}

func BenchmarkBounds(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 10000
	valid := bitmap(someValid(r, n, 10))
	ints := make([]int64, n)
	floats := make([]float64, n)
	texts := make([]string, n)
	letters := make([]byte, 24)
	for i := range ints {
		ints[i] = r.Int64() >> 12
		floats[i] = r.NormFloat64()
		for j := range letters {
			letters[j] = 'a' + byte(r.IntN(26))
		}
		texts[i] = "str_" + string(letters[:r.IntN(len(letters))])
	}
	text := strings2column(texts, nil)
	sort.Strings(texts)
	sorted := strings2column(texts, nil)
	for _, c := range []struct {
		name string
		run  func(validity []byte)
	}{
		{"int64", func(v []byte) { intBounds(ints, v) }},
		{"float64", func(v []byte) { floatBounds(floats, v) }},
		{"decimal", func(v []byte) { decimalBounds(column.View[uint64](column.Bytes(ints)), v) }},
		{"string", func(v []byte) { stringBounds(text, v) }},
		{"sorted", func(v []byte) { stringBounds(sorted, v) }},
	} {
		for _, v := range []struct {
			name     string
			validity []byte
		}{{"", nil}, {"null", valid}} {
			b.Run(c.name+v.name, func(b *testing.B) {
				done := rowtest.PerValue(b, n)
				for b.Loop() {
					c.run(v.validity)
				}
				done()
			})
		}
	}
}
