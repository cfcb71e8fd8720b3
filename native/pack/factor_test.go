package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/quiverspark/quiver/native/column"
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

// factorSeries are integer columns with a common factor; seed makes them different.
func factorSeries(n int, seed int64) map[string][]int64 {
	r := rand.New(rand.NewSource(seed))
	m := map[string][]int64{}
	add := func(name string, f func(i int) int64) {
		s := make([]int64, n)
		for i := range s {
			s[i] = f(i)
		}
		m[name] = s
	}
	const start = 1700000000e6
	at := int64(start)
	sorted := func(unit int64) func(int) int64 {
		at = start
		return func(int) int64 { at += int64(r.Intn(60)) * unit; return at }
	}
	add("seconds", func(int) int64 { return start + int64(r.Intn(86400))*1e6 })
	add("secondsSorted", sorted(1e6))
	add("millisSorted", sorted(1000))
	add("days", func(int) int64 { return int64(r.Intn(20000)-10000) * 86400e6 })
	add("hundreds", func(int) int64 { return int64(r.Intn(50)+1) * 100 })
	add("negative", func(int) int64 { return int64(r.Intn(40)-20) * 6 })
	add("outliersOfHundred", func(int) int64 {
		if r.Intn(40) == 0 {
			return (r.Int63() - 1<<62) / 1000 * 100
		}
		return int64(r.Intn(16)) * 100
	})
	add("jumpsOfHundred", func(int) int64 {
		if at += int64(r.Intn(8)) * 100; r.Intn(40) == 0 {
			at += int64(r.Intn(1e9)) * 100
		}
		return at
	})
	add("oneIsOdd", func(i int) int64 { return int64(r.Intn(1000))*4096 + int64(i/max(n-1, 1)) })
	add("fallsTo2", func(i int) int64 { return int64(r.Intn(1000))*4096 + int64(i%1000/999)*2 })
	add("quadraticOf500", func(i int) int64 { return 500 * (17*int64(i)*int64(i) + int64(r.Intn(3))) })
	return m
}

// blockHeads returns the head bytes of a stream's blocks.
func blockHeads(t *testing.T, stream []byte, n, size int) (heads []byte) {
	t.Helper()
	r := newReader(append(slices.Clone(stream), make([]byte, guardLen)...))
	for at := 0; at < n; at += blockLen {
		heads = append(heads, r.full[r.off])
		readBlock(&r, min(blockLen, n-at), size)
	}
	if err := r.done(); err != nil {
		t.Fatal(err)
	}
	return heads
}

// Multiples of every sort of factor, as far as they fit and beyond: of those
// that wrap around at the width only some have a factor left.
func TestFactorsRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewSource(4))
	factors := []uint64{2, 3, 5, 7, 100, 127, 128, 255, 256, 512, 1000, 32767, 32768, 65535, 65536, 1000000, 1<<31 - 1, 1 << 31, 1<<31 + 1,
		1<<32 - 1, 1 << 32, 1<<32 + 1, 86400000000, 1<<53 + 1, 1 << 62, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 2, 1<<64 - 1}
	for _, n := range []int{2, 15, 16, 17, 100, 1024, 1025} {
		nulls := nullPatterns(n)
		for _, f := range factors {
			for _, origin := range []int64{0, -1, 77, math.MinInt8, math.MinInt16, math.MinInt32, math.MinInt64, math.MaxInt64} {
				random, sorted, outliers := make([]int64, n), make([]int64, n), make([]int64, n)
				fits := min(max(math.MaxUint64/f, 1), 1<<rnd.Intn(40))
				for i := range random {
					random[i] = origin + int64(f*(rnd.Uint64()%(fits+1)))
					sorted[i] = origin + int64(f*(uint64(i)*fits/uint64(n)+rnd.Uint64()%3))
					outliers[i] = random[i]
					if i%50 == 3 {
						outliers[i] = origin + int64(f*rnd.Uint64())
					}
				}
				for name, s := range map[string][]int64{"random": random, "sorted": sorted, "outliers": outliers} {
					for _, null := range []string{"none", "every2", "random10"} {
						id := fmt.Sprintf("%d values, %s, factor %d from %d, nulls %s", n, name, f, origin, null)
						roundTripAllWidths(t, id, s, nulls[null])
					}
				}
			}
		}
	}
}

func TestFactorSeriesRoundTrip(t *testing.T) {
	for _, n := range []int{2, 16, 1023, 1024, 3000} {
		for name, s := range factorSeries(n, int64(n)) {
			for null, validity := range nullPatterns(n) {
				for _, fast := range []bool{true, false} {
					withKernels(fast, func() {
						id := fmt.Sprintf("%s/%s/%d", name, null, n)
						roundTripAllWidths(t, id, s, validity)
					})
				}
			}
		}
	}
}

// The modes in which each series is stored: with a factor where that helps, with exceptions, and in how many bits.
func TestFactorIsFound(t *testing.T) {
	const n = 4096
	s := factorSeries(n, 2)
	maps.Copy(s, intSeries(n, 2))
	nulls := nullPatterns(n)
	for _, c := range []struct {
		name, nulls string
		head        byte
		bits        int // a value
	}{
		{"seconds", "none", modeReference | hasFactor, 17},
		{"seconds", "random10", modeReference | hasFactor, 17},
		{"secondsSorted", "none", modeDelta | hasFactor, 6},
		{"secondsSorted", "random10", modeDelta | hasFactor, 7},
		{"millisSorted", "none", modeDelta | hasFactor, 6},
		{"days", "every7", modeReference | hasFactor, 15},
		{"hundreds", "none", modeReference | hasFactor, 6},
		{"negative", "back", modeReference | hasFactor, 6},
		{"outliersOfHundred", "none", modeReference | hasExceptions | hasFactor, 7},
		{"jumpsOfHundred", "none", modeDelta | hasExceptions | hasFactor, 6},
		{"quadraticOf500", "none", modeDelta2 | hasFactor, 4},
		// No factor where it would not help.
		{"dates", "none", modeReference, 12},
		{"sequence", "every2", modeDelta, 1},
		{"falling", "none", modeDelta, 1},
		{"runs", "none", modeDelta | hasExceptions, 1},
	} {
		valid := nulls[c.nulls]
		stream := appendInts(nil, s[c.name], valid, &intEncoder{})
		for i, head := range blockHeads(t, stream, n, 8) {
			if head != c.head && (valid == nil || column.CountNulls(valid[i*blockLen/8:], blockLen) < blockLen) {
				t.Errorf("%s, nulls %s: head of block %d is %#x, want %#x", c.name, c.nulls, i, head, c.head)
			}
		}
		if limit := n*c.bits/8 + n/1024*40; len(stream) > limit {
			t.Errorf("%s, nulls %s: %d bytes, want %d at most", c.name, c.nulls, len(stream), limit)
		}
	}
}

// What is built on integer streams gains as well.
func TestFactorInColumns(t *testing.T) {
	const n = 10000
	s := factorSeries(n, 3)
	halves, texts, offsets := make([]float64, n), make([]string, n), make([]int32, n+1)
	whole := make([]int64, 0, 2*n)
	for i := range n {
		quantity := s["hundreds"][i]
		halves[i] = float64(quantity) / 200
		whole = append(whole, quantity, 0)
		texts[i] = fmt.Sprint("s", s["seconds"][i])
		offsets[i+1] = offsets[i] + int32(quantity)
	}
	for _, c := range []struct {
		name string
		col  *column.Column
		bits int
	}{
		{"timestamps of seconds", newColumn(kinds["int64"], n, nil, bytesOf(s["seconds"]), nil), 17},
		{"sorted ones", newColumn(kinds["int64"], n, nil, bytesOf(s["secondsSorted"]), nil), 6},
		{"whole decimals", newColumn(kinds["decimal"], n, nil, bytesOf(whole), nil), 6},
		{"halves in doubles", newColumn(kinds["float64"], n, nil, bytesOf(halves), nil), 6},
		{"numbers in strings", newColumn(kinds["string"], n, nil, nil, texts), 17},
	} {
		if size, limit := newPair().roundTrip(t, c.name, c.col), n*c.bits/8+500; size > limit {
			t.Errorf("%s take %d bytes, want %d at most", c.name, size, limit)
		}
	}
	lists := newColumn(kinds["list"], n, nil, nil, nil)
	lists.Offsets = bytesOf(offsets)
	if size, limit := newPair().roundTrip(t, "lengths", lists), n*6/8+500; size > limit {
		t.Errorf("lengths take %d bytes, want %d at most", size, limit)
	}
}

func TestGCD(t *testing.T) {
	rnd := rand.New(rand.NewSource(6))
	for range 20000 {
		a, b := rnd.Uint64()>>rnd.Intn(64), rnd.Uint64()>>rnd.Intn(64)
		if rnd.Intn(2) == 0 {
			c := rnd.Uint64() >> (32 + rnd.Intn(32))
			a, b = a>>32*c, b>>32*c
		}
		a = max(a, 1)
		want, rest := a, b
		for rest != 0 {
			want, rest = rest, want%rest
		}
		if got := gcd(a, b); got != want {
			t.Fatalf("gcd of %d and %d is %d, want %d", a, b, got, want)
		}
	}
}

func TestDivide(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	for range 20000 {
		f := max(rnd.Uint64()>>rnd.Intn(64), 2)
		lo := rnd.Uint64()
		q := rnd.Uint64() % (math.MaxUint64/f + 1)
		v := []uint64{lo, q*f + lo, 0}
		// The last value is anything near a multiple.
		rest := rnd.Uint64() % min(f, 1+f>>rnd.Intn(64))
		if rest > math.MaxUint64-q*f {
			rest = 0
		}
		v[2] = v[1] + rest
		want := []uint64{0, q, v[2]}
		k := 2
		if rest == 0 {
			want[2], k = q, 3
		}
		if got := divide(v, lo, f); got != k || !slices.Equal(v, want) {
			t.Fatalf("factor %d, rest %d: %d values divided, %v; want %d, %v", f, rest, got, v, k, want)
		}
	}
}

// Whatever a head says, the interval that bounds returns holds what is decoded.
func TestBoundsHoldAllValues(t *testing.T) {
	rnd := rand.New(rand.NewSource(8))
	told := map[byte]int{}
	for range 100000 {
		n := 1 + rnd.Intn(40)
		size := 1 << rnd.Intn(4)
		head := byte(rnd.Intn(3))
		b := []byte{head}
		any := func() uint64 { return uint64(int64(rnd.Uint64()) >> rnd.Intn(64)) }
		if head != modeConstant {
			if rnd.Intn(2) == 0 {
				b[0] |= hasFactor
				f := max(rnd.Uint64()>>rnd.Intn(64)>>(64-8*size), 2)
				b = binary.AppendUvarint(b, f)
			}
			if rnd.Intn(3) == 0 {
				b[0] |= hasExceptions
			}
			head = b[0]
			w := rnd.Intn(maxWidth + 1)
			b = append(b, byte(w))
			for range head&modeMask - 1 {
				b = appendZigzag(b, any())
			}
			b = appendZigzag(b, any())
			if head&hasExceptions != 0 {
				count, w := 1+rnd.Intn(n), rnd.Intn(maxWidth+1)
				b = appendZigzag(append(binary.AppendUvarint(b, uint64(count)), byte(w)), any())
				for p := range count {
					b = binary.LittleEndian.AppendUint16(b, uint16(p))
				}
				b = append(b, randomBytes(rnd, packedLen(count, uint(w)))...)
			}
			b = append(b, randomBytes(rnd, packedLen(n, uint(w)))...)
		} else {
			b = appendZigzag(b, any())
		}
		b = append(b, make([]byte, guardLen)...)
		r := newReader(b)
		block := readBlock(&r, n, size)
		if err := r.done(); err != nil {
			t.Fatal(err)
		}
		lo, hi, ok := block.bounds(n, size)
		if !ok {
			continue
		}
		told[head]++
		for i, v := range decodedAs(t, &block, n, size) {
			if v < lo || v > hi {
				t.Fatalf("block %x of %d values of %d bytes: value %d is %d, bounds %d to %d", b, n, size, i, v, lo, hi)
			}
		}
	}
	for head := range byte(32) {
		if mode := head & modeMask; mode <= modeDelta && (mode != modeConstant || head == 0) && told[head] < 100 {
			t.Errorf("only %d blocks with head %#x have bounds", told[head], head)
		}
	}
}

func randomBytes(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	rnd.Read(b)
	return b
}

func decodedAs(t *testing.T, b *intBlock, n, size int) []int64 {
	switch size {
	case 1:
		return decoded[int8, uint8](t, b, n)
	case 2:
		return decoded[int16, uint16](t, b, n)
	case 4:
		return decoded[int32, uint32](t, b, n)
	}
	return decoded[int64, uint64](t, b, n)
}

func decoded[S signed, U unsigned](t *testing.T, b *intBlock, n int) []int64 {
	vals := make([]U, n)
	if err := decodeBlock(b, vals); err != nil {
		t.Fatal(err)
	}
	out := make([]int64, n)
	for i, v := range vals {
		out[i] = int64(S(v))
	}
	return out
}

// FuzzFactor makes blocks of multiples of a factor, with some values that need not be.
func FuzzFactor(f *testing.F) {
	f.Add(uint64(1000000), int64(1700000000e6), uint16(1500), uint8(0), []byte{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5})
	f.Add(uint64(1<<31), int64(math.MinInt32), uint16(1024), uint8(1), []byte{0, 1, 2, 255})
	f.Add(uint64(1<<63), int64(-1), uint16(100), uint8(2), []byte{0, 1})
	f.Add(uint64(100), int64(5), uint16(2100), uint8(7), bytes.Repeat([]byte("ab cd"), 33))
	f.Fuzz(func(t *testing.T, factor uint64, origin int64, count uint16, shape uint8, seed []byte) {
		if len(seed) == 0 {
			return
		}
		n := 1 + int(count)%2100
		s := make([]int64, n)
		sum := uint64(0)
		for i := range s {
			x := uint64(seed[i%len(seed)]) << (shape >> 3)
			if sum += x; shape&1 != 0 {
				x = sum
			}
			s[i] = origin + int64(factor*x)
			if shape&4 != 0 && i%64 == 5 {
				s[i] = int64(x * 0x9e3779b97f4a7c15)
			}
		}
		var validity []byte
		if shape&2 != 0 {
			validity = bytes.Repeat(seed, n/8/len(seed)+2)
		}
		roundTripAllWidths(t, "fuzz", s, validity)
	})
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
