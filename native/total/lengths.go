package total

import (
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// lengths adds up the lengths of values that are not null.
func lengths(c *column.Column, s slots) int64 {
	offsets := column.View[int32](c.Offsets)[:s.n+1]
	data := c.Data[offsets[0]:offsets[s.n]]
	if c.Type.Kind == schema.String && !isASCII(data) {
		return characters(c.Data, offsets, s)
	}
	sum := int64(len(data))
	if s.nulls > 0 {
		for k := range s.words() {
			for w := s.nullWord(k); w != 0; w &= w - 1 {
				i := k*64 + bits.TrailingZeros64(w)
				sum -= int64(offsets[i+1] - offsets[i])
			}
		}
	}
	return sum
}

func characters(data []byte, offsets []int32, s slots) (sum int64) {
	for k := range s.words() {
		for w := s.validWord(k); w != 0; w &= w - 1 {
			i := k*64 + bits.TrailingZeros64(w)
			sum += int64(Characters(data[offsets[i]:offsets[i+1]]))
		}
	}
	return sum
}

// Characters counts as UTF8String.numChars of Spark does, in text that is no
// UTF-8 too: a character is as long as its first byte says, 1 where no
// character begins with that byte, and the last one may be cut.
func Characters(text []byte) (n int) {
	for i := 0; i < len(text); n++ {
		switch b := text[i]; {
		case b < 0xC2 || b > 0xF4:
			i++
		case b < 0xE0:
			i += 2
		case b < 0xF0:
			i += 3
		default:
			i += 4
		}
	}
	return n
}

func isASCII(text []byte) bool {
	const high = 0x8080808080808080
	for ; len(text) >= 64; text = text[64:] {
		v := (*[8]uint64)(column.View[uint64](text[:64]))
		if (v[0]|v[1]|v[2]|v[3]|v[4]|v[5]|v[6]|v[7])&high != 0 {
			return false
		}
	}
	var all byte
	for _, b := range text {
		all |= b
	}
	return all < 0x80
}
