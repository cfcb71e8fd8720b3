// Package schema knows Spark's types: how each is read from Spark's schema
// JSON, how it is stored as Arrow, and which buffers an array of it has.
package schema

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// Kind is the physical kind of a type: it decides the Arrow buffers and the
// UnsafeRow form. Spark types that share both (int and date, long and
// timestamp …) share a Kind.
type Kind uint8

const (
	// Null has no buffers; every slot is null.
	Null Kind = iota
	// Bool is bit-packed in Arrow, one byte in an UnsafeRow slot.
	Bool
	// Int8 is Spark's byte.
	Int8
	// Int16 is Spark's short.
	Int16
	// Int32 is int, date (days since 1970-01-01) and year-month interval (months).
	Int32
	// Int64 is long, timestamp, timestamp_ntz, time, day-time interval.
	Int64
	// Float32 is Spark's float.
	Float32
	// Float64 is Spark's double.
	Float64
	// Decimal is a 16-byte little-endian two's complement integer in Arrow
	// (decimal128); in an UnsafeRow a long where Precision <= 18, else
	// big-endian bytes in the variable-length part.
	Decimal
	// String is UTF-8 by contract, but treated as bytes.
	String
	// Binary is bytes; geometry and geography too, as their bytes in an UnsafeRow.
	Binary
	// Interval is a calendar interval, stored as struct<months int32, days
	// int32, microseconds int64>; children carry the null of the parent.
	Interval
	// Variant is stored as struct<value binary, metadata binary>; the children
	// carry the null of the parent.
	Variant
	// List has one child, the element.
	List
	// Map has one child, a struct "entries" of key and value, as Arrow's map.
	Map
	// Struct has one child per field.
	Struct
)

// Bounds tells by which order a column's lower and upper bound are kept.
type Bounds uint8

const (
	// NoBounds: binary, geometry, geography, nested, null, calendar interval, variant, collated strings.
	NoBounds Bounds = iota
	// BoolBounds orders false before true.
	BoolBounds
	// IntBounds compares Int8…Int64 as signed integers.
	IntBounds
	// FloatBounds orders as Catalyst: NaN greatest and equal to itself, -0.0 = 0.0.
	FloatBounds
	// DecimalBounds compares the unscaled values.
	DecimalBounds
	// StringBounds compares unsigned bytes.
	StringBounds
)

// Type is a Spark data type as it is stored. Types are immutable once built.
type Type struct {
	Kind Kind
	// Name is Spark's name as in its schema JSON ("integer", "timestamp_ntz",
	// "decimal(10,2)", "array" …), for messages and for the Arrow mapping.
	Name string
	// Precision and Scale are set for Decimal. Scale may be negative.
	Precision, Scale int
	// Bounds is the order of the column's statistics.
	Bounds Bounds
	// Children are the fields of the Arrow children: one for List ("element")
	// and Map ("entries"), n for Struct, three for Interval, two for Variant.
	Children []Field
}

// Field is a named, nullable slot of a schema or a nested type. Names need not be unique.
type Field struct {
	Name     string
	Type     *Type
	Nullable bool
}

// Schema is a relation's schema.
type Schema struct {
	Fields []Field
	// FirstNode[i] and FirstBuffer[i] are the index of the first Arrow field
	// node and the first Arrow buffer of top-level column i within a record
	// batch message; entry len(Fields) is the total.
	FirstNode, FirstBuffer []int

	arrowOnce sync.Once
	arrow     *arrow.Schema
}

// New builds a Schema and its node and buffer indexes.
func New(fields []Field) *Schema {
	s := &Schema{Fields: fields,
		FirstNode: make([]int, len(fields)+1), FirstBuffer: make([]int, len(fields)+1)}
	for i, f := range fields {
		n, b := f.Type.NodesAndBuffers()
		s.FirstNode[i+1] = s.FirstNode[i] + n
		s.FirstBuffer[i+1] = s.FirstBuffer[i] + b
	}
	return s
}

// ValueWidth returns the bytes a value takes in the Arrow values buffer, or 0
// for kinds without one and for Bool, which is bit-packed.
func (k Kind) ValueWidth() int {
	switch k {
	case Int8:
		return 1
	case Int16:
		return 2
	case Int32, Float32:
		return 4
	case Int64, Float64:
		return 8
	case Decimal:
		return 16
	}
	return 0
}

// HasOffsets tells whether an Arrow array of the kind has an int32 offsets buffer.
func (k Kind) HasOffsets() bool { return k == String || k == Binary || k == List || k == Map }

// NumBuffers returns how many buffers an Arrow array of the kind has, validity
// included and children excluded.
func (k Kind) NumBuffers() int {
	switch k {
	case Null:
		return 0
	case Struct, Interval, Variant:
		return 1
	case String, Binary:
		return 3
	}
	return 2
}

// NodesAndBuffers returns how many Arrow field nodes and buffers a column of
// this type has in a record batch, children included.
func (t *Type) NodesAndBuffers() (nodes, buffers int) {
	nodes, buffers = 1, t.Kind.NumBuffers()
	for _, c := range t.Children {
		n, b := c.Type.NodesAndBuffers()
		nodes += n
		buffers += b
	}
	return nodes, buffers
}
