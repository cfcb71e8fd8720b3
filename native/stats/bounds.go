package stats

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
)

// maxBound is the longest bound of a string in bytes.
const maxBound = 64

// validWord returns the validity of the k ≤ 64 slots from i on, i a multiple of 64.
func validWord(validity []byte, i, k int) uint64 {
	if validity == nil {
		return ^uint64(0) >> (64 - k)
	}
	if b := validity[i>>3:]; k == 64 && len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var w uint64
	for j, x := range validity[i>>3 : (i+k+7)>>3] {
		w |= uint64(x) << (8 * j)
	}
	return w & (^uint64(0) >> (64 - k))
}

func boolBounds(values, validity []byte, n int) (lo, hi uint64) {
	lo = 1
	for i := 0; i < n; i += 64 {
		k := min(64, n-i)
		v, valid := validWord(values, i, k), validWord(validity, i, k)
		if v&valid != 0 {
			hi = 1
		}
		if ^v&valid != 0 {
			lo = 0
		}
	}
	return lo, hi
}

type signed interface {
	int8 | int16 | int32 | int64
}

// limits returns the least and the greatest T.
func limits[T signed]() (least, greatest T) {
	shift := 8*unsafe.Sizeof(least) - 1
	least = T(-1) << shift
	return least, ^least
}

// intBounds returns the extremes of the valid values, of which there is one at least.
func intBounds[T signed](v []T, validity []byte) (lo, hi T) {
	least, greatest := limits[T]()
	if validity == nil {
		return minMax(v, greatest, least)
	}
	lo, hi = greatest, least
	for i := 0; i < len(v); i += 64 {
		group := v[i:min(i+64, len(v))]
		switch valid := validWord(validity, i, len(group)); valid {
		case 0:
		case ^uint64(0):
			lo, hi = minMax(group, lo, hi)
		default:
			for _, x := range group {
				m := -T(valid & 1)
				valid >>= 1
				lo = min(lo, x&m|greatest&^m)
				hi = max(hi, x&m|least&^m)
			}
		}
	}
	return lo, hi
}

// minMax uses independent accumulators: one would wait for itself.
func minMax[T signed](v []T, lo, hi T) (T, T) {
	lo0, lo1, lo2, lo3 := lo, lo, lo, lo
	hi0, hi1, hi2, hi3 := hi, hi, hi, hi
	for len(v) >= 4 {
		a, b, c, d := v[0], v[1], v[2], v[3]
		v = v[4:]
		lo0, lo1, lo2, lo3 = min(lo0, a), min(lo1, b), min(lo2, c), min(lo3, d)
		hi0, hi1, hi2, hi3 = max(hi0, a), max(hi1, b), max(hi2, c), max(hi3, d)
	}
	for _, x := range v {
		lo0, hi0 = min(lo0, x), max(hi0, x)
	}
	return min(lo0, lo1, lo2, lo3), max(hi0, hi1, hi2, hi3)
}

// floatKeys returns the bounds of floats given by their bits as signed integers.
// The order of floats that are not NaN is the order of their keys: negative
// ones with all but the sign inverted. A key is its own inverse.
func floatKeys[T signed](v []T, validity []byte, inf T) (lo, hi T, numbers, nan bool) {
	least, greatest := limits[T]()
	shift := 8*unsafe.Sizeof(least) - 1
	lo, hi = greatest, least
	for i := 0; i < len(v); i += 64 {
		group := v[i:min(i+64, len(v))]
		valid := validWord(validity, i, len(group))
		for _, x := range group {
			m := -T(valid & 1)
			valid >>= 1
			if x&greatest > inf {
				nan = nan || m != 0
				continue
			}
			key := x ^ x>>shift&greatest
			lo = min(lo, key&m|greatest&^m)
			hi = max(hi, key&m|least&^m)
		}
	}
	return lo, hi, lo <= hi, nan
}

func float64Bounds(v []int64, validity []byte) (lo, hi uint64) {
	l, h, numbers, nan := floatKeys(v, validity, int64(math.Float64bits(math.Inf(1))))
	notANumber := uint64(0x7FF8000000000000)
	lo, hi = uint64(l^l>>63&math.MaxInt64), uint64(h^h>>63&math.MaxInt64)
	if lo == 0 {
		lo = 1 << 63
	}
	if hi == 1<<63 {
		hi = 0
	}
	if nan {
		hi = notANumber
	}
	if !numbers {
		lo = notANumber
	}
	return lo, hi
}

func float32Bounds(v []int32, validity []byte) (lo, hi uint32) {
	l, h, numbers, nan := floatKeys(v, validity, int32(math.Float32bits(float32(math.Inf(1)))))
	notANumber := uint32(0x7FC00000)
	lo, hi = uint32(l^l>>31&math.MaxInt32), uint32(h^h>>31&math.MaxInt32)
	if lo == 0 {
		lo = 1 << 31
	}
	if hi == 1<<31 {
		hi = 0
	}
	if nan {
		hi = notANumber
	}
	if !numbers {
		lo = notANumber
	}
	return lo, hi
}

// decimal is a 128-bit two's complement integer.
type decimal struct {
	lo uint64
	hi int64
}

func (d decimal) less(e decimal) bool { return d.hi < e.hi || d.hi == e.hi && d.lo < e.lo }

func decimalBounds(words []uint64, validity []byte) (lo, hi decimal) {
	lo, hi = decimal{math.MaxUint64, math.MaxInt64}, decimal{0, math.MinInt64}
	n := len(words) / 2
	for i := 0; i < n; i += 64 {
		k := min(64, n-i)
		valid := validWord(validity, i, k)
		for w := words[2*i : 2*(i+k)]; len(w) >= 2; w = w[2:] {
			d := decimal{w[0], int64(w[1])}
			ok := valid&1 != 0
			valid >>= 1
			if ok && d.less(lo) {
				lo = d
			}
			if ok && hi.less(d) {
				hi = d
			}
		}
	}
	return lo, hi
}

// prefix is the first 16 bytes of a string as two big-endian words, padded with
// zeros. Where the prefixes of two strings differ, they order the strings.
type prefix struct{ a, b uint64 }

func (p prefix) less(q prefix) bool { return p.a < q.a || p.a == q.a && p.b < q.b }

// prefixOf reads the prefix of data[lo:hi], of which 16 bytes can be read at lo.
func prefixOf(data unsafe.Pointer, lo, n int) prefix {
	p := unsafe.Add(data, lo)
	a, b := bits.ReverseBytes64(*(*uint64)(p)), bits.ReverseBytes64(*(*uint64)(unsafe.Add(p, 8)))
	if n < 16 {
		if n <= 8 {
			b = 0
			a &^= ^uint64(0) >> (8 * n)
		} else {
			b &^= ^uint64(0) >> (8*n - 64)
		}
	}
	return prefix{a, b}
}

// stringBounds returns the extremes of the valid values, of which there is one
// at least, by unsigned bytes.
func stringBounds(c *column.Column, validity []byte) (lo, hi []byte) {
	offsets := column.View[int32](c.Offsets)[:c.Len+1]
	data := c.Data[:offsets[c.Len]]
	base := unsafe.Pointer(unsafe.SliceData(data))
	var least, most prefix
	start := int(offsets[0])
	first := true
	for i := 0; i < c.Len; i += 64 {
		ends := offsets[i+1 : min(i+64, c.Len)+1]
		valid := validWord(validity, i, len(ends))
		for _, e := range ends {
			s, end := start, int(e)
			start = end
			ok := valid&1 != 0
			valid >>= 1
			if !ok {
				continue
			}
			_ = data[s:end] // falling offsets must not get past here
			var p prefix
			if s+16 <= len(data) {
				p = prefixOf(base, s, end-s)
			} else {
				var tail [16]byte
				copy(tail[:], data[s:end])
				p = prefix{binary.BigEndian.Uint64(tail[:]), binary.BigEndian.Uint64(tail[8:])}
			}
			if first {
				first = false
				least, most = p, p
				lo, hi = data[s:end], data[s:end]
				continue
			}
			if !least.less(p) && (p != least || string(data[s:end]) < string(lo)) {
				least, lo = p, data[s:end]
			}
			if !p.less(most) && (p != most || string(data[s:end]) > string(hi)) {
				most, hi = p, data[s:end]
			}
		}
	}
	return lo, hi
}

// cutLower cuts a lower bound: a prefix is not greater than the whole.
func cutLower(b []byte) []byte { return b[:min(len(b), maxBound)] }

// cutUpper cuts an upper bound and raises what is left, so that it is greater
// than everything that begins with it: the last byte that is not 0xFF is
// incremented, what follows is dropped. If there is no such byte, nothing short
// is greater and the bound stays whole.
func cutUpper(b []byte) []byte {
	if len(b) <= maxBound {
		return b
	}
	for i := maxBound - 1; i >= 0; i-- {
		if b[i] != 0xFF {
			cut := append([]byte(nil), b[:i+1]...)
			cut[i]++
			return cut
		}
	}
	return b
}
