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
//	block      = head byte (mode, bit 3: exceptions), then by mode
//	  constant   value zigzag
//	  reference  width byte, ref zigzag, [exceptions], packed x
//	             value = ref + x
//	  delta      width byte, ref zigzag, base zigzag, [exceptions], packed x
//	             value[i] = value[i-1] + ref + x[i],  value[-1] = base
//	  delta2     width byte, ref zigzag, base zigzag, slope zigzag, [exceptions], packed x
//	             d[i] = d[i-1] + ref + x[i], value[i] = value[i-1] + d[i], d[-1] = slope
//	  plain      values, little-endian
//	exceptions = count uvarint, width byte, ref zigzag,
//	             count positions uint16 LE rising, packed y
//	             ref + x[position] is replaced by exceptions' ref + y
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
	v   [blockLen]uint64 // values, sign-extended, null slots filled
	d   [blockLen]uint64 // deltas
	exc [blockLen]uint64
	pos [blockLen]uint16

	sample [sampleLen]int64
	slopes [sampleLen]int64
}

// frame is a window of 2^width values from ref on, and what it costs in bits.
type frame struct {
	ref   uint64
	width uint
	cost  int
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
	full := bitLen(uint64(hi) - uint64(lo))
	best := frame{ref: uint64(lo), width: storedWidth(full), cost: n * int(full)}
	if n < 8 || full <= 1 {
		return e.appendFrame(append(dst, modeReference), v, best, nil)
	}
	if full > 2 {
		s := e.takeSample(v)
		if f := bestWindow(s, lo, hi, n); f.cost < best.cost {
			best = f
		}
	}
	slopes := e.takeSlopes(v, valid)
	if len(slopes) == 0 {
		return e.appendFrame(append(dst, modeReference), v, best, nil)
	}
	guess := bestWindow(slopes, slopes[0], slopes[len(slopes)-1], n)
	if guess.cost+n/4 < best.cost-best.cost/16 {
		first := e.deltas(n, valid, uint64(slopes[len(slopes)/2]))
		d := e.d[:n]
		dlo, dhi := minMax(d[1:])
		dfull := bitLen(uint64(dhi) - uint64(dlo))
		df := frame{ref: uint64(dlo), width: storedWidth(dfull), cost: n * int(dfull)}
		if f := bestWindow(slopes, dlo, dhi, n); f.cost < df.cost {
			df = f
		}
		if df.cost+n/4 < best.cost {
			if df.width > 3 {
				if out, ok := e.tryDelta2(dst, first, d, df.cost); ok {
					return out
				}
			}
			d[0] = df.ref
			return e.appendFrame(append(dst, modeDelta), d, df, []uint64{first - df.ref})
		}
	}
	return e.appendFrame(append(dst, modeReference), v, best, nil)
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
	f := frame{ref: lo, width: width}
	dst = e.appendFrameHead(append(dst, modeDelta2), f, base, slope)
	return appendPacked(dst, x, f), true
}

func appendPacked(dst []byte, x []uint64, f frame) []byte {
	size := packedLen(len(x), f.width)
	dst = slices.Grow(dst, size+guardLen)
	packBits(dst[len(dst):len(dst)+size+guardLen], x, f.ref, f.width)
	return dst[:len(dst)+size]
}

func (e *intEncoder) appendFrameHead(dst []byte, f frame, more ...uint64) []byte {
	dst = appendZigzag(append(dst, byte(f.width)), f.ref)
	for _, m := range more {
		dst = appendZigzag(dst, m)
	}
	return dst
}

// appendFrame appends x, whose mode byte is the last byte of dst, in the window
// of f, with exceptions for what lies outside. It overwrites x.
func (e *intEncoder) appendFrame(dst []byte, x []uint64, f frame, more []uint64) []byte {
	mode := len(dst) - 1
	dst = e.appendFrameHead(dst, f, more...)
	if f.width < 64 {
		n := 0
		for i, v := range x {
			e.pos[n] = uint16(i)
			if (v-f.ref)>>(f.width&63) != 0 {
				n++
			}
		}
		if n > 0 {
			dst[mode] |= hasExceptions
			for i, p := range e.pos[:n] {
				e.exc[i] = x[p]
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
	f := frame{ref: uint64(lo), width: storedWidth(bitLen(uint64(hi) - uint64(lo)))}
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

func minMax(v []uint64) (lo, hi int64) {
	lo, hi = int64(v[0]), int64(v[0])
	for _, x := range v[1:] {
		lo = min(lo, int64(x))
		hi = max(hi, int64(x))
	}
	return lo, hi
}

// takeSample returns a sorted sample of v.
func (e *intEncoder) takeSample(v []uint64) []int64 {
	n := min(len(v), sampleLen)
	s := e.sample[:n]
	for i := range s {
		s[i] = int64(v[i*len(v)/n])
	}
	slices.Sort(s)
	return s
}

// takeSlopes returns a sorted sample of differences of neighbours; over nulls
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
	s := e.slopes[:k]
	slices.Sort(s)
	return s
}

var trims = [...]int{0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 26}

// bestWindow picks the cheapest window for n values between lo and hi, of which
// s is a sorted sample, by trying to leave some of the smallest and some of the
// largest to exceptions.
func bestWindow(s []int64, lo, hi int64, n int) frame {
	full := bitLen(uint64(hi) - uint64(lo))
	best := frame{ref: uint64(lo), width: storedWidth(full), cost: n * int(full)}
	k := len(s)
	if k < 8 {
		return best
	}
	each := n * int(full+exceptionBits) / k
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
			if cost := n*int(width) + (a+b)*each; cost < best.cost {
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
