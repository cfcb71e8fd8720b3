package pack

import (
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
)

// Decimals of 16 bytes as integer streams of 64 bits, block by block:
//
//	decimal = encDecimal byte, form byte, blocks, guard
//	block   = block of the low halves, [block of the high halves]
//
// Form 0 (narrow) has no high halves: they repeat the sign of the low half. A
// column of the same 16 bytes is encConstant with those bytes, one of which the
// bytes repeat otherwise may be encLZ4.
const (
	decimalNarrow = 0
	decimalWide   = 1
)

func (e *Encoder) appendDecimals(dst []byte, st *nodeState, c *column.Column, validity []byte) []byte {
	raw := c.Values[:16*c.Len]
	if len(raw) < minEncoded {
		return append(dst, raw...)
	}
	vals := view[[2]uint64](raw)
	if i := constantPair(vals, validity); i >= 0 {
		return appendGuard(append(append(dst, encConstant), raw[16*i:16*i+16]...))
	}
	m := &st.values
	start := len(dst)
	if m.known && m.age < reviewAfter {
		if out := e.appendDecimalAs(dst, m.enc, raw, vals, validity); out != nil {
			if m.wrapped {
				out = e.wrapBuffer(out, start)
			}
			if m.stillGood(len(out)-start, len(raw)) {
				return out
			}
		}
		dst = dst[:start]
	}
	enc, wrapped := byte(0), false
	if out := e.appendDecimalAs(dst, encDecimal, raw, vals, validity); out != nil {
		plain := len(out) - start
		out = e.wrapBuffer(out, start)
		dst, enc, wrapped = out, encDecimal, len(out)-start < plain
	}
	if size := len(dst) - start; enc == 0 || size > len(raw)/8 {
		price := len(raw)
		if enc != 0 {
			price = cost(enc, size, len(raw))
		}
		if cost(encLZ4, e.lz4Estimate(raw), len(raw)) < price {
			out := e.appendDecimalAs(e.alt[:0], encLZ4, raw, vals, validity)
			if out != nil && cost(encLZ4, len(out), len(raw)) < price {
				dst, enc, wrapped = append(dst[:start], out...), encLZ4, false
				e.alt = out
			}
		}
	}
	if enc == 0 {
		dst = append(dst[:start], raw...)
	}
	m.remember(enc, wrapped, len(dst)-start, len(raw))
	return dst
}

// appendDecimalAs appends vals in encoding enc (0: raw), or returns nil where
// that does not pay.
func (e *Encoder) appendDecimalAs(dst []byte, enc byte, raw []byte, vals [][2]uint64, validity []byte) []byte {
	start := len(dst)
	switch enc {
	case 0:
		return append(dst, raw...)
	case encDecimal:
		dst = e.appendDecimal(dst, vals, validity)
	case encLZ4:
		dst = e.appendLZ4(append(dst, encLZ4), raw)
	}
	if dst == nil || !worthwhile(len(dst)-start, len(raw)) {
		return nil
	}
	return dst
}

func (e *Encoder) appendDecimal(dst []byte, vals [][2]uint64, validity []byte) []byte {
	form := byte(decimalNarrow)
	for i, v := range vals {
		if v[1] != uint64(int64(v[0])>>63) && (validity == nil || bit(validity, i)) {
			form = decimalWide
			break
		}
	}
	dst = append(dst, encDecimal, form)
	for start := 0; start < len(vals); start += blockLen {
		b := vals[start:min(start+blockLen, len(vals))]
		var valid []byte
		if validity != nil {
			valid = validity[start>>3:]
		}
		for half := range 1 + int(form) {
			for i := range b {
				e.ints.v[i] = b[i][half]
			}
			at := len(dst)
			dst = e.ints.appendBlock(dst, len(b), valid)
			if len(dst)-at > 8*len(b)+1 {
				dst = append(dst[:at], modePlain)
				for i := range b {
					dst = append(dst, bytesOf(b[i][half:half+1])...)
				}
			}
		}
	}
	return appendGuard(dst)
}

// constantPair returns the index of the first valid value if all valid ones are the same, else -1.
func constantPair(vals [][2]uint64, validity []byte) int {
	i := 0
	if validity != nil {
		for i < len(vals) && !bit(validity, i) {
			i++
		}
	}
	for k := i + 1; k < len(vals); k++ {
		if vals[k] != vals[i] && (validity == nil || bit(validity, k)) {
			return -1
		}
	}
	return i
}

// decimals decodes to out, two words a value.
func (d *Decoder) decimals(out []uint64, stored []byte) error {
	r := newReader(stored)
	switch enc := r.byte(); enc {
	case encConstant:
		if b := r.bytes(16); b != nil {
			var v [2]uint64
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), 16), b)
			for i := 0; i+1 < len(out); i += 2 {
				out[i], out[i+1] = v[0], v[1]
			}
		}
	case encDecimal:
		d.decimalBlocks(&r, out)
	case encLZ4:
		r.lz4(bytesOf(out))
	default:
		r.fail("unknown encoding %d of decimals", enc)
	}
	return r.done()
}

func (d *Decoder) decimalBlocks(r *reader, out []uint64) {
	form := r.byte()
	if form > decimalWide {
		r.fail("unknown form %d of decimals", form)
	}
	for len(out) > 0 && r.err == nil {
		n := min(len(out)/2, blockLen)
		lo := d.u64[:n]
		b := readBlock(r, n, 8)
		if r.err != nil {
			return
		}
		if r.err = decodeBlock(&b, lo); r.err != nil {
			return
		}
		o := out[:2*n]
		out = out[2*n:]
		if form == decimalNarrow {
			for i, v := range lo {
				w := (*[2]uint64)(o[2*i:])
				w[0] = v
				w[1] = uint64(int64(v) >> 63)
			}
			continue
		}
		hi := d.hi[:n]
		if b = readBlock(r, n, 8); r.err != nil {
			return
		}
		if r.err = decodeBlock(&b, hi); r.err != nil {
			return
		}
		for i, v := range lo {
			o[2*i], o[2*i+1] = v, hi[i]
		}
	}
}
