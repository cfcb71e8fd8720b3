package row

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/row/rowtest"
	"github.com/quiverspark/quiver/native/schema"
)

// randomColumn makes n slots of type t, one in nulls of them null (0: none).
func randomColumn(r *rand.Rand, t *schema.Type, n, nulls int) *column.Column {
	c := column.New(t)
	fillRandom(r, c, n, nulls)
	return c
}

func fillRandom(r *rand.Rand, c *column.Column, n, nulls int) {
	c.Len = n
	if nulls > 0 && c.Type.Kind != schema.Null {
		c.Validity = make([]byte, (n+7)/8)
		for i := range n {
			if r.IntN(nulls) != 0 {
				c.Validity[i>>3] |= 1 << (i & 7)
			}
		}
		if c.Nulls = column.CountNulls(c.Validity, n); c.Nulls == 0 {
			c.Validity = nil
		}
	}
	switch k := c.Type.Kind; k {
	case schema.Null:
		c.Nulls = n
	case schema.Bool:
		c.Values = make([]byte, (n+7)/8)
		randomBytes(r, c.Values)
	case schema.String, schema.Binary:
		c.Offsets = lengths(r, c, n, 24)
		c.Data = make([]byte, last(c))
		for i := range c.Data {
			c.Data[i] = 'a' + byte(r.IntN(26))
		}
	case schema.List, schema.Map:
		c.Offsets = lengths(r, c, n, 8)
		child := c.Children[0]
		if k == schema.Map {
			child.Len = last(c)
			fillRandom(r, child.Children[0], child.Len, 0)
			fillRandom(r, child.Children[1], child.Len, nulls)
		} else {
			fillRandom(r, child, last(c), nulls)
		}
	case schema.Struct:
		for _, child := range c.Children {
			fillRandom(r, child, n, nulls)
		}
	case schema.Interval, schema.Variant:
		for _, child := range c.Children {
			fillRandom(r, child, n, 0)
			child.Validity, child.Nulls = c.Validity, c.Nulls
		}
	case schema.Decimal:
		v := make([]int64, 2*n)
		for i := range n {
			v[2*i] = r.Int64()>>r.IntN(64) - 1000
			v[2*i+1] = v[2*i] >> 63
		}
		c.Values = column.Bytes(v)
	default:
		c.Values = make([]byte, n*k.ValueWidth())
		randomBytes(r, c.Values)
	}
}

func randomBytes(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// lengths returns offsets of n values of up to most units, nulls having none.
func lengths(r *rand.Rand, c *column.Column, n, most int) []byte {
	o := make([]int32, n+1)
	for i := range n {
		o[i+1] = o[i]
		if !c.IsNull(i) {
			o[i+1] += int32(r.IntN(most + 1))
		}
	}
	return column.Bytes(o)
}

func last(c *column.Column) int { return int(column.View[int32](c.Offsets)[c.Len]) }

// shape is a relation to measure.
type shape struct {
	name  string
	types string // Spark's type names, one a column
	times int    // how often the columns are repeated
	rows  int
	nulls int
}

var shapes = []shape{
	{"flat", `"long","long","long","string","string","string"`, 1, 10000, 10},
	{"fixed6", `"long","integer","double","date","timestamp","decimal(12,2)"`, 1, 10000, 0},
	{"fixed6null", `"long","integer","double","date","timestamp","decimal(12,2)"`, 1, 10000, 10},
	{"strings6", `"string","string","string","string","string","string"`, 1, 10000, 0},
	{"wide1500", `"long"`, 1500, 350, 0},
	{"wide1500null", `"long"`, 1500, 350, 10},
	{"bools", `"boolean","byte","short"`, 8, 10000, 10},
	{"bigdecimal", `"decimal(38,2)","decimal(30,0)"`, 2, 10000, 10},
	{"array_long", `{"type":"array","elementType":"long","containsNull":true}`, 1, 10000, 0},
	{"array_string", `{"type":"array","elementType":"string","containsNull":true}`, 1, 10000, 10},
	{"array_struct", `{"type":"array","containsNull":true,"elementType":{"type":"struct","fields":[` +
		`{"name":"a","type":"long","nullable":true,"metadata":{}},{"name":"b","type":"string","nullable":true,"metadata":{}}]}}`, 1, 10000, 10},
	{"struct", `{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}},` +
		`{"name":"b","type":"string","nullable":true,"metadata":{}},{"name":"c","type":"integer","nullable":true,"metadata":{}}]}`, 1, 10000, 10},
	{"map", `{"type":"map","keyType":"string","valueType":"long","valueContainsNull":true}`, 1, 10000, 10},
}

func (s shape) schema(t testing.TB) *schema.Schema {
	types, err := schema.ParseSpark([]byte(`{"type":"struct","fields":[` + fieldsOf(s.types) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	var fields []schema.Field
	for range s.times {
		fields = append(fields, types.Fields...)
	}
	return schema.New(fields)
}

// fieldsOf wraps each of the comma-separated types in a field.
func fieldsOf(types string) string {
	out, depth, start := "", 0, 0
	for i := 0; i <= len(types); i++ {
		switch {
		case i == len(types) || depth == 0 && types[i] == ',' && types[start] == '"' && i > 0 && types[i-1] == '"':
			if out != "" {
				out += ","
			}
			out += fmt.Sprintf(`{"name":"c%d","type":%s,"nullable":true,"metadata":{}}`, start, types[start:i])
			start = i + 1
		case types[i] == '{' || types[i] == '[':
			depth++
		case types[i] == '}' || types[i] == ']':
			depth--
		}
	}
	return out
}

// made makes the columns and the rows of a shape.
func (s shape) made(t testing.TB) (sch *schema.Schema, cols []*column.Column, rows []byte, ends []int64) {
	sch = s.schema(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range sch.Fields {
		cols = append(cols, randomColumn(r, f.Type, s.rows, s.nulls))
	}
	w := NewToRows(sch)
	if err := w.Begin(cols, s.rows); err != nil {
		t.Fatal(err)
	}
	ends32 := make([]int32, s.rows)
	_, n := w.Plan(1<<30, ends32)
	rows = make([]byte, n)
	w.Write(rows)
	for _, e := range ends32 {
		ends = append(ends, int64(e))
	}
	return sch, cols, rows, ends
}

func BenchmarkFromRows(b *testing.B) {
	for _, s := range shapes {
		sch, _, rows, ends := s.made(b)
		b.Run(s.name, func(b *testing.B) {
			var c memory.Checked
			a := memory.NewArena(&c)
			defer a.Close()
			p := NewFromRows(sch)
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			done := rowtest.PerValue(b, len(ends)*len(sch.Fields))
			for b.Loop() {
				a.Reset()
				if _, err := p.Columns(rows, ends, a); err != nil {
					b.Fatal(err)
				}
			}
			done()
		})
	}
}

func BenchmarkToRows(b *testing.B) {
	for _, s := range shapes {
		sch, cols, rows, _ := s.made(b)
		b.Run(s.name, func(b *testing.B) {
			w := NewToRows(sch)
			ends := make([]int32, 1<<16)
			block := make([]byte, len(rows))
			b.SetBytes(int64(len(rows)))
			b.ReportAllocs()
			done := rowtest.PerValue(b, s.rows*len(sch.Fields))
			for b.Loop() {
				if err := w.Begin(cols, s.rows); err != nil {
					b.Fatal(err)
				}
				for {
					n, size := w.Plan(256<<10, ends)
					if n == 0 {
						break
					}
					w.Write(block[:size])
				}
			}
			done()
		})
	}
}

// BenchmarkCopy is the bound that memory sets: the flat relation's rows copied.
func BenchmarkCopy(b *testing.B) {
	_, _, rows, ends := shapes[0].made(b)
	block := make([]byte, len(rows))
	b.SetBytes(int64(len(rows)))
	done := rowtest.PerValue(b, 6*len(ends))
	for b.Loop() {
		copy(block, rows)
	}
	done()
}
