package row

import (
	"math"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// ToRows turns columns into blocks of UnsafeRow bytes, the very bytes that
// Spark's UnsafeProjection writes for the same values. It is used by one
// goroutine at a time and keeps its scratch from batch to batch.
//
// A batch begins with Begin; then Next, or Plan and Write where the caller has
// its own memory for the block, until no row is left.
type ToRows struct {
	root    *outSet
	n, next int
	planned int     // rows of the block that Plan has announced
	sizes   []int32 // of all rows of the batch
	room    scratch
	err     error // of Begin

	dst     unsafe.Pointer
	starts  [blockRows]int
	bitsets [blockRows]uint64
}

// NewToRows returns a ToRows for rows of schema s, which is the projected one.
func NewToRows(s *schema.Schema) *ToRows { return &ToRows{root: newOutSet(s.Fields)} }

// ScratchIn has the next batches measured in memory of the arena, which must not be reset before End: a few stored bytes may say
// that there are two billion values, which only native memory has a limit for. Otherwise the Go heap is used.
func (w *ToRows) ScratchIn(arena *memory.Arena) { w.room = scratch{arena} }

// Begin starts a batch: cols are the n rows' columns, in the schema's order, and
// must stay as they are until the last block is written. Their buffers are
// checked; an *Error tells which of them does not add up, or that a row would
// be larger than an UnsafeRow can be. Next repeats the error.
func (w *ToRows) Begin(cols []*column.Column, n int) error {
	w.n, w.next, w.planned = 0, 0, 0
	if w.err = w.begin(cols, n); w.err == nil {
		w.n = n
	}
	return w.err
}

func (w *ToRows) begin(cols []*column.Column, n int) error {
	if len(cols) != len(w.root.kids) {
		return &Error{Row: -1, What: "the number of columns is not that of the schema"}
	}
	for i, k := range w.root.kids {
		if f := k.bind(cols[i], n).in(w.root.fields[i].Name); f != nil {
			return &Error{Row: -1, Path: f.joined(), What: f.what}
		}
	}
	w.sizes = w.room.int32s(w.sizes, n)
	if f := w.root.measure(w.sizes, w.room); f != nil {
		return &Error{Row: -1, Path: f.joined(), What: f.what}
	}
	return nil
}

// End lets go of the batch's columns. It may be called at any time.
func (w *ToRows) End() {
	w.n, w.next, w.planned, w.err = 0, 0, 0, nil
	w.root.unbind()
}

// Plan settles which rows the next block has: as many as maxBytes hold, at
// least one, and no more than len(ends). ends[i] becomes the offset behind row
// i of the block, bytes is the size of the block. No row is left if rows is 0.
func (w *ToRows) Plan(maxBytes int, ends []int32) (rows, bytes int) {
	maxBytes = min(maxBytes, math.MaxInt32)
	for i, size := range w.sizes[w.next:w.n] {
		if i == len(ends) || i > 0 && bytes+int(size) > maxBytes {
			break
		}
		bytes += int(size)
		ends[i] = int32(bytes)
		rows++
	}
	w.planned = rows
	return rows, bytes
}

// Write writes the block that Plan has settled to dst, which has room for its bytes.
func (w *ToRows) Write(dst []byte) {
	w.dst = ptr(dst)
	pos := 0
	for end := w.next + w.planned; w.next < end; {
		sizes := w.sizes[w.next:min(w.next+blockRows, end)]
		for i, size := range sizes {
			w.starts[i] = pos
			pos += int(size)
		}
		_ = dst[:pos]
		w.set(w.root, w.next, w.starts[:len(sizes)])
		w.next += len(sizes)
	}
	w.planned = 0
	w.dst = nil
}

// Next is Plan and Write with a block from the arena. The block is nil when no
// row is left. The error is that of Begin.
func (w *ToRows) Next(arena *memory.Arena, maxBytes int, ends []int32) (block []byte, rows int, err error) {
	rows, bytes := w.Plan(maxBytes, ends)
	if rows == 0 {
		return nil, 0, w.err
	}
	block = arena.Bytes(bytes)
	w.Write(block)
	return block, rows, nil
}

// set writes the slots lo… of s as rows (or structs) that begin at starts.
func (w *ToRows) set(s *outSet, lo int, starts []int) {
	bitset := bitsetBytes(len(s.kids))
	cursor := s.cursor[:len(starts)]
	for i := range cursor {
		cursor[i] = s.head
	}
	for c, k := range s.kids {
		if c&63 == 0 {
			w.bitsetWords(s.kids[c:min(c+64, len(s.kids))], c>>3, lo, starts)
		}
		w.field(k, bitset+8*c, lo, starts, cursor)
	}
}

// bitsetWords writes the word at b of the null bitsets, that of up to 64
// columns. It is put together first and written once: a row's bitset is far
// from its slots where rows are wide.
func (w *ToRows) bitsetWords(kids []*out, b, lo int, starts []int) {
	words := w.bitsets[:round8(len(starts))]
	clear(words)
	for t := 0; t < len(kids); t += tile {
		tileNulls(words, kids[t:min(t+tile, len(kids))], t, lo, len(starts))
	}
	for i, st := range starts {
		store64(w.dst, st+b, words[i])
	}
}

// tileNulls adds the null bits of the slots lo… of eight columns to n words, at shift.
func tileNulls(words []uint64, kids []*out, shift, lo, n int) {
	var some [tile]int // the columns that may have nulls
	m := 0
	for c, k := range kids {
		if k.t.Kind == schema.Null || k.col.Validity != nil {
			some[m] = c
			m++
		}
	}
	if m == 0 {
		return
	}
	for r := 0; r < n; r += 64 {
		rows := min(64, n-r)
		var null [tile]uint64 // of each column, a bit a row
		for _, c := range some[:m] {
			null[c] = ^uint64(0) >> (64 - rows)
			if k := kids[c]; k.t.Kind != schema.Null {
				null[c] &^= bitsAt(k.col.Validity, lo+r, rows)
			}
		}
		for i := 0; i < rows; i += 8 {
			var word uint64 // byte c is eight rows of column c
			for c := range null {
				word |= null[c] >> (i & 63) & 0xFF << (8 * c)
			}
			if word == 0 {
				continue
			}
			word = transpose8(word)
			group := (*[8]uint64)(words[r+i:])
			for j := range group {
				group[j] |= word >> (8 * j) & 0xFF << (shift & 63)
			}
		}
	}
}

// field writes one column of a block: its slots, which are off behind the
// starts, and its regions, which are cursor behind them and move it on.
func (w *ToRows) field(k *out, off, lo int, starts, cursor []int) {
	c := k.col
	switch c.Type.Kind {
	case schema.Null:
		for _, st := range starts {
			store64(w.dst, st+off, 0)
		}
	case schema.Bool:
		putBools(w.dst, starts, off, c, lo)
	case schema.Int8:
		putSlots[uint8](w.dst, starts, off, c, lo)
	case schema.Int16:
		putSlots[uint16](w.dst, starts, off, c, lo)
	case schema.Int32, schema.Float32:
		putSlots[uint32](w.dst, starts, off, c, lo)
	case schema.Int64, schema.Float64:
		putSlots[uint64](w.dst, starts, off, c, lo)
	case schema.Decimal:
		if k.isVar {
			putBigDecimals(w.dst, starts, cursor, off, c, lo)
		} else {
			putDecimals(w.dst, starts, off, c, lo)
		}
	case schema.Interval:
		putIntervals(w.dst, starts, cursor, off, c, lo)
	case schema.String, schema.Binary:
		putStrings(w.dst, starts, cursor, off, c, lo)
	default:
		w.nested(k, off, lo, starts, cursor)
	}
}

// nested writes the slots of a column with sizes measured, and has its regions
// written run by run of slots that are not null.
func (w *ToRows) nested(k *out, off, lo int, starts, cursor []int) {
	validity := k.col.Validity
	sizes := k.sizes[lo:][:len(starts)]
	m := 0 // length of the run
	for i, st := range starts {
		if validity != nil && validity[(lo+i)>>3]>>((lo+i)&7)&1 == 0 {
			store64(w.dst, st+off, 0)
			if m > 0 {
				w.regions(k, lo+i-m, k.pos[:m])
				m = 0
			}
			continue
		}
		n := int(sizes[i])
		store64(w.dst, st+off, uint64(cursor[i])<<32|uint64(n))
		k.pos[m] = st + cursor[i]
		m++
		cursor[i] += round8(n)
	}
	if m > 0 {
		w.regions(k, lo+len(starts)-m, k.pos[:m])
	}
}
