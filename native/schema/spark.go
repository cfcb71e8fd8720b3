package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxDepth is how deeply types may nest; a top-level column is at depth 1.
const MaxDepth = 200

// UnsupportedTypeError reports a type that cannot be stored. A relation that
// has one is left to Spark's own format.
type UnsupportedTypeError struct {
	Path string // column and the way down to the type, dots in between
	Type string // Spark's name of the type
}

func (e *UnsupportedTypeError) Error() string {
	return fmt.Sprintf("column %s has type %s, which cannot be stored", e.Path, e.Type)
}

// ParseSpark reads what Spark's StructType.json writes (and PySpark's
// StructType.json(), whose keys come in another order).
//
// A user-defined type is its SQL type. A collated string is a string without
// bounds: Spark 4 writes its type as "string" and its collation into the
// metadata of the innermost struct field around it. Errors are
// *UnsupportedTypeError for a type that is not known, *SyntaxError otherwise.
func ParseSpark(json []byte) (*Schema, error) {
	p := parser{scanner: scanner{data: json}}
	t, err := p.dataType()
	if err != nil {
		return nil, err
	}
	if p.peek() != 0 || p.pos < len(json) {
		return nil, p.fail("text follows the schema")
	}
	if t.Kind != Struct {
		return nil, p.fail("the schema is of type %s instead of struct", t.Name)
	}
	return New(t.Children), nil
}

type parser struct {
	scanner
	depth int
	path  []string
}

func (p *parser) unsupported(name string) error {
	return &UnsupportedTypeError{Path: strings.Join(p.path, "."), Type: name}
}

// dataType reads a type: a name or an object.
func (p *parser) dataType() (*Type, error) {
	switch c := p.peek(); c {
	case '"':
		name, err := p.unescaped()
		if err != nil {
			return nil, err
		}
		if t := leaves[string(name)]; t != nil {
			return t, nil
		}
		return p.parameterized(string(name))
	case '{':
		// The schema itself is a struct at depth 0.
		if p.depth > MaxDepth {
			return nil, p.fail("types nest more than %d levels deep", MaxDepth)
		}
		p.depth++
		t, err := p.typeObject()
		p.depth--
		return t, err
	default:
		return nil, p.fail("a type is expected")
	}
}

// inner reads a type one step down the path.
func (p *parser) inner(step string) (*Type, error) {
	p.path = append(p.path, step)
	t, err := p.dataType()
	p.path = p.path[:len(p.path)-1]
	return t, err
}

// typeObject reads array, map, struct and udt. The keys come in any order, so
// that what they mean is only known at the end.
func (p *parser) typeObject() (*Type, error) {
	var (
		kind                             string
		element, mapKey, mapVal, sqlType *Type
		elementNull, valueNull           bool
		fields                           []Field
	)
	err := p.object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			kind, err = p.string()
		case "elementType":
			element, err = p.inner("element")
		case "containsNull":
			elementNull, err = p.bool()
		case "keyType":
			mapKey, err = p.inner("key")
		case "valueType":
			mapVal, err = p.inner("value")
		case "valueContainsNull":
			valueNull, err = p.bool()
		case "sqlType":
			sqlType, err = p.dataType()
		case "fields":
			fields, err = p.fields()
		default:
			err = p.skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case kind == "array" && element != nil:
		return ListOf(element, elementNull), nil
	case kind == "map" && mapKey != nil && mapVal != nil:
		return MapOf(mapKey, mapVal, valueNull), nil
	case kind == "struct" && fields != nil:
		return StructOf(fields...), nil
	case kind == "udt" && sqlType != nil:
		return sqlType, nil
	case kind == "array" || kind == "map" || kind == "struct" || kind == "udt":
		return nil, p.fail("type %s is incomplete", kind)
	}
	return nil, p.unsupported(strconv.Quote(kind))
}

func (p *parser) fields() ([]Field, error) {
	fields := []Field{}
	err := p.array(func() error {
		f, err := p.field()
		fields = append(fields, f)
		return err
	})
	return fields, err
}

func (p *parser) field() (Field, error) {
	f := Field{Nullable: true}
	var collations map[string]string
	at := len(p.path)
	p.path = append(p.path, "?") // until the name is known
	err := p.object(func(key []byte) (err error) {
		switch string(key) {
		case "name":
			f.Name, err = p.string()
			p.path[at] = f.Name
		case "type":
			f.Type, err = p.dataType()
		case "nullable":
			f.Nullable, err = p.bool()
		case "metadata":
			collations, err = p.collations()
		default:
			err = p.skip()
		}
		return err
	})
	if err == nil && f.Type == nil {
		err = p.fail("field %s has no type", f.Name)
	}
	if err == nil && collations != nil {
		f.Type, err = p.collate(f.Type, f.Name, collations)
	}
	p.path = p.path[:at]
	return f, err
}

// collations reads a field's metadata and returns the collation names by path,
// nil if there are none.
func (p *parser) collations() (map[string]string, error) {
	if p.peek() != '{' {
		return nil, p.skip()
	}
	var m map[string]string
	err := p.object(func(key []byte) error {
		if string(key) != "__COLLATIONS" || p.peek() != '{' {
			return p.skip()
		}
		m = map[string]string{}
		return p.object(func(path []byte) error {
			at := string(path)
			name, err := p.string()
			// The name is preceded by its provider: "icu.UNICODE_CI".
			if _, after, ok := strings.Cut(name, "."); ok {
				name = after
			}
			m[at] = name
			return err
		})
	})
	return m, err
}

// collate puts collations where their paths say. Paths go through arrays and
// maps, but not into structs, whose fields have metadata of their own.
func (p *parser) collate(t *Type, path string, collations map[string]string) (*Type, error) {
	name, ok := collations[path]
	if ok && t.Kind != String {
		return nil, p.fail("collation %s is given for %s, which is of type %s", name, path, t.Name)
	}
	var err error
	switch t.Kind {
	case String:
		if ok {
			return collated(name), nil
		}
	case List:
		t.Children[0].Type, err = p.collate(t.Children[0].Type, path+".element", collations)
	case Map:
		kv := t.Children[0].Type.Children
		if kv[0].Type, err = p.collate(kv[0].Type, path+".key", collations); err == nil {
			kv[1].Type, err = p.collate(kv[1].Type, path+".value", collations)
		}
	}
	return t, err
}

func collated(name string) *Type {
	if name == "UTF8_BINARY" {
		return leaves["string"]
	}
	return &Type{Kind: String, Name: "string collate " + name}
}

// ListOf returns an array type.
func ListOf(element *Type, containsNull bool) *Type {
	return &Type{Kind: List, Name: "array", Children: []Field{{"element", element, containsNull}}}
}

// MapOf returns a map type: a list of entries of a key, never null, and a value.
func MapOf(key, value *Type, valueContainsNull bool) *Type {
	entries := StructOf(Field{"key", key, false}, Field{"value", value, valueContainsNull})
	return &Type{Kind: Map, Name: "map", Children: []Field{{"entries", entries, false}}}
}

// StructOf returns a struct type.
func StructOf(fields ...Field) *Type {
	return &Type{Kind: Struct, Name: "struct", Children: fields}
}

// DecimalOf returns a decimal type.
func DecimalOf(precision, scale int) *Type {
	return &Type{Kind: Decimal, Name: fmt.Sprintf("decimal(%d,%d)", precision, scale),
		Precision: precision, Scale: scale, Bounds: DecimalBounds}
}

// Leaf returns the type of Spark's name, for types that are a mere name such as
// "integer", "interval year" or "variant"; nil if there is none.
func Leaf(name string) *Type { return leaves[name] }

var leaves = leafTypes()

func leafTypes() map[string]*Type {
	m := map[string]*Type{}
	add := func(kind Kind, bounds Bounds, names ...string) {
		for _, n := range names {
			m[n] = &Type{Kind: kind, Name: n, Bounds: bounds}
		}
	}
	add(Null, NoBounds, "void")
	add(Bool, BoolBounds, "boolean")
	add(Int8, IntBounds, "byte")
	add(Int16, IntBounds, "short")
	add(Int32, IntBounds, "integer", "date", "interval year", "interval month", "interval year to month")
	add(Int64, IntBounds, "long", "timestamp", "timestamp_ntz", "time",
		"interval day", "interval day to hour", "interval day to minute", "interval day to second",
		"interval hour", "interval hour to minute", "interval hour to second",
		"interval minute", "interval minute to second", "interval second")
	add(Float32, FloatBounds, "float")
	add(Float64, FloatBounds, "double")
	add(String, StringBounds, "string")
	add(Binary, NoBounds, "binary")
	m["decimal"] = DecimalOf(10, 0)
	m["interval"] = &Type{Kind: Interval, Name: "interval", Children: []Field{
		{"months", m["integer"], true}, {"days", m["integer"], true}, {"microseconds", m["long"], true}}}
	m["variant"] = &Type{Kind: Variant, Name: "variant", Children: []Field{
		{"value", m["binary"], true}, {"metadata", m["binary"], true}}}
	// Other names that Spark reads for the same types.
	m["null"] = m["void"]
	m["timestamp_ltz"] = m["timestamp"]
	return m
}

// parameterized reads the names that have something in brackets, and collated strings.
func (p *parser) parameterized(name string) (*Type, error) {
	if words := strings.Fields(name); len(words) == 3 && words[0] == "string" && words[1] == "collate" {
		return collated(words[2]), nil
	}
	if base, rest, ok := strings.Cut(name, "("); base == "geometry" || base == "geography" {
		// In brackets: the coordinate reference system and, for geography, an algorithm. Each value has its SRID in its bytes.
		if ok && !strings.HasSuffix(rest, ")") {
			return nil, p.unsupported(name)
		}
		return &Type{Kind: Binary, Name: name}, nil
	}
	base, args, ok := typeArgs(name)
	if !ok {
		return nil, p.unsupported(name)
	}
	switch {
	case base == "decimal" && len(args) == 2:
		// Spark's precision is at most 38; a negative scale comes with a legacy setting.
		if args[0] < 1 || args[0] > 38 || args[1] > args[0] {
			return nil, p.unsupported(name)
		}
		return DecimalOf(args[0], args[1]), nil
	case (base == "char" || base == "varchar") && len(args) == 1 && args[0] >= 0:
		return &Type{Kind: String, Name: name, Bounds: StringBounds}, nil
	case base == "time" && len(args) == 1 && args[0] >= 0 && args[0] <= 9:
		return &Type{Kind: Int64, Name: name, Bounds: IntBounds}, nil
	}
	return nil, p.unsupported(name)
}

// typeArgs splits "decimal(10, 2)" into its base and one or two int32 arguments.
func typeArgs(name string) (base string, args []int, ok bool) {
	base, rest, ok := strings.Cut(name, "(")
	rest, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return "", nil, false
	}
	for _, a := range strings.SplitN(rest, ",", 3) {
		v, err := strconv.Atoi(strings.TrimSpace(a))
		if err != nil || v < math.MinInt32 || v > math.MaxInt32 {
			return "", nil, false
		}
		args = append(args, v)
	}
	return base, args, true
}
