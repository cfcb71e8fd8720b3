package pack

import (
	"math/bits"
	"slices"
)

// A common factor: timestamps of whole seconds, decimals without cents, sizes
// in sectors. A block whose values differ by multiples of a factor is encoded
// as their quotients, and the head scaled back:
//
//	value = origin + factor*quotient
//
// so deltas, null slots and windows are those of the quotients. Exceptions are
// stored unscaled, so that the format has room for values that are no multiples.

// minFactored is the number of values from which any factor saves more than it takes.
const minFactored = 16

// factorProbes values of a block are looked at before all of them are divided.
const factorProbes = 8

// factorOf divides v, values from lo to hi, by what their distances to lo have
// in common. It returns 1 and leaves v alone where that is nothing.
func (e *intEncoder) factorOf(v []uint64, valid []byte, lo, hi uint64) uint64 {
	if len(v) < minFactored {
		return 1
	}
	f := hi - lo
	for i := range factorProbes {
		// Random numbers have no common factor from the second or third on.
		if f = gcd(f, v[i*len(v)/factorProbes]-lo); f == 1 {
			return 1
		}
	}
	if valid == nil && steady(v) {
		return 1
	}
	if valid != nil {
		// In a sequence with every other slot null, values are even multiples of the step.
		if f = gcd(f, e.steadyStep(v, valid)); f == 1 {
			return 1
		}
	}
	for i := 0; ; {
		i += divide(v[i:], lo, f)
		if i == len(v) {
			return f
		}
		g := gcd(f, v[i]-lo)
		if g == 1 {
			for k := range v[:i] {
				v[k] = v[k]*f + lo
			}
			return 1
		}
		for k := range v[:i] {
			v[k] *= f / g
		}
		f = g
	}
}

// steady tells whether neighbours in a sample of v differ by the same: deltas
// without their exceptions then take no bits, with or without a factor.
func steady(v []uint64) bool {
	step := v[1] - v[0]
	for i, stride := 1, (len(v)-1)/sampleLen+1; i < len(v); i += stride {
		if v[i]-v[i-1] != step {
			return false
		}
	}
	return true
}

// steadyStep is the difference of neighbours where most have the same one, else 0.
func (e *intEncoder) steadyStep(v []uint64, valid []byte) uint64 {
	s := e.takeSlopes(v, valid)
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	step := s[len(s)/2]
	if s[len(s)/4] != step || s[len(s)*3/4] != step {
		return 0
	}
	return uint64(max(step, -step))
}

// divide replaces the values of v by their distances to lo divided by f, up to
// the first one that is no multiple, and returns how many that are.
func divide(v []uint64, lo, f uint64) int {
	shift := bits.TrailingZeros64(f)
	// The inverse of the odd part modulo 2^64 gives the quotients of multiples,
	// and numbers above limit for all others. Newton's iteration doubles the
	// bits that are right, five at first.
	odd := f >> shift
	inverse := 3*odd ^ 2
	for range 4 {
		inverse *= 2 - odd*inverse
	}
	limit := ^uint64(0) / f
	for i, x := range v {
		q := bits.RotateLeft64((x-lo)*inverse, -shift)
		if q > limit {
			return i
		}
		v[i] = q
	}
	return len(v)
}

// gcd is the greatest common divisor of a, at least 1, and b.
func gcd(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	shift := bits.TrailingZeros64(a | b)
	a >>= bits.TrailingZeros64(a)
	for b != 0 && a != 1 {
		b >>= bits.TrailingZeros64(b)
		a, b = min(a, b), max(a, b)-min(a, b)
	}
	return a << shift
}

// multiply replaces each x of dst by ref + f*x.
func multiply[T unsigned](dst []T, f, ref T) {
	for dst = dst[fastMultiply(dst, f, ref):]; len(dst) >= 4; dst = dst[4:] {
		d := (*[4]T)(dst)
		d[0] = d[0]*f + ref
		d[1] = d[1]*f + ref
		d[2] = d[2]*f + ref
		d[3] = d[3]*f + ref
	}
	for i := range dst {
		dst[i] = dst[i]*f + ref
	}
}
