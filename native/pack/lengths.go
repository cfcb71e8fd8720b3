package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// Offsets as lengths, as in Parquet's DELTA_LENGTH_BYTE_ARRAY. The integer
// stream gives short lengths a few bits and equal ones none.
//
//	offsets = encLengths byte, lengths, guard
//	lengths = flags byte (1: null slots have length 0, whatever the stream says), stream of n 32-bit integers
//	raw     = 4*(n+1) bytes
const nullsAreEmpty = 1

var errFalling = errors.New("offsets fall")

// lengths fills e.lens with the lengths of offsets' slots and returns the flags.
func (e *Encoder) lengths(offsets []int32, validity []byte) byte {
	n := len(offsets) - 1
	e.lens = resize(e.lens, n)
	prev := offsets[0]
	for i, o := range offsets[1:] {
		e.lens[i] = o - prev
		prev = o
	}
	if validity == nil {
		return 0
	}
	for i := nextBit(validity, 0, n, 0); i < n; i = nextBit(validity, i+1, n, 0) {
		if e.lens[i] != 0 {
			return 0
		}
	}
	return nullsAreEmpty
}

// appendLengths appends the flags and the stream of e.lens.
func (e *Encoder) appendLengths(dst []byte, flags byte, validity []byte) []byte {
	if flags&nullsAreEmpty == 0 {
		validity = nil
	}
	return appendInts(append(dst, flags), e.lens, validity, &e.ints)
}

// appendOffsets appends an offsets buffer. With a validity, null slots that
// have length 0 are kept by the validity alone.
func (e *Encoder) appendOffsets(dst, offsets, validity []byte) []byte {
	if len(offsets) < minEncoded {
		return append(dst, offsets...)
	}
	flags := e.lengths(column.View[int32](offsets), validity)
	start := len(dst)
	dst = appendGuard(e.appendLengths(append(dst, encLengths), flags, validity))
	if !worthwhile(len(dst)-start, len(offsets)) {
		return append(dst[:start], offsets...)
	}
	return dst
}

// offsets decodes an offsets buffer of n slots.
func (d *Decoder) offsets(stored []byte, n int, validity []byte, arena *memory.Arena) ([]byte, error) {
	size := 4 * (n + 1)
	switch {
	case len(stored) == size:
		out := aligned(stored, arena)
		o := column.View[int32](out)
		if o[0] != 0 {
			return nil, fmt.Errorf("offsets start at %d", o[0])
		}
		// One negative difference makes the sign bit of falls.
		falls, prev := int32(0), int32(0)
		for _, x := range o {
			falls |= x | (x - prev)
			prev = x
		}
		if falls < 0 {
			return nil, errFalling
		}
		return out, nil
	case len(stored) > size:
		return nil, fmt.Errorf("offsets buffer of %d bytes for %d slots", len(stored), n)
	case len(stored) == 0:
		return arena.Zeroed(size), nil
	}
	r := newReader(stored)
	if enc := r.byte(); enc != encLengths {
		r.fail("unknown encoding %d of offsets", enc)
	}
	out := arena.Bytes(size)
	readLengths(&r, column.View[uint32](out), validity)
	return out, r.done()
}

// readLengths decodes len(out)-1 lengths to offsets.
func readLengths(r *reader, out []uint32, validity []byte) {
	flags := r.byte()
	if flags > nullsAreEmpty {
		r.fail("unknown flags %#x of lengths", flags)
	}
	out[0] = 0
	out = out[1:]
	total := uint64(0)
	for start := 0; start < len(out) && r.err == nil; start += blockLen {
		lens := out[start:min(start+blockLen, len(out))]
		decodeInts(r, lens)
		if r.err != nil {
			return
		}
		if flags&nullsAreEmpty != 0 && validity != nil {
			setNulls(lens, validity[start>>3:], 0)
		}
		total = sumLengths(lens, total)
		if total > math.MaxInt32 {
			r.fail("lengths add up to more than %d", math.MaxInt32)
		}
	}
}

// sumLengths replaces lengths by the offsets of their ends, from base on. The
// sum is exact: a block cannot overflow 64 bits.
func sumLengths(lens []uint32, base uint64) uint64 {
	for ; len(lens) >= 4; lens = lens[4:] {
		l := (*[4]uint32)(lens)
		a := uint64(l[0])
		b := a + uint64(l[1])
		c := b + uint64(l[2])
		e := c + uint64(l[3])
		l[0], l[1], l[2], l[3] = uint32(base+a), uint32(base+b), uint32(base+c), uint32(base+e)
		base += e
	}
	for i, l := range lens {
		base += uint64(l)
		lens[i] = uint32(base)
	}
	return base
}

// setNulls sets the slots of vals that are null to v.
func setNulls[T unsigned](vals []T, validity []byte, v T) {
	for i := 0; i < len(vals); i += 64 {
		m := min(64, len(vals)-i)
		w := ^bitsAt(validity, i, m)
		if m < 64 {
			w &= 1<<m - 1
		}
		for q := vals[i : i+m]; w != 0; w &= w - 1 {
			q[bits.TrailingZeros64(w)] = v
		}
	}
}

func lastOffset(offsets []byte) int {
	return int(int32(binary.LittleEndian.Uint32(offsets[len(offsets)-4:])))
}
