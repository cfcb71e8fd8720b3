package pack

import (
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// Strings of one length in which every position holds either the same byte in
// all of them or a hexadecimal digit, such as UUIDs, digests and numbers of
// fixed width: half a byte a digit, nothing for the rest.
//
//	hex = encHex byte, letters byte, length byte, bitmap of length bits (1 = digit), the other bytes,
//	      for each valid slot its digits, two a byte, the first in the high half, an odd one out with 0; guard
//
// letters 0: digits above 9 are a to f; 1: A to F. Null slots are empty.

const (
	maxHexLength = 255
	// minHexDigits is what a string must have: below that a dictionary is better.
	minHexDigits = 4
)

// hexLetters is what digits above 9 are more than '0' + digit, by letters byte.
var hexLetters = [2]uint64{'a' - '0' - 10, 'A' - '0' - 10}

// nibbles has the value of each digit, and 0xff for all other bytes.
var nibbles = func() (t [2][256]byte) {
	for k := range t {
		for i := range t[k] {
			t[k][i] = 0xff
		}
		for v := range 16 {
			b := byte('0' + v)
			if v > 9 {
				b += byte(hexLetters[k])
			}
			t[k][b] = byte(v)
		}
	}
	return t
}()

// hexShape is what the strings of a column have in common.
type hexShape struct {
	length int
	digit  [maxHexLength]bool // by position
	digits []byte             // the positions
	room   [maxHexLength]byte
}

func (e *Encoder) appendHex(dst []byte, t *textInput) []byte {
	s := &e.hex
	first := nextValid(t.validity, t.n)
	text := t.data[t.offsets[first]:t.offsets[first+1]]
	if !s.find(t, text) {
		return nil
	}
	for letters := range nibbles {
		if out := s.append(dst, t, text, byte(letters)); out != nil {
			return appendGuard(out)
		}
	}
	return nil
}

// find compares all strings with the first, a valid one, and reports whether
// they could have a shape that is worth it.
func (s *hexShape) find(t *textInput, first []byte) bool {
	s.length = len(first)
	if s.length < minHexDigits || s.length > maxHexLength {
		return false
	}
	var differ [(maxHexLength + 7) / 8]uint64 // first, xor'ed with any other
	var words [len(differ)]uint64
	whole := s.length >> 3
	p := unsafe.Pointer(unsafe.SliceData(first))
	for k := range whole {
		words[k] = load64(p, uintptr(8*k))
	}
	data := unsafe.Pointer(unsafe.SliceData(t.data))
	tail := first[8*whole:]
	var tailDiffers [8]byte
	for i := range t.n {
		if !t.valid(i) {
			continue
		}
		from, to := int(t.offsets[i]), int(t.offsets[i+1])
		if to-from != s.length {
			return false
		}
		for k := range whole {
			differ[k] |= load64(data, uintptr(from+8*k)) ^ words[k]
		}
		for k, b := range t.data[from+8*whole : to] {
			tailDiffers[k&7] |= b ^ tail[k]
		}
	}
	s.digits = s.room[:0]
	for i := range s.length {
		d := tailDiffers[i&7]
		if i < 8*whole {
			d = byte(differ[i>>3] >> (8 * uint(i&7)))
		}
		if s.digit[i] = d != 0; s.digit[i] {
			s.digits = append(s.digits, byte(i))
		}
	}
	return len(s.digits) >= minHexDigits
}

// append returns nil where a position that differs is not a digit.
func (s *hexShape) append(dst []byte, t *textInput, first []byte, letters byte) []byte {
	table := &nibbles[letters]
	dst = append(dst, encHex, letters, byte(s.length))
	for i := 0; i < s.length; i += 8 {
		var b byte
		for k := range min(8, s.length-i) {
			if s.digit[i+k] {
				b |= 1 << k
			}
		}
		dst = append(dst, b)
	}
	for i, b := range first {
		if !s.digit[i] {
			dst = append(dst, b)
		}
	}
	var bad byte
	for i := range t.n {
		if !t.valid(i) {
			continue
		}
		text := t.data[t.offsets[i]:t.offsets[i+1]]
		at := s.digits
		for ; len(at) >= 2; at = at[2:] {
			high, low := table[text[at[0]]], table[text[at[1]]]
			bad |= high | low
			dst = append(dst, high<<4|low&15)
		}
		if len(at) > 0 {
			high := table[text[at[0]]]
			bad |= high
			dst = append(dst, high<<4)
		}
		if bad > 15 {
			return nil
		}
	}
	return dst
}

// hexSegment is a run of digits of a string, or a run of bytes that are the
// same in all strings.
type hexSegment struct {
	digits bool
	// from is the first digit among the string's, or the first byte among same.
	from  uintptr
	at, n uintptr // place in the string
}

// hexDecoder has the bytes that are the same in all strings, with room for
// words that reach beyond.
type hexDecoder struct {
	same     [maxHexLength + 8]byte
	segments [maxHexLength]hexSegment
}

// hexText decodes a column; c.Offsets is allocated.
func (d *Decoder) hexText(r *reader, c *column.Column, arena *memory.Arena) {
	letters, length := r.byte(), int(r.byte())
	mask := r.bytes((length + 7) >> 3)
	if r.err == nil && (letters > 1 || length == 0 || length&7 != 0 && mask[length>>3]>>(length&7) != 0) {
		r.fail("shape of hexadecimal strings: letters %d, length %d, bitmap %x", letters, length, mask)
	}
	if r.err != nil {
		return
	}
	h := &d.hex
	digits, segments := h.split(mask, length)
	copy(h.same[:], r.bytes(length-digits))
	valid := c.Len
	if c.Validity != nil {
		valid -= column.CountNulls(c.Validity, c.Len)
	}
	stride := (digits + 1) >> 1
	if digits == 0 || valid > maxTextBytes/length {
		r.fail("%d strings of %d bytes with %d digits", valid, length, digits)
	}
	packed := r.bytes(valid * stride)
	if r.err != nil {
		return
	}
	hexOffsets(column.View[int32](c.Offsets)[:c.Len+1], c.Validity, int32(length))
	c.Data = arena.Bytes(valid * length)
	done := h.fastHex(c.Data, packed, length, digits, segments, hexLetters[letters])
	text, packed := c.Data[done*length:], packed[done*stride:]
	if digits == length {
		hexAll(text, packed, length, hexLetters[letters])
	} else {
		h.write(text, packed, length, digits, segments, hexLetters[letters])
	}
}

// split lists the segments of strings and counts their digits.
func (h *hexDecoder) split(mask []byte, length int) (digits int, segments []hexSegment) {
	segments = h.segments[:0]
	same := 0
	for i := 0; i < length; {
		s := hexSegment{digits: bit(mask, i), at: uintptr(i), from: uintptr(same)}
		for i < length && bit(mask, i) == s.digits {
			i++
		}
		s.n = uintptr(i) - s.at
		if s.digits {
			s.from = uintptr(digits)
			digits += int(s.n)
		} else {
			same += int(s.n)
		}
		segments = append(segments, s)
	}
	return digits, segments
}

func hexOffsets(offsets []int32, validity []byte, length int32) {
	offsets[0] = 0
	end := int32(0)
	for i := range offsets[1:] {
		if validity == nil || bit(validity, i) {
			end += length
		}
		offsets[i+1] = end
	}
}

// eightHex returns the text of eight digits in four bytes, the first in the low one.
func eightHex(w uint32, letters uint64) uint64 {
	x := uint64(w)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x>>4 | x<<8) & 0x0f0f0f0f0f0f0f0f
	above9 := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + above9*letters
}

// hexAll writes strings that are digits only; up to 7 bytes behind dst are
// overwritten (arena slack), up to 3 behind packed are read (guard).
func hexAll(dst, packed []byte, length int, letters uint64) {
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(packed))
	stride := uintptr(length+1) >> 1
	for at, i := uintptr(0), uintptr(0); at < uintptr(len(dst)); at, i = at+uintptr(length), i+stride {
		for k := uintptr(0); k < stride; k += 4 {
			store64(out, at+2*k, eightHex(load32(in, i+k), letters))
		}
	}
}

// write writes strings segment by segment, each in words that may reach into
// the next segment, which comes after; up to 7 bytes behind dst are overwritten
// and up to 7 behind packed are read (guard).
func (h *hexDecoder) write(dst, packed []byte, length, digits int, segments []hexSegment, letters uint64) {
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(packed))
	same := unsafe.Pointer(&h.same)
	stride := uintptr(digits+1) >> 1
	for at, i := uintptr(0), uintptr(0); at < uintptr(len(dst)); at, i = at+uintptr(length), i+stride {
		for j := range segments {
			s := &segments[j]
			if !s.digits {
				for k := uintptr(0); k < s.n; k += 8 {
					store64(out, at+s.at+k, load64(same, s.from+k))
				}
				continue
			}
			for k := uintptr(0); k < s.n; k += 8 {
				w := load64(in, i+(s.from+k)>>1)
				if s.from&1 != 0 { // begins in the low half of a byte
					w = bits.ReverseBytes64(bits.ReverseBytes64(w) << 4)
				}
				store64(out, at+s.at+k, eightHex(uint32(w), letters))
			}
		}
	}
}
