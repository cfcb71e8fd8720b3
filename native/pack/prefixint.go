package pack

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// Strings that are a number between a fixed prefix and a fixed suffix, such as
// generated keys: the numbers are an integer stream.
//
//	prefix int = encPrefixInt byte, digits byte, data bytes of all slots uvarint,
//	             prefix length byte, prefix, suffix length byte, suffix, stream of n 64-bit integers, guard
//
// digits 0: decimal without leading zeros; else that many digits, zero-padded.
// Null slots are empty.

const (
	// maxDigits of decimal fit an int64.
	maxDigits  = 18
	maxLiteral = 48 // of prefix and of suffix
)

// shape is what all strings have in common.
type shape struct {
	prefix, suffix []byte
	digits         int // 0: no leading zeros
}

func isDigit(b byte) bool { return b-'0' < 10 }

// shapeOf proposes a shape from one string: its last number is the integer.
func shapeOf(s []byte) (p shape, ok bool) {
	end := len(s)
	for end > 0 && !isDigit(s[end-1]) {
		end--
	}
	start := end
	for start > 0 && isDigit(s[start-1]) && end-start < maxDigits {
		start--
	}
	if start == end || start > maxLiteral || len(s)-end > maxLiteral {
		return p, false
	}
	p = shape{prefix: s[:start], suffix: s[end:]}
	if s[start] == '0' && end-start > 1 {
		p.digits = end - start
	}
	return p, true
}

// number returns the number in s, or false where s does not have the shape.
func (p *shape) number(s []byte) (uint64, bool) {
	d := len(s) - len(p.prefix) - len(p.suffix)
	if d < 1 || d > maxDigits || p.digits != 0 && d != p.digits {
		return 0, false
	}
	if string(s[:len(p.prefix)]) != string(p.prefix) || string(s[len(s)-len(p.suffix):]) != string(p.suffix) {
		return 0, false
	}
	s = s[len(p.prefix) : len(p.prefix)+d]
	if p.digits == 0 && s[0] == '0' && d > 1 {
		return 0, false
	}
	v := uint64(0)
	for _, b := range s {
		if !isDigit(b) {
			return 0, false
		}
		v = v*10 + uint64(b-'0')
	}
	return v, true
}

// numbers reads the numbers of all valid slots to e.words and returns the
// number of bytes of the strings, or false where one does not have the shape.
func (e *Encoder) numbers(t *textInput, s *shape) (size int, ok bool) {
	e.words = resize(e.words, t.n)
	words := e.words
	head, tail := len(s.prefix), len(s.suffix)
	// Most strings take the quick way: a prefix of at most eight bytes, no
	// suffix, at most eight digits, eight bytes to be loaded on both sides.
	quick := head <= 8 && tail == 0
	var first8 [8]byte
	copy(first8[:], s.prefix)
	prefix, prefixMask := binary.LittleEndian.Uint64(first8[:]), uint64(1)<<(8*uint(head))-1
	low, high := 1, 8
	if s.digits != 0 {
		low, high = s.digits, s.digits
		quick = quick && s.digits <= 8
	}
	data := unsafe.Pointer(unsafe.SliceData(t.data))
	for i := range words {
		if !t.valid(i) {
			words[i] = 0
			continue
		}
		from, to := int(t.offsets[i]), int(t.offsets[i+1])
		size += to - from
		d := to - from - head
		if !quick || d < low || d > high || to < 8 || from+8 > len(t.data) {
			v, ok := s.number(t.data[from:to])
			if !ok {
				return 0, false
			}
			words[i] = int64(v)
			continue
		}
		w := load64(data, uintptr(to-8))
		shift := uint(64 - 8*d)
		first := w >> (shift & 63)
		if s.digits == 0 && byte(first) == '0' && d > 1 {
			return 0, false
		}
		// Bytes in front of the digits become zeros.
		x := first<<(shift&63) | 0x3030303030303030&(1<<(shift&63)-1)
		if (load64(data, uintptr(from))^prefix)&prefixMask != 0 || !eightDigits(x) {
			return 0, false
		}
		words[i] = int64(parseEight(x))
	}
	return size, true
}

// eightDigits tells whether all bytes of x are '0' to '9'.
func eightDigits(x uint64) bool {
	return (x&0xf0f0f0f0f0f0f0f0)|((x+0x0606060606060606)&0xf0f0f0f0f0f0f0f0)>>4 == 0x3333333333333333
}

// parseEight returns the number of eight digits, the first in the low byte.
func parseEight(x uint64) uint64 {
	x -= 0x3030303030303030
	x = x*10 + x>>8 // pairs in bytes 0, 2, 4, 6
	return ((x&0x000000ff000000ff)*(100+1000000<<32) + (x>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
}

// fourDigits has the decimal digits of 0 to 9999, the first in the low byte.
var fourDigits = func() (t [10000]uint32) {
	for i := range t {
		t[i] = uint32('0'+i/1000) | uint32('0'+i/100%10)<<8 | uint32('0'+i/10%10)<<16 | uint32('0'+i%10)<<24
	}
	return t
}()

// eightOf is the inverse of parseEight, of x < 1e8.
func eightOf(x uint64) uint64 {
	q := x / 10000
	return uint64(fourDigits[q]) | uint64(fourDigits[x-q*10000])<<32
}

func (e *Encoder) appendPrefixInt(dst []byte, t *textInput) []byte {
	first := nextValid(t.validity, t.n)
	s, ok := shapeOf(t.data[t.offsets[first]:t.offsets[first+1]])
	if !ok {
		return nil
	}
	// A zero-padded column may begin with a number that needs no padding.
	if out := e.tryShape(dst, t, &s); out != nil || s.digits != 0 {
		return out
	}
	last := t.offsets[first+1] - t.offsets[first]
	if s.digits = int(last) - len(s.prefix) - len(s.suffix); s.digits < 2 {
		return nil
	}
	return e.tryShape(dst, t, &s)
}

func nextValid(validity []byte, n int) int {
	if validity == nil {
		return 0
	}
	return nextBit(validity, 0, n, 1)
}

func (e *Encoder) tryShape(dst []byte, t *textInput, s *shape) []byte {
	size, ok := e.numbers(t, s)
	if !ok {
		return nil
	}
	dst = append(dst, encPrefixInt, byte(s.digits))
	dst = binary.AppendUvarint(dst, uint64(size))
	dst = append(append(dst, byte(len(s.prefix))), s.prefix...)
	dst = append(append(dst, byte(len(s.suffix))), s.suffix...)
	return appendGuard(appendInts(dst, e.words, t.validity, &e.ints))
}

// literal is a prefix or suffix with room for 8-byte loads behind it.
type literal struct {
	b [maxLiteral + 8]byte
	n int
}

func (l *literal) read(r *reader) {
	l.n = int(r.byte())
	if l.n > maxLiteral {
		r.fail("prefix or suffix of %d bytes", l.n)
		l.n = 0
	}
	copy(l.b[:], r.bytes(l.n))
}

// pad makes l the literal p with n zeros behind it, if sixteen bytes hold that.
func (l *literal) pad(p *literal, n int) bool {
	n = max(n, 0)
	if p.n+n > 16 {
		return false
	}
	*l = *p
	for i := range n {
		l.b[p.n+i] = '0'
	}
	l.n += n
	return true
}

// prefixInt decodes a column; c.Offsets is allocated.
func (d *Decoder) prefixInt(r *reader, c *column.Column, arena *memory.Arena) {
	digits := int(r.byte())
	if digits > maxDigits {
		r.fail("%d digits", digits)
	}
	size := r.count("number of data bytes", maxTextBytes)
	prefix, suffix := &d.prefix, &d.suffix
	prefix.read(r)
	suffix.read(r)
	longest := prefix.n + maxDigits + suffix.n
	if r.err == nil && uint64(size) > uint64(c.Len)*uint64(longest) {
		r.fail("%d bytes in %d strings of at most %d", size, c.Len, longest)
	}
	if r.err != nil {
		return
	}
	// The kernel writes eight digits; zeros in front of them are part of the prefix.
	quick := d.padded.pad(prefix, digits-8) && suffix.n == 0
	c.Data = arena.Bytes(size)
	offsets := column.View[uint32](c.Offsets)
	offsets[0] = 0
	total := uint64(0)
	out := unsafe.Pointer(unsafe.SliceData(c.Data))
	for start := 0; start < c.Len; start += blockLen {
		n := min(blockLen, c.Len-start)
		nums := d.u64[:n]
		b := readBlock(r, n, 8)
		if r.err == nil {
			r.err = decodeBlock(&b, nums)
		}
		if r.err != nil {
			return
		}
		lens := offsets[start+1:][:n]
		var validity []byte
		if c.Validity != nil {
			validity = c.Validity[start>>3:]
			number := uint64(0)
			if first := nextBit(validity, 0, n, 1); first < n {
				number = nums[first]
			}
			setNulls(nums, validity, number)
		}
		highest, ok := numberLengths(lens, nums, uint32(prefix.n+suffix.n), digits)
		if !ok {
			r.fail("a number has more than %d digits", maxDigits)
			return
		}
		if validity != nil {
			setNulls(lens, validity, 0)
		}
		// At most 1024 lengths of 114 behind at most maxTextBytes fit 32 bits.
		prefixSum(lens, uint32(total))
		if total = uint64(lens[n-1]); total > uint64(size) {
			r.fail("strings take more than the %d bytes announced", size)
			return
		}
		done := 0
		if quick && highest < 1e8 {
			done = fastNumbers(out, lens, nums, &d.padded)
		}
		writeNumbers(out, uintptr(offsets[start+done]), lens[done:], nums[done:], prefix, suffix)
	}
	if total != uint64(size) {
		r.fail("strings take %d bytes, %d announced", total, size)
	}
}

var powers = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// digitsOf is the number of decimal digits of x.
func digitsOf(x uint64) uint32 {
	t := uint32(bits.Len64(x|1)) * 1233 >> 12
	if x >= powers[t] {
		t++
	}
	return max(t, 1)
}

// numberLengths sets the length of each string. It returns the highest number, or
// false where one has more than maxDigits digits (digits where it is not 0).
func numberLengths(lens []uint32, nums []uint64, fixed uint32, digits int) (highest int64, ok bool) {
	lo, hi := minMax(nums)
	limit := powers[maxDigits]
	if digits != 0 {
		limit = powers[digits]
	}
	if lo < 0 || uint64(hi) >= limit {
		return hi, false
	}
	low, high := uint32(digits), uint32(digits)
	if digits == 0 {
		low, high = digitsOf(uint64(lo)), digitsOf(uint64(hi))
	}
	fixed += low
	switch high - low {
	case 0:
		fill(lens, fixed)
	case 1:
		p := powers[low]
		for i, x := range nums {
			// 1 for p <= x: the difference is negative, and both are far below 2^63.
			lens[i] = fixed + uint32((p-1-x)>>63)
		}
	default:
		for i, x := range nums {
			lens[i] = fixed - low + digitsOf(x)
		}
	}
	return hi, true
}

// writeNumbers writes the strings that end at ends, the first from at on; up to
// 15 bytes behind the last one are overwritten, by the kernel 24 (arena slack).
func writeNumbers(out unsafe.Pointer, at uintptr, ends []uint32, nums []uint64, prefix, suffix *literal) {
	nums = nums[:len(ends)]
	head, tail := uintptr(prefix.n), uintptr(suffix.n)
	p0 := load64(unsafe.Pointer(&prefix.b), 0)
	for i, end := range ends {
		end := uintptr(end)
		if end == at {
			continue // null
		}
		store64(out, at, p0)
		for k := uintptr(8); k < head; k += 8 {
			store64(out, at+k, load64(unsafe.Pointer(&prefix.b), k))
		}
		at += head
		d := end - at - tail
		x := nums[i]
		if d > 8 {
			hi := x / 1e8
			x -= hi * 1e8
			if d > 16 {
				// At most two digits in front of sixteen.
				top := hi / 1e8
				hi -= top * 1e8
				store64(out, at, eightOf(top)>>((24-d)*8&63))
				at += d - 16
				d = 16
			}
			store64(out, at, eightOf(hi)>>((16-d)*8&63))
			at += d - 8
			d = 8
		}
		store64(out, at, eightOf(x)>>((8-d)*8&63))
		at += d
		for k := uintptr(0); k < tail; k += 8 {
			store64(out, at+k, load64(unsafe.Pointer(&suffix.b), k))
		}
		at = end
	}
}
