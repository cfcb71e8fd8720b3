package pack

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The kernels below are chosen at start where the processor has AVX2. The
// loops in bits.go and ints_decode.go are their reference.
var useAVX2 = cpu.X86.HasAVX2

// maxWidth32 is the widest value that a 32-bit window at any bit of a byte holds.
const maxWidth32 = 25

// Shuffles that bring each value of a group of eight to the lowest bits of its
// lane, but for the shifts that follow, by width.
var (
	tables32 [maxWidth32 + 1][64]byte
	tables64 [maxWidth + 1][128]byte
)

func init() {
	for w := range tables32 {
		for v := range 8 {
			bit := v % 4 * w
			if v >= 4 {
				bit += 4 * w & 7
			}
			for b := range 4 {
				tables32[w][4*v+b] = byte(bit>>3 + b)
			}
			binary.LittleEndian.PutUint32(tables32[w][32+4*v:], uint32(bit&7))
		}
	}
	for w := range tables64 {
		for v := range 8 {
			bit := v/2*2*w&7 + v%2*w
			for b := range 8 {
				tables64[w][8*v+b] = byte(bit>>3 + b)
			}
			binary.LittleEndian.PutUint64(tables64[w][64+8*v:], uint64(bit&7))
		}
	}
}

//go:noescape
func unpack32AVX2(dst *uint32, src *byte, groups int, table *[64]byte, half, width int, mask, ref uint32)

//go:noescape
func unpack64AVX2(dst *uint64, src *byte, groups int, table *[128]byte, width int, mask, ref uint64)

//go:noescape
func multiply32AVX2(dst *uint32, groups int, factor, ref uint32)

//go:noescape
func multiply64AVX2(dst *uint64, groups int, factor, ref uint64)

//go:noescape
func prefixSum32AVX2(dst *uint32, groups int, base uint32) uint32

//go:noescape
func prefixSum64AVX2(dst *uint64, groups int, base uint64) uint64

//go:noescape
func writeNumbersAVX2(out *byte, ends *uint32, nums *uint64, groups int, prefix *byte, head int)

//go:noescape
func minMax64AVX2(v *uint64, groups int) (lo, hi int64)

// fastUnpack does what unpackBits does for the first so many values, a multiple
// of eight, and returns how many. All of src may be read.
func fastUnpack[T unsigned](dst []T, src []byte, w uint, ref T) int {
	if !useAVX2 || w == 0 || w > maxWidth || len(dst) < 8 {
		return 0
	}
	// The last load of a group is 16 bytes.
	last := int(w) * 6 >> 3
	if unsafe.Sizeof(ref) == 4 {
		last = int(w) * 4 >> 3
	}
	groups := min(len(dst)>>3, (len(src)-last-16)/int(w)+1)
	if len(src) < last+16 {
		return 0
	}
	p := unsafe.Pointer(unsafe.SliceData(dst))
	switch {
	case unsafe.Sizeof(ref) == 8:
		unpack64AVX2((*uint64)(p), &src[0], groups, &tables64[w], int(w), 1<<w-1, uint64(ref))
	case unsafe.Sizeof(ref) == 4 && w <= maxWidth32:
		unpack32AVX2((*uint32)(p), &src[0], groups, &tables32[w], last, int(w), 1<<w-1, uint32(ref))
	default:
		return 0
	}
	return groups * 8
}

// fastMultiply does what multiply does for the first so many values and returns
// how many.
func fastMultiply[T unsigned](dst []T, f, ref T) int {
	if !useAVX2 || len(dst) < 8 {
		return 0
	}
	p := unsafe.Pointer(unsafe.SliceData(dst))
	switch {
	case unsafe.Sizeof(f) == 8 && uint64(f)>>32 == 0:
		n := len(dst) &^ 3
		multiply64AVX2((*uint64)(p), n/4, uint64(f), uint64(ref))
		return n
	case unsafe.Sizeof(f) == 4:
		n := len(dst) &^ 7
		multiply32AVX2((*uint32)(p), n/8, uint32(f), uint32(ref))
		return n
	}
	return 0
}

// fastPrefixSum does what prefixSum does for the first so many values; it
// returns how many and the base of the rest.
func fastPrefixSum[T unsigned](dst []T, base T) (int, T) {
	if !useAVX2 || len(dst) < 8 {
		return 0, base
	}
	p := unsafe.Pointer(unsafe.SliceData(dst))
	switch unsafe.Sizeof(base) {
	case 8:
		n := len(dst) &^ 3
		return n, T(prefixSum64AVX2((*uint64)(p), n/4, uint64(base)))
	case 4:
		n := len(dst) &^ 7
		return n, T(prefixSum32AVX2((*uint32)(p), n/8, uint32(base)))
	}
	return 0, base
}

// fastMinMax returns minMax of the first so many values, at least one, and how
// many, or 0.
func fastMinMax(v []uint64) (n int, lo, hi int64) {
	if !useAVX2 || len(v) < 8 {
		return 0, 0, 0
	}
	lo, hi = minMax64AVX2(unsafe.SliceData(v), len(v)/8)
	return len(v) &^ 7, lo, hi
}

// fastNumbers does what writeNumbers does for the first so many strings and
// returns how many. They have a prefix of at most sixteen bytes, no suffix and at
// most eight digits; ends[-1] is where the first one begins. Up to 24 bytes
// behind the last one are overwritten.
func fastNumbers(out unsafe.Pointer, ends []uint32, nums []uint64, prefix *literal) int {
	if !useAVX2 || len(ends) < 4 {
		return 0
	}
	writeNumbersAVX2((*byte)(out), &ends[0], &nums[0], len(ends)/4, &prefix.b[0], prefix.n)
	return len(ends) &^ 3
}

// hexTable is what hexAVX2 keeps in registers: the text of each digit, and for
// each of three parts of sixteen bytes the shuffles of the first and the second
// sixteen digits, and the bytes that are the same in all strings.
type hexTable struct {
	text  [16]byte
	parts [3]struct{ low, high, same [16]byte }
}

//go:noescape
func hexAVX2(dst, src *byte, n, length, stride int, table *hexTable)

// fastHex does what hexDecoder.write does for the first so many strings. It
// writes 48 bytes for each.
func (h *hexDecoder) fastHex(dst, packed []byte, length, digits int, segments []hexSegment, letters uint64) (strings int) {
	stride := (digits + 1) >> 1
	// The last ones have no sixteen bytes to be loaded.
	strings = (len(packed) + guardLen - 16 + stride) / stride
	if !useAVX2 || digits > 32 || length > 48 || strings <= 0 {
		return 0
	}
	var t hexTable
	binary.LittleEndian.PutUint64(t.text[:], eightHex(0x67452301, letters))
	binary.LittleEndian.PutUint64(t.text[8:], eightHex(0xefcdab89, letters))
	for k := range t.parts {
		p := &t.parts[k]
		for i := range 16 {
			p.low[i], p.high[i] = 0x80, 0x80 // nothing
		}
	}
	for i := range segments {
		s := &segments[i]
		for k := range s.n {
			p, i, from := &t.parts[(s.at+k)>>4], (s.at+k)&15, s.from+k
			switch {
			case !s.digits:
				p.same[i] = h.same[from]
			case from < 16:
				p.low[i] = byte(from)
			default:
				p.high[i] = byte(from - 16)
			}
		}
	}
	hexAVX2(unsafe.SliceData(dst), unsafe.SliceData(packed), strings, length, stride, &t)
	return strings
}
