package schema

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// golden is one line of testdata/spark-schemas.tsv, written by Spark 4.1.4.
type golden struct{ what, json, arrow string }

func goldens(t testing.TB) []golden {
	t.Helper()
	f, err := os.Open("testdata/spark-schemas.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []golden
	for sc := bufio.NewScanner(f); sc.Scan(); {
		parts := strings.Split(sc.Text(), "\t")
		if len(parts) != 3 {
			t.Fatalf("malformed line %q", sc.Text())
		}
		out = append(out, golden{parts[0], parts[1], parts[2]})
	}
	if len(out) < 50 {
		t.Fatalf("only %d schemas", len(out))
	}
	return out
}

// column wraps a type's JSON into a schema of one column c.
func column(typ string) []byte {
	return fmt.Appendf(nil, `{"type":"struct","fields":[{"name":"c","type":%s,"nullable":true,"metadata":{}}]}`, typ)
}

func mustParse(t testing.TB, json string) *Schema {
	t.Helper()
	s, err := ParseSpark([]byte(json))
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	return s
}

func TestKindNameAndBounds(t *testing.T) {
	str := func(name string) *Type { return &Type{Kind: String, Name: name} }
	// By the first column of the golden file: types as users write them.
	want := map[string]*Type{
		"boolean":                       {Kind: Bool, Name: "boolean", Bounds: BoolBounds},
		"tinyint":                       {Kind: Int8, Name: "byte", Bounds: IntBounds},
		"smallint":                      {Kind: Int16, Name: "short", Bounds: IntBounds},
		"int":                           {Kind: Int32, Name: "integer", Bounds: IntBounds},
		"bigint":                        {Kind: Int64, Name: "long", Bounds: IntBounds},
		"float":                         {Kind: Float32, Name: "float", Bounds: FloatBounds},
		"double":                        {Kind: Float64, Name: "double", Bounds: FloatBounds},
		"decimal":                       {Kind: Decimal, Name: "decimal(10,0)", Precision: 10, Bounds: DecimalBounds},
		"decimal(38,18)":                {Kind: Decimal, Name: "decimal(38,18)", Precision: 38, Scale: 18, Bounds: DecimalBounds},
		"decimal(1,1)":                  {Kind: Decimal, Name: "decimal(1,1)", Precision: 1, Scale: 1, Bounds: DecimalBounds},
		"string":                        {Kind: String, Name: "string", Bounds: StringBounds},
		"char(5)":                       {Kind: String, Name: "char(5)", Bounds: StringBounds},
		"varchar(7)":                    {Kind: String, Name: "varchar(7)", Bounds: StringBounds},
		"binary":                        {Kind: Binary, Name: "binary"},
		"date":                          {Kind: Int32, Name: "date", Bounds: IntBounds},
		"timestamp":                     {Kind: Int64, Name: "timestamp", Bounds: IntBounds},
		"timestamp_ntz":                 {Kind: Int64, Name: "timestamp_ntz", Bounds: IntBounds},
		"timestamp_ltz":                 {Kind: Int64, Name: "timestamp", Bounds: IntBounds},
		"time":                          {Kind: Int64, Name: "time(6)", Bounds: IntBounds},
		"time(3)":                       {Kind: Int64, Name: "time(3)", Bounds: IntBounds},
		"void":                          {Kind: Null, Name: "void"},
		"string collate UNICODE_CI":     str("string collate UNICODE_CI"),
		"string collate UTF8_LCASE":     str("string collate UTF8_LCASE"),
		"string collate UTF8_BINARY":    {Kind: String, Name: "string", Bounds: StringBounds},
		"array<string collate UNICODE>": ListOf(str("string collate UNICODE"), true),
		"array<bigint>":                 ListOf(Leaf("long"), true),
		"struct<>":                      {Kind: Struct, Name: "struct", Children: []Field{}},
		"map<string collate UTF8_LCASE,map<string,string collate UNICODE>>": MapOf(str("string collate UTF8_LCASE"),
			MapOf(Leaf("string"), str("string collate UNICODE"), true), true),
		"array<struct<s:string collate UNICODE_CI>>": ListOf(StructOf(Field{"s", str("string collate UNICODE_CI"), true}), true),
	}
	for _, name := range []string{"year", "month", "year to month"} {
		want["interval "+name] = &Type{Kind: Int32, Name: "interval " + name, Bounds: IntBounds}
	}
	for _, name := range []string{"day", "day to hour", "day to minute", "day to second", "hour", "hour to minute",
		"hour to second", "minute", "minute to second", "second"} {
		want["interval "+name] = &Type{Kind: Int64, Name: "interval " + name, Bounds: IntBounds}
	}
	found := 0
	for _, g := range goldens(t) {
		if w := want[g.what]; w != nil {
			found++
			got := mustParse(t, g.json).Fields[0]
			if !reflect.DeepEqual(got, Field{"c", w, true}) {
				t.Errorf("%s: got %+v instead of %+v", g.what, *got.Type, *w)
			}
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d types are in the golden file", found, len(want))
	}
}

func TestNames(t *testing.T) {
	for _, g := range goldens(t) {
		switch g.what {
		case "names with quotes":
			s := mustParse(t, g.json)
			if s.Fields[0].Name != "\"\\\né😀.`" || s.Fields[1].Type.Children[0].Name != `"` {
				t.Errorf("%q, %q", s.Fields[0].Name, s.Fields[1].Type.Children[0].Name)
			}
			if n := s.Fields[1].Type.Children[0].Type.Name; n != "string collate UNICODE" {
				t.Error(n)
			}
		case "containsNull false":
			s := mustParse(t, g.json)
			if s.Fields[0].Nullable || s.Fields[0].Type.Children[0].Nullable || s.Fields[1].Type.Children[0].Type.Children[1].Nullable {
				t.Error("nullability is lost")
			}
		}
	}
	s := mustParse(t, `{"type":"struct","fields":[{"name":"\u00e9\ud83d\ude00\/","type":"long"}]}`)
	if f := s.Fields[0]; f.Name != "é😀/" || !f.Nullable {
		t.Errorf("%+v", f)
	}
}

// PySpark writes the keys in alphabetical order and may add white space.
func TestKeyOrderAndSpaceDoNotMatter(t *testing.T) {
	for _, g := range goldens(t) {
		want, err := ParseSpark([]byte(g.json))
		if err != nil {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(g.json), &v); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.MarshalIndent(v, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		got := mustParse(t, string(sorted))
		if !reflect.DeepEqual(got.Fields, want.Fields) {
			t.Errorf("%s: differs with sorted keys", g.what)
		}
	}
}

func TestTypesNotInTheGoldenFile(t *testing.T) {
	cases := []struct {
		json string
		want *Type
	}{
		{`"null"`, Leaf("void")},
		{`"timestamp_ltz"`, Leaf("timestamp")},
		{`"decimal"`, DecimalOf(10, 0)},
		{`"decimal( 5 , -3 )"`, DecimalOf(5, -3)},
		{`"string collate UNICODE"`, &Type{Kind: String, Name: "string collate UNICODE"}},
		{`"string collate UTF8_BINARY"`, Leaf("string")},
		{`"time(9)"`, &Type{Kind: Int64, Name: "time(9)", Bounds: IntBounds}},
		{`"geometry"`, &Type{Kind: Binary, Name: "geometry"}},
		{`"geometry(OGC:CRS84)"`, &Type{Kind: Binary, Name: "geometry(OGC:CRS84)"}},
		{`"geometry(SRID:ANY)"`, &Type{Kind: Binary, Name: "geometry(SRID:ANY)"}},
		{`"geography(OGC:CRS84, SPHERICAL)"`, &Type{Kind: Binary, Name: "geography(OGC:CRS84, SPHERICAL)"}},
		{`{"type":"udt","pyClass":"a.B","serializedClass":"xyz","sqlType":{"type":"array","elementType":"double","containsNull":false}}`,
			ListOf(Leaf("double"), false)},
	}
	for _, c := range cases {
		if got := mustParse(t, string(column(c.json))).Fields[0].Type; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v instead of %+v", c.json, got, c.want)
		}
	}
}

func TestUnsupported(t *testing.T) {
	cases := []struct{ json, path, typ string }{
		{`"geometry(OGC:CRS84"`, "c", "geometry(OGC:CRS84"},
		{`"geometries(OGC:CRS84)"`, "c", "geometries(OGC:CRS84)"},
		{`"timestamp_ltz(9)"`, "c", "timestamp_ltz(9)"},
		{`"decimal(39,0)"`, "c", "decimal(39,0)"},
		{`"decimal(5,6)"`, "c", "decimal(5,6)"},
		{`"decimal(x,6)"`, "c", "decimal(x,6)"},
		{`"decimal(5"`, "c", "decimal(5"},
		{`"time(10)"`, "c", "time(10)"},
		{`""`, "c", ""},
		{`{"type":"array","elementType":"object","containsNull":true}`, "c.element", "object"},
		{`{"type":"map","keyType":"int128","valueType":"long","valueContainsNull":true}`, "c.key", "int128"},
		{`{"type":"map","keyType":"long","valueType":{"type":"struct","fields":[{"name":"d.e","type":"int128"}]},"valueContainsNull":true}`,
			"c.value.d.e", "int128"},
		{`{"type":"union","of":[]}`, "c", `"union"`},
	}
	for _, c := range cases {
		_, err := ParseSpark(column(c.json))
		var u *UnsupportedTypeError
		if !errors.As(err, &u) || u.Path != c.path || u.Type != c.typ {
			t.Errorf("%s: %v", c.json, err)
		}
	}
}

func TestMalformed(t *testing.T) {
	deep := func(levels int) string {
		return string(column(strings.Repeat(`{"type":"array","containsNull":true,"elementType":`, levels) + `"long"` + strings.Repeat("}", levels)))
	}
	if _, err := ParseSpark([]byte(deep(MaxDepth))); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	cases := []struct{ json, want string }{
		{``, "a type is expected"},
		{`{`, "the text ends"},
		{`"long"`, "of type long instead of struct"},
		{`[]`, "a type is expected"},
		{`{"type":"struct"}`, "type struct is incomplete"},
		{`{"type":"struct","fields":[]} x`, "text follows"},
		{`{"type":"struct","fields":[{}]}`, "has no type"},
		{`{"type":"struct","fields":[{"name":"a","type":"long","nullable":1}]}`, "true or false"},
		{`{"type":"struct","fields":[{"name":"a","type":"long",]}`, `']' where '"'`},
		{`{"type":"struct","fields":[{"name":"a" "type":"long"}]}`, `'"' where '}'`},
		{`{"type":"struct","fields":[{"name":"\x","type":"long"}]}`, "a string is malformed"},
		{`{"type":"struct","fields":[{"name":"a`, "ends within a string"},
		{`{"type":"struct","fields":[{"name":"a","metadata":{"x":[[[`, "ends within a value"},
		{`{"type":"struct","fields":[{"name":"a","metadata":{"x":]}}]}`, "where a value is expected"},
		{`{"type":"struct","fields":[{"name":"a","metadata":{"__COLLATIONS":{"a":"icu.UNICODE"}},"type":"long"}]}`, "of type long"},
		{string(column(`{"type":"array","containsNull":true}`)), "type array is incomplete"},
		{deep(MaxDepth + 1), "more than 200 levels"},
		{deep(1 << 20), "more than 200 levels"},
		{`{"x":` + strings.Repeat("[", 1<<20), "ends within a value"},
	}
	for _, c := range cases {
		_, err := ParseSpark([]byte(c.json))
		var se *SyntaxError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v", c.json, err)
		}
	}
}

func TestSkippedMetadata(t *testing.T) {
	s := mustParse(t, `{"type":"struct","fields":[{"metadata":{"a":{"b":[1,-2.5e3,true,null,"}]\"",{}]},"c":[],"__COLLATIONS":null},"name":"x","type":"long"},`+
		`{"metadata":null,"name":"y","type":"long"}],"other":[{"z":false}]}`)
	if len(s.Fields) != 2 || s.Fields[1].Name != "y" {
		t.Fatalf("%+v", s.Fields)
	}
}

func TestProject(t *testing.T) {
	s := mustParse(t, `{"type":"struct","fields":[{"name":"a","type":"string"},{"name":"b","type":"long"},{"name":"c","type":"variant"}]}`)
	p, err := s.Project([]int{2, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Fields) != 3 || p.Fields[0].Name != "c" || p.Fields[1].Name != "a" || p.Fields[2].Type != s.Fields[2].Type {
		t.Fatalf("%+v", p.Fields)
	}
	// A variant is a struct node with two binary children: 3 nodes, 1 + 3 + 3 buffers.
	if want := []int{0, 3, 4, 7}; !reflect.DeepEqual(p.FirstNode, want) {
		t.Error(p.FirstNode)
	}
	if want := []int{0, 7, 10, 17}; !reflect.DeepEqual(p.FirstBuffer, want) {
		t.Error(p.FirstBuffer)
	}
	if p, err := s.Project(nil); err != nil || len(p.Fields) != 0 {
		t.Error(p, err)
	}
	for _, bad := range []int{-1, 3} {
		if _, err := s.Project([]int{0, bad}); err == nil || !strings.Contains(err.Error(), "3 columns") {
			t.Errorf("%d: %v", bad, err)
		}
	}
}

func TestCacheIsBoundedAndShared(t *testing.T) {
	var c cache
	text := func(i int) []byte { return column(fmt.Sprintf(`"varchar(%d)"`, i)) }
	first, err := c.get(text(0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 * cacheEntries {
		if _, err := c.get(text(i)); err != nil {
			t.Fatal(err)
		}
		if again, _ := c.get(text(0)); again != first {
			t.Fatal("a schema in use was dropped")
		}
	}
	if n := len(c.young) + len(c.old); n > 2*cacheEntries {
		t.Fatalf("%d schemas are kept", n)
	}
	if _, err := c.get(column(`"int128"`)); err == nil {
		t.Fatal("no error")
	}
	big := column(`"long"`)
	big = append(big, strings.Repeat(" ", cacheBytes)...)
	for range 3 {
		if _, err := c.get(big); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.young)+len(c.old) > 2*cacheEntries+1 || c.bytes > len(big) {
		t.Fatal("a large text is kept more than once")
	}
}

func TestCachedConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				s, err := Cached(column(fmt.Sprintf(`"char(%d)"`, (i*7+g)%100)))
				if err != nil || s.Arrow().NumFields() != 1 {
					t.Error(s, err)
				}
			}
		})
	}
	wg.Wait()
}

func wide(columns int) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"struct","fields":[`)
	for i := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"column_%d","type":"%s","nullable":true,"metadata":{}}`, i, []string{"long", "string", "decimal(12,2)"}[i%3])
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func BenchmarkParse8200(b *testing.B) {
	json := wide(8200)
	b.SetBytes(int64(len(json)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseSpark(json); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCached8200(b *testing.B) {
	json := wide(8200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Cached(json); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzParseSpark(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add([]byte(g.json))
	}
	f.Fuzz(func(t *testing.T, json []byte) {
		s, err := ParseSpark(json)
		if err == nil && s.Arrow().NumFields() != len(s.Fields) {
			t.Fatal("fields are lost")
		}
	})
}
