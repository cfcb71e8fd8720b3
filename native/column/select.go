package column

import (
	"math"
	"math/bits"
	"unsafe"
)

// Unsigned lists the types that values are compared as.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// SelectRange writes the first (len(values)+7)/8 bytes of sel: bit i is set
// where lo <= values[i] <= hi as signed integers of T's width; bits behind the
// last value are clear. v-lo is at most hi-lo, unsigned, just where v is in between.
func SelectRange[T Unsigned](sel []byte, values []T, lo, hi int64) {
	from, span, some := Bounds[T](lo, hi)
	if !some {
		clear(sel[:(len(values)+7)>>3])
		return
	}
	k := 0
	for ; len(values) >= 8; k++ {
		v := (*[8]T)(values)
		values = values[8:]
		sel[k] = byte(within(v[0]-from, span) | within(v[1]-from, span)<<1 | within(v[2]-from, span)<<2 | within(v[3]-from, span)<<3 |
			within(v[4]-from, span)<<4 | within(v[5]-from, span)<<5 | within(v[6]-from, span)<<6 | within(v[7]-from, span)<<7)
	}
	if len(values) > 0 {
		sel[k] = 0
		for i, x := range values {
			sel[k] |= byte(within(x-from, span) << i)
		}
	}
}

// And clears the bits of sel that are not in mask, which has as many bytes at
// least (nil: all ones).
func And(sel, mask []byte) {
	if mask == nil {
		return
	}
	for i := range sel {
		sel[i] &= mask[i]
	}
}

// within is 1 where x <= span, else 0, without a branch: how many values
// qualify cannot be predicted.
func within[T Unsigned](x, span T) uint64 {
	_, borrow := bits.Sub64(uint64(span), uint64(x), 0)
	return 1 - borrow
}

// Bounds cuts [lo, hi] to what the signed type of T's width can hold; some is
// false where nothing is left.
func Bounds[T Unsigned](lo, hi int64) (from, span T, some bool) {
	shift := 64 - 8*unsafe.Sizeof(from)
	lo = max(lo, math.MinInt64>>shift)
	hi = min(hi, math.MaxInt64>>shift)
	return T(lo), T(hi - lo), lo <= hi
}
