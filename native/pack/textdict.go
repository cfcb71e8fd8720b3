package pack

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// Dictionary of strings: the distinct ones in order of first appearance and a
// code for each slot, as in Parquet's RLE_DICTIONARY.
//
//	text dictionary = encStringDict byte, count uvarint, data bytes of all slots uvarint,
//	                  stream of count lengths (32 bits), entries, stream of n codes (16 bits), guard
//	entries         = 0 byte, bytes | 1 byte, length uvarint, lz4 block
//
// Null slots are empty whatever their code.

const maxTextDict = 1 << 15

// textSet gives codes to strings.
type textSet struct {
	hashes []uint32
	codes  []int32 // -1: free
	mask   uint32
}

func (s *textSet) reset(n int) {
	size := 1 << bits.Len(uint(2*n-1))
	s.hashes = resize(s.hashes, size)
	s.codes = resize(s.codes, size)
	for i := range s.codes {
		s.codes[i] = -1
	}
	s.mask = uint32(size - 1)
}

const hashMul = 0x9e3779b97f4a7c15

func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x, hashMul)
	return hi ^ lo
}

func hashBytes(b []byte) uint32 {
	h := uint64(len(b)) * 0xff51afd7ed558ccd
	for len(b) >= 8 {
		h = fold(h ^ binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if len(b) >= 4 {
		h ^= uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))<<32
	} else if len(b) > 0 {
		h ^= uint64(b[0]) | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])<<16
	}
	return uint32(fold(h) >> 16)
}

// textDictBuilder collects distinct strings.
type textDictBuilder struct {
	set    textSet
	starts []int32 // where each entry is in the input's data
	lens   []int32
}

// add returns the code of data[from:to], or -1 where there are limit codes already.
func (b *textDictBuilder) add(data []byte, from, to int32, limit int) int32 {
	s := data[from:to]
	h := hashBytes(s)
	i := h & b.set.mask
	for {
		c := b.set.codes[i]
		if c < 0 {
			break
		}
		if b.set.hashes[i] == h && b.lens[c] == to-from && string(data[b.starts[c]:b.starts[c]+b.lens[c]]) == string(s) {
			return c
		}
		i = (i + 1) & b.set.mask
	}
	c := len(b.starts)
	if c >= limit {
		return -1
	}
	b.set.codes[i], b.set.hashes[i] = int32(c), h
	b.starts, b.lens = append(b.starts, from), append(b.lens, to-from)
	return int32(c)
}

func (b *textDictBuilder) reset(n int) {
	b.set.reset(n)
	b.starts, b.lens = b.starts[:0], b.lens[:0]
}

// fewDistinctTexts tells from a sample whether strings repeat often enough.
func (e *Encoder) fewDistinctTexts(t *textInput) bool {
	n := min(t.n, distinctSample)
	e.texts.reset(n)
	seen := 0
	for i := range n {
		at := i * t.n / n
		if t.valid(at) {
			seen++
			e.texts.add(t.data, t.offsets[at], t.offsets[at+1], n)
		}
	}
	return len(e.texts.starts)*4 <= seen*3
}

func (e *Encoder) appendTextDict(dst []byte, t *textInput) []byte {
	limit := min(maxTextDict, t.n/2)
	e.texts.reset(limit + 1)
	e.codes = resize(e.codes, t.n)
	last, size, bytes := int32(0), 0, 0
	for i := range t.n {
		if t.valid(i) {
			from, to := t.offsets[i], t.offsets[i+1]
			last = e.texts.add(t.data, from, to, limit)
			if last < 0 {
				return nil
			}
			size += int(to - from)
		}
		e.codes[i] = last
	}
	for _, l := range e.texts.lens {
		bytes += int(l)
	}
	if bytes > t.raw-t.raw/8 {
		return nil
	}
	dst = binary.AppendUvarint(append(dst, encStringDict), uint64(len(e.texts.lens)))
	dst = binary.AppendUvarint(dst, uint64(size))
	dst = appendInts(dst, e.texts.lens, nil, &e.ints)
	dst = e.appendEntries(dst, t.data)
	return appendGuard(appendCodes(dst, e.codes, t.validity, &e.ints))
}

func (e *Encoder) appendEntries(dst, data []byte) []byte {
	e.bytes = e.bytes[:0]
	for i, at := range e.texts.starts {
		e.bytes = append(e.bytes, data[at:at+e.texts.lens[i]]...)
	}
	if len(e.bytes) > 256 {
		out, ok := e.appendBlock(e.wrap[:0], e.bytes)
		e.wrap = out
		if ok {
			dst = binary.AppendUvarint(append(dst, 1), uint64(len(out)))
			return append(dst, out...)
		}
	}
	return append(append(dst, 0), e.bytes...)
}

// textDict is the decoder's dictionary: entry i is data[at[i]:at[i]+lens[i]].
// Copies of 16 bytes may run over the end of an entry and of the data.
type textDict struct {
	lens []uint32
	at   []uint32
	data []byte
}

// textDict decodes a column; c.Offsets is allocated.
func (d *Decoder) textDict(r *reader, c *column.Column, arena *memory.Arena) {
	n := c.Len
	count := r.count("number of distinct strings", min(maxTextDict, n))
	if r.err == nil && count == 0 {
		r.fail("dictionary is empty")
	}
	size := r.count("number of data bytes", math.MaxInt32)
	if r.err != nil {
		return
	}
	longest := d.readEntries(r, count, arena)
	if r.err == nil && uint64(size) > uint64(n)*uint64(longest) {
		r.fail("%d bytes in %d strings of at most %d", size, n, longest)
	}
	if r.err != nil {
		return
	}
	offsets := column.View[uint32](c.Offsets)
	offsets[0] = 0
	c.Data = arena.Bytes(size)
	out := unsafe.Pointer(unsafe.SliceData(c.Data))
	lens, starts := d.text.lens, d.text.at
	mask := uint16(len(lens) - 1)
	total := uint64(0)
	for start := 0; start < n; start += blockLen {
		codes := d.codes(r, min(blockLen, n-start))
		if r.err != nil {
			return
		}
		if c.Validity != nil {
			forNulls(c.Validity[start>>3:], len(codes), func(i int) { codes[i] = uint16(count) })
		}
		o := offsets[start+1:][:len(codes)]
		top := uint16(0)
		at := total
		for i, code := range codes {
			top |= code
			total += uint64(lens[code&mask])
			o[i] = uint32(total)
		}
		if top > mask {
			r.fail("a code is beyond the dictionary of %d strings", count)
			return
		}
		if total > uint64(size) {
			r.fail("strings take more than the %d bytes announced", size)
			return
		}
		d.copyEntries(unsafe.Add(out, at), codes, mask, starts, lens, longest)
	}
	if total != uint64(size) {
		r.fail("strings take %d bytes, %d announced", total, size)
	}
}

// copyEntries writes the entries of codes one behind the other. Up to 15 bytes
// behind the last one are overwritten (arena slack).
func (d *Decoder) copyEntries(out unsafe.Pointer, codes []uint16, mask uint16, starts, lens []uint32, longest int) {
	data := unsafe.Pointer(unsafe.SliceData(d.text.data))
	pos := uintptr(0)
	switch {
	case longest <= 8:
		for _, c := range codes {
			c &= mask
			store64(out, pos, load64(data, uintptr(starts[c])))
			pos += uintptr(lens[c])
		}
	case longest <= 16:
		for _, c := range codes {
			c &= mask
			at := uintptr(starts[c])
			store64(out, pos, load64(data, at))
			store64(out, pos+8, load64(data, at+8))
			pos += uintptr(lens[c])
		}
	default:
		for _, c := range codes {
			c &= mask
			at, l := uintptr(starts[c]), uintptr(lens[c])
			store64(out, pos, load64(data, at))
			store64(out, pos+8, load64(data, at+8))
			if l > 16 {
				if l <= 64 {
					for k := uintptr(16); k < l; k += 16 {
						store64(out, pos+k, load64(data, at+k))
						store64(out, pos+k+8, load64(data, at+k+8))
					}
				} else {
					copy(unsafe.Slice((*byte)(unsafe.Add(out, pos)), l), unsafe.Slice((*byte)(unsafe.Add(data, at)), l))
				}
			}
			pos += l
		}
	}
}

// readEntries fills d.text and returns the length of the longest entry.
func (d *Decoder) readEntries(r *reader, count int, arena *memory.Arena) int {
	// One more entry, empty, for null slots; and a power of two for masking.
	size := 1 << bits.Len(uint(count))
	t := &d.text
	t.lens, t.at = resize(t.lens, size), resize(t.at, size)
	decodeInts(r, t.lens[:count])
	if r.err != nil {
		return 0
	}
	clear(t.lens[count:])
	clear(t.at[count:])
	total, longest := uint64(0), uint32(0)
	for i, l := range t.lens[:count] {
		t.at[i] = uint32(total)
		total += uint64(l)
		longest = max(longest, l)
	}
	if total > math.MaxInt32 {
		r.fail("dictionary of %d bytes", total)
		return 0
	}
	var src []byte
	switch mode := r.byte(); mode {
	case 0:
		if src = r.bytes(int(total)); r.err != nil {
			return 0
		}
		t.data = d.scratch(&d.dictBytes, int(total)+16, arena)
		copy(t.data, src)
	case 1:
		size := r.count("length of the dictionary", r.left())
		if r.err == nil && total > 255*uint64(size) {
			r.fail("%d bytes cannot come from %d of lz4", total, size)
		}
		if r.err != nil {
			return 0
		}
		t.data = d.scratch(&d.dictBytes, int(total)+16, arena)
		r.lz4Part(t.data[:total], size)
	default:
		r.fail("unknown mode %d of dictionary entries", mode)
	}
	return int(longest)
}
