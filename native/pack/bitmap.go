package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// Bitmaps (validity, booleans), in the shortest of:
//
//	constant = bitsConstant byte, 0 or 1, guard
//	periodic = bitsPeriodic byte, period byte, that many bytes, guard: they repeat
//	runs     = bitsRuns byte, first bit, run lengths uvarint, guard: bits alternate from run to run
//	sparse   = bitsSparse byte, bit, gaps, guard: every gap is a byte, 255 is 255 slots without
//	           one, less is that many slots without one and then one that has the given bit
//	lz4      = encLZ4 byte, block, guard
//	raw      = (n+7)/8 bytes
//
// Absent means all slots valid, or all null; the null count tells which. Runs
// and gaps end where n slots are reached: the last run is not stored.
const (
	bitsConstant = encBits + iota
	bitsPeriodic
	bitsRuns
	bitsSparse
)

const maxPeriod = 64

// appendBitmap appends the first n bits of b.
func (e *Encoder) appendBitmap(dst, b []byte, n int) []byte {
	size := (n + 7) >> 3
	b = b[:size]
	if size < 16 {
		return append(dst, b...)
	}
	start := len(dst)
	if p := period(b, n); p > 0 {
		return appendGuard(append(append(dst, bitsPeriodic, byte(p)), b[:p]...))
	}
	ones := n - column.CountNulls(b, n)
	rare := byte(1)
	if ones > n/2 {
		rare, ones = 0, n-ones
	}
	// A run takes two bytes at least for each change; one sparse bit takes one
	// and 255 slots take one.
	limit := size - size/8
	if changes := changes(b, n); 2*changes < limit {
		if dst = appendRuns(dst, b, n); worthwhile(len(dst)-start, size) && 3*ones >= changes {
			return dst
		}
		dst = dst[:start]
	}
	if ones+n/255 < limit {
		if dst = appendSparse(dst, b, n, rare); worthwhile(len(dst)-start, size) {
			return dst
		}
		dst = dst[:start]
	}
	if size > 128 {
		if out := e.appendLZ4(append(dst, encLZ4), b); out != nil && worthwhile(len(out)-start, size) {
			return out
		}
	}
	return append(dst[:start], b...)
}

// appendBools appends bit-packed booleans; null slots become false.
func (e *Encoder) appendBools(dst, values, validity []byte, n int) []byte {
	size := (n + 7) >> 3
	e.bits = append(e.bits[:0], values[:size]...)
	b := e.bits
	if validity != nil {
		for i := range b {
			b[i] &= validity[i]
		}
	}
	if n&7 != 0 {
		b[size-1] &= 1<<(n&7) - 1
	}
	if size > 9+guardLen {
		switch column.CountNulls(b, n) {
		case n:
			return appendGuard(append(dst, bitsConstant, 0))
		case 0:
			return appendGuard(append(dst, bitsConstant, 1))
		}
		if validity != nil && bytes.Equal(b, validity[:size]) {
			return appendGuard(append(dst, bitsConstant, 1))
		}
	}
	return e.appendBitmap(dst, b, n)
}

// period returns the least number of bytes after which b repeats, or 0.
func period(b []byte, n int) int {
	full := n >> 3
	for p := 1; p <= min(maxPeriod, len(b)/4); p++ {
		if bytes.Equal(b[p:full], b[:full-p]) && (n&7 == 0 || (b[full]^b[full-p])&(1<<(n&7)-1) == 0) {
			return p
		}
	}
	return 0
}

// changes counts the places where a bit differs from the one before it.
func changes(b []byte, n int) int {
	count := 0
	prev := uint64(b[0] & 1)
	for i := 0; i < n; i += 64 {
		m := min(64, n-i)
		w := bitsAt(b, i, m)
		x := w ^ (w<<1 | prev)
		if m < 64 {
			x &= 1<<m - 1
		}
		count += bits.OnesCount64(x)
		prev = w >> (m - 1) & 1
	}
	return count
}

// nextBit returns the position of the first bit from i on that is v, or n.
func nextBit(b []byte, i, n int, v byte) int {
	flip := uint64(v) - 1 // all ones to look for a zero
	for i < n {
		at := i &^ 7
		m := min(64, n-at)
		w := (bitsAt(b, at, m) ^ flip) >> (i - at)
		if m < 64 {
			w &= 1<<(m-(i-at)) - 1
		}
		if w != 0 {
			return i + bits.TrailingZeros64(w)
		}
		i = at + m
	}
	return n
}

func appendRuns(dst, b []byte, n int) []byte {
	v := b[0] & 1
	dst = append(dst, bitsRuns, v)
	for i := 0; ; v ^= 1 {
		end := nextBit(b, i, n, v^1)
		if end == n {
			return appendGuard(dst)
		}
		dst = binary.AppendUvarint(dst, uint64(end-i))
		i = end
	}
}

func appendSparse(dst, b []byte, n int, v byte) []byte {
	dst = append(dst, bitsSparse, v)
	for i := 0; ; {
		at := nextBit(b, i, n, v)
		if at == n {
			return appendGuard(dst)
		}
		for at-i >= 255 {
			dst = append(dst, 255)
			i += 255
		}
		dst = append(dst, byte(at-i))
		i = at + 1
	}
}

var errAbsent = errors.New("buffer is absent")

// validity sets c.Validity and checks it against the null count.
func (d *Decoder) validity(c *column.Column, stored []byte, arena *memory.Arena) (err error) {
	switch {
	case c.Nulls == 0:
		return nil
	case len(stored) > 0:
		c.Validity, err = d.bitmap(stored, c.Len, arena)
		if err == nil {
			if nulls := column.CountNulls(c.Validity, c.Len); nulls != c.Nulls {
				return fmt.Errorf("%d nulls, the batch says %d", nulls, c.Nulls)
			}
		}
		return err
	case c.Nulls == c.Len:
		c.Validity = arena.Zeroed((c.Len + 7) >> 3)
		return nil
	}
	return errAbsent
}

// bitmap decodes n bits, n > 0.
func (d *Decoder) bitmap(stored []byte, n int, arena *memory.Arena) ([]byte, error) {
	size := (n + 7) >> 3
	switch {
	case len(stored) == size:
		return aligned(stored, arena), nil
	case len(stored) > size:
		return nil, fmt.Errorf("bitmap of %d bytes for %d bits", len(stored), n)
	case len(stored) == 0:
		return nil, errAbsent
	}
	out := arena.Bytes(size)
	r := newReader(stored)
	switch enc := r.byte(); enc {
	case bitsConstant:
		v := r.byte()
		if v > 1 {
			r.fail("bit %d", v)
		}
		fill(out, -v)
	case bitsPeriodic:
		p := r.bytes(int(r.byte()))
		if r.err == nil && len(p) == 0 {
			r.fail("period 0")
		}
		if r.err != nil {
			break
		}
		for k := copy(out, p); k < size; {
			k += copy(out[k:], out[:k])
		}
	case bitsRuns:
		runs(&r, out, n)
	case bitsSparse:
		sparse(&r, out, n)
	case encLZ4:
		r.lz4(out)
	default:
		r.fail("unknown encoding %d of a bitmap", enc)
	}
	return out, r.done()
}

func runs(r *reader, out []byte, n int) {
	clear(out)
	v := r.byte()
	if v > 1 {
		r.fail("bit %d", v)
	}
	at := 0
	for r.err == nil && r.left() > 0 {
		k := r.count("length of a run", n-at)
		if v == 1 {
			setRange(out, at, at+k)
		}
		at += k
		v ^= 1
	}
	if r.err == nil && v == 1 {
		setRange(out, at, n)
	}
}

// setRange sets bits [from, to).
func setRange(b []byte, from, to int) {
	for ; from < to && from&7 != 0; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
	if to-from >= 8 {
		fill(b[from>>3:to>>3], 0xff)
		from = to &^ 7
	}
	for ; from < to; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
}

func sparse(r *reader, out []byte, n int) {
	v := r.byte()
	if v > 1 {
		r.fail("bit %d", v)
	}
	gaps := r.bytes(r.left())
	if r.err != nil {
		return
	}
	fill(out, v-1)
	at := 0
	for _, g := range gaps {
		at += int(g)
		if g == 255 {
			continue
		}
		if at >= n {
			r.fail("a bit lies behind the %d of the bitmap", n)
			return
		}
		out[at>>3] ^= 1 << (at & 7)
		at++
	}
}
