package pack

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
)

// Prefixes and suffixes of every length, padded and plain numbers of every number
// of digits, nulls in front, among and behind, by the kernel and without: what
// went in comes out.
func TestNumberedStrings(t *testing.T) {
	rnd := rand.New(rand.NewSource(6))
	stored := 0
	const rounds = 800
	for round := range rounds {
		digits := 1 + rnd.Intn(maxDigits)
		format := fmt.Sprintf("%s%%d", letters(rnd, round%20))
		if round&1 == 1 {
			format = fmt.Sprintf("%s%%0%dd", letters(rnd, round%20), digits)
		}
		if round%3 == 0 {
			format += letters(rnd, rnd.Intn(12))
		}
		n := 30 + rnd.Intn(2200)
		first := rnd.Int63n(int64(powers[digits]))
		step := rnd.Int63n(1 + int64(powers[digits/2]))
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf(format, (first+int64(i)*step)%int64(powers[digits]))
		}
		var validity []byte
		if nulls := round % 5; nulls > 1 {
			validity = make([]byte, (n+7)/8)
			from, to := rnd.Intn(n/2), n-rnd.Intn(n/2)
			for i := from; i < to; i++ {
				if rnd.Intn(4) < nulls {
					validity[i>>3] |= 1 << (i & 7)
				}
			}
			validity[from>>3] |= 1 << (from & 7)
		}
		want := newColumn(kinds["string"], n, validity, nil, texts)
		p := newPair()
		bytes := p.encode(t, want)
		if len(bytes[2]) > 0 && bytes[2][0] == encPrefixInt {
			stored++
		}
		p.decodeBothWays(t, fmt.Sprintf("round %d, %q", round, format), want, bytes)
	}
	if stored < rounds/2 {
		t.Fatalf("only %d of %d columns are stored as numbers", stored, rounds)
	}
}

func letters(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + rnd.Intn(26))
	}
	return string(b)
}

// Each number of up to eight digits that ends in, or begins with, what the
// divisions of the kernel could get wrong.
func TestDigitsOfNumbers(t *testing.T) {
	check := func(nums []uint64) {
		var prefix literal
		ends := make([]uint32, 1+len(nums))
		for i, x := range nums {
			ends[i+1] = ends[i] + uint32(len(fmt.Sprint(x)))
		}
		out := make([]byte, int(ends[len(nums)])+64)
		p := unsafe.Pointer(unsafe.SliceData(out))
		writeNumbers(p, 0, ends[1:], nums, &prefix, &prefix)
		want := slices.Clone(out[:ends[len(nums)]])
		clear(out)
		done := fastNumbers(p, ends[1:], nums, &prefix)
		if got := out[:ends[done]]; string(got) != string(want[:ends[done]]) {
			t.Fatalf("numbers from %d: %q, want %q", nums[0], got, want)
		}
		if useAVX2 && done != len(nums) {
			t.Fatalf("%d of %d numbers by the kernel", done, len(nums))
		}
	}
	nums := make([]uint64, 0, 10000)
	for low := range uint64(10000) {
		nums = append(nums, low)
	}
	check(nums)
	for _, high := range []uint64{1, 9, 10, 99, 100, 999, 1000, 4999, 5000, 9998, 9999} {
		nums = nums[:0]
		for low := range uint64(10000) {
			nums = append(nums, high*10000+low)
		}
		check(nums)
	}
	nums = nums[:0]
	for high := range uint64(10000) {
		nums = append(nums, high*10000+9999)
	}
	check(nums)
}

func TestMinMax(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	for n := 1; n < 70; n++ {
		v := make([]uint64, n)
		for round := range 20 {
			for i := range v {
				v[i] = rnd.Uint64() >> (rnd.Intn(2) * round)
			}
			lo, hi := int64(v[0]), int64(v[0])
			for _, x := range v {
				lo, hi = min(lo, int64(x)), max(hi, int64(x))
			}
			for _, fast := range []bool{true, false} {
				withKernels(fast, func() {
					if l, h := minMax(v); l != lo || h != hi {
						t.Fatalf("kernels %v: %d to %d, want %d to %d of %v", fast, l, h, lo, hi, v)
					}
				})
			}
		}
	}
}

func BenchmarkNumberedStrings(b *testing.B) {
	for _, format := range []string{"key_%d", "Customer#%09d", "user%d@example.com", "%016d"} {
		texts := make([]string, 10000)
		for i := range texts {
			texts[i] = fmt.Sprintf(format, 95000+i)
		}
		want := newColumn(kinds["string"], len(texts), nil, nil, texts)
		p := newPair()
		stored := p.encode(b, want)
		for _, fast := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/kernel=%v", format, fast), func(b *testing.B) {
				withKernels(fast, func() {
					b.SetBytes(int64(len(want.Data) + 4*len(texts)))
					got := column.New(want.Type)
					for range b.N {
						p.arena.Reset()
						if err := p.d.Node(got, len(texts), 0, stored, p.arena); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}
