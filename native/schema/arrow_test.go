package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// javaSchema renders a schema as Arrow's Java library does.
func javaSchema(s *arrow.Schema) string {
	return "Schema<" + javaFields(s.Fields()) + ">"
}

func javaFields(fields []arrow.Field) string {
	var out []string
	for _, f := range fields {
		text := f.Name + ": " + javaType(f.Type)
		if !f.Nullable {
			text += " not null"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func javaType(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.NullType:
		return "Null"
	case *arrow.BooleanType:
		return "Bool"
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return fmt.Sprintf("Int(%d, true)", t.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Float32Type:
		return "FloatingPoint(SINGLE)"
	case *arrow.Float64Type:
		return "FloatingPoint(DOUBLE)"
	case *arrow.Decimal128Type:
		return fmt.Sprintf("Decimal(%d, %d, 128)", t.Precision, t.Scale)
	case *arrow.StringType:
		return "Utf8"
	case *arrow.BinaryType:
		return "Binary"
	case *arrow.Date32Type:
		return "Date(DAY)"
	case *arrow.TimestampType:
		zone := t.TimeZone
		if zone == "" {
			zone = "null"
		}
		return fmt.Sprintf("Timestamp(%s, %s)", map[arrow.TimeUnit]string{arrow.Microsecond: "MICROSECOND"}[t.Unit], zone)
	case *arrow.Time64Type:
		return fmt.Sprintf("Time(%s, 64)", map[arrow.TimeUnit]string{arrow.Nanosecond: "NANOSECOND"}[t.Unit])
	case *arrow.MonthIntervalType:
		return "Interval(YEAR_MONTH)"
	case *arrow.DurationType:
		return fmt.Sprintf("Duration(%s)", map[arrow.TimeUnit]string{arrow.Microsecond: "MICROSECOND"}[t.Unit])
	case *arrow.ListType:
		return "List<" + javaFields(t.Fields()) + ">"
	case *arrow.MapType:
		return fmt.Sprintf("Map(%t)<%s>", t.KeysSorted, javaFields(t.Fields()))
	case *arrow.StructType:
		if t.NumFields() == 0 {
			return "Struct"
		}
		return "Struct<" + javaFields(t.Fields()) + ">"
	}
	return t.String()
}

// Where we differ from Spark's own conversion on purpose.
var arrowDifferences = map[string]func(string) string{
	"interval": func(string) string { // see Schema.Arrow
		return "Schema<c: Struct<months: Int(32, true), days: Int(32, true), microseconds: Int(64, true)>>"
	},
	// The children of a null variant are null.
	"variant":           func(s string) string { return strings.ReplaceAll(s, "Binary not null", "Binary") },
	"map<date,variant>": func(s string) string { return strings.ReplaceAll(s, "Binary not null", "Binary") },
	// Stored as the row format has them, the SRID in front.
	"geometry(4326)":  func(string) string { return "Schema<c: Binary>" },
	"geography(4326)": func(string) string { return "Schema<c: Binary>" },
	// Spark numbers equal names of struct fields.
	"struct<a:int,a:int,`b.c`:struct<d:string not null>>": func(s string) string {
		return strings.NewReplacer("a_0", "a", "a_1", "a").Replace(s)
	},
	"names with quotes": func(s string) string { return strings.ReplaceAll(s, `\n`, "\n") },
}

func TestArrowTypesAreSparks(t *testing.T) {
	for _, g := range goldens(t) {
		s, err := ParseSpark([]byte(g.json))
		if err != nil {
			t.Errorf("%s: %v", g.what, err)
			continue
		}
		want := g.arrow
		if f := arrowDifferences[g.what]; f != nil {
			want = f(want)
		}
		if got := javaSchema(s.Arrow()); got != want {
			t.Errorf("%s: %s instead of %s", g.what, got, want)
		}
		for i, f := range s.Fields {
			if err := f.Type.Matches(s.Arrow().Field(i).Type); err != nil {
				t.Errorf("%s does not match itself: %v", g.what, err)
			}
		}
	}
}

func TestArrowLayoutsAreThoseOfTheKinds(t *testing.T) {
	for _, g := range goldens(t) {
		if s, err := ParseSpark([]byte(g.json)); err == nil {
			for _, f := range s.Fields {
				checkLayout(t, g.what, f.Type, f.Type.Arrow())
			}
		}
	}
}

func checkLayout(t *testing.T, what string, typ *Type, dt arrow.DataType) {
	t.Helper()
	var want []arrow.BufferSpec
	switch k := typ.Kind; {
	case k == Null:
	case k.ValueWidth() > 0:
		want = []arrow.BufferSpec{arrow.SpecBitmap(), arrow.SpecFixedWidth(k.ValueWidth())}
	case k == Bool:
		want = []arrow.BufferSpec{arrow.SpecBitmap(), arrow.SpecBitmap()}
	case k == String || k == Binary:
		want = []arrow.BufferSpec{arrow.SpecBitmap(), arrow.SpecFixedWidth(4), arrow.SpecVariableWidth()}
	case k.HasOffsets():
		want = []arrow.BufferSpec{arrow.SpecBitmap(), arrow.SpecFixedWidth(4)}
	default:
		want = []arrow.BufferSpec{arrow.SpecBitmap()}
	}
	if len(want) != typ.Kind.NumBuffers() {
		t.Errorf("%s: kind %d has %d buffers", what, typ.Kind, typ.Kind.NumBuffers())
	}
	got := dt.Layout().Buffers
	if typ.Kind == Null {
		got = nil // arrow-go lists an always-null buffer, which IPC and C Data leave out
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %s has buffers %v instead of %v", what, dt, got, want)
	}
	var children []arrow.Field
	if n, ok := dt.(arrow.NestedType); ok {
		children = n.Fields()
	}
	if len(children) != len(typ.Children) {
		t.Errorf("%s: %s has %d children instead of %d", what, dt, len(children), len(typ.Children))
		return
	}
	for i, c := range typ.Children {
		if children[i].Name != c.Name {
			t.Errorf("%s: child %s instead of %s", what, children[i].Name, c.Name)
		}
		checkLayout(t, what, c.Type, children[i].Type)
	}
}

func TestMarksOfIntervalAndVariant(t *testing.T) {
	s := mustParse(t, `{"type":"struct","fields":[{"name":"a","type":"interval"},{"name":"b","type":{"type":"array","elementType":"variant","containsNull":true}}]}`)
	if v, _ := s.Arrow().Field(0).Metadata.GetValue("quiver.type"); v != "interval" {
		t.Errorf("%q", v)
	}
	element := s.Arrow().Field(1).Type.(*arrow.ListType).ElemField()
	if v, _ := element.Metadata.GetValue("quiver.type"); v != "variant" {
		t.Errorf("%q", v)
	}
	// By this Spark's ArrowUtils knows a variant.
	if v, _ := element.Type.(*arrow.StructType).Field(1).Metadata.GetValue("variant"); v != "true" {
		t.Errorf("%q", v)
	}
}

func TestMatches(t *testing.T) {
	typ := func(json string) *Type { return mustParse(t, string(column(json))).Fields[0].Type }
	dict := func(v arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: v}
	}
	us := func(zone string) arrow.DataType { return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: zone} }
	binary := arrow.BinaryTypes.Binary
	fields := func(names ...string) arrow.DataType {
		var fs []arrow.Field
		for _, n := range names {
			fs = append(fs, arrow.Field{Name: n, Type: binary})
		}
		return arrow.StructOf(fs...)
	}
	list := `{"type":"array","elementType":"string","containsNull":true}`
	mapping := `{"type":"map","keyType":"string","valueType":"integer","valueContainsNull":true}`
	record := `{"type":"struct","fields":[{"name":"a","type":` + list + `}]}`
	cases := []struct {
		json string
		dt   arrow.DataType
		path string // "ok", or the path of the mismatch
	}{
		{`"long"`, arrow.PrimitiveTypes.Int64, "ok"},
		{`"long"`, arrow.PrimitiveTypes.Uint64, ""},
		{`"long"`, us("UTC"), ""},
		{`"timestamp"`, us("Europe/Berlin"), "ok"},
		{`"timestamp"`, us(""), ""},
		{`"timestamp"`, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, ""},
		{`"timestamp_ntz"`, us(""), "ok"},
		{`"timestamp_ntz"`, us("UTC"), ""},
		{`"time(6)"`, arrow.FixedWidthTypes.Time64ns, "ok"},
		{`"time(6)"`, arrow.FixedWidthTypes.Time64us, ""},
		{`"date"`, arrow.FixedWidthTypes.Date64, ""},
		{`"interval month"`, arrow.FixedWidthTypes.MonthInterval, "ok"},
		{`"interval day"`, arrow.FixedWidthTypes.Duration_us, "ok"},
		{`"interval day"`, arrow.FixedWidthTypes.Duration_ms, ""},
		{`"interval"`, arrow.FixedWidthTypes.MonthDayNanoInterval, ""},
		{`"decimal(10,2)"`, &arrow.Decimal128Type{Precision: 10, Scale: 2}, "ok"},
		{`"decimal(10,2)"`, &arrow.Decimal128Type{Precision: 10, Scale: 3}, ""},
		{`"decimal(10,2)"`, &arrow.Decimal64Type{Precision: 10, Scale: 2}, ""},
		{`"string"`, dict(arrow.BinaryTypes.String), "ok"},
		{`"string"`, arrow.BinaryTypes.LargeString, ""},
		{`"string"`, binary, ""},
		{`"binary"`, dict(arrow.BinaryTypes.String), ""},
		{`"void"`, arrow.Null, "ok"},
		{`"void"`, arrow.PrimitiveTypes.Int8, ""},
		{`"variant"`, fields("value", "metadata"), "ok"},
		{`"variant"`, fields("metadata", "value"), ""},
		{list, arrow.ListOfField(arrow.Field{Name: "item", Type: arrow.BinaryTypes.String}), "ok"},
		{list, arrow.ListOf(dict(arrow.BinaryTypes.String)), "ok"},
		{list, arrow.ListOf(binary), "element"},
		{list, arrow.LargeListOf(arrow.BinaryTypes.String), ""},
		{mapping, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), "ok"},
		{mapping, arrow.MapOf(binary, arrow.PrimitiveTypes.Int32), "key"},
		{mapping, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), "value"},
		{mapping, arrow.ListOf(arrow.StructOf()), ""},
		{record, arrow.StructOf(arrow.Field{Name: "other", Type: arrow.ListOf(arrow.BinaryTypes.String)}), "ok"},
		{record, arrow.StructOf(arrow.Field{Name: "a", Type: arrow.ListOf(binary)}), "a.element"},
		{record, arrow.StructOf(), ""},
	}
	for _, c := range cases {
		err := typ(c.json).Matches(c.dt)
		if err == nil {
			if c.path != "ok" {
				t.Errorf("%s holds %s", c.dt, c.json)
			}
			continue
		}
		var m *MismatchError
		if !errors.As(err, &m) || m.Path != c.path {
			t.Errorf("%s, %s: %v", c.json, c.dt, err)
		}
	}
	err := typ(record).Matches(arrow.StructOf(arrow.Field{Name: "a", Type: arrow.ListOf(binary)}))
	if got, want := err.Error(), "field a.element: Arrow type binary does not hold string (stored as utf8)"; got != want {
		t.Error(got)
	}
}
