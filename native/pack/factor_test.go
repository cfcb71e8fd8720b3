package pack

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

func TestMultiply(t *testing.T) {
	for _, f := range []uint64{2, 3, 1000000, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 63, 1<<64 - 1} {
		testMultiply(t, uint8(f))
		testMultiply(t, uint16(f))
		testMultiply(t, uint32(f))
		testMultiply(t, f)
	}
}

func testMultiply[T unsigned](t *testing.T, f T) {
	rnd := rand.New(rand.NewSource(3))
	for n := range 40 {
		in, want := make([]T, n), make([]T, n)
		ref := T(rnd.Uint64())
		for i := range in {
			in[i] = T(rnd.Uint64())
			for bit := T(1); bit != 0; bit <<= 1 {
				if f&bit != 0 {
					want[i] += in[i] * bit
				}
			}
			want[i] += ref
		}
		for _, fast := range []bool{true, false} {
			got := slices.Clone(in)
			withKernels(fast, func() { multiply(got, f, ref) })
			if !slices.Equal(got, want) {
				t.Fatalf("fast %v, factor %d: %v, want %v", fast, f, got, want)
			}
		}
	}
}

// What a factor does to encoding and decoding: the same numbers without and with it, random ones and their sums.
func BenchmarkFactor(b *testing.B) {
	const n = 8192
	rnd := rand.New(rand.NewSource(1))
	for _, f := range []int64{1, 100, 1000000} {
		random, sorted := make([]int64, n), make([]int64, n)
		at := int64(0)
		for i := range random {
			random[i] = rnd.Int63n(2000) * f
			at += random[i]
			sorted[i] = at
		}
		for name, vals := range map[string][]int64{"random": random, "sorted": sorted} {
			benchFactor[int64, uint64](b, fmt.Sprintf("64/%s/%d", name, f), vals)
			if f != 1000000 {
				vals32 := make([]int32, n)
				for i, v := range vals {
					vals32[i] = int32(v)
				}
				benchFactor[int32, uint32](b, fmt.Sprintf("32/%s/%d", name, f), vals32)
			}
		}
	}
}

func benchFactor[S signed, U unsigned](b *testing.B, name string, vals []S) {
	var e intEncoder
	enc := append(appendInts(nil, vals, nil, &e), make([]byte, guardLen)...)
	size := int64(len(bytesOf(vals)))
	b.Run("encode/"+name, func(b *testing.B) {
		b.SetBytes(size)
		var dst []byte
		for i := 0; i < b.N; i++ {
			dst = appendInts(dst[:0], vals, nil, &e)
		}
		b.ReportMetric(float64(size)/float64(len(enc)), "ratio")
	})
	b.Run("decode/"+name, func(b *testing.B) {
		b.SetBytes(size)
		dst := make([]U, len(vals))
		for i := 0; i < b.N; i++ {
			r := newReader(enc)
			decodeInts(&r, dst)
		}
	})
}
