// Package column holds the in-memory form that everything meets in: pivot,
// statistics, codecs and exports all read or write Columns.
package column

import (
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/schema"
)

// Column is one Arrow array with offset zero, as a tree that has exactly
// Arrow's shape. It does not own its buffers: they belong to an arena, a
// segment or an imported array.
type Column struct {
	Type *schema.Type
	// Len is the number of slots, Nulls how many of them are null.
	Len, Nulls int
	// Validity is the bitmap, least significant bit first, 1 = valid, of at
	// least (Len+7)/8 bytes; nil where Nulls is 0 (and for Null).
	Validity []byte
	// Values holds Len values of Kind.ValueWidth bytes, little-endian, or the
	// (Len+7)/8 bytes of bit-packed booleans. Slots that are null hold
	// anything; the encoder fills them before compressing.
	Values []byte
	// Offsets holds Len+1 int32, little-endian, starting at 0 and never
	// falling, for String, Binary, List and Map.
	Offsets []byte
	// Data holds the bytes of String and Binary; len(Data) is the last offset.
	Data []byte
	// Children as in Type.Children. Struct-like kinds: children have Len slots.
	// List and Map: the child has as many slots as the last offset says.
	Children []*Column
}

// New returns an empty tree of t's shape.
func New(t *schema.Type) *Column {
	c := &Column{Type: t}
	if len(t.Children) > 0 {
		c.Children = make([]*Column, len(t.Children))
		for i := range t.Children {
			c.Children[i] = New(t.Children[i].Type)
		}
	}
	return c
}

// IsNull tells whether slot i is null.
func (c *Column) IsNull(i int) bool {
	if c.Type.Kind == schema.Null {
		return true
	}
	return c.Validity != nil && c.Validity[i>>3]&(1<<(i&7)) == 0
}

// Fixed lists the Go types that a values or offsets buffer can be viewed as.
type Fixed interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// View reinterprets b as values of T without copying. b must be aligned to T
// (arena and Arrow buffers are) and is cut to whole values.
func View[T Fixed](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Bytes is the inverse of View.
func Bytes[T Fixed](v []T) []byte {
	var z T
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)))
}

// CountNulls counts the zero bits among the first n bits of validity.
func CountNulls(validity []byte, n int) int {
	set := 0
	full := n >> 3
	i := 0
	for ; i+8 <= full; i += 8 {
		set += bits.OnesCount64(*(*uint64)(unsafe.Pointer(&validity[i])))
	}
	for ; i < full; i++ {
		set += bits.OnesCount8(validity[i])
	}
	if r := n & 7; r != 0 {
		set += bits.OnesCount8(validity[full] & (1<<r - 1))
	}
	return n - set
}
