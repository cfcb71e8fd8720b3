package pack

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

// Every width, every group remainder: what is packed is what comes out, and a
// plain bit-by-bit reading of the bytes agrees with it.
func TestBitsAgainstBitByBitReading(t *testing.T) {
	for _, fast := range []bool{true, false} {
		withKernels(fast, func() { testBits(t) })
	}
}

// withKernels runs f with the kernels for this processor or with the plain ones.
func withKernels(fast bool, f func()) {
	was := useAVX2
	defer func() { useAVX2 = was }()
	useAVX2 = was && fast
	f()
}

func testBits(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for w := uint(0); w <= 64; w++ {
		if w > maxWidth && w != 64 {
			continue
		}
		for _, n := range []int{0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 100, 1023, 1024} {
			x := make([]uint64, n)
			ref := rnd.Uint64()
			for i := range x {
				v := rnd.Uint64()
				if w < 64 {
					v &= 1<<w - 1
				}
				x[i] = v + ref
			}
			dst := make([]byte, packedLen(n, w)+guardLen)
			packBits(dst, x, ref, w)
			for i := range x {
				var v uint64
				for b := 0; b < int(w); b++ {
					at := i*int(w) + b
					v |= uint64(dst[at>>3]>>(at&7)&1) << b
				}
				if v+ref != x[i] {
					t.Fatalf("width %d value %d: bits say %d, want %d", w, i, v+ref, x[i])
				}
			}
			got := make([]uint64, n)
			unpackBits(got, dst, w, ref)
			g32, g16, g8 := make([]uint32, n), make([]uint16, n), make([]uint8, n)
			unpackBits(g32, dst, w, uint32(ref))
			unpackBits(g16, dst, w, uint16(ref))
			unpackBits(g8, dst, w, uint8(ref))
			for i := range x {
				if got[i] != x[i] || g32[i] != uint32(x[i]) || g16[i] != uint16(x[i]) || g8[i] != uint8(x[i]) {
					t.Fatalf("width %d n %d value %d: %x %x %x %x, want %x", w, n, i, got[i], g32[i], g16[i], g8[i], x[i])
				}
			}
		}
	}
}

func TestPrefixSum(t *testing.T) {
	testPrefixSum[uint8](t)
	testPrefixSum[uint16](t)
	testPrefixSum[uint32](t)
	testPrefixSum[uint64](t)
}

func testPrefixSum[T unsigned](t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	for n := range 70 {
		want := make([]T, n)
		in := make([]T, n)
		base := T(rnd.Uint64())
		sum := base
		for i := range in {
			in[i] = T(rnd.Uint64())
			sum += in[i]
			want[i] = sum
		}
		for _, fast := range []bool{true, false} {
			got := slices.Clone(in)
			withKernels(fast, func() { prefixSum(got, base) })
			if !slices.Equal(got, want) {
				t.Fatalf("fast %v: %v, want %v", fast, got, want)
			}
		}
	}
}

func benchUnpack[T unsigned](b *testing.B, size int) {
	for _, w := range []uint{0, 1, 4, 8, 12, 16, 20, 29, 33, 48, 57, 64} {
		b.Run(fmt.Sprintf("w%d", w), func(b *testing.B) {
			src := make([]byte, packedLen(blockLen, w)+guardLen)
			dst := make([]T, blockLen)
			b.SetBytes(int64(blockLen * size))
			for i := 0; i < b.N; i++ {
				unpackBits(dst, src, w, 3)
			}
		})
	}
}

func BenchmarkUnpack32(b *testing.B) { benchUnpack[uint32](b, 4) }
func BenchmarkUnpack64(b *testing.B) { benchUnpack[uint64](b, 8) }

func BenchmarkPackBits(b *testing.B) {
	for _, w := range []uint{4, 12, 20, 40} {
		b.Run(fmt.Sprintf("w%d", w), func(b *testing.B) {
			x := make([]uint64, blockLen)
			dst := make([]byte, packedLen(blockLen, w)+guardLen)
			b.SetBytes(blockLen * 8)
			for i := 0; i < b.N; i++ {
				packBits(dst, x, 0, w)
			}
		})
	}
}
