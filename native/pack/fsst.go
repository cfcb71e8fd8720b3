package pack

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// FSST (Boncz, Neumann and Leis, VLDB 2020): frequent strings of up to eight
// bytes, the symbols, get one-byte codes; code 255 says that a literal byte
// follows. Unlike the paper we compress all strings of the column as one, since
// we never decode a single string: symbols may then span strings.
//
//	fsst  = encFSST byte, data bytes uvarint, lengths (lengths.go),
//	        table, code bytes uvarint, codes, guard
//	table = 8 bytes: the number of symbols of 1, 2 … 8 bytes; the symbols' bytes, the short ones
//	        first. Codes number them in that order.

const (
	maxSymbols = 255
	escape     = 255
	maxSymbol  = 8

	symbolHashBits = 11
)

// symbol is up to eight bytes, the first in the low byte of val.
type symbol struct {
	val uint64
	len uint8
}

// found is what the matcher finds: a code (9 bits), how many bytes it covers
// (4 bits), and how many it takes in the output.
type found uint16

func newFound(code, length, out int) found { return found(code | length<<9 | out<<13) }

func (f found) code() int { return int(f & 511) }
func (f found) len() int  { return int(f >> 9 & 15) }
func (f found) out() int  { return int(f >> 13) }

// hashedSymbol is a symbol of three bytes or more.
type hashedSymbol struct {
	val   uint64
	shift uint8 // what moves the bytes behind the symbol out of a word
	found found
}

// matcher finds the longest known symbol at a position: the paper's lossy hash
// table for symbols of three bytes and more, of which there is one per hash,
// and a direct table for the rest.
type matcher struct {
	short [1 << 16]found
	hash  [1 << symbolHashBits]hashedSymbol
}

// reset forgets all symbols of two or more bytes; row is what is found for each
// first byte.
func (m *matcher) reset(row *[256]found) {
	for b := range 256 {
		copy(m.short[b<<8:], row[:])
	}
	// A free place holds a word that has another hash, so that it never matches.
	clear(m.hash[:])
	m.hash[0].val = 1
}

func symbolHash(w uint64) uint64 {
	return (w & 0xffffff * 0x9e3779b97f4a7c15) >> (64 - symbolHashBits)
}

// add makes a symbol of two or more bytes known; false where its place is taken.
func (m *matcher) add(s symbol, f found) bool {
	if s.len == 2 {
		m.short[s.val&0xffff] = f
		return true
	}
	h := &m.hash[symbolHash(s.val)]
	if h.found != 0 {
		return false
	}
	*h = hashedSymbol{val: s.val, shift: 64 - 8*s.len, found: f}
	return true
}

// find matches at the eight bytes w.
func (m *matcher) find(w uint64) found {
	f := m.short[w&0xffff]
	h := &m.hash[symbolHash(w)]
	// Which one it is cannot be predicted, so no branch: all ones where the
	// long symbol is there.
	diff := (w ^ h.val) << (h.shift & 63)
	long := found((diff|-diff)>>63) - 1
	return f ^ (f^h.found)&long
}

// symbolTable is a trained table, ordered by length.
type symbolTable struct {
	symbols [maxSymbols]symbol
	n       int
}

// load makes m find t's symbols.
func (t *symbolTable) load(m *matcher) {
	var row [256]found
	for b := range row {
		row[b] = newFound(escape, 1, 2)
	}
	for c, s := range t.symbols[:t.n] {
		if s.len == 1 {
			row[s.val&0xff] = newFound(c, 1, 1)
		}
	}
	m.reset(&row)
	for c, s := range t.symbols[:t.n] {
		if s.len > 1 {
			m.add(s, newFound(c, int(s.len), 1))
		}
	}
}

func (t *symbolTable) append(dst []byte) []byte {
	at := len(dst)
	dst = appendZeros(dst, maxSymbol)
	for _, s := range t.symbols[:t.n] {
		dst[at+int(s.len)-1]++
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], s.val)
		dst = append(dst, b[:s.len]...)
	}
	return dst
}

// fsstChunk is how much input is compressed between two looks at the output size.
const fsstChunk = 4 << 10

// compress appends the codes of src, or reports false where they exceed limit.
// The halves of src are compressed side by side, since finding a symbol waits
// for the end of the one before; spare is room for the second half's codes and
// is returned for the next call.
func (m *matcher) compress(dst, spare, src []byte, limit int) (codes, room []byte, ok bool) {
	start := len(dst)
	a, b := src[:len(src)/2], src[len(src)/2:]
	spare = spare[:0]
	for len(a) >= 2*maxSymbol && len(b) >= 2*maxSymbol {
		n := min(fsstChunk, len(a)-maxSymbol, len(b)-maxSymbol)
		dst, spare = grow(dst, 2*n+16), grow(spare, 2*n+16)
		atA, atB := len(dst)-2*n-16, len(spare)-2*n-16
		i, o, j, p := m.compressWords(dst[atA:], spare[atB:], a, b, n)
		a, b = a[i:], b[j:]
		dst, spare = dst[:atA+o], spare[:atB+p]
		if len(dst)-start+len(spare) > limit {
			return dst, spare, false
		}
	}
	dst, spare = m.compressRest(dst, a), m.compressRest(spare, b)
	dst = append(dst, spare...)
	return dst, spare, len(dst)-start <= limit
}

// compressRest appends the codes of src, where symbols may not cover what lies behind it.
func (m *matcher) compressRest(dst, src []byte) []byte {
	for len(src) > 0 {
		var w uint64
		if len(src) >= maxSymbol {
			w = binary.LittleEndian.Uint64(src)
		} else {
			w = shortWord(src, 0, uint(len(src)))
		}
		f := m.find(w)
		if f.len() > len(src) {
			f = m.shorter(src[0])
		}
		dst = append(dst, byte(f.code()))
		if f.out() == 2 {
			dst = append(dst, src[0])
		}
		src = src[f.len():]
	}
	return dst
}

// shorter finds a symbol of one byte, or the escape.
func (m *matcher) shorter(b byte) found {
	for next := range 256 {
		if f := m.short[int(b)|next<<8]; f.len() == 1 {
			return f
		}
	}
	return newFound(escape, 1, 2)
}

// compressWords compresses symbols from the beginning of a to x and of b to y,
// until one of them is past n; eight bytes can be loaded from a[n] and b[n], and
// x and y have room for two bytes for each of n and some more.
func (m *matcher) compressWords(x, y, a, b []byte, n int) (inA, outX, inB, outY int) {
	_, _, _, _ = a[n+7], b[n+7], x[2*n+2], y[2*n+2]
	pa, pb := unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b))
	px, py := unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
	i, o, j, p := 0, 0, 0, 0
	for i <= n && j <= n {
		w := *(*uint64)(unsafe.Add(pa, i))
		v := *(*uint64)(unsafe.Add(pb, j))
		f, g := m.find(w), m.find(v)
		*(*uint16)(unsafe.Add(px, o)) = uint16(f&0xff) | uint16(w)<<8
		*(*uint16)(unsafe.Add(py, p)) = uint16(g&0xff) | uint16(v)<<8
		i += f.len()
		o += f.out()
		j += g.len()
		p += g.out()
	}
	return i, o, j, p
}

// minFSST is the number of data bytes below which no table pays.
const minFSST = 2 << 10

// appendFSST appends t with the node's table, trained first where there is none.
func (e *Encoder) appendFSST(dst []byte, t *textInput) []byte {
	if len(t.data) < minFSST {
		return nil
	}
	if t.memo.symbols == nil {
		t.memo.symbols = train(t.data)
	}
	table := t.memo.symbols
	start := len(dst)
	dst = binary.AppendUvarint(append(dst, encFSST), uint64(len(t.data)))
	dst = e.appendLengths(dst, e.lengths(t.offsets, t.validity), t.validity)
	dst = table.append(dst)
	limit := t.raw - t.raw/8 - (len(dst) - start)
	m := matchers.Get().(*matcher)
	defer matchers.Put(m)
	table.load(m)
	out, room, ok := m.compress(e.bytes[:0], e.alt2, t.data, limit)
	e.bytes, e.alt2 = out, room
	if !ok {
		return nil
	}
	dst = binary.AppendUvarint(dst, uint64(len(out)))
	return appendGuard(append(dst, out...))
}

// matchers are large and needed for the length of a call.
var matchers = sync.Pool{New: func() any { return new(matcher) }}

// fsstTable is the decoder's table.
type fsstTable struct {
	val [256]uint64
	len [256]uint8
}

func (t *fsstTable) read(r *reader) {
	counts := r.bytes(maxSymbol)
	if r.err != nil {
		return
	}
	total := 0
	for _, c := range counts {
		total += int(c)
	}
	if total > maxSymbols {
		r.fail("table of %d symbols", total)
		return
	}
	code := 0
	for l, c := range counts {
		for range c {
			s := r.bytes(l + 1)
			if r.err != nil {
				return
			}
			var b [8]byte
			copy(b[:], s)
			t.val[code], t.len[code] = binary.LittleEndian.Uint64(b[:]), uint8(l+1)
			code++
		}
	}
	// Codes beyond the table stand for nothing, which the size check finds.
	for ; code < 256; code++ {
		t.val[code], t.len[code] = 0, 0
	}
}

// fsstText decodes a column; c.Offsets is allocated.
func (d *Decoder) fsstText(r *reader, c *column.Column, arena *memory.Arena) {
	size := r.count("number of data bytes", maxTextBytes)
	offsets := column.View[uint32](c.Offsets)
	readLengths(r, offsets, c.Validity)
	if r.err == nil && int(offsets[c.Len]) != size {
		r.fail("strings take %d bytes, %d announced", offsets[c.Len], size)
	}
	d.fsst.read(r)
	codes := r.bytes(r.count("number of codes", r.left()))
	if r.err == nil && size > maxSymbol*len(codes) {
		r.fail("%d bytes cannot come from %d codes", size, len(codes))
	}
	if r.err != nil {
		return
	}
	c.Data = arena.Bytes(size)
	if !d.fsst.decode(c.Data, codes) {
		r.fail("symbols do not add up to %d bytes", size)
	}
}

// decode writes the bytes of codes to dst and reports whether they are exactly
// len(dst). Up to memory.Slack bytes behind dst may be overwritten, and
// guardLen bytes behind codes are read.
func (t *fsstTable) decode(dst, codes []byte) bool {
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(codes))
	size := uintptr(len(dst))
	pos, i, n := uintptr(0), uintptr(0), uintptr(len(codes))
	for i+8 <= n {
		if pos > size {
			return false
		}
		w := load64(in, i)
		// A byte of ones is a zero in the complement.
		x := (^w - 0x0101010101010101) & w & 0x8080808080808080
		if x != 0 {
			k := uintptr(bits.TrailingZeros64(x)) >> 3
			for range k {
				store64(out, pos, t.val[uint8(w)])
				pos += uintptr(t.len[uint8(w)])
				w >>= 8
			}
			i += k
			if i+2 > n {
				return false
			}
			*(*byte)(unsafe.Add(out, pos)) = *(*byte)(unsafe.Add(in, i+1))
			pos++
			i += 2
			continue
		}
		i += 8
		store64(out, pos, t.val[uint8(w)])
		pos += uintptr(t.len[uint8(w)])
		store64(out, pos, t.val[uint8(w>>8)])
		pos += uintptr(t.len[uint8(w>>8)])
		store64(out, pos, t.val[uint8(w>>16)])
		pos += uintptr(t.len[uint8(w>>16)])
		store64(out, pos, t.val[uint8(w>>24)])
		pos += uintptr(t.len[uint8(w>>24)])
		store64(out, pos, t.val[uint8(w>>32)])
		pos += uintptr(t.len[uint8(w>>32)])
		store64(out, pos, t.val[uint8(w>>40)])
		pos += uintptr(t.len[uint8(w>>40)])
		store64(out, pos, t.val[uint8(w>>48)])
		pos += uintptr(t.len[uint8(w>>48)])
		store64(out, pos, t.val[uint8(w>>56)])
		pos += uintptr(t.len[uint8(w>>56)])
	}
	for i < n {
		if pos > size {
			return false
		}
		c := codes[i]
		i++
		if c == escape {
			if i == n {
				return false
			}
			*(*byte)(unsafe.Add(out, pos)) = codes[i]
			pos++
			i++
			continue
		}
		store64(out, pos, t.val[c])
		pos += uintptr(t.len[c])
	}
	return pos == size
}
