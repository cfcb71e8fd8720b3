package pack

import (
	"math/bits"
	"unsafe"
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

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

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
// src[0]. len(src) must be at least packedLen+guardLen.
func unpackBits[T unsigned](dst []T, src []byte, w uint, ref T) {
	n := len(dst)
	if n == 0 {
		return
	}
	if w == 0 {
		for i := range dst {
			dst[i] = ref
		}
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
	mask := uint64(1)<<w - 1
	groups := n >> 3
	switch {
	case w <= 8:
		unpack8(dst[:groups*8], p, w, mask, ref)
	case w <= 16:
		unpack4(dst[:groups*8], p, w, mask, ref)
	case w <= 29:
		unpack2(dst[:groups*8], p, w, mask, ref)
	default:
		unpack1(dst[:groups*8], p, w, mask, ref)
	}
	bit := uintptr(groups) * 8 * uintptr(w)
	for i := groups * 8; i < n; i++ {
		dst[i] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += uintptr(w)
	}
}

// unpack8 takes eight values from one load.
func unpack8[T unsigned](dst []T, p unsafe.Pointer, w uint, mask uint64, ref T) {
	w &= 63
	off := uintptr(0)
	for ; len(dst) >= 8; dst = dst[8:] {
		d := (*[8]T)(dst)
		x := load64(p, off)
		off += uintptr(w)
		d[0] = T(x&mask) + ref
		x >>= w & 63
		d[1] = T(x&mask) + ref
		x >>= w & 63
		d[2] = T(x&mask) + ref
		x >>= w & 63
		d[3] = T(x&mask) + ref
		x >>= w & 63
		d[4] = T(x&mask) + ref
		x >>= w & 63
		d[5] = T(x&mask) + ref
		x >>= w & 63
		d[6] = T(x&mask) + ref
		x >>= w & 63
		d[7] = T(x&mask) + ref
	}
}

// unpack4 takes four values from each of two loads; the second starts on a
// byte or half a byte.
func unpack4[T unsigned](dst []T, p unsafe.Pointer, w uint, mask uint64, ref T) {
	off := uintptr(0)
	half, shift := uintptr(w)*4>>3, w*4&7
	for ; len(dst) >= 8; dst = dst[8:] {
		d := (*[8]T)(dst)
		x := load64(p, off)
		y := load64(p, off+half) >> (shift & 63)
		off += uintptr(w)
		d[0] = T(x&mask) + ref
		d[4] = T(y&mask) + ref
		x >>= w & 63
		y >>= w & 63
		d[1] = T(x&mask) + ref
		d[5] = T(y&mask) + ref
		x >>= w & 63
		y >>= w & 63
		d[2] = T(x&mask) + ref
		d[6] = T(y&mask) + ref
		x >>= w & 63
		y >>= w & 63
		d[3] = T(x&mask) + ref
		d[7] = T(y&mask) + ref
	}
}

// unpack2 takes two values from each of four loads: 2w+6 <= 64.
func unpack2[T unsigned](dst []T, p unsafe.Pointer, w uint, mask uint64, ref T) {
	off := uintptr(0)
	w2 := uintptr(w) * 2
	o1, o2, o3 := w2>>3, w2*2>>3, w2*3>>3
	s1, s2, s3 := w2&7, w2*2&7, w2*3&7
	for ; len(dst) >= 8; dst = dst[8:] {
		d := (*[8]T)(dst)
		a := load64(p, off)
		b := load64(p, off+o1) >> (s1 & 63)
		c := load64(p, off+o2) >> (s2 & 63)
		e := load64(p, off+o3) >> (s3 & 63)
		off += uintptr(w)
		d[0] = T(a&mask) + ref
		d[1] = T(a>>(w&63)&mask) + ref
		d[2] = T(b&mask) + ref
		d[3] = T(b>>(w&63)&mask) + ref
		d[4] = T(c&mask) + ref
		d[5] = T(c>>(w&63)&mask) + ref
		d[6] = T(e&mask) + ref
		d[7] = T(e>>(w&63)&mask) + ref
	}
}

// unpack1 loads each value on its own.
func unpack1[T unsigned](dst []T, p unsafe.Pointer, w uint, mask uint64, ref T) {
	bit := uintptr(0)
	step := uintptr(w)
	for ; len(dst) >= 4; dst = dst[4:] {
		d := (*[4]T)(dst)
		d[0] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		d[1] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		d[2] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
		d[3] = T(load64(p, bit>>3)>>(bit&7)&mask) + ref
		bit += step
	}
}
