// Package row pivots between blocks of Spark's UnsafeRow bytes and Column trees.
//
// The layout is Spark's (UnsafeRow, UnsafeArrayData, UnsafeMapData and their
// writers in spark-catalyst):
//
//   - a row is a null bitset of 8-byte words (1 = null), one 8-byte slot a
//     field, then a variable part in field order, each region padded with zeros
//     to 8 bytes; a slot that refers to a region holds offset<<32 | size, the
//     offset counted from the row's first byte;
//   - an array is its element count (8 bytes), a null bitset, the elements at
//     their natural width (references: 8 bytes) padded to 8, then a variable part;
//   - a map is the size of its key array (8 bytes), the key array, the value array;
//   - a struct is a row; a variant is the size of its value (4 bytes), value, metadata;
//   - a decimal of more than 18 digits is a big-endian two's complement number of
//     minimal length. In a row 16 bytes are reserved for it and for a calendar
//     interval, null or not; in an array only for what is there.
//
// FromRows reads rows of any writer and trusts none of their lengths. ToRows
// writes exactly the bytes that Spark's UnsafeProjection would write, because
// equality and hashing of UnsafeRows are equality and hashing of bytes.
//
// Everything works on one column of a block of rows at a time, so that a type
// is looked at once per column and block, never per value.
package row

import (
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/schema"
)

const (
	// blockRows is the number of rows that are pivoted together; a multiple of
	// 64 so that blocks begin at whole words of the validity bitmaps.
	blockRows = 256
	// tile is the number of columns whose slots share a cache line and whose
	// null bits share a byte.
	tile = 8
	// maxLongDigits is the largest precision of a decimal kept as a long.
	maxLongDigits = 18
	// decimalBytes is what a row reserves for a larger decimal.
	decimalBytes  = 16
	intervalBytes = 16
)

func round8(n int) int { return (n + 7) &^ 7 }

// bitsetBytes is the size of the null bitset of n fields or elements.
func bitsetBytes(n int) int { return (n + 63) >> 6 << 3 }

// fixedBytes is the size of a row of n fields without its variable part.
func fixedBytes(n int) int { return bitsetBytes(n) + 8*n }

// arrayHeader is the size of the count and bitset of an array of n elements.
func arrayHeader(n int) int { return 8 + bitsetBytes(n) }

// isVar tells whether values of t live in the variable part.
func isVar(t *schema.Type) bool {
	switch t.Kind {
	case schema.Decimal:
		return t.Precision > maxLongDigits
	case schema.String, schema.Binary, schema.Interval, schema.Variant, schema.List, schema.Map, schema.Struct:
		return true
	}
	return false
}

// elemWidth is the size of an element slot of an array.
func elemWidth(t *schema.Type) int {
	switch t.Kind {
	case schema.Bool, schema.Int8:
		return 1
	case schema.Int16:
		return 2
	case schema.Int32, schema.Float32:
		return 4
	}
	return 8
}

func at(p unsafe.Pointer, off int) unsafe.Pointer { return unsafe.Add(p, off) }

func load8(p unsafe.Pointer, off int) uint8   { return *(*uint8)(unsafe.Add(p, off)) }
func load64(p unsafe.Pointer, off int) uint64 { return *(*uint64)(unsafe.Add(p, off)) }

func store64(p unsafe.Pointer, off int, v uint64) { *(*uint64)(unsafe.Add(p, off)) = v }

// transpose8 transposes an 8×8 bit matrix held one row a byte: bit c of byte r
// becomes bit r of byte c (Hacker's Delight, 7-3).
func transpose8(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00AA00AA00AA00AA
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000CCCC0000CCCC
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000F0F0F0F0
	return x ^ t ^ t<<28
}

// bitsAt returns n ≤ 64 bits of bitmap from bit i on. It may read up to the
// bitmap's capacity.
func bitsAt(bitmap []byte, i, n int) uint64 {
	shift := uint(i & 7)
	if i>>3+9 <= cap(bitmap) {
		p := ptr(bitmap)
		w := load64(p, i>>3)>>shift | uint64(load8(p, i>>3+8))<<(64-shift)
		return w & (^uint64(0) >> uint(64-n))
	}
	return lastBits(bitmap, i, n)
}

// lastBits is bitsAt near the end of the bitmap.
func lastBits(bitmap []byte, i, n int) uint64 {
	var w, high uint64
	for k, x := range bitmap[i>>3 : (i+n+7)>>3] {
		if k < 8 {
			w |= uint64(x) << (8 * k)
		} else {
			high = uint64(x)
		}
	}
	shift := uint(i & 7)
	return (w>>shift | high<<(64-shift)) & (^uint64(0) >> uint(64-n))
}

// bitWriter appends bits to a bitmap. The bitmap needs 8 spare bytes of capacity.
type bitWriter struct {
	p   unsafe.Pointer
	n   int // bits written
	acc uint64
}

func newBitWriter(bitmap []byte) bitWriter {
	return bitWriter{p: unsafe.Pointer(unsafe.SliceData(bitmap))}
}

// append adds the k ≤ 64 low bits of w; the bits above are zero.
func (b *bitWriter) append(w uint64, k int) {
	at := b.n & 63
	b.acc |= w << at
	b.n += k
	if at+k >= 64 {
		store64(b.p, (b.n-k)>>6<<3, b.acc)
		b.acc = 0
		if at > 0 {
			b.acc = w >> (64 - at)
		}
	}
}

// flush writes the last partial word, with zeros behind the last bit.
func (b *bitWriter) flush() {
	if b.n&63 != 0 {
		store64(b.p, b.n>>6<<3, b.acc)
	}
}

// popcountZeros counts the zeros among the k low bits of w.
func popcountZeros(w uint64, k int) int { return k - bits.OnesCount64(w) }

// ptr is the address of b's first byte.
func ptr(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

func load32(p unsafe.Pointer, off int) uint32 { return *(*uint32)(unsafe.Add(p, off)) }

// pairs views b as 16-byte values.
func pairs(b []byte) [][2]uint64 {
	return unsafe.Slice((*[2]uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/16)
}
