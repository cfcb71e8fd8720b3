package pack

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"

	"github.com/quiverspark/quiver/native/memory"
)

// LZ4 (block format of github.com/lz4/lz4, doc/lz4_Block_format.md), used on
// plain bytes and over the output of other encodings where that still repeats.
//
//	lz4     = encLZ4 byte, block, guard      (length of the content is known from outside)
//	wrapped = encWrapped byte, length uvarint of the encoded buffer inside, block, guard
//
// The buffer inside a wrapped one is any encoded buffer but a wrapped one.

// lz4Sample is how much of a buffer tells whether lz4 is worth trying on all of it.
const lz4Sample = 4 << 10

// appendLZ4 appends src as a block and the guard, or returns nil where lz4
// saves less than an eighth.
func (e *Encoder) appendLZ4(dst, src []byte) []byte {
	dst, ok := e.appendBlock(dst, src)
	if !ok {
		return nil
	}
	return appendGuard(dst)
}

// lz4Estimate is about what lz4 makes of src, from a piece in the middle.
func (e *Encoder) lz4Estimate(src []byte) int {
	piece := src
	if len(src) > 2*lz4Sample {
		at := (len(src) - lz4Sample) / 2
		piece = src[at : at+lz4Sample]
	}
	out, ok := e.appendBlock(e.wrap[:0], piece)
	e.wrap = out
	if !ok {
		return len(src)
	}
	return len(out) * (len(src) / 8) / (len(piece)/8 + 1)
}

// appendBlock appends src as an lz4 block, or reports false where that does not
// save an eighth.
func (e *Encoder) appendBlock(dst, src []byte) ([]byte, bool) {
	limit := len(src) - len(src)/8
	if limit < 16 {
		return dst, false
	}
	start := len(dst)
	dst = grow(dst, limit)
	n, err := e.lz.CompressBlock(src, dst[start:])
	if err != nil || n == 0 {
		return dst[:start], false
	}
	return dst[:start+n], true
}

// wrapped returns the encoded buffer b inside lz4, in scratch, or nil where
// that does not pay.
func (e *Encoder) wrapped(b []byte) []byte {
	if len(b) < 128 || len(b) > 2*lz4Sample && e.lz4Estimate(b) > len(b)-len(b)/8 {
		return nil
	}
	out := binary.AppendUvarint(append(e.wrap[:0], encWrapped), uint64(len(b)))
	out, ok := e.appendBlock(out, b)
	e.wrap = out
	if !ok || len(out)+guardLen+len(b)*wrapToll>>8 >= len(b)-len(b)/8 {
		return nil
	}
	e.wrap = appendGuard(out)
	return e.wrap
}

// wrapBuffer wraps the encoded buffer dst[start:] where that pays.
func (e *Encoder) wrapBuffer(dst []byte, start int) []byte {
	if w := e.wrapped(dst[start:]); w != nil {
		return append(dst[:start], w...)
	}
	return dst
}

// unwrap returns the buffer inside a wrapped one, in scratch, or stored itself.
// The buffer inside must be shorter than limit, the raw size.
func (d *Decoder) unwrap(stored []byte, limit int, arena *memory.Arena) ([]byte, error) {
	if len(stored) == 0 || stored[0] != encWrapped {
		return stored, nil
	}
	r := newReader(stored)
	r.byte()
	n := r.count("length of the wrapped buffer", limit)
	// lz4 expands at most 255-fold.
	if r.err == nil && n > 255*r.left() {
		r.fail("%d bytes cannot come from %d of lz4", n, r.left())
	}
	if r.err != nil {
		return nil, r.err
	}
	inner := d.scratch(&d.inner, n, arena)
	r.lz4(inner)
	if err := r.done(); err != nil {
		return nil, err
	}
	if n > 0 && inner[0] == encWrapped {
		r.fail("wrapped twice")
	}
	return inner, r.err
}

// lz4 decodes the rest of r, which must give exactly dst.
func (r *reader) lz4(dst []byte) { r.lz4Part(dst, r.left()) }

// lz4Part decodes the next n bytes, which must give exactly dst.
func (r *reader) lz4Part(dst []byte, n int) {
	src := r.bytes(n)
	if r.err != nil {
		return
	}
	got, err := lz4.UncompressBlock(src, dst)
	if err != nil || got != len(dst) {
		r.fail("lz4 block is corrupt: %d of %d bytes decoded", max(got, 0), len(dst))
	}
}

// grow extends b by n bytes of any content.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b[:len(b)+n]
	}
	c := make([]byte, len(b)+n, 2*len(b)+n+256)
	copy(c, b)
	return c
}

// resize returns a slice of n elements of any content, reusing b's memory.
func resize[T any](b []T, n int) []T {
	if cap(b) >= n {
		return b[:n]
	}
	return make([]T, n, n+n/4)
}
