package codec

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// validities of n slots, one bool a slot.
func validities(n int) map[string][]bool {
	out := map[string][]bool{}
	add := func(name string, valid func(i int) bool) {
		v := make([]bool, n)
		for i := range v {
			v[i] = valid(i)
		}
		out[name] = v
	}
	r := rand.New(rand.NewPCG(3, 4))
	add("all", func(int) bool { return true })
	add("none", func(int) bool { return false })
	add("first", func(i int) bool { return i == 0 })
	add("last", func(i int) bool { return i == n-1 })
	add("middle", func(i int) bool { return i == n/2 })
	add("even", func(i int) bool { return i&1 == 0 })
	add("odd", func(i int) bool { return i&1 == 1 })
	add("blocks of 64", func(i int) bool { return i>>6&1 == 0 })
	add("blocks of 64, nulls first", func(i int) bool { return i>>6&1 == 1 })
	add("blocks of 70", func(i int) bool { return i/70&1 == 0 })
	add("random", func(int) bool { return r.IntN(10) > 0 })
	add("mostly null", func(int) bool { return r.IntN(50) == 0 })
	return out
}

func bitmap(valid []bool) (bits []byte, nulls int) {
	bits = make([]byte, (len(valid)+7)/8)
	for i, v := range valid {
		if v {
			bits[i>>3] |= 1 << (i & 7)
		} else {
			nulls++
		}
	}
	return bits, nulls
}

// filled says for each slot which slot's value it must have, -1 for zero.
func filled(valid []bool) []int {
	out := make([]int, len(valid))
	prev := -1
	for i, v := range valid {
		if v {
			prev = i
		}
		out[i] = prev
	}
	for i, v := range valid {
		if v {
			for k := range i {
				out[k] = i
			}
			break
		}
	}
	return out
}

func TestFillNulls(t *testing.T) {
	for _, n := range []int{1, 7, 8, 63, 64, 65, 127, 128, 129, 200, 1000} {
		for name, valid := range validities(n) {
			bits, nulls := bitmap(valid)
			if nulls == 0 {
				bits = nil
			}
			for _, typ := range []*schema.Type{schema.Leaf("byte"), schema.Leaf("short"), schema.Leaf("date"), schema.Leaf("double"), schema.DecimalOf(38, 2)} {
				w := typ.Kind.ValueWidth()
				value := func(i int) []byte {
					v := make([]byte, w)
					if i >= 0 {
						for k := range v {
							v[k] = byte(i*7 + k + 1)
						}
					}
					return v
				}
				var b []byte
				for i := range n {
					b = append(b, value(i)...)
				}
				c := &column.Column{Type: typ, Len: n, Nulls: nulls, Validity: bits, Values: b}
				FillNulls(c)
				for i, from := range filled(valid) {
					if got := string(c.Values[i*w : i*w+w]); got != string(value(from)) {
						t.Fatalf("%s of %d, %s, slot %d: % x instead of % x", name, n, typ.Name, i, got, value(from))
					}
				}
			}
			testFillBools(t, name, valid, bits, nulls)
		}
	}
}

func testFillBools(t *testing.T, name string, valid []bool, bits []byte, nulls int) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	n := len(valid)
	in := make([]bool, n)
	for i := range in {
		in[i] = r.IntN(2) == 0
	}
	values, _ := bitmap(in)
	c := &column.Column{Type: schema.Leaf("boolean"), Len: n, Nulls: nulls, Validity: bits, Values: values}
	FillNulls(c)
	for i, from := range filled(valid) {
		want := from >= 0 && in[from]
		if got := c.Values[i>>3]>>(i&7)&1 == 1; got != want {
			t.Fatalf("boolean, %s of %d, slot %d: %v", name, n, i, got)
		}
	}
}

func TestFillNullsOfChildren(t *testing.T) {
	typ := schema.StructOf(schema.Field{Name: "a", Type: schema.Leaf("long"), Nullable: true}, schema.Field{Name: "b", Type: schema.Leaf("string")},
		schema.Field{Name: "v", Type: schema.Leaf("void")})
	c := column.New(typ)
	c.Len = 3
	values := []int64{5, 6, 7}
	c.Children[0].Len, c.Children[0].Nulls, c.Children[0].Validity, c.Children[0].Values = 3, 1, []byte{0b101}, column.Bytes(values)
	c.Children[1].Len, c.Children[1].Nulls, c.Children[1].Validity, c.Children[1].Offsets = 3, 3, []byte{0}, make([]byte, 16)
	c.Children[2].Len, c.Children[2].Nulls = 3, 3
	FillNulls(c)
	if values[0] != 5 || values[1] != 5 || values[2] != 7 {
		t.Fatal(values)
	}
}

// An empty column, and one whose nulls are counted without a bitmap.
func TestFillNullsOfNothing(t *testing.T) {
	FillNulls(&column.Column{Type: schema.Leaf("long")})
	FillNulls(&column.Column{Type: schema.Leaf("boolean"), Len: 0, Nulls: 0, Validity: nil})
}

func BenchmarkFillNulls(b *testing.B) {
	const n = 10_000
	all := validities(n)
	for _, name := range []string{"random", "odd", "mostly null", "blocks of 64"} {
		bits, nulls := bitmap(all[name])
		for _, typ := range []string{"long", "boolean"} {
			b.Run(fmt.Sprintf("%s/%s", typ, name), func(b *testing.B) {
				t := schema.Leaf(typ)
				c := &column.Column{Type: t, Len: n, Nulls: nulls, Validity: bits, Values: make([]byte, 8*n)}
				for i := range n {
					binary.LittleEndian.PutUint64(c.Values[8*i:], uint64(i))
				}
				for b.Loop() {
					FillNulls(c)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
			})
		}
	}
}
