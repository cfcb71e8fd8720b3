package pack

import (
	"fmt"
	"math"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

// Strings and binaries are stored in one of two ways: offsets in buffer 1 (raw
// or lengths) and data in buffer 2 (raw or lz4, of as many bytes as the last
// offset says), or both together in buffer 2 with buffer 1 absent, in one of
// the encodings encStringDict, encFSST, encPrefixInt, encHex, perhaps wrapped in lz4.
// Both absent: all slots are empty.

// minText is the number of data bytes below which strings stay raw.
const minText = 64

// maxTextBytes is what int32 offsets can address.
const maxTextBytes = math.MaxInt32

// textInput is a column of strings as the encodings see it.
type textInput struct {
	offsets  []int32
	data     []byte
	validity []byte
	n, nulls int
	raw      int // bytes of offsets and data
	memo     *nodeState
}

func (t *textInput) valid(i int) bool { return t.validity == nil || bit(t.validity, i) }

func (e *Encoder) appendText(dst []byte, st *nodeState, c *column.Column, validity []byte, lens *[3]int64) []byte {
	offsets := c.Offsets[:4*(c.Len+1)]
	t := textInput{offsets: column.View[int32](offsets), validity: validity, n: c.Len, nulls: c.Nulls, memo: st}
	t.data = c.Data[:t.offsets[c.Len]]
	t.raw = len(offsets) + len(t.data)
	if c.Nulls == c.Len || len(t.data) == 0 {
		return dst
	}
	start := len(dst)
	if len(t.data) < minText || c.Len < 8 {
		return e.appendPlainText(dst, &t, offsets, lens)
	}
	m := &st.text
	if m.known && m.age < reviewAfter {
		if m.enc == 0 {
			dst = e.appendPlainText(dst, &t, offsets, lens)
			if m.stillGood(int(lens[1]+lens[2]), t.raw) {
				return dst
			}
		} else if out := e.appendCombined(dst, &t, m.enc); out != nil {
			if m.wrapped {
				out = e.wrapBuffer(out, start)
			}
			if m.stillGood(len(out)-start, t.raw) {
				return closeBuffer(out, start, &lens[2])
			}
		}
		dst = dst[:start]
		lens[1], lens[2] = 0, 0
	}
	if e.bestText(&t) {
		dst = append(dst, e.best...)
		return closeBuffer(dst, start, &lens[2])
	}
	dst = e.appendPlainText(dst, &t, offsets, lens)
	m.remember(0, false, int(lens[1]+lens[2]), t.raw)
	return dst
}

// appendPlainText appends offsets and data as buffers of their own.
func (e *Encoder) appendPlainText(dst []byte, t *textInput, offsets []byte, lens *[3]int64) []byte {
	start := len(dst)
	dst = closeBuffer(e.appendOffsets(dst, offsets, t.validity), start, &lens[1])
	start = len(dst)
	if len(t.data) > 256 && e.lz4Estimate(t.data) < len(t.data)-len(t.data)/8 {
		if out := e.appendLZ4(append(dst, encLZ4), t.data); out != nil && worthwhile(len(out)-start, len(t.data)) {
			return closeBuffer(out, start, &lens[2])
		}
	}
	return closeBuffer(append(dst[:start], t.data...), start, &lens[2])
}

// appendCombined appends t in encoding enc, or returns nil where that does not
// apply or would not pay.
func (e *Encoder) appendCombined(dst []byte, t *textInput, enc byte) []byte {
	start := len(dst)
	switch enc {
	case encStringDict:
		dst = e.appendTextDict(dst, t)
	case encFSST:
		dst = e.appendFSST(dst, t)
	case encPrefixInt:
		dst = e.appendPrefixInt(dst, t)
	case encHex:
		dst = e.appendHex(dst, t)
	}
	if dst == nil || !worthwhile(len(dst)-start, t.raw) {
		return nil
	}
	return dst
}

// bestText tries all combined encodings against plain and reports whether one
// won, which is then in e.best and remembered.
func (e *Encoder) bestText(t *textInput) bool {
	var lens [3]int64
	e.best = e.appendPlainText(e.best[:0], t, bytesOf(t.offsets), &lens)
	enc, price := byte(0), int(lens[1]+lens[2])
	if int(lens[2]) < len(t.data) {
		price += t.raw * toll[encLZ4] >> 8
	}
	try := func(c byte) {
		out := e.appendCombined(e.alt[:0], t, c)
		if out == nil {
			return
		}
		e.alt = out
		size := len(out)
		if p := cost(c, size, t.raw); p < price {
			enc, price = c, p
			e.best, e.alt = e.alt, e.best
		}
	}
	try(encPrefixInt)
	if enc != encPrefixInt || price > t.raw/8 {
		if e.fewDistinctTexts(t) {
			try(encStringDict)
		}
		try(encHex)
		if price > t.raw/6 && enc != encHex {
			t.memo.symbols = nil
			try(encFSST)
		}
	}
	if enc == 0 {
		return false
	}
	wrapped := false
	if w := e.wrapped(e.best); w != nil {
		e.best = append(e.best[:0], w...)
		wrapped = true
	}
	t.memo.text.remember(enc, wrapped, len(e.best), t.raw)
	return true
}

// textNode decodes a string or binary column.
func (d *Decoder) textNode(c *column.Column, offsets, data []byte, arena *memory.Arena) (err error) {
	if len(offsets) == 0 && len(data) > 0 {
		return d.combined(c, data, arena)
	}
	if c.Offsets, err = d.offsets(offsets, c.Len, c.Validity, arena); err != nil {
		return err
	}
	total := lastOffset(c.Offsets)
	switch {
	case len(data) == total:
		c.Data = aligned(data, arena)
		return nil
	case len(data) > total:
		return fmt.Errorf("%d bytes of data, offsets say %d", len(data), total)
	}
	r := newReader(data)
	if enc := r.byte(); enc != encLZ4 {
		r.fail("unknown encoding %d of string data", enc)
	}
	if r.err == nil && total > 255*r.left() {
		r.fail("%d bytes cannot come from %d of lz4", total, r.left())
	}
	if r.err == nil {
		c.Data = arena.Bytes(total)
		r.lz4(c.Data)
	}
	return r.done()
}

func (d *Decoder) combined(c *column.Column, stored []byte, arena *memory.Arena) error {
	stored, err := d.unwrap(stored, math.MaxInt32, arena)
	if err != nil {
		return err
	}
	r := newReader(stored)
	enc := r.byte()
	c.Offsets = arena.Bytes(4 * (c.Len + 1))
	switch enc {
	case encStringDict:
		d.textDict(&r, c, arena)
	case encFSST:
		d.fsstText(&r, c, arena)
	case encPrefixInt:
		d.prefixInt(&r, c, arena)
	case encHex:
		d.hexText(&r, c, arena)
	default:
		r.fail("unknown encoding %d of strings", enc)
	}
	return r.done()
}
