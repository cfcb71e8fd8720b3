package pack

import (
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
)

// Bit packing. Value i of a packed run takes the w bits from bit i*w, least
// significant bit first, as Parquet's and Arrow's bit-packed runs do. A run of
// n values takes packedLen(n, w) bytes. Kernels load and store 8 bytes at a
// time: both sides need guard bytes behind the run (guardLen).
//
// Widths above maxWidth do not occur, except 64 (whole words), because a value
// of 58 to 63 bits may straddle nine bytes.

const (
	maxWidth = 57
	// guardLen is the number of zero bytes that end every encoded buffer, so
	// that an 8-byte load at its last packed byte stays within the buffer.
	guardLen = 8
)

type unsigned = column.Unsigned

func packedLen(n int, w uint) int { return (n*int(w) + 7) >> 3 }

// storedWidth rounds a width up to one that the kernels support.
func storedWidth(w uint) uint {
	if w > maxWidth {
		return 64
	}
	return w
}

func bitLen(x uint64) uint { return uint(bits.Len64(x)) }

func load64(p unsafe.Pointer, off uintptr) uint64 { return *(*uint64)(unsafe.Add(p, off)) }

func load32(p unsafe.Pointer, off uintptr) uint32 { return *(*uint32)(unsafe.Add(p, off)) }

func store64(p unsafe.Pointer, off uintptr, v uint64) { *(*uint64)(unsafe.Add(p, off)) = v }

// packBits packs x[i]-ref into dst, which must have packedLen+guardLen bytes.
// The differences must fit w bits.
func packBits(dst []byte, x []uint64, ref uint64, w uint) {
	n := packedLen(len(x), w)
	if n == 0 {
		return
	}
	_ = dst[n+guardLen-1]
	p := unsafe.Pointer(&dst[0])
	if w == 64 {
		for i, v := range x {
			store64(p, uintptr(i)*8, v-ref)
		}
		return
	}
	var acc uint64
	var fill uint
	var off uintptr
	i := 0
	if w <= 16 {
		// Four values at a time: 4w <= 64 bits.
		for ; i+4 <= len(x); i += 4 {
			q := x[i : i+4 : i+4]
			v := q[0] - ref | (q[1]-ref)<<(w&63) | (q[2]-ref)<<(2*w&63) | (q[3]-ref)<<(3*w&63)
			acc |= v << (fill & 63)
			fill += 4 * w
			if fill >= 64 {
				store64(p, off, acc)
				off += 8
				fill -= 64
				acc = v >> (4*w - fill) // a shift by 64 gives 0 in Go
			}
		}
	}
	for ; i < len(x); i++ {
		v := x[i] - ref
		acc |= v << (fill & 63)
		fill += w
		if fill >= 64 {
			store64(p, off, acc)
			off += 8
			fill -= 64
			acc = v >> (w - fill)
		}
	}
	if fill > 0 {
		store64(p, off, acc)
	}
}

// unpackBits writes T(value)+ref for len(dst) values of w bits that start at
// src[0]. len(src) must be at least packedLen+guardLen; all of it may be read.
func unpackBits[T unsigned](dst []T, src []byte, w uint, ref T) {
	n := len(dst)
	if n == 0 {
		return
	}
	if w == 0 {
		fill(dst, ref)
		return
	}
	_ = src[packedLen(n, w)+guardLen-1]
	p := unsafe.Pointer(&src[0])
	if w == 64 {
		for i := range dst {
			dst[i] = T(load64(p, uintptr(i)*8)) + ref
		}
		return
	}
	i := fastUnpack(dst, src, w, ref)
	mask := uint64(1)<<w - 1
	step := uintptr(w)
	bit := uintptr(i) * step
	for rest := dst[i:]; len(rest) > 0; {
		if len(rest) < 4 {
			rest[0] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
			bit += step
			rest = rest[1:]
			continue
		}
		d := (*[4]T)(rest)
		d[0] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		d[1] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		d[2] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		d[3] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		rest = rest[4:]
	}
}
