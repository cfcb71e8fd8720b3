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

// firstValid returns the first slot that is not null.
func firstValid(validity []byte, n int) int {
	for i := 0; i < n; i += 64 {
		if w := validWord(validity, i, min(64, n-i)); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
	}
	return 0
}

// intBounds returns the extremes of the valid values, of which there is one at least.
func intBounds[T signed](v []T, validity []byte) (lo, hi T) {
	if validity == nil {
		return minMax(v, v[0], v[0])
	}
	some := v[firstValid(validity, len(v))]
	lo, hi = some, some
	for i := 0; i < len(v); i += 64 {
		group := v[i:min(i+64, len(v))]
		switch valid := validWord(validity, i, len(group)); valid {
		case 0:
		case ^uint64(0):
			lo, hi = minMax(group, lo, hi)
		default:
			lo, hi = minMaxValid(group, valid, some, lo, hi)
		}
	}
	return lo, hi
}

// minMax uses two accumulators each: one would wait for itself.
func minMax[T signed](v []T, lo, hi T) (T, T) {
	lo1, hi1 := lo, hi
	i := 0
	for ; i+1 < len(v); i += 2 {
		a, b := v[i], v[i+1]
		lo, hi = min(lo, a), max(hi, a)
		lo1, hi1 = min(lo1, b), max(hi1, b)
	}
	if i < len(v) {
		lo, hi = min(lo, v[i]), max(hi, v[i])
	}
	return min(lo, lo1), max(hi, hi1)
}

// minMaxValid is minMax where valid has a bit for each value; some is one of
// the values that count and stands in for those that do not.
func minMaxValid[T signed](v []T, valid uint64, some, lo, hi T) (T, T) {
	for _, x := range v {
		if valid&1 == 0 {
			x = some
		}
		valid >>= 1
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

type float interface{ float32 | float64 }

// numberBounds returns the extremes of the valid values that are numbers, and
// whether there are numbers and NaNs. Most values lie between the extremes so
// far, so that nothing else about them has to be looked at.
func numberBounds[T float](v []T, validity []byte) (lo, hi T, nan bool) {
	lo, hi = T(math.Inf(1)), T(math.Inf(-1))
	for i, x := range v {
		if x >= lo && x <= hi || validity != nil && validity[i>>3]>>(i&7)&1 == 0 {
			continue
		}
		if x != x {
			nan = true
		} else {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	return lo, hi, nan
}

// floatBounds applies Catalyst's order to what numberBounds finds: NaN is
// greatest, and zeros of either sign are equal.
func floatBounds[T float](v []T, validity []byte) (lo, hi T) {
	lo, hi, nan := numberBounds(v, validity)
	if nan {
		notANumber := T(math.Float64frombits(0x7FF8000000000000)) // as Java writes it
		if lo > hi {                                              // no number
			lo = notANumber
		}
		hi = notANumber
	}
	if lo == 0 {
		lo = T(math.Copysign(0, -1))
	}
	if hi == 0 {
		hi = 0 // it may have been -0
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

// extremes are the least and the greatest of some strings, by unsigned bytes.
// Of either the first 16 bytes are kept as two big-endian words, padded with
// zeros: where these differ between two strings, they order the strings.
type extremes struct {
	lo, hi         []byte
	la, lb, ha, hb uint64
	ln, hn         int // lengths of lo and hi, -1 beyond 16
}

func words(v []byte) (a, b uint64, n int) {
	var head [16]byte
	copy(head[:], v)
	if n = len(v); n > len(head) {
		n = -1
	}
	return binary.BigEndian.Uint64(head[:]), binary.BigEndian.Uint64(head[8:]), n
}

func (x *extremes) add(v []byte) {
	if string(v) < string(x.lo) {
		x.lo = v
		x.la, x.lb, x.ln = words(v)
	}
	if string(v) > string(x.hi) {
		x.hi = v
		x.ha, x.hb, x.hn = words(v)
	}
}

// stringBounds returns the extremes of the valid values, of which there is one
// at least, by unsigned bytes. Most values are found to lie between the
// extremes so far, or outside as in sorted columns, by their first bytes, and
// are not looked at further. Offsets that do not add up panic.
func stringBounds(c *column.Column, validity []byte) (lo, hi []byte) {
	offsets := column.View[int32](c.Offsets)[:c.Len+1]
	data := c.Data[:offsets[c.Len]]
	base := unsafe.Pointer(unsafe.SliceData(data))
	limit := len(data) - 16 // up to here 16 bytes can be read
	first := firstValid(validity, c.Len)
	x := extremes{lo: data[offsets[first]:offsets[first+1]]}
	x.hi = x.lo
	x.la, x.lb, x.ln = words(x.lo)
	x.ha, x.hb, x.hn = x.la, x.lb, x.ln
	start := int(offsets[0])
	for i, e := range offsets[1:] {
		s := start
		start = int(e)
		if s > limit || s < 0 {
			if isValid(validity, i) {
				x.add(data[s:start])
			}
			continue
		}
		n := start - s
		a := bits.ReverseBytes64(*(*uint64)(unsafe.Add(base, s))) &^ (^uint64(0) >> uint(8*n))
		if a > x.la && a < x.ha {
			continue
		}
		b := bits.ReverseBytes64(*(*uint64)(unsafe.Add(base, s+8))) &^ (^uint64(0) >> uint(max(8*n-64, 0)))
		above := a > x.ha || a == x.ha && b > x.hb
		below := a < x.la || a == x.la && b < x.lb
		decided := (a != x.la || b != x.lb || n == x.ln) && (a != x.ha || b != x.hb || n == x.hn)
		if !above && !below && decided || !isValid(validity, i) {
			continue
		}
		v := data[s:start]
		if n > 16 {
			n = -1
		}
		switch {
		case above:
			x.hi, x.ha, x.hb, x.hn = v, a, b, n
		case below:
			x.lo, x.la, x.lb, x.ln = v, a, b, n
		default:
			x.add(v)
		}
	}
	return x.lo, x.hi
}

func isValid(validity []byte, i int) bool { return validity == nil || validity[i>>3]>>(i&7)&1 != 0 }

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
