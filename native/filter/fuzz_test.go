package filter

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// fuzzTypes are types of every kind that conditions know, and one that they do not.
var fuzzTypes = []*schema.Type{
	{Name: "boolean", Kind: schema.Bool}, {Name: "byte", Kind: schema.Int8}, {Name: "short", Kind: schema.Int16},
	{Name: "int", Kind: schema.Int32}, {Name: "long", Kind: schema.Int64}, {Name: "float", Kind: schema.Float32},
	{Name: "double", Kind: schema.Float64}, {Name: "decimal(18,0)", Kind: schema.Decimal, Precision: 18},
	{Name: "decimal(38,0)", Kind: schema.Decimal, Precision: 38}, {Name: "string", Kind: schema.String}, {Name: "binary", Kind: schema.Binary},
}

// FuzzConditions parses arbitrary text. What is taken selects those slots that
// the documentation of [Parse] says, by a reading of the text that shares
// nothing with the parser.
func FuzzConditions(f *testing.F) {
	values := []byte{0, 0, 0, 0, 0, 0, 0, 128, 1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 248, 127}
	for i, text := range []string{"0 range 1 1", "0 range -128 -1 5 9", "0 null", "0 value\n0 range 0 0", "0 range 0 9223372036854775807",
		"0 range -9223372036854775808 -1", "0 range", "0 range 9223372036854775807 9223372036854775807", "0 value", "0 equal x x61 x616263",
		"0 range 1 1 3 3 5 5 7 7 9 9 11 11 13 13 15 15 17 17 19 19", "0 prefix x61", "0 range 5", "1 null", "x"} {
		f.Add(byte(i), text, values, uint64(i))
		f.Add(byte(9), text, []byte("abcabca\x00\xff\xffaab"), uint64(0))
	}
	f.Fuzz(func(t *testing.T, which byte, text string, data []byte, nulls uint64) {
		typ := fuzzTypes[int(which)%len(fuzzTypes)]
		conditions, err := Parse(text, []*schema.Type{typ})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "filter: ") {
				t.Fatal(err)
			}
			return
		}
		// long texts take few slots, or the comparison below takes seconds
		c := fuzzColumn(typ, data[:min(len(data), 1<<19/(len(text)+1))], nulls)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			lines = nil
		}
		if len(lines) != len(conditions) {
			t.Fatalf("%d conditions of %d lines", len(conditions), len(lines))
		}
		sel := make([]byte, (c.Len+7)/8+64)
		for k := range conditions {
			conditions[k].Select(c, sel, new(Scratch))
			for i := range c.Len {
				if got, want := sel[i>>3]>>(i&7)&1 == 1, meets(strings.Fields(lines[k]), c, i); got != want {
					t.Fatalf("%q: slot %d of %s is selected: %t, want %t", lines[k], i, typ.Name, got, want)
				}
			}
		}
	})
}

// fuzzColumn makes a column of the data; every other one has nulls, by the bits.
func fuzzColumn(typ *schema.Type, data []byte, nulls uint64) *column.Column {
	width := map[schema.Kind]int{schema.Int8: 1, schema.Int16: 2, schema.Int32: 4, schema.Int64: 8, schema.Float32: 4, schema.Float64: 8,
		schema.Decimal: 16, schema.String: 1, schema.Binary: 1, schema.Bool: 1}[typ.Kind]
	c := &column.Column{Type: typ, Len: min(len(data)/width, 3000)}
	data = append(bytes.Clone(data), make([]byte, 64)...)
	switch typ.Kind {
	case schema.String, schema.Binary: // lengths 0 to 3, by the bytes
		offsets := []int32{0}
		for i := range c.Len {
			offsets = append(offsets, min(offsets[i]+int32(data[i]&3), int32(c.Len)))
		}
		c.Offsets, c.Data = column.Bytes(offsets), data
	default:
		c.Values = column.Bytes(append([]uint64(nil), words(data)...)) // aligned
		if typ.Kind == schema.Decimal {
			signs(c)
		}
	}
	if nulls&1 == 1 {
		c.Validity = make([]byte, (c.Len+7)/8+64)
		for i := range c.Len {
			c.Validity[i>>3] |= byte(nulls>>(i%64)&1) << (i & 7)
		}
	}
	return c
}

func words(data []byte) (out []uint64) {
	for ; len(data) >= 8; data = data[8:] {
		out = append(out, binary.LittleEndian.Uint64(data))
	}
	return out
}

// signs makes decimals of at most 18 digits of what is there.
func signs(c *column.Column) {
	v := column.View[int64](c.Values)
	for i := range c.Len {
		if c.Type.Precision <= 18 {
			v[2*i] %= 1_000_000_000_000_000_000
		}
		v[2*i+1] = v[2*i] >> 63
	}
}

// meets reads one line.
func meets(words []string, c *column.Column, i int) bool {
	null := c.Validity != nil && c.Validity[i>>3]>>(i&7)&1 == 0
	switch words[1] {
	case "null":
		return null
	case "value":
		return !null
	}
	if null {
		return false
	}
	if words[1] == "range" {
		v := key(c, i)
		for k := 2; k < len(words); k += 2 {
			lo, _ := new(big.Int).SetString(words[k], 10)
			hi, _ := new(big.Int).SetString(words[k+1], 10)
			if lo.Cmp(v) <= 0 && v.Cmp(hi) <= 0 {
				return true
			}
		}
		return false
	}
	offsets := column.View[int32](c.Offsets)
	text := hex.EncodeToString(c.Data[offsets[i]:offsets[i+1]])
	for _, w := range words[2:] {
		w = strings.ToLower(w[1:])
		if text == w || words[1] == "prefix" && strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// key is the number that ranges are about.
func key(c *column.Column, i int) *big.Int {
	at := func(width int) []byte { return append(bytes.Clone(c.Values[width*i:][:width]), make([]byte, 8)...) }
	u := func(width int) uint64 { return binary.LittleEndian.Uint64(at(width)) }
	floating := func(v float64) int64 {
		switch {
		case math.IsNaN(v):
			return math.MaxInt64
		case v >= 0:
			return int64(math.Float64bits(math.Abs(v)))
		}
		return -int64(math.Float64bits(-v)) - 1
	}
	var v int64
	switch c.Type.Kind {
	case schema.Bool:
		v = int64(c.Values[i>>3] >> (i & 7) & 1)
	case schema.Int8:
		v = int64(int8(u(1)))
	case schema.Int16:
		v = int64(int16(u(2)))
	case schema.Int32:
		v = int64(int32(u(4)))
	case schema.Int64:
		v = int64(u(8))
	case schema.Float32:
		v = floating(float64(math.Float32frombits(uint32(u(4)))))
	case schema.Float64:
		v = floating(math.Float64frombits(u(8)))
	case schema.Decimal:
		v = int64(binary.LittleEndian.Uint64(c.Values[16*i:]))
	}
	return big.NewInt(v)
}
