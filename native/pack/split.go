package pack

import (
	"encoding/binary"
	"unsafe"

	"github.com/quiverspark/quiver/native/memory"
)

// Byte-stream split (Parquet's BYTE_STREAM_SPLIT): byte k of all values next to
// each other, for floats and integers of which only some bytes repeat. Each
// plane of n bytes is kept in its own way:
//
//	split = encSplit byte, planes from the least significant byte on, guard
//	plane = planeRaw, n bytes | planeConstant, byte | planeLZ4, length uvarint, block
const (
	planeRaw      = 0
	planeConstant = 1
	planeLZ4      = 2
)

// appendSplit appends src, values of width bytes (2, 4 or 8).
func (e *Encoder) appendSplit(dst, src []byte, width int) []byte {
	n := len(src) / width
	dst = append(dst, encSplit)
	e.alt2 = resize(e.alt2, n)
	plane := e.alt2
	for k := range width {
		same := byte(0)
		for i, at := 0, k; i < n; i, at = i+1, at+width {
			plane[i] = src[at]
			same |= src[at] ^ src[k]
		}
		if same == 0 {
			dst = append(dst, planeConstant, plane[0])
			continue
		}
		if n > 2*lz4Sample && e.lz4Estimate(plane) > n-n/8 {
			dst = append(append(dst, planeRaw), plane...)
			continue
		}
		out, ok := e.appendBlock(e.wrap[:0], plane)
		e.wrap = out
		if !ok {
			dst = append(append(dst, planeRaw), plane...)
			continue
		}
		dst = binary.AppendUvarint(append(dst, planeLZ4), uint64(len(out)))
		dst = append(dst, out...)
	}
	return appendGuard(dst)
}

// splitEstimate is about what appendSplit makes of src, from some values in the middle.
func (e *Encoder) splitEstimate(src []byte, width int) int {
	piece := src
	if n := lz4Sample / 4 * width; len(src) > 2*n {
		at := (len(src) - n) / 2 / width * width
		piece = src[at : at+n]
	}
	out := e.appendSplit(e.trial[:0], piece, width)
	e.trial = out
	return len(out) * (len(src) / width) / (len(piece) / width)
}

// split decodes values of width bytes to dst.
func (d *Decoder) split(r *reader, dst []byte, width int, arena *memory.Arena) {
	n := len(dst) / width
	// Planes are gathered with room for the 8-byte loads behind each.
	stride := n + 8
	gathered := d.scratch(&d.planes, stride*width, arena)
	var planes [8]unsafe.Pointer
	for k := range width {
		own := gathered[k*stride : k*stride+n]
		planes[k] = unsafe.Pointer(unsafe.SliceData(gathered[k*stride:]))
		switch mode := r.byte(); mode {
		case planeRaw:
			// Guard bytes are readable behind it, as behind every part of a buffer.
			if b := r.bytes(n); b != nil {
				planes[k] = unsafe.Pointer(unsafe.SliceData(b))
			}
		case planeConstant:
			fill(own, r.byte())
		case planeLZ4:
			r.lz4Part(own, r.count("length of a plane", r.left()))
		default:
			r.fail("unknown plane mode %d", mode)
		}
		if r.err != nil {
			return
		}
	}
	switch width {
	case 2:
		merge2(dst, planes[:2])
	case 4:
		merge4(dst, planes[:4])
	case 8:
		merge8(dst, planes[:8])
	}
}

func merge2(dst []byte, p []unsafe.Pointer) {
	a, b := p[0], p[1]
	n := len(dst) / 2
	for i := range n {
		dst[2*i] = *(*byte)(unsafe.Add(a, i))
		dst[2*i+1] = *(*byte)(unsafe.Add(b, i))
	}
}

// spread32 moves the four low bytes of x to the even bytes.
func spread32(x uint64) uint64 {
	x &= 0xffffffff
	x = (x | x<<16) & 0x0000ffff0000ffff
	return (x | x<<8) & 0x00ff00ff00ff00ff
}

// merge4 takes four values at a time.
func merge4(dst []byte, p []unsafe.Pointer) {
	n := len(dst) / 4
	i := uintptr(0)
	for ; int(i)+4 <= n; i += 4 {
		// lo: bytes 0 and 1 of four values, hi: bytes 2 and 3.
		lo := spread32(load64(p[0], i)) | spread32(load64(p[1], i))<<8
		hi := spread32(load64(p[2], i)) | spread32(load64(p[3], i))<<8
		d := dst[4*i : 4*i+16 : 4*i+16]
		binary.LittleEndian.PutUint64(d, lo&0xffff|hi&0xffff<<16|lo>>16&0xffff<<32|hi>>16&0xffff<<48)
		binary.LittleEndian.PutUint64(d[8:], lo>>32&0xffff|hi>>32&0xffff<<16|lo>>48<<32|hi>>48<<48)
	}
	for ; int(i) < n; i++ {
		for k := range 4 {
			dst[4*int(i)+k] = *(*byte)(unsafe.Add(p[k], i))
		}
	}
}

// merge8 transposes 8 x 8 bytes at a time by swapping ever larger pieces.
func merge8(dst []byte, p []unsafe.Pointer) {
	const m1, m2, m4 = 0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff
	n := len(dst) / 8
	i := uintptr(0)
	p0, p1, p2, p3, p4, p5, p6, p7 := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	for ; int(i)+8 <= n; i += 8 {
		a, b, c, d := load64(p0, i), load64(p1, i), load64(p2, i), load64(p3, i)
		e, f, g, h := load64(p4, i), load64(p5, i), load64(p6, i), load64(p7, i)
		a, b = a&m1|b&m1<<8, a>>8&m1|b&^m1
		c, d = c&m1|d&m1<<8, c>>8&m1|d&^m1
		e, f = e&m1|f&m1<<8, e>>8&m1|f&^m1
		g, h = g&m1|h&m1<<8, g>>8&m1|h&^m1
		a, c = a&m2|c&m2<<16, a>>16&m2|c&^m2
		b, d = b&m2|d&m2<<16, b>>16&m2|d&^m2
		e, g = e&m2|g&m2<<16, e>>16&m2|g&^m2
		f, h = f&m2|h&m2<<16, f>>16&m2|h&^m2
		o := (*[64]byte)(dst[8*i:])
		binary.LittleEndian.PutUint64(o[0:], a&m4|e<<32)
		binary.LittleEndian.PutUint64(o[8:], b&m4|f<<32)
		binary.LittleEndian.PutUint64(o[16:], c&m4|g<<32)
		binary.LittleEndian.PutUint64(o[24:], d&m4|h<<32)
		binary.LittleEndian.PutUint64(o[32:], a>>32|e&^m4)
		binary.LittleEndian.PutUint64(o[40:], b>>32|f&^m4)
		binary.LittleEndian.PutUint64(o[48:], c>>32|g&^m4)
		binary.LittleEndian.PutUint64(o[56:], d>>32|h&^m4)
	}
	for ; int(i) < n; i++ {
		for k := range 8 {
			dst[8*int(i)+k] = *(*byte)(unsafe.Add(p[k], i))
		}
	}
}
