package filter

import (
	"math"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// Keys are in the order that Spark sorts doubles in (SQL reference, "NaN
// semantics"): -Infinity first, both zeros equal, NaN after Infinity.
func TestKeyOrdersAsCatalyst(t *testing.T) {
	rising := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64,
		1, 1.5, math.MaxFloat64, math.Inf(1), math.NaN()}
	for i := 1; i < len(rising); i++ {
		if Key(rising[i-1]) >= Key(rising[i]) {
			t.Errorf("key of %v is not below that of %v", rising[i-1], rising[i])
		}
	}
	for _, nan := range []uint64{0x7FF0000000000001, 0xFFF8000000000000, 0xFFFFFFFFFFFFFFFF} {
		if Key(math.Float64frombits(nan)) != Key(math.NaN()) {
			t.Errorf("NaN %x has a key of its own", nan)
		}
	}
	if Key(math.Copysign(0, -1)) != Key(0) {
		t.Error("the zeros differ")
	}
	if k := Key(-2); int64(math.Float64bits(2)) != -k-1 {
		t.Errorf("key of -2 is %x", k) // what Column.floatKey in Java makes
	}
}

func benchSelect(b *testing.B, typ *schema.Type, values, offsets, data []byte, n int, condition string) {
	c := &column.Column{Type: typ, Len: n, Values: values, Offsets: offsets, Data: data}
	f, err := Parse("0 "+condition, []*schema.Type{typ})
	if err != nil {
		b.Fatal(err)
	}
	sel := make([]byte, n/8+1)
	var s Scratch
	for b.Loop() {
		f[0].Select(c, sel, &s)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
}

func BenchmarkSelect(b *testing.B) {
	const n = 10000
	longs := make([]int64, 2*n)
	offsets := make([]int32, n+1)
	var data []byte
	for i := range longs {
		longs[i] = int64(uint64(i) * 0x9E3779B97F4A7C15 >> 40 % 1000)
	}
	for i := range n {
		data = append(data, "customer#"[:3+longs[i]%7]...)
		offsets[i+1] = int32(len(data))
	}
	of := func(k schema.Kind) *schema.Type { return &schema.Type{Kind: k, Precision: 12} }
	b.Run("long", func(b *testing.B) { benchSelect(b, of(schema.Int64), column.Bytes(longs), nil, nil, n, "range 5 200") })
	b.Run("int", func(b *testing.B) { benchSelect(b, of(schema.Int32), column.Bytes(longs), nil, nil, n, "range 5 200") })
	b.Run("three", func(b *testing.B) {
		benchSelect(b, of(schema.Int64), column.Bytes(longs), nil, nil, n, "range 5 5 7 7 9 9")
	})
	b.Run("double", func(b *testing.B) {
		benchSelect(b, of(schema.Float64), column.Bytes(longs), nil, nil, n, "range 5 200")
	})
	b.Run("decimal", func(b *testing.B) {
		benchSelect(b, of(schema.Decimal), column.Bytes(longs), nil, nil, n, "range 5 200")
	})
	b.Run("string", func(b *testing.B) {
		benchSelect(b, of(schema.String), nil, column.Bytes(offsets), data, n, "equal x637573746f6d6572")
	})
}
