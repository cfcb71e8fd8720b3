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
//	                  stream of count lengths (32 bits), entries, stream of n codes (32 bits), guard
//	entries         = 0 byte, bytes | 1 byte, length uvarint, lz4 block
//
// Null slots are empty whatever their code.

const maxTextDict = 1 << 15

// textDictBuilder gives codes to strings, in order of first appearance.
type textDictBuilder struct {
	table  []textEntry // open addressing, at most half full
	spare  []textEntry // the table before it grew
	starts []int32     // where each entry is in the input's data
	lens   []int32
}

// textEntry is a slot of the hash table. word is the string itself where it has
// at most eight bytes, else a hash of it.
type textEntry struct {
	word uint64
	len  int32
	next int32 // code+1; 0: free
}

const minTable = 1 << 9

func (b *textDictBuilder) reset() {
	if cap(b.table) < minTable {
		b.table = make([]textEntry, minTable)
	}
	b.table = b.table[:minTable]
	clear(b.table)
	b.starts, b.lens = b.starts[:0], b.lens[:0]
}

const hashMul = 0x9e3779b97f4a7c15

func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x, hashMul)
	return hi ^ lo
}

// wordOf is a string's word.
func wordOf(data []byte, from, to int32) uint64 {
	n := uint(to - from)
	if n <= 8 {
		return shortWord(data, int(from), n)
	}
	b := data[from:to]
	h := uint64(n)
	for len(b) > 8 {
		h = fold(h ^ binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	return fold(h ^ binary.LittleEndian.Uint64(data[to-8:to]))
}

// shortWord is data[from:from+n], n <= 8, as a word padded with zeros.
func shortWord(data []byte, from int, n uint) uint64 {
	if from+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[from:]) & (1<<(8*n) - 1)
	}
	var w uint64
	for i := range n {
		w |= uint64(data[from+int(i)]) << (8 * i)
	}
	return w
}

func (x *textEntry) hash() uint64 { return fold(x.word ^ uint64(x.len)<<59) }

// add returns the code of data[from:to], or -1 where there are limit codes already.
func (b *textDictBuilder) add(data []byte, from, to int32, limit int) int32 {
	x := textEntry{word: wordOf(data, from, to), len: to - from}
	mask := uint64(len(b.table) - 1)
	i := x.hash() & mask
	for {
		y := &b.table[i]
		if y.next == 0 {
			break
		}
		if y.word == x.word && y.len == x.len {
			c := y.next - 1
			if x.len <= 8 || string(data[b.starts[c]:b.starts[c]+x.len]) == string(data[from:to]) {
				return c
			}
		}
		i = (i + 1) & mask
	}
	c := len(b.starts)
	if c >= limit {
		return -1
	}
	x.next = int32(c) + 1
	b.table[i] = x
	b.starts, b.lens = append(b.starts, from), append(b.lens, x.len)
	if 2*len(b.starts) > len(b.table) {
		b.grow()
	}
	return int32(c)
}

// grow makes the table four times as large.
func (b *textDictBuilder) grow() {
	old := b.table
	n := 4 * len(old)
	if cap(b.spare) < n {
		b.spare = make([]textEntry, n)
	}
	b.table, b.spare = b.spare[:n], old
	clear(b.table)
	for _, x := range old {
		if x.next == 0 {
			continue
		}
		i := x.hash() & uint64(n-1)
		for b.table[i].next != 0 {
			i = (i + 1) & uint64(n-1)
		}
		b.table[i] = x
	}
}

// fewDistinctTexts tells from a sample whether strings repeat often enough.
func (e *Encoder) fewDistinctTexts(t *textInput) bool {
	n := min(t.n, distinctSample)
	e.texts.reset()
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
	e.texts.reset()
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

// textDict is the decoder's dictionary. Entry i is data[at[i]:at[i]+lens[i]],
// and in words where all entries have at most eight bytes.
type textDict struct {
	lens    []uint32
	at      []uint32
	words   []uint64
	data    []byte // 16 bytes more are readable
	longest int
	uniform bool // all entries have the same length
}

// textDict decodes a column; c.Offsets is allocated.
func (d *Decoder) textDict(r *reader, c *column.Column, arena *memory.Arena) {
	n := c.Len
	count := r.count("number of distinct strings", min(maxTextDict, n))
	if r.err == nil && count == 0 {
		r.fail("dictionary is empty")
	}
	size := r.count("number of data bytes", maxTextBytes)
	if r.err != nil {
		return
	}
	t := &d.text
	d.readEntries(r, count, arena)
	if r.err == nil && uint64(size) > uint64(n)*uint64(t.longest) {
		r.fail("%d bytes in %d strings of at most %d", size, n, t.longest)
	}
	if r.err != nil {
		return
	}
	offsets := column.View[uint32](c.Offsets)
	offsets[0] = 0
	c.Data = arena.Bytes(size)
	out := unsafe.Pointer(unsafe.SliceData(c.Data))
	total := uintptr(0)
	for start := 0; start < n; start += blockLen {
		codes := d.codes(r, min(blockLen, n-start))
		if r.err != nil {
			return
		}
		if c.Validity != nil {
			setNulls(codes, c.Validity[start>>3:], uint32(count))
		}
		need := uintptr(t.longest * len(codes))
		if total+need > uintptr(size) && !(t.uniform && c.Validity == nil) {
			// The longest entries would not fit: look the exact size up.
			need = t.size(codes)
		}
		if total+need > uintptr(size) {
			r.fail("strings take more than the %d bytes announced", size)
			return
		}
		total = t.write(out, total, offsets[start+1:][:len(codes)], codes, c.Validity != nil)
	}
	if total != uintptr(size) {
		r.fail("strings take %d bytes, %d announced", total, size)
	}
}

// size is the number of bytes that the entries of codes take.
func (t *textDict) size(codes []uint32) (n uintptr) {
	lens, mask := t.lens, uint32(len(t.lens)-1)
	for _, c := range codes {
		n += uintptr(lens[c&mask])
	}
	return n
}

// write writes the entries of codes one behind the other from out[pos] on, and
// where each ends to ends; it returns the end. Up to 15 bytes behind the last
// one are overwritten (arena slack).
func (t *textDict) write(out unsafe.Pointer, pos uintptr, ends, codes []uint32, nulls bool) uintptr {
	mask := uintptr(len(t.lens) - 1)
	lens := unsafe.Pointer(unsafe.SliceData(t.lens))
	ends = ends[:len(codes)]
	switch {
	case t.longest == 1 && t.uniform && !nulls:
		data := unsafe.Pointer(unsafe.SliceData(t.data))
		o := unsafe.Slice((*byte)(unsafe.Add(out, pos)), len(codes))
		for i, c := range codes {
			o[i] = *(*byte)(unsafe.Add(data, uintptr(c)&mask))
		}
		progress(ends, uint32(pos)+1, 1)
		return pos + uintptr(len(codes))
	case t.longest <= 8 && t.uniform && !nulls:
		words := unsafe.Pointer(unsafe.SliceData(t.words))
		step := uintptr(t.longest)
		progress(ends, uint32(pos+step), uint32(step))
		for _, c := range codes {
			store64(out, pos, load64(words, (uintptr(c)&mask)*8))
			pos += step
		}
		return pos
	case t.longest <= 8:
		words := unsafe.Pointer(unsafe.SliceData(t.words))
		for i, c := range codes {
			k := uintptr(c) & mask
			store64(out, pos, load64(words, k*8))
			pos += uintptr(*(*uint32)(unsafe.Add(lens, k*4)))
			ends[i] = uint32(pos)
		}
		return pos
	}
	data, at := unsafe.Pointer(unsafe.SliceData(t.data)), unsafe.Pointer(unsafe.SliceData(t.at))
	for i, c := range codes {
		k := (uintptr(c) & mask) * 4
		l := uintptr(*(*uint32)(unsafe.Add(lens, k)))
		from := uintptr(*(*uint32)(unsafe.Add(at, k)))
		store64(out, pos, load64(data, from))
		store64(out, pos+8, load64(data, from+8))
		if l > 16 {
			copyLong(unsafe.Add(out, pos), unsafe.Add(data, from), l)
		}
		pos += l
		ends[i] = uint32(pos)
	}
	return pos
}

// copyLong copies all but the first 16 of n bytes, in pieces of 16.
func copyLong(dst, src unsafe.Pointer, n uintptr) {
	if n > 128 {
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
		return
	}
	for k := uintptr(16); k < n; k += 16 {
		store64(dst, k, load64(src, k))
		store64(dst, k+8, load64(src, k+8))
	}
}

// readEntries fills d.text.
func (d *Decoder) readEntries(r *reader, count int, arena *memory.Arena) {
	// One more entry, empty, for null slots; and a power of two for masking.
	size := 1 << bits.Len(uint(count))
	t := &d.text
	t.lens, t.at = resize(t.lens, size), resize(t.at, size)
	decodeInts(r, t.lens[:count])
	if r.err != nil {
		return
	}
	clear(t.lens[count:])
	clear(t.at[count:])
	total, longest, shortest := uint64(0), uint32(0), ^uint32(0)
	for i, l := range t.lens[:count] {
		t.at[i] = uint32(total)
		total += uint64(l)
		longest, shortest = max(longest, l), min(shortest, l)
	}
	t.longest, t.uniform = int(longest), longest == shortest
	if total > math.MaxInt32 {
		r.fail("dictionary of %d bytes", total)
		return
	}
	var src []byte
	switch mode := r.byte(); mode {
	case 0:
		if src = r.bytes(int(total)); r.err != nil {
			return
		}
		t.data = d.scratch(&d.dictBytes, int(total)+16, arena)
		copy(t.data, src)
	case 1:
		size := r.count("length of the dictionary", r.left())
		if r.err == nil && total > 255*uint64(size) {
			r.fail("%d bytes cannot come from %d of lz4", total, size)
		}
		if r.err != nil {
			return
		}
		t.data = d.scratch(&d.dictBytes, int(total)+16, arena)
		r.lz4Part(t.data[:total], size)
	default:
		r.fail("unknown mode %d of dictionary entries", mode)
	}
	if r.err == nil && longest <= 8 {
		t.words = resize(t.words, size)
		for i, at := range t.at {
			t.words[i] = load64(unsafe.Pointer(unsafe.SliceData(t.data)), uintptr(at))
		}
	}
}
