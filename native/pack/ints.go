package pack

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

// Integer stream: blocks of blockLen values (the last one shorter), each stored
// in the mode that takes the fewest bits. Frame of reference with exceptions
// follows PFOR (Zukowski et al., ICDE 2006), the delta modes follow Parquet's
// DELTA_BINARY_PACKED with exceptions added, the block size FastLanes (Afroozeh
// and Boncz, VLDB 2023). The number of values is known from outside.
//
//	block      = head byte (mode, bit 3: exceptions, bit 4: factor), then by mode
//	  constant   value zigzag
//	  reference  [factor], width byte, ref zigzag, [exceptions], packed x
//	             value = ref + factor*x
//	  delta      [factor], width byte, ref zigzag, base zigzag, [exceptions], packed x
//	             value[i] = value[i-1] + ref + factor*x[i],  value[-1] = base
//	  delta2     [factor], width byte, ref zigzag, base zigzag, slope zigzag, [exceptions], packed x
//	             d[i] = d[i-1] + ref + factor*x[i], value[i] = value[i-1] + d[i], d[-1] = slope
//	  plain      values, little-endian
//	factor     = uvarint, at least 2, less than 2^bits of a value; 1 where there is none
//	exceptions = count uvarint, width byte, ref zigzag,
//	             count positions uint16 LE rising, packed y
//	             ref + factor*x[position] is replaced by exceptions' ref + y
//
// All arithmetic wraps around at the width of the value.
const blockLen = 1024

const (
	modeConstant  = 0
	modeReference = 1
	modeDelta     = 2
	modeDelta2    = 3
	modePlain     = 4

	modeMask      = 7
	hasExceptions = 8
	hasFactor     = 16
)

type signed interface {
	int8 | int16 | int32 | int64
}

// sampleLen values of a block decide on its mode.
const sampleLen = 64

// exceptionBits is what an exception costs beside its packed value: the
// position, and time to patch it.
const exceptionBits = 24

// intEncoder holds the scratch of one block.
type intEncoder struct {
	v   [blockLen]uint64 // values, sign-extended, null slots filled; then quotients
	d   [blockLen]uint64 // deltas
	exc [blockLen]uint64
	pos [blockLen]uint16

	// value = origin + factor*quotient; 0 and 1 where the values have no factor.
	origin, factor uint64

	sample [sampleLen]int64
	slopes [sampleLen]int64
}

// frame is a window of 2^width values from ref on, and what it costs in bits.
type frame struct {
	ref   uint64
	width uint
	cost  int
	all   bool // no value lies outside
}

// fullFrame is the window from lo to hi for n values.
func fullFrame(lo, hi int64, n int) frame {
	full := bitLen(uint64(hi) - uint64(lo))
	return frame{ref: uint64(lo), width: storedWidth(full), cost: n * int(full), all: true}
}

// appendInts appends vals as an integer stream. Slots that are null by
// validity (nil: none) come back as anything.
func appendInts[T signed](dst []byte, vals []T, validity []byte, e *intEncoder) []byte {
	for start := 0; start < len(vals); start += blockLen {
		b := vals[start:min(start+blockLen, len(vals))]
		for i, x := range b {
			e.v[i] = uint64(int64(x))
		}
		var valid []byte
		if validity != nil {
			valid = validity[start>>3:]
		}
		at := len(dst)
		dst = e.appendBlock(dst, len(b), valid)
		if size := len(b) * int(unsafe.Sizeof(b[0])); len(dst)-at > size+1 {
			dst = append(dst[:at], modePlain)
			dst = append(dst, bytesOf(b)...)
		}
	}
	return dst
}

func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}

// appendBlock encodes e.v[:n].
func (e *intEncoder) appendBlock(dst []byte, n int, valid []byte) []byte {
	v := e.v[:n]
	nulls := false
	if valid != nil {
		switch fillNulls(v, valid) {
		case n:
			clear(v)
		case 0:
		default:
			nulls = true
		}
	}
	if !nulls {
		valid = nil
	}
	lo, hi := minMax(v)
	if lo == hi {
		return appendZigzag(append(dst, modeConstant), uint64(lo))
	}
	e.origin, e.factor = 0, e.factorOf(v, valid, uint64(lo), uint64(hi))
	if e.factor != 1 {
		e.origin = uint64(lo)
		lo, hi = 0, int64(uint64(hi-lo)/e.factor)
	}
	best := fullFrame(lo, hi, n)
	full := bitLen(uint64(hi) - uint64(lo))
	if n < 8 || full <= 1 {
		return e.appendFrame(dst, modeReference, v, best)
	}
	if s := e.takeSample(v); full > 2 && !hopeless(s, lo, full, 0) {
		slices.Sort(s)
		if f := e.bestWindow(s, lo, hi, n); f.cost < best.cost {
			best = f
		}
	}
	if s := e.takeSlopes(v, valid); len(s) > 0 && !hopeless(s, 0, full, 32) {
		if out := e.tryDelta(dst, n, valid, s, best.cost); out != nil {
			return out
		}
	}
	return e.appendFrame(dst, modeReference, v, best)
}

// tryDelta appends the block as deltas, of which s is a sample, or returns nil
// where that does not take less than cost bits.
func (e *intEncoder) tryDelta(dst []byte, n int, valid []byte, s []int64, cost int) []byte {
	slices.Sort(s)
	guess := e.bestWindow(s, s[0], s[len(s)-1], n)
	if guess.cost+n/4 >= cost-cost/16 {
		return nil
	}
	first := e.deltas(n, valid, uint64(s[len(s)/2]))
	d := e.d[:n]
	lo, hi := minMax(d[1:])
	f := fullFrame(lo, hi, n)
	if w := e.bestWindow(s, lo, hi, n); w.cost < f.cost {
		f = w
	}
	if f.cost+n/4 >= cost {
		return nil
	}
	if f.width > 3 {
		if out, ok := e.tryDelta2(dst, first, d, f.cost); ok {
			return out
		}
	}
	d[0] = f.ref
	return e.appendFrame(dst, modeDelta, d, f, first-f.ref)
}

// hopeless tells from a sample that no window of half the range 2^full or less
// leaves out few enough values to pay. The sample is counted in bins of 1/32 of
// the range; the bin of base is the one numbered origin.
func hopeless(s []int64, base int64, full uint, origin int) bool {
	if full > 61 {
		return false
	}
	var bins [96]uint8
	shift := max(full, 5) - 5
	for _, x := range s {
		bins[uint(int((x-base)>>(shift&63))+origin)%uint(len(bins))]++
	}
	// A window of half the range touches half of the bins and one more, one of
	// a sixteenth or less touches three.
	half := 1<<(min(full, 5)-1) + 1
	sum, most, few := 0, 0, 0
	for i, c := range bins {
		sum += int(c)
		if i >= half {
			sum -= int(bins[i-half])
		}
		most = max(most, sum)
		if i >= 2 {
			few = max(few, int(c)+int(bins[i-1])+int(bins[i-2]))
		}
	}
	k, each := len(s), int(full)+exceptionBits
	return (k-most)*each >= 3*k && (k-few)*each >= int(full)*k
}

// tryDelta2 appends the block as differences of the deltas d[1:] where that
// takes at least a bit a value less than cost.
func (e *intEncoder) tryDelta2(dst []byte, first uint64, d []uint64, cost int) ([]byte, bool) {
	n := len(d)
	lo, hi := d[2]-d[1], d[2]-d[1]
	for i := 2; i < n; i++ {
		x := d[i] - d[i-1]
		lo = uint64(min(int64(lo), int64(x)))
		hi = uint64(max(int64(hi), int64(x)))
	}
	width := bitLen(hi - lo)
	if n*int(width)+n > cost || width > maxWidth {
		return dst, false
	}
	// Slots 0 and 1 repeat the first delta, so that their second differences are ref.
	x := e.exc[:n]
	x[0], x[1] = lo, lo
	for i := 2; i < n; i++ {
		x[i] = d[i] - d[i-1]
	}
	slope := d[1] - lo - lo // d[-1]: d[0] = slope+lo, d[1] = slope+2*lo
	base := first - slope - lo
	f := frame{ref: lo, width: width, all: true}
	dst = e.appendFrameHead(dst, modeDelta2, f, base, slope)
	return appendPacked(dst, x, f), true
}

func appendPacked(dst []byte, x []uint64, f frame) []byte {
	size := packedLen(len(x), f.width)
	dst = slices.Grow(dst, size+guardLen)
	packBits(dst[len(dst):len(dst)+size+guardLen], x, f.ref, f.width)
	return dst[:len(dst)+size]
}

// appendFrameHead appends the head of a block in a delta mode with its base and
// perhaps its slope, or in mode reference; all are of quotients.
func (e *intEncoder) appendFrameHead(dst []byte, mode byte, f frame, baseAndSlope ...uint64) []byte {
	dst = append(dst, mode)
	if e.factor != 1 && f.width > 0 {
		dst[len(dst)-1] |= hasFactor
		dst = binary.AppendUvarint(dst, e.factor)
	}
	ref := f.ref * e.factor
	if mode == modeReference {
		ref += e.origin
	}
	dst = appendZigzag(append(dst, byte(f.width)), ref)
	for i, m := range baseAndSlope {
		m *= e.factor
		if i == 0 {
			m += e.origin
		}
		dst = appendZigzag(dst, m)
	}
	return dst
}

// appendFrame appends a block of x in the window of f, with exceptions for what
// lies outside. It overwrites x.
func (e *intEncoder) appendFrame(dst []byte, mode byte, x []uint64, f frame, base ...uint64) []byte {
	head := len(dst)
	dst = e.appendFrameHead(dst, mode, f, base...)
	if !f.all {
		n := 0
		for i, v := range x {
			e.pos[n] = uint16(i)
			if (v-f.ref)>>(f.width&63) != 0 {
				n++
			}
		}
		if n > 0 {
			dst[head] |= hasExceptions
			origin := e.origin
			if mode != modeReference {
				origin = 0
			}
			for i, p := range e.pos[:n] {
				e.exc[i] = x[p]*e.factor + origin
				x[p] = f.ref
			}
			dst = e.appendExceptions(dst, n)
		}
	}
	return appendPacked(dst, x, f)
}

func (e *intEncoder) appendExceptions(dst []byte, n int) []byte {
	exc := e.exc[:n]
	lo, hi := minMax(exc)
	f := fullFrame(lo, hi, n)
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = appendZigzag(append(dst, byte(f.width)), f.ref)
	dst = append(dst, bytesOf(e.pos[:n])...)
	return appendPacked(dst, exc, f)
}

// deltas sets e.d[1:n] to the differences of successive values, where a null
// slot counts as the value before it plus step; first is the value of slot 0,
// predicted backwards where that is null.
func (e *intEncoder) deltas(n int, valid []byte, step uint64) (first uint64) {
	v, d := e.v[:n], e.d[:n]
	first = v[0]
	if valid == nil {
		for i := 1; i < n; i++ {
			d[i] = v[i] - v[i-1]
		}
		return first
	}
	for i := 0; i < n && !bit(valid, i); i++ {
		first -= step
	}
	prev := first
	for i := 1; i < n; i++ {
		m := -uint64(valid[i>>3] >> (i & 7) & 1)
		cur := prev + step
		cur ^= (cur ^ v[i]) & m
		d[i] = cur - prev
		prev = cur
	}
	return first
}

func bit(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 != 0 }

// fillNulls gives null slots the value before them (those in front the first
// valid value) and returns how many there are.
func fillNulls(v []uint64, valid []byte) int {
	n := len(v)
	nulls := 0
	prev := uint64(0)
	seen := false
	for i := 0; i < n; i += 64 {
		m := min(64, n-i)
		w := bitsAt(valid, i, m)
		if m == 64 && w == ^uint64(0) {
			prev = v[i+63]
			seen = true
			continue
		}
		if !seen {
			if w == 0 {
				nulls += m
				continue
			}
			prev = v[i+bits.TrailingZeros64(w)]
			for j := range v[:i] {
				v[j] = prev
			}
			seen = true
		}
		nulls += m - bits.OnesCount64(w)
		q := v[i : i+m]
		for j, x := range q {
			prev ^= (prev ^ x) & -(w & 1)
			w >>= 1
			q[j] = prev
		}
	}
	return nulls
}

// bitsAt returns m bits of b from bit i (a multiple of 8) on; the rest is zero.
func bitsAt(b []byte, i, m int) uint64 {
	b = b[i>>3:]
	var w uint64
	if len(b) >= 8 {
		w = binary.LittleEndian.Uint64(b)
	} else {
		for k, x := range b {
			w |= uint64(x) << (8 * k)
		}
	}
	if m < 64 {
		w &= 1<<m - 1
	}
	return w
}

// minMax returns the extremes of v, which is not empty.
func minMax(v []uint64) (lo, hi int64) {
	n, lo, hi := fastMinMax(v)
	if n == 0 {
		lo, hi = int64(v[0]), int64(v[0])
	}
	v = v[n:]
	lo2, hi2 := lo, hi
	for ; len(v) >= 4; v = v[4:] {
		q := (*[4]uint64)(v)
		lo = min(lo, int64(q[0]), int64(q[1]))
		hi = max(hi, int64(q[0]), int64(q[1]))
		lo2 = min(lo2, int64(q[2]), int64(q[3]))
		hi2 = max(hi2, int64(q[2]), int64(q[3]))
	}
	for _, x := range v {
		lo = min(lo, int64(x))
		hi = max(hi, int64(x))
	}
	return min(lo, lo2), max(hi, hi2)
}

// takeSample returns a sample of v.
func (e *intEncoder) takeSample(v []uint64) []int64 {
	n := min(len(v), sampleLen)
	s := e.sample[:n]
	for i := range s {
		s[i] = int64(v[i*len(v)/n])
	}
	return s
}

// takeSlopes returns a sample of differences of neighbours; over nulls
// the difference is divided evenly.
func (e *intEncoder) takeSlopes(v []uint64, valid []byte) []int64 {
	n := min(len(v)-1, sampleLen)
	k := 0
	for i := range n {
		at := 1 + i*(len(v)-1)/n
		if valid == nil {
			e.slopes[k] = int64(v[at] - v[at-1])
			k++
			continue
		}
		for end := min(at+8, len(v)-1); at < end && !bit(valid, at); {
			at++
		}
		if !bit(valid, at) {
			continue
		}
		gap := 1
		for gap < at && gap < 9 && !bit(valid, at-gap) {
			gap++
		}
		if !bit(valid, at-gap) {
			continue
		}
		e.slopes[k] = int64(v[at]-v[at-gap]) / int64(gap)
		k++
	}
	return e.slopes[:k]
}

var trims = [...]int{0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 26}

// bestWindow picks the cheapest window for n values between lo and hi, of which
// s is a sorted sample, by trying to leave some of the smallest and some of the
// largest to exceptions.
func (e *intEncoder) bestWindow(s []int64, lo, hi int64, n int) frame {
	full := bitLen(uint64(hi) - uint64(lo))
	best := fullFrame(lo, hi, n)
	k := len(s)
	if k < 8 {
		return best
	}
	each := n * int(full+exceptionBits) / k
	// Exceptions are not divided by the factor; where all are the same, that takes nothing.
	unscaled := n * int(bitLen(e.factor)-1) / k
	for _, a := range trims {
		if a*each >= best.cost {
			break
		}
		low := s[a]
		if a == 0 {
			low = lo
		}
		for _, b := range trims {
			if a+b >= k/2 || (a+b)*each >= best.cost {
				break
			}
			high := s[k-1-b]
			if b == 0 {
				high = hi
			}
			width := storedWidth(bitLen(uint64(high) - uint64(low)))
			cost := n*int(width) + (a+b)*each
			if same := a == 0 && b > 0 && s[k-b] == hi || b == 0 && a > 0 && s[a-1] == lo; !same {
				cost += (a + b) * unscaled
			}
			if cost < best.cost {
				ref := uint64(low)
				if slack := uint64(1)<<(width&63) - 1 - (uint64(high) - uint64(low)); a > 0 && width < 64 {
					// The window has room to spare: below where only small values
					// were trimmed, on both sides else.
					if b > 0 {
						slack /= 2
					}
					ref -= slack
				}
				best = frame{ref: ref, width: width, cost: cost}
			}
		}
	}
	return best
}
