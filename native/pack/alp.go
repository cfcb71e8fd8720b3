package pack

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/quiverspark/quiver/native/schema"
)

// Floats that were decimals, after ALP (Afroozeh, Kuffo and Boncz, SIGMOD
// 2024): value = integer / 10^scale, blocks of integers as in an integer
// stream, and the values for which that does not give the same bits as
// exceptions. ALP multiplies by two inexact powers instead; one correctly
// rounded division has fewer exceptions (any decimal of up to 15 digits gives
// the very float that parsing it gives) and no second parameter to search for.
//
//	decimals   = encDecimals byte, scale byte, blocks, guard
//	block      = integer block of 64-bit values, exceptions
//	exceptions = count uvarint, count positions uint16 LE, count values as they are
//
// Floats of 32 bits are computed as 64-bit ones and rounded.

const maxScale = 18

var pow10 = func() (p [maxScale + 1]float64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// magic added and subtracted rounds to an integer below 2^51.
const magic = 3 << 51

const alpSample = 96

// appendALP appends raw, floats of kind, or returns nil where few are decimals.
func appendALP(e *Encoder, dst, raw, validity []byte, kind schema.Kind) []byte {
	if kind == schema.Float32 {
		return alpEncode(e, dst, view[float32](raw), validity)
	}
	return alpEncode(e, dst, view[float64](raw), validity)
}

func view[T any](b []byte) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

func sameBits[F float32 | float64](a, b F) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b)) && a == a
}

// decimalOf returns the integer that v might be, scaled by p.
func decimalOf[F float32 | float64](v F, p float64) float64 {
	return float64(v)*p + magic - magic
}

// alpScale returns the scale that makes most of a sample decimals.
func alpScale[F float32 | float64](vals []F, validity []byte) (scale int, ok bool) {
	n := min(len(vals), alpSample)
	var sample [alpSample]F
	k := 0
	for i := range n {
		at := i * len(vals) / n
		if validity != nil && !bit(validity, at) {
			continue
		}
		sample[k] = vals[at]
		k++
	}
	best := 0
	for s, p := range pow10 {
		hits := 0
		for _, v := range sample[:k] {
			if x := decimalOf(v, p); math.Abs(x) < 1<<51 && sameBits(F(x/p), v) {
				hits++
			}
		}
		if hits > best+best/16 {
			best, scale = hits, s
		}
		if best == k {
			break
		}
	}
	return scale, best*10 >= k*7
}

func alpEncode[F float32 | float64](e *Encoder, dst []byte, vals []F, validity []byte) []byte {
	scale, ok := alpScale(vals, validity)
	if !ok {
		return nil
	}
	limit := len(dst) + len(vals)*int(unsafe.Sizeof(vals[0]))
	dst = append(dst, encDecimals, byte(scale))
	p := pow10[scale]
	var excPos [blockLen]uint16
	for start := 0; start < len(vals); start += blockLen {
		b := vals[start:min(start+blockLen, len(vals))]
		var valid []byte
		if validity != nil {
			valid = validity[start>>3:]
		}
		count := 0
		prev := uint64(0)
		for i, v := range b {
			x := decimalOf(v, p)
			if math.Abs(x) < 1<<51 && sameBits(F(x/p), v) {
				prev = uint64(int64(x))
			} else if valid == nil || bit(valid, i) {
				excPos[count] = uint16(i)
				count++
			}
			e.ints.v[i] = prev
		}
		dst = e.ints.appendBlock(dst, len(b), valid)
		dst = binary.AppendUvarint(dst, uint64(count))
		dst = append(dst, bytesOf(excPos[:count])...)
		for _, i := range excPos[:count] {
			dst = append(dst, bytesOf(b[i:i+1])...)
		}
		if len(dst) > limit {
			return nil
		}
	}
	return appendGuard(dst)
}

func (d *Decoder) alp(r *reader, out []byte, kind schema.Kind) {
	switch kind {
	case schema.Float32:
		alpDecode(d, r, view[float32](out))
	case schema.Float64:
		alpDecode(d, r, view[float64](out))
	default:
		r.fail("encoding of floats in a column without")
	}
}

func alpDecode[F float32 | float64](d *Decoder, r *reader, out []F) {
	var z F
	size := int(unsafe.Sizeof(z))
	scale := int(r.byte())
	if scale > maxScale {
		r.fail("scale %d", scale)
	}
	for len(out) > 0 && r.err == nil {
		n := min(len(out), blockLen)
		b := readBlock(r, n, 8)
		count := r.count("number of exceptions", n)
		pos := r.bytes(2 * count)
		exc := r.bytes(size * count)
		if r.err != nil {
			return
		}
		ints := d.u64[:n]
		if r.err = decodeBlock(&b, ints); r.err != nil {
			return
		}
		o := out[:n]
		p := pow10[scale]
		for i, v := range ints {
			o[i] = F(float64(int64(v)) / p)
		}
		raw := bytesOf(o)
		for i := range count {
			at := int(binary.LittleEndian.Uint16(pos[2*i:]))
			if at >= n {
				r.err = errPosition
				return
			}
			copy(raw[at*size:(at+1)*size], exc[i*size:])
		}
		out = out[n:]
	}
}
