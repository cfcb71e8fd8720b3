package pack

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// Selecting on packed data: blocks whose reference and width show that no value
// qualifies, or that all do, are not unpacked; equality of strings compares
// dictionary codes or the numbers of prefixed integers.

// Selected tells how much of a buffer a selection had to unpack.
type Selected struct {
	// Blocks of up to 1024 slots there are, and how many were unpacked.
	Blocks, Unpacked int
}

// SelectRange sets the bits of sel, (n+7)/8 bytes, of the slots whose value v is
// lo <= v <= hi, and clears all others. stored is the values buffer of a column
// of kind Int8 to Int64, or Decimal (unscaled values), of n slots. With a
// validity (nil: no nulls) null slots are not selected. ok is false where the
// buffer is in a form that has to be decoded first, such as lz4; sel is then
// undefined. Scratch comes from arena.
func (d *Decoder) SelectRange(kind schema.Kind, stored, validity []byte, n int, lo, hi int64, sel []byte,
	arena *memory.Arena) (s Selected, ok bool, err error) {
	if len(sel) < (n+7)>>3 {
		return s, false, fmt.Errorf("pack: selection of %d bytes for %d slots", len(sel), n)
	}
	sel = sel[:(n+7)>>3]
	width := kind.ValueWidth()
	if len(stored) == 0 || n == 0 {
		clear(sel)
		return s, n == 0 || validity != nil, nil
	}
	if len(stored) != n*width {
		if stored, err = d.unwrap(stored, n*width, arena); err != nil {
			return s, false, fmt.Errorf("pack: %w", err)
		}
	}
	q := selection{lo: lo, hi: hi, sel: sel, n: n}
	switch kind {
	case schema.Int8:
		ok, err = selectValues[uint8](d, &q, stored)
	case schema.Int16:
		ok, err = selectValues[uint16](d, &q, stored)
	case schema.Int32:
		ok, err = selectValues[uint32](d, &q, stored)
	case schema.Int64:
		ok, err = selectValues[uint64](d, &q, stored)
	case schema.Decimal:
		ok, err = d.selectDecimals(&q, stored)
	}
	if err != nil {
		return q.Selected, false, fmt.Errorf("pack: %w", err)
	}
	column.And(sel, validity)
	return q.Selected, ok, nil
}

// SelectEqual is SelectRange for strings equal to value, bytewise. stored are
// the column's buffers as Node gets them; validity is the decoded one.
func (d *Decoder) SelectEqual(stored [3][]byte, validity []byte, n int, value, sel []byte,
	arena *memory.Arena) (s Selected, ok bool, err error) {
	if len(sel) < (n+7)>>3 {
		return s, false, fmt.Errorf("pack: selection of %d bytes for %d slots", len(sel), n)
	}
	sel = sel[:(n+7)>>3]
	if len(stored[1]) > 0 || len(stored[2]) == 0 {
		return s, false, nil
	}
	body, err := d.unwrap(stored[2], maxTextBytes, arena)
	if err != nil {
		return s, false, fmt.Errorf("pack: %w", err)
	}
	q := selection{sel: sel, n: n}
	r := newReader(body)
	switch r.byte() {
	case encStringDict:
		ok = d.selectCode(&q, &r, value, arena)
	case encPrefixInt:
		ok = selectNumber(d, &q, &r, value)
	}
	if r.err != nil {
		return q.Selected, false, fmt.Errorf("pack: %w", r.err)
	}
	column.And(sel, validity)
	return q.Selected, ok, nil
}

// selection is the state of one call. sel has a bit for each of n slots; blocks
// begin at multiples of 1024, so at whole bytes.
type selection struct {
	Selected
	lo, hi int64
	sel    []byte
	n      int
}

// none clears and all sets the bits of m slots from slot at on.
func (q *selection) none(at, m int) { clear(q.sel[at>>3 : (at+m+7)>>3]) }

func (q *selection) all(at, m int) {
	q.none(at, m)
	setRange(q.sel, at, at+m)
}

// compare sets the bits of values, from slot at on.
func compare[T unsigned](q *selection, at int, values []T) {
	column.SelectRange(q.sel[at>>3:], values, q.lo, q.hi)
}

func selectValues[T unsigned](d *Decoder, q *selection, stored []byte) (bool, error) {
	var z T
	size := int(unsafe.Sizeof(z))
	if len(stored) == q.n*size {
		q.Blocks = (q.n + blockLen - 1) / blockLen
		q.Unpacked = q.Blocks
		compare(q, 0, column.View[T](stored))
		return true, nil
	}
	r := newReader(stored)
	switch r.byte() {
	case encConstant:
		if b := r.bytes(size); b != nil {
			var v [1]T
			copy(bytesOf(v[:]), b)
			q.Blocks = 1
			if lo, span, some := column.Bounds[T](q.lo, q.hi); some && v[0]-lo <= span {
				q.all(0, q.n)
			} else {
				q.none(0, q.n)
			}
		}
	case encInts:
		selectStream(q, &r, scratchOf[T](d))
	case encDict:
		selectDict[T](d, q, &r)
	default:
		return false, r.err
	}
	return true, r.err
}

// scratchOf returns room for a block.
func scratchOf[T unsigned](d *Decoder) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&d.u64)), blockLen)
}

// selectStream selects on an integer stream of q.n values.
func selectStream[T unsigned](q *selection, r *reader, scratch []T) {
	size := int(unsafe.Sizeof(scratch[0]))
	for at := 0; at < q.n && r.err == nil; at += blockLen {
		m := min(blockLen, q.n-at)
		b := readBlock(r, m, size)
		if r.err != nil {
			return
		}
		q.Blocks++
		if lo, hi, ok := b.bounds(m, size); ok {
			if hi < q.lo || lo > q.hi {
				q.none(at, m)
				continue
			}
			if lo >= q.lo && hi <= q.hi {
				q.all(at, m)
				continue
			}
		}
		q.Unpacked++
		if r.err = decodeBlock(&b, scratch[:m]); r.err == nil {
			compare(q, at, scratch[:m])
		}
	}
}

// bounds returns an interval that holds all n values of size bytes of the block
// but those of null slots, or false where that cannot be told from the head.
func (b *intBlock) bounds(n, size int) (lo, hi int64, ok bool) {
	// beyond their width values wrap around
	largest := int64(1)<<(8*size-1) - 1
	lo, hi, ok = b.unwrapped(n)
	return lo, hi, ok && lo >= -largest-1 && hi <= largest
}

// unwrapped is bounds in 64 bits.
func (b *intBlock) unwrapped(n int) (lo, hi int64, ok bool) {
	// Below these limits nothing overflows: a block adds up to 2^51 at most.
	const big, step = 1 << 62, 1 << 40
	ref, base := int64(b.ref), int64(b.base)
	if b.mode == modeConstant {
		return ref, ref, true
	}
	width := b.width + bitLen(b.factor) // of factor*x
	if b.mode != modeReference && b.mode != modeDelta || width > 61 || ref >= big || ref <= -big || base >= big || base <= -big {
		return 0, 0, false
	}
	lo, hi = ref, ref+int64(max(b.factor, 1))*(1<<b.width-1)
	if b.mode == modeReference {
		if b.excCount > 0 {
			from := int64(b.excRef)
			if b.excWidth > 61 || from >= big || from <= -big {
				return 0, 0, false
			}
			lo, hi = min(lo, from), max(hi, from+1<<b.excWidth-1)
		}
		return lo, hi, true
	}
	// The first value adds one delta to base, the last n of them.
	if width > 39 || lo >= step || lo <= -step {
		return 0, 0, false
	}
	count := int64(n)
	if b.excCount == 0 {
		return base + min(lo, count*lo), base + max(hi, count*hi), true
	}
	// With exceptions there may be no other delta before a value.
	low, high := min(0, count*lo), max(0, count*hi)
	exc := exceptions{b: b}
	for range b.excCount {
		_, v := exc.next()
		delta := int64(v)
		if delta >= step || delta <= -step {
			return 0, 0, false
		}
		low, high = low+min(0, delta), high+max(0, delta)
	}
	return base + low, base + high, true
}

// selectDict selects values by looking at each dictionary entry once.
func selectDict[T unsigned](d *Decoder, q *selection, r *reader) {
	dict := readDict[T](d, r, q.n)
	if r.err != nil {
		return
	}
	lo, span, some := column.Bounds[T](q.lo, q.hi)
	// Codes that qualify: a table, and the interval they lie in.
	d.flags = resize(d.flags, len(dict))
	first, last := int64(math.MaxInt64), int64(-1)
	for i, v := range dict {
		d.flags[i] = 0
		if some && v-lo <= span {
			d.flags[i] = 1
			first, last = min(first, int64(i)), int64(i)
		}
	}
	for at := 0; at < q.n && r.err == nil; at += blockLen {
		m := min(blockLen, q.n-at)
		b := readBlock(r, m, 4)
		if r.err != nil {
			return
		}
		q.Blocks++
		if lo, hi, ok := b.bounds(m, 4); ok && (hi < first || lo > last) {
			q.none(at, m)
			continue
		}
		q.Unpacked++
		c := d.u32[:m]
		if r.err = decodeBlock(&b, c); r.err == nil {
			pick(q, at, c, d.flags)
		}
	}
}

// pick sets the bits of codes whose flag, of a power of two of them, is 1.
func pick(q *selection, at int, codes []uint32, flags []byte) {
	mask := uintptr(len(flags) - 1)
	p := unsafe.Pointer(unsafe.SliceData(flags))
	flag := func(c uint32) byte { return *(*byte)(unsafe.Add(p, uintptr(c)&mask)) }
	out := q.sel[at>>3:]
	k := 0
	for ; len(codes) >= 8; k++ {
		c := (*[8]uint32)(codes)
		codes = codes[8:]
		out[k] = flag(c[0]) | flag(c[1])<<1 | flag(c[2])<<2 | flag(c[3])<<3 |
			flag(c[4])<<4 | flag(c[5])<<5 | flag(c[6])<<6 | flag(c[7])<<7
	}
	if len(codes) > 0 {
		out[k] = 0
		for i, c := range codes {
			out[k] |= flag(c) << i
		}
	}
}

func (d *Decoder) selectDecimals(q *selection, stored []byte) (bool, error) {
	if len(stored) == 16*q.n {
		return false, nil
	}
	r := newReader(stored)
	switch r.byte() {
	case encConstant:
		b := r.bytes(16)
		if r.err != nil {
			return false, r.err
		}
		v, high := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
		q.Blocks = 1
		if high == v>>63 && v >= q.lo && v <= q.hi {
			q.all(0, q.n)
		} else {
			q.none(0, q.n)
		}
		return true, nil
	case encDecimal:
		if r.byte() == decimalNarrow {
			selectStream(q, &r, d.u64[:])
			return true, r.err
		}
	}
	return false, r.err
}

// selectCode selects the dictionary code of value.
func (d *Decoder) selectCode(q *selection, r *reader, value []byte, arena *memory.Arena) bool {
	count := r.count("number of distinct strings", min(maxTextDict, q.n))
	r.uvarint()
	if r.err != nil {
		return false
	}
	if d.readEntries(r, count, arena); r.err != nil {
		return false
	}
	t := &d.text
	for i, l := range t.lens[:count] {
		if int(l) == len(value) && string(t.data[t.at[i]:t.at[i]+l]) == string(value) {
			q.lo, q.hi = int64(i), int64(i)
			selectStream(q, r, d.u32[:])
			return true
		}
	}
	q.none(0, q.n)
	return true
}

// selectNumber selects the number that value has in the column's shape.
func selectNumber(d *Decoder, q *selection, r *reader, value []byte) bool {
	s := shape{digits: int(r.byte())}
	r.uvarint()
	d.prefix.read(r)
	d.suffix.read(r)
	if r.err != nil {
		return false
	}
	s.prefix, s.suffix = d.prefix.b[:d.prefix.n], d.suffix.b[:d.suffix.n]
	v, ok := s.number(value)
	if !ok {
		q.none(0, q.n)
		return true
	}
	q.lo, q.hi = int64(v), int64(v)
	selectStream(q, r, d.u64[:])
	return true
}
