package pack

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// intSeries are shapes of integer columns; seed makes them different.
func intSeries(n int, seed int64) map[string][]int64 {
	r := rand.New(rand.NewSource(seed))
	m := map[string][]int64{}
	add := func(name string, f func(i int) int64) {
		s := make([]int64, n)
		for i := range s {
			s[i] = f(i)
		}
		m[name] = s
	}
	add("constant", func(i int) int64 { return math.MinInt64 })
	add("sequence", func(i int) int64 { return int64(i) + 1<<40 })
	add("falling", func(i int) int64 { return -3*int64(i) + 7 })
	add("wrap", func(i int) int64 { return int64(i) % 1000 })
	add("random8", func(i int) int64 { return int64(int8(r.Uint32())) })
	add("random", func(i int) int64 { return int64(r.Uint64()) })
	add("extremes", func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1, 1}[r.Intn(5)] })
	add("outliers", func(i int) int64 {
		if r.Intn(50) == 0 {
			return int64(r.Uint64())
		}
		return int64(r.Intn(16))
	})
	add("lowOutliers", func(i int) int64 {
		if r.Intn(50) == 0 {
			return math.MinInt64
		}
		return int64(r.Intn(16))
	})
	add("runs", func(i int) int64 { return int64(i / 37 * 1000003) })
	add("quadratic", func(i int) int64 { return int64(i)*int64(i)*17 - int64(i) })
	at := int64(1700000000000000)
	add("clock", func(i int) int64 { at += 1000000 + int64(r.Intn(2000)); return at })
	walk := int64(0)
	add("walk", func(i int) int64 { walk += int64(r.Intn(201)) - 100; return walk })
	add("dates", func(i int) int64 { return 8000 + int64(r.Intn(2500)) })
	return m
}

// nullPatterns returns validity bitmaps (nil: no nulls).
func nullPatterns(n int) map[string][]byte {
	r := rand.New(rand.NewSource(7))
	m := map[string][]byte{"none": nil}
	add := func(name string, valid func(i int) bool) {
		b := make([]byte, (n+7)/8)
		for i := range n {
			if valid(i) {
				b[i>>3] |= 1 << (i & 7)
			}
		}
		m[name] = b
	}
	add("every8", func(i int) bool { return i%8 != 3 })
	add("every2", func(i int) bool { return i%2 != 0 })
	add("every7", func(i int) bool { return i%7 != 0 })
	add("random10", func(i int) bool { return r.Intn(10) != 0 })
	add("random90", func(i int) bool { return r.Intn(10) == 0 })
	add("front", func(i int) bool { return i >= n/3 })
	add("back", func(i int) bool { return i < n/2 })
	add("all", func(i int) bool { return false })
	add("one", func(i int) bool { return i == n-1 })
	return m
}

func roundTripInts[S signed, U unsigned](t *testing.T, name string, series []int64, validity []byte) int {
	t.Helper()
	vals := make([]S, len(series))
	for i, v := range series {
		vals[i] = S(v)
	}
	keep := slices.Clone(vals)
	enc := append(appendInts(nil, vals, validity, &intEncoder{}), make([]byte, guardLen)...)
	if !slices.Equal(keep, vals) {
		t.Fatal("the input was modified")
	}
	got := make([]U, len(vals))
	r := newReader(enc)
	decodeInts(&r, got)
	if err := r.done(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range vals {
		if (validity == nil || bit(validity, i)) && S(got[i]) != vals[i] {
			t.Fatalf("%s: value %d of %d is %d, want %d", name, i, len(vals), S(got[i]), vals[i])
		}
	}
	return len(enc)
}

// roundTripAllWidths does it for the series cut to 8, 16, 32 and 64 bits.
func roundTripAllWidths(t *testing.T, name string, series []int64, validity []byte) {
	t.Helper()
	roundTripInts[int8, uint8](t, name, series, validity)
	roundTripInts[int16, uint16](t, name, series, validity)
	roundTripInts[int32, uint32](t, name, series, validity)
	roundTripInts[int64, uint64](t, name, series, validity)
}

func TestIntsRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 100, 1023, 1024, 1025, 3000} {
		for name, s := range intSeries(n, int64(n)) {
			for nulls, validity := range nullPatterns(n) {
				id := fmt.Sprintf("%s/%s/%d", name, nulls, n)
				roundTripAllWidths(t, id, s, validity)
			}
		}
	}
}

// What the modes are for: shapes that must come out small.
func TestIntsSizes(t *testing.T) {
	const n = 10240
	s := intSeries(n, 1)
	nulls := nullPatterns(n)
	for _, c := range []struct {
		name, nulls string
		limit       int
	}{
		{"constant", "none", 150}, {"sequence", "none", 150}, {"sequence", "every8", 150}, {"sequence", "every2", 150},
		{"sequence", "random10", 150}, {"sequence", "front", 150}, {"falling", "none", 150}, {"wrap", "every8", 280},
		{"random", "none", n*8 + 100}, {"outliers", "none", n*4/8 + n/50*17}, {"lowOutliers", "none", n*4/8 + n/50*11},
		{"runs", "none", n / 37 * 6}, {"quadratic", "none", 250}, {"dates", "none", n*12/8 + 200}, {"clock", "none", n*11/8 + 300},
	} {
		if got := roundTripInts[int64, uint64](t, c.name, s[c.name], nulls[c.nulls]); got > c.limit {
			t.Errorf("%s with nulls %s takes %d bytes, at most %d expected", c.name, c.nulls, got, c.limit)
		}
	}
}

func benchInts[S signed, U unsigned](b *testing.B, size int) {
	const n = 8192
	series := intSeries(n, 1)
	for _, name := range []string{"constant", "sequence", "wrap", "random8", "outliers", "runs", "clock", "walk", "dates"} {
		vals := make([]S, n)
		for i, v := range series[name] {
			vals[i] = S(v)
		}
		var e intEncoder
		enc := append(appendInts(nil, vals, nil, &e), make([]byte, guardLen)...)
		b.Run("encode/"+name, func(b *testing.B) {
			b.SetBytes(int64(n * size))
			var dst []byte
			for i := 0; i < b.N; i++ {
				dst = appendInts(dst[:0], vals, nil, &e)
			}
			b.ReportMetric(float64(n*size)/float64(len(dst)), "ratio")
		})
		b.Run("decode/"+name, func(b *testing.B) {
			b.SetBytes(int64(n * size))
			dst := make([]U, n)
			for i := 0; i < b.N; i++ {
				r := newReader(enc)
				decodeInts(&r, dst)
			}
		})
	}
}

func BenchmarkInts64(b *testing.B) { benchInts[int64, uint64](b, 8) }
func BenchmarkInts32(b *testing.B) { benchInts[int32, uint32](b, 4) }
