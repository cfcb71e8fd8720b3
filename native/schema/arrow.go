package schema

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// MetadataKey marks, in an Arrow field's metadata, a struct that stands for a
// Spark type Arrow has no layout of ours for: its value is "interval" for a
// calendar interval and "variant" for VARIANT.
const MetadataKey = "quiver.type"

// Arrow returns the schema as Arrow types: those that Spark's own Arrow
// conversion uses, with UTC as the session's time zone, and for calendar
// intervals a struct, since Arrow's month-day-nano interval cannot hold all of
// Spark's microseconds. The result is built once.
func (s *Schema) Arrow() *arrow.Schema {
	s.arrowOnce.Do(func() {
		fields := make([]arrow.Field, len(s.Fields))
		for i, f := range s.Fields {
			fields[i] = f.Arrow()
		}
		s.arrow = arrow.NewSchema(fields, nil)
	})
	return s.arrow
}

// Arrow returns the field as Arrow describes it.
func (f Field) Arrow() arrow.Field {
	a := arrow.Field{Name: f.Name, Type: f.Type.Arrow(), Nullable: f.Nullable}
	switch f.Type.Kind {
	case Interval:
		a.Metadata = arrow.NewMetadata([]string{MetadataKey}, []string{"interval"})
	case Variant:
		a.Metadata = arrow.NewMetadata([]string{MetadataKey}, []string{"variant"})
	}
	return a
}

// Arrow returns the Arrow type whose arrays have exactly the buffers of t.Kind.
func (t *Type) Arrow() arrow.DataType {
	switch t.Kind {
	case Null:
		return arrow.Null
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Int8:
		return arrow.PrimitiveTypes.Int8
	case Int16:
		return arrow.PrimitiveTypes.Int16
	case Int32:
		return t.arrowInt32()
	case Int64:
		return t.arrowInt64()
	case Float32:
		return arrow.PrimitiveTypes.Float32
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case String:
		return arrow.BinaryTypes.String
	case Binary:
		return arrow.BinaryTypes.Binary
	case List:
		return arrow.ListOfField(t.Children[0].Arrow())
	case Map:
		kv := t.Children[0].Type.Children
		return arrow.MapOfFields(kv[0].Arrow(), kv[1].Arrow())
	case Variant:
		return variantStruct
	}
	fields := make([]arrow.Field, len(t.Children))
	for i, c := range t.Children {
		fields[i] = c.Arrow()
	}
	return arrow.StructOf(fields...)
}

// variantStruct carries on its metadata child the mark by which Spark itself
// knows a variant.
var variantStruct = arrow.StructOf(
	arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true},
	arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary, Nullable: true,
		Metadata: arrow.NewMetadata([]string{"variant"}, []string{"true"})})

func (t *Type) arrowInt32() arrow.DataType {
	switch {
	case t.Name == "date":
		return arrow.FixedWidthTypes.Date32
	case t.isInterval():
		return arrow.FixedWidthTypes.MonthInterval
	}
	return arrow.PrimitiveTypes.Int32
}

func (t *Type) arrowInt64() arrow.DataType {
	switch {
	case t.Name == "timestamp":
		return arrow.FixedWidthTypes.Timestamp_us // in UTC
	case t.Name == "timestamp_ntz":
		return timestampNTZ
	case t.isInterval():
		return arrow.FixedWidthTypes.Duration_us
	case len(t.Name) >= 4 && t.Name[:4] == "time":
		// Spark counts the nanoseconds of the day, whatever the precision.
		return arrow.FixedWidthTypes.Time64ns
	}
	return arrow.PrimitiveTypes.Int64
}

var timestampNTZ = &arrow.TimestampType{Unit: arrow.Microsecond}

func (t *Type) isInterval() bool { return len(t.Name) > 8 && t.Name[:8] == "interval" }

// MismatchError reports an Arrow array whose type is not what is stored for a
// Spark type.
type MismatchError struct {
	Path string // fields on the way down, empty at the top
	Want string // Spark's type and the Arrow type it is stored as
	Got  string // the Arrow type given
}

func (e *MismatchError) Error() string {
	at := ""
	if e.Path != "" {
		at = "field " + e.Path + ": "
	}
	return fmt.Sprintf("%sArrow type %s does not hold %s", at, e.Got, e.Want)
}

// Matches tells whether arrays of dt hold t in the form in which t is stored:
// nil, or a *MismatchError for the first part that differs. Field names,
// nullability and metadata do not count, save for the names within calendar
// intervals and variants. A timestamp may have any time zone, but has one. A
// dictionary-encoded array matches by its values, at any depth, and an
// extension type by its storage; the caller has to decode them.
func (t *Type) Matches(dt arrow.DataType) error { return t.matches(dt, "") }

func (t *Type) matches(dt arrow.DataType, path string) error {
	dt = plain(dt)
	switch t.Kind {
	case List:
		if l, ok := dt.(*arrow.ListType); ok {
			return t.Children[0].Type.matches(l.Elem(), join(path, "element"))
		}
	case Map:
		if m, ok := dt.(*arrow.MapType); ok {
			kv := t.Children[0].Type.Children
			if err := kv[0].Type.matches(m.KeyType(), join(path, "key")); err != nil {
				return err
			}
			return kv[1].Type.matches(m.ItemType(), join(path, "value"))
		}
	case Struct, Interval, Variant:
		if s, ok := dt.(*arrow.StructType); ok && s.NumFields() == len(t.Children) {
			return t.matchFields(s, path)
		}
	case Int64:
		if ts, ok := dt.(*arrow.TimestampType); ok && t.Name == "timestamp" && ts.Unit == arrow.Microsecond && ts.TimeZone != "" {
			return nil
		}
		if arrow.TypeEqual(t.arrowInt64(), dt) {
			return nil
		}
	default:
		if arrow.TypeEqual(t.Arrow(), dt) {
			return nil
		}
	}
	return t.mismatch(dt, path)
}

func (t *Type) matchFields(s *arrow.StructType, path string) error {
	for i, c := range t.Children {
		f := s.Field(i)
		if t.Kind != Struct && f.Name != c.Name {
			return t.mismatch(s, path)
		}
		if err := c.Type.matches(f.Type, join(path, c.Name)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Type) mismatch(dt arrow.DataType, path string) error {
	return &MismatchError{Path: path, Got: brief(dt), Want: fmt.Sprintf("%s (stored as %s)", t.Name, brief(t.Arrow()))}
}

// brief bounds a type's text, which lists all fields of a struct.
func brief(dt arrow.DataType) string {
	s := dt.String()
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}

// plain strips dictionaries and extensions, which can wrap each other.
func plain(dt arrow.DataType) arrow.DataType {
	for {
		switch d := dt.(type) {
		case *arrow.DictionaryType:
			dt = d.ValueType
		case arrow.ExtensionType:
			dt = d.StorageType()
		default:
			return dt
		}
	}
}

func join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}
