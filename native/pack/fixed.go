package pack

import (
	"fmt"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// minEncoded is the size in bytes below which a values buffer stays raw.
const minEncoded = 32

// appendFixed appends the values of a column of 1 to 8 bytes a value. T is the
// signed integer of that width, also for floats, whose bits it then holds.
// validity is nil where nothing is null.
func appendFixed[T signed](e *Encoder, dst []byte, st *nodeState, c *column.Column, validity []byte) []byte {
	var z T
	width := int(unsafe.Sizeof(z))
	raw := c.Values[:c.Len*width]
	vals := column.View[T](raw)
	m := &st.values
	if len(raw) < minEncoded {
		return append(dst, raw...)
	}
	if v, ok := constant(vals, validity); ok {
		return appendGuard(append(append(dst, encConstant), bytesOf([]T{v})...))
	}
	f := fixedInput[T]{vals: vals, validity: validity, raw: raw, width: width, kind: c.Type.Kind}
	start := len(dst)
	if m.known && m.age < reviewAfter {
		if out := f.append(e, dst, m.enc); out != nil {
			if m.wrapped {
				out = e.wrapBuffer(out, start)
			}
			if m.stillGood(len(out)-start, len(raw)) {
				return out
			}
		}
		dst = dst[:start]
	}
	return append(dst, f.best(e, m)...)
}

type fixedInput[T signed] struct {
	vals     []T
	validity []byte
	raw      []byte
	width    int
	kind     schema.Kind
}

func (f *fixedInput[T]) float() bool {
	return f.kind == schema.Float32 || f.kind == schema.Float64
}

// append appends the values in encoding enc (0: raw), or returns nil where that
// does not apply or would not pay.
func (f *fixedInput[T]) append(e *Encoder, dst []byte, enc byte) []byte {
	start := len(dst)
	switch enc {
	case 0:
		return append(dst, f.raw...)
	case encInts:
		dst = appendGuard(appendInts(append(dst, encInts), f.vals, f.validity, &e.ints))
	case encDict:
		dst = appendDict(e, dst, f.vals, f.validity)
	case encLZ4:
		dst = e.appendLZ4(append(dst, encLZ4), filled(e, f.vals, f.validity))
	case encSplit:
		dst = e.appendSplit(dst, filled(e, f.vals, f.validity), f.width)
	case encDecimals:
		dst = appendALP(e, dst, f.raw, f.validity, f.kind)
	default:
		return nil
	}
	if dst == nil || !worthwhile(len(dst)-start, len(f.raw)) {
		return nil
	}
	return dst
}

// best tries all that may apply and remembers the winner; the result is valid
// until the scratch is used again.
func (f *fixedInput[T]) best(e *Encoder, m *memo) []byte {
	raw := len(f.raw)
	e.best = append(e.best[:0], f.raw...)
	enc, price := byte(0), raw
	try := func(c byte) {
		out := f.append(e, e.alt[:0], c)
		if out == nil {
			return
		}
		e.alt = out
		if p := cost(c, len(out), raw); p < price {
			enc, price = c, p
			e.best, e.alt = e.alt, e.best
		}
	}
	if f.float() {
		try(encDecimals)
	} else {
		try(encInts)
	}
	if mayRepeat(e, f.vals, f.validity, price) {
		try(encDict)
	}
	if price > raw/8 {
		plain := filled(e, f.vals, f.validity)
		if f.width > 1 && price > raw/4 && cost(encSplit, e.splitEstimate(plain, f.width), raw) < price {
			try(encSplit)
		}
		if cost(encLZ4, e.lz4Estimate(plain), raw) < price {
			try(encLZ4)
		}
	}
	out, wrapped := e.best, false
	if enc != 0 && enc != encLZ4 && enc != encSplit {
		if w := e.wrapped(out); w != nil {
			out, wrapped = w, true
		}
	}
	m.remember(enc, wrapped, len(out), raw)
	return out
}

// filled returns the bytes of vals with null slots set to the value before
// them, in scratch where there are any.
func filled[T signed](e *Encoder, vals []T, validity []byte) []byte {
	if validity == nil {
		return bytesOf(vals)
	}
	e.bytes = append(e.bytes[:0], bytesOf(vals)...)
	out := column.View[T](e.bytes)
	var prev T
	for i := range out {
		if validity[i>>3]>>(i&7)&1 != 0 {
			prev = out[i]
		} else {
			out[i] = prev
		}
	}
	return e.bytes
}

// constant tells whether all valid values are the same bits.
func constant[T signed](vals []T, validity []byte) (T, bool) {
	i := 0
	if validity != nil {
		for i < len(vals) && !bit(validity, i) {
			i++
		}
	}
	v := vals[i]
	for ; i < len(vals); i++ {
		if vals[i] != v && (validity == nil || bit(validity, i)) {
			return v, false
		}
	}
	return v, true
}

// fixed decodes the values buffer of a kind with ValueWidth.
func (d *Decoder) fixed(kind schema.Kind, stored []byte, n int, arena *memory.Arena) ([]byte, error) {
	width := kind.ValueWidth()
	switch {
	case len(stored) == n*width:
		return aligned(stored, arena), nil
	case len(stored) > n*width:
		return nil, fmt.Errorf("values buffer of %d bytes for %d values of %d", len(stored), n, width)
	case len(stored) == 0:
		return nil, errAbsent
	}
	stored, err := d.unwrap(stored, n*width, arena)
	if err != nil {
		return nil, err
	}
	out := arena.Bytes(n * width)
	switch width {
	case 1:
		err = decodeFixed(d, column.View[uint8](out), stored, kind, arena)
	case 2:
		err = decodeFixed(d, column.View[uint16](out), stored, kind, arena)
	case 4:
		err = decodeFixed(d, column.View[uint32](out), stored, kind, arena)
	case 8:
		err = decodeFixed(d, column.View[uint64](out), stored, kind, arena)
	case 16:
		err = d.decimals(column.View[uint64](out), stored)
	}
	return out, err
}

func decodeFixed[T unsigned](d *Decoder, out []T, stored []byte, kind schema.Kind, arena *memory.Arena) error {
	r := newReader(stored)
	var z T
	width := int(unsafe.Sizeof(z))
	switch enc := r.byte(); enc {
	case encConstant:
		if b := r.bytes(width); b != nil {
			var v T
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), width), b)
			fill(out, v)
		}
	case encInts:
		decodeInts(&r, out)
	case encDict:
		decodeDict(d, &r, out)
	case encLZ4:
		r.lz4(bytesOf(out))
	case encSplit:
		d.split(&r, bytesOf(out), width, arena)
	case encDecimals:
		d.alp(&r, bytesOf(out), kind)
	default:
		r.fail("unknown encoding %d of values", enc)
	}
	return r.done()
}

// aligned returns stored itself, or a copy where it is not 8-byte aligned.
func aligned(stored []byte, arena *memory.Arena) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(stored)))&7 == 0 {
		return stored
	}
	b := arena.Bytes(len(stored))
	copy(b, stored)
	return b
}
