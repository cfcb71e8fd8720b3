package pack

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Dictionary of fixed-width values: the distinct values and a code for each
// slot, both as integer streams, as in Parquet's RLE_DICTIONARY. Values are in
// order of first appearance.
//
//	dict = encDict byte, count uvarint, values (stream of count), codes (stream of n), guard
//
// Codes are streamed as 32-bit integers.

const maxDict = 1 << 16

// hashSet gives codes to 64-bit keys. Slots are valid where their stamp is the
// current one, so clearing is free.
type hashSet struct {
	keys   []uint64
	codes  []int32
	stamps []uint32
	stamp  uint32
	mask   uint32
}

// reset empties the set and makes room for n keys at a load of one half.
func (h *hashSet) reset(n int) {
	size := 1 << bits.Len(uint(2*n-1))
	if len(h.keys) < size {
		h.keys = make([]uint64, size)
		h.codes = make([]int32, size)
		h.stamps = make([]uint32, size)
		h.stamp = 0
	}
	h.mask = uint32(size - 1)
	h.stamp++
	if h.stamp == 0 {
		clear(h.stamps)
		h.stamp = 1
	}
}

func hash64(k uint64) uint32 { return uint32(k * 0x9e3779b97f4a7c15 >> 32) }

// add returns key's code; a new key gets next.
func (h *hashSet) add(key uint64, next int32) (code int32) {
	i := hash64(key) & h.mask
	for h.stamps[i] == h.stamp {
		if h.keys[i] == key {
			return h.codes[i]
		}
		i = (i + 1) & h.mask
	}
	h.stamps[i], h.keys[i], h.codes[i] = h.stamp, key, next
	return next
}

// distinctSample values decide whether a dictionary is tried.
const distinctSample = 128

// mayRepeat tells from a sample whether a dictionary may take less than limit
// bytes: values repeat, and codes for those seen are short enough.
func mayRepeat[T signed](e *Encoder, vals []T, validity []byte, limit int) bool {
	n := min(len(vals), distinctSample)
	e.set.reset(n)
	distinct, seen := int32(0), 0
	for i := range n {
		at := i * len(vals) / n
		if validity != nil && !bit(validity, at) {
			continue
		}
		seen++
		if e.set.add(uint64(int64(vals[at])), distinct) == distinct {
			distinct++
		}
	}
	return int(distinct)*2 <= seen && bits.Len32(uint32(max(distinct-1, 0)))*len(vals)/8 < limit
}

// appendDict appends vals, or returns nil where there are too many distinct ones.
func appendDict[T signed](e *Encoder, dst []byte, vals []T, validity []byte) []byte {
	limit := min(maxDict, len(vals)/2)
	e.set.reset(limit + 1)
	e.codes = resize(e.codes, len(vals))
	e.words = e.words[:0]
	count, last := int32(0), int32(0)
	for i, v := range vals {
		if validity != nil && !bit(validity, i) {
			e.codes[i] = last
			continue
		}
		last = e.set.add(uint64(int64(v)), count)
		if last == count {
			if count++; int(count) > limit {
				return nil
			}
			e.words = append(e.words, int64(v))
		}
		e.codes[i] = last
	}
	dst = binary.AppendUvarint(append(dst, encDict), uint64(count))
	// As values of T, so that the stream's plain mode has T's width.
	e.bytes = resize(e.bytes, int(count)*int(unsafe.Sizeof(vals[0])))
	distinct := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(e.bytes))), count)
	for i, w := range e.words {
		distinct[i] = T(w)
	}
	dst = appendInts(dst, distinct, nil, &e.ints)
	return appendGuard(appendCodes(dst, e.codes, nil, &e.ints))
}

// appendCodes streams codes below 1<<16.
func appendCodes(dst []byte, codes []int32, validity []byte, e *intEncoder) []byte {
	for start := 0; start < len(codes); start += blockLen {
		b := codes[start:min(start+blockLen, len(codes))]
		for i, x := range b {
			e.v[i] = uint64(x)
		}
		var valid []byte
		if validity != nil {
			valid = validity[start>>3:]
		}
		dst = e.appendBlock(dst, len(b), valid)
	}
	return dst
}

// readDict reads the distinct values of a column of n slots. There are a power
// of two of them, so that codes can be masked and none points outside: what is
// behind the last one is zero.
func readDict[T unsigned](d *Decoder, r *reader, n int) []T {
	count := r.count("number of distinct values", min(maxDict, n))
	if r.err == nil && count == 0 {
		r.fail("dictionary is empty")
	}
	if r.err != nil {
		return nil
	}
	size := 1 << bits.Len(uint(count-1))
	d.dict = resize(d.dict, size)
	dict := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(d.dict))), size)
	decodeInts(r, dict[:count])
	clear(dict[count:])
	return dict
}

func decodeDict[T unsigned](d *Decoder, r *reader, out []T) {
	dict := readDict[T](d, r, len(out))
	mask := uint32(len(dict) - 1)
	table := unsafe.Pointer(unsafe.SliceData(dict))
	for len(out) > 0 && r.err == nil {
		codes := d.codes(r, min(len(out), blockLen))
		o := out[:len(codes)]
		for i, c := range codes {
			o[i] = *(*T)(unsafe.Add(table, uintptr(c&mask)*unsafe.Sizeof(out[0])))
		}
		out = out[len(codes):]
	}
}

// codes decodes the next block of n codes. What they exceed the dictionary by
// is masked away by the caller: it cannot be told from any other wrong code.
func (d *Decoder) codes(r *reader, n int) []uint32 {
	codes := d.u32[:n]
	b := readBlock(r, n, 4)
	if r.err == nil {
		r.err = decodeBlock(&b, codes)
	}
	return codes
}
