package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	errShort    = errors.New("ends too early")
	errPosition = errors.New("an exception lies outside of its block")
)

// reader walks an encoded buffer. full includes the guard bytes, which only
// 8-byte loads may touch; end is where the encoded bytes end. Once a read
// fails, err is set and all further reads return zero values.
type reader struct {
	full []byte
	off  int
	end  int
	err  error
}

// newReader checks that the guard is there.
func newReader(stored []byte) reader {
	r := reader{full: stored[:len(stored):len(stored)], end: len(stored) - guardLen}
	if r.end < 0 {
		r.end = 0
		r.err = errShort
	}
	return r
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) left() int { return r.end - r.off }

func (r *reader) byte() byte {
	if r.err != nil || r.off >= r.end {
		r.short()
		return 0
	}
	b := r.full[r.off]
	r.off++
	return b
}

func (r *reader) short() {
	if r.err == nil {
		r.err = errShort
	}
}

func (r *reader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.full[r.off:r.end])
	if n <= 0 {
		r.short()
		return 0
	}
	r.off += n
	return v
}

// count reads a varint that must be at most limit.
func (r *reader) count(what string, limit int) int {
	v := r.uvarint()
	if r.err == nil && v > uint64(max(limit, 0)) {
		r.fail("%s is %d, at most %d possible", what, v, limit)
		return 0
	}
	return int(v)
}

func (r *reader) zigzag() uint64 {
	v := r.uvarint()
	return v>>1 ^ -(v & 1)
}

// bytes returns the next n bytes. What lies behind them, guardLen bytes at
// least, is within the slice's capacity, for kernels that read too far.
func (r *reader) bytes(n int) []byte {
	if r.err != nil || n < 0 || n > r.left() {
		r.short()
		return nil
	}
	b := r.full[r.off : r.off+n]
	r.off += n
	return b
}

// done reports an error where bytes are left over.
func (r *reader) done() error {
	if r.err == nil && r.off != r.end {
		r.fail("%d bytes are left over", r.end-r.off)
	}
	return r.err
}

func appendZigzag(dst []byte, v uint64) []byte {
	return binary.AppendUvarint(dst, v<<1^uint64(int64(v)>>63))
}
