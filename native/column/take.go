package column

import (
	"github.com/quiverspark/quiver/native/schema"
)

// Take leaves of c only the slots in index, which rises and is below c.Len, in
// new buffers that bytes returns (content arbitrary).
func Take(c *Column, index []int32, bytes func(int) []byte) {
	takeValidity(c, index, bytes)
	switch c.Type.Kind {
	case schema.Bool:
		c.Values = takeBits(c.Values, index, bytes)
	case schema.Int8:
		c.Values = take[uint8](c.Values, index, bytes)
	case schema.Int16:
		c.Values = take[uint16](c.Values, index, bytes)
	case schema.Int32, schema.Float32:
		c.Values = take[uint32](c.Values, index, bytes)
	case schema.Int64, schema.Float64:
		c.Values = take[uint64](c.Values, index, bytes)
	case schema.Decimal:
		c.Values = takeWide(c.Values, index, bytes)
	case schema.String, schema.Binary:
		takeBytes(c, index, bytes)
	case schema.List, schema.Map:
		Take(c.Children[0], takeLists(c, index, bytes), bytes)
	default: // struct-like
		for _, child := range c.Children {
			Take(child, index, bytes)
		}
	}
	c.Len = len(index)
}

// Clear leaves no slot of c.
func Clear(c *Column) {
	c.Len, c.Nulls = 0, 0
	c.Validity, c.Values, c.Offsets, c.Data = nil, nil, nil, nil
	if c.Type.Kind.HasOffsets() {
		c.Offsets = zeroOffset[:]
	}
	for _, child := range c.Children {
		Clear(child)
	}
}

var zeroOffset [4]byte

func takeValidity(c *Column, index []int32, bytes func(int) []byte) {
	if c.Type.Kind == schema.Null {
		c.Nulls = len(index)
		return
	}
	if c.Validity == nil {
		return
	}
	c.Validity = takeBits(c.Validity, index, bytes)
	if c.Nulls = CountNulls(c.Validity, len(index)); c.Nulls == 0 {
		c.Validity = nil
	}
}

func takeBits(b []byte, index []int32, bytes func(int) []byte) []byte {
	out := bytes((len(index) + 7) >> 3)
	for k := range out {
		var v byte
		for i, at := range index[k*8 : min(k*8+8, len(index))] {
			v |= b[at>>3] >> (at & 7) & 1 << i
		}
		out[k] = v
	}
	return out
}

func take[T Unsigned](values []byte, index []int32, bytes func(int) []byte) []byte {
	in := View[T](values)
	var z [1]T
	b := bytes(len(index) * len(Bytes(z[:])))
	out := View[T](b)[:len(index)]
	for i, at := range index {
		out[i] = in[at]
	}
	return b
}

func takeWide(values []byte, index []int32, bytes func(int) []byte) []byte {
	in := View[uint64](values)
	b := bytes(16 * len(index))
	out := View[uint64](b)
	for i, at := range index {
		out[2*i], out[2*i+1] = in[2*at], in[2*at+1]
	}
	return b
}

// takeOffsets returns the offsets that are left, and the last of them.
func takeOffsets(in []int32, index []int32, bytes func(int) []byte) (offsets []byte, end int32) {
	offsets = bytes(4*len(index) + 4)
	out := View[int32](offsets)
	out[0] = 0
	for i, at := range index {
		end += in[at+1] - in[at]
		out[i+1] = end
	}
	return offsets, end
}

func takeBytes(c *Column, index []int32, bytes func(int) []byte) {
	in := View[int32](c.Offsets)
	offsets, size := takeOffsets(in, index, bytes)
	data := bytes(int(size))
	rest := data
	for _, at := range index {
		rest = rest[copy(rest, c.Data[in[at]:in[at+1]]):]
	}
	c.Offsets, c.Data = offsets, data
}

// takeLists takes the offsets and returns the slots of the child that are left.
func takeLists(c *Column, index []int32, bytes func(int) []byte) []int32 {
	in := View[int32](c.Offsets)
	offsets, size := takeOffsets(in, index, bytes)
	below := View[int32](bytes(4 * int(size)))[:0]
	for _, at := range index {
		for slot := in[at]; slot < in[at+1]; slot++ {
			below = append(below, slot)
		}
	}
	c.Offsets = offsets
	return below
}
