package total

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

func typeOf(t testing.TB, name string) *schema.Type {
	t.Helper()
	s, err := schema.ParseSpark([]byte(`{"type":"struct","fields":[{"name":"c","type":"` + name + `","nullable":true,"metadata":{}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s.Fields[0].Type
}

// sample is a column beside the values that Spark has for it, one for each slot.
type sample struct {
	column *column.Column
	ints   []*big.Int
	floats []float64
	null   []bool
}

// numbers makes a column of n values; extent is how many bits the largest has.
func numbers(t testing.TB, r *rand.Rand, name string, n, nulls, extent int) sample {
	s := sample{column: &column.Column{Type: typeOf(t, name), Len: n}, null: make([]bool, n)}
	validity := make([]byte, (n+7)/8+int(r.UintN(2))*9) // of any length that is enough
	for i := range n {
		if s.null[i] = r.IntN(100) < nulls; s.null[i] {
			s.column.Nulls++
		} else {
			validity[i/8] |= 1 << (i % 8)
		}
	}
	if s.column.Nulls > 0 {
		for i := n; i < 8*len(validity); i++ {
			validity[i/8] |= byte(r.UintN(2)) << (i % 8) // bits after the last slot mean nothing
		}
		s.column.Validity = validity
	}
	switch name {
	case "byte":
		s.fill(r, 1, extent)
	case "short":
		s.fill(r, 2, extent)
	case "integer":
		s.fill(r, 4, extent)
	case "long":
		s.fill(r, 8, extent)
	case "float":
		s.fillFloats(r, func(f float64) (float64, []byte) { return float64(float32(f)), column.Bytes([]float32{float32(f)}) })
	case "double":
		s.fillFloats(r, func(f float64) (float64, []byte) { return f, column.Bytes([]float64{f}) })
	default:
		s.fill(r, 16, extent)
	}
	return s
}

// fill makes integers of so many bytes; null slots hold anything.
func (s *sample) fill(r *rand.Rand, width, extent int) {
	for i := range s.column.Len {
		v := big.NewInt(0)
		for v.BitLen() == 0 || r.UintN(2) == 0 && v.BitLen() < extent {
			v.Lsh(v, 32).Or(v, big.NewInt(int64(r.Uint32())))
		}
		v.Rsh(v, uint(max(0, v.BitLen()-min(extent, 8*width-1))))
		if r.UintN(2) == 0 {
			v.Not(v)
		}
		if s.null[i] && r.UintN(2) == 0 {
			v.SetInt64(-1)
		}
		bytes := make([]byte, width)
		for k := range bytes {
			bytes[k] = byte(new(big.Int).Rsh(v, uint(8*k)).Int64())
			if v.Sign() < 0 { // Rsh rounds down, so that its low byte is that of two's complement
				bytes[k] = byte(new(big.Int).And(new(big.Int).Rsh(v, uint(8*k)), big.NewInt(255)).Int64())
			}
		}
		s.column.Values = append(s.column.Values, bytes...)
		s.ints = append(s.ints, v)
		f, _ := new(big.Float).SetInt(v).Float64()
		s.floats = append(s.floats, f)
	}
}

func (s *sample) fillFloats(r *rand.Rand, stored func(float64) (float64, []byte)) {
	odd := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e300, 1e-300, math.MaxFloat32}
	special := r.UintN(3) == 0
	for i := range s.column.Len {
		f := r.NormFloat64() * math.Pow(10, float64(r.IntN(30)))
		if s.null[i] || special && r.UintN(50) == 0 {
			f = odd[r.IntN(len(odd))]
		}
		value, bytes := stored(f)
		s.floats = append(s.floats, value)
		s.column.Values = append(s.column.Values, bytes...)
	}
}

// wrapped is v in two's complement of so many 64-bit words, lowest first.
func wrapped(v *big.Int, words int) (out []int64) {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	for k := range words {
		out = append(out, int64(new(big.Int).And(new(big.Int).Rsh(v, uint(64*k)), mask).Uint64()))
	}
	return out
}

// naive adds as Spark's aggregate does: value by value to what it has.
func naive(op Op, sum Total, s sample) Total {
	exact := new(big.Int).Lsh(big.NewInt(sum.High), 64)
	exact.Or(exact, new(big.Int).SetUint64(uint64(sum.Low)))
	if op != DecimalSum {
		exact.SetInt64(sum.Low)
	}
	double := math.Float64frombits(uint64(sum.Low))
	before := sum.Values
	for i := range s.column.Len {
		if s.null[i] {
			continue
		}
		sum.Values++
		switch op {
		case Sum, DecimalSum:
			exact.Add(exact, s.ints[i])
		case CheckedSum:
			if next := new(big.Int).Add(exact, s.ints[i]); next.IsInt64() {
				exact = next
			} else {
				return Total{before, exact.Int64(), 1, s.ints[i].Int64()}
			}
		case DoubleSum:
			double += s.floats[i]
		}
	}
	switch op {
	case Sum, CheckedSum:
		sum.Low = wrapped(exact, 1)[0]
	case DoubleSum:
		sum.Low = int64(math.Float64bits(double))
	case DecimalSum:
		w := wrapped(exact, 2)
		sum.Low, sum.High = w[0], w[1]
	}
	return sum
}

func same(op Op, a, b Total) bool {
	if op == DoubleSum { // which of several NaNs is left is not said
		x, y := math.Float64frombits(uint64(a.Low)), math.Float64frombits(uint64(b.Low))
		if math.IsNaN(x) && math.IsNaN(y) {
			a.Low = b.Low
		}
	}
	return a == b
}

var opsOf = map[string][]Op{
	"byte":           {Count, Sum, CheckedSum, DoubleSum},
	"short":          {Count, Sum, CheckedSum, DoubleSum},
	"integer":        {Count, Sum, CheckedSum, DoubleSum},
	"long":           {Count, Sum, CheckedSum, DoubleSum},
	"float":          {Count, DoubleSum},
	"double":         {Count, DoubleSum},
	"decimal(18,3)":  {Count, Sum, CheckedSum, DoubleSum, DecimalSum},
	"decimal(28,10)": {Count, DecimalSum},
}

func TestTotalsAreThoseOfAddingOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	overflows := 0
	for name, ops := range opsOf {
		for _, op := range ops {
			for _, nulls := range []int{0, 10, 97, 100} {
				for _, n := range []int{0, 1, 7, 8, 63, 64, 65, 200, 1029} {
					extents := []int{3, 31, 63}
					if op == DecimalSum {
						extents = []int{3, 59, 92}
					}
					for _, extent := range extents {
						var got, want Total
						for range 3 { // batches
							s := numbers(t, r, name, n, nulls, extent)
							if want.High == 0 || op != CheckedSum {
								want = naive(op, want, s)
							}
							got.Add(op, s.column, s.column.Validity)
							if !same(op, got, want) {
								t.Fatalf("%s, operation %d, %d of %d null, %d bits: %+v, want %+v", name, op, nulls, n, extent, got, want)
							}
						}
						if op == CheckedSum {
							overflows += int(want.High)
						}
					}
				}
			}
		}
	}
	if overflows < 20 {
		t.Errorf("%d sums overflowed", overflows)
	}
}

// Sums stop right before the value with which they would leave 64 bits, and at no other.
func TestCheckedSumsAtTheBounds(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		values []int64
		want   Total
	}{
		{[]int64{most, 0}, Total{2, most, 0, 0}},
		{[]int64{most - 1, 1}, Total{2, most, 0, 0}},
		{[]int64{most, 1, -1}, Total{0, most, 1, 1}},
		{[]int64{-1, most, 1}, Total{3, most, 0, 0}},
		{[]int64{least, 0, -1}, Total{0, least, 1, -1}},
		{[]int64{least + 1, -1}, Total{2, least, 0, 0}},
		{[]int64{least, most, 1}, Total{3, 0, 0, 0}},
		{[]int64{5, least, least}, Total{0, least + 5, 1, least}},
	} {
		for _, width := range []int{1, 2} {
			typ, values := typeOf(t, "long"), c.values
			if width == 2 {
				typ, values = typeOf(t, "decimal(18,0)"), nil
				for _, v := range c.values {
					values = append(values, v, v>>63)
				}
			}
			var got Total
			got.Add(CheckedSum, &column.Column{Type: typ, Len: len(c.values), Values: column.Bytes(values)}, nil)
			if got != c.want {
				t.Errorf("%v: %+v, want %+v", c.values, got, c.want)
			}
		}
	}
}

func TestTheFirstOverflowStays(t *testing.T) {
	var sum Total
	c := &column.Column{Type: typeOf(t, "long"), Len: 2, Values: column.Bytes([]int64{math.MaxInt64, 7})}
	small := &column.Column{Type: c.Type, Len: 1, Values: column.Bytes([]int64{-9})}
	for _, add := range []*column.Column{small, small, c, c, small} {
		sum.Add(CheckedSum, add, nil)
	}
	if want := (Total{4, math.MaxInt64 - 11, 1, math.MaxInt64}); sum.High != 1 || sum.Excess != 7 && sum != want {
		t.Errorf("%+v", sum)
	}
}

func TestOperationsFitTheirTypes(t *testing.T) {
	for _, name := range []string{"boolean", "byte", "long", "float", "double", "decimal(18,3)", "decimal(19,3)", "string", "binary", "void"} {
		typ := typeOf(t, name)
		for op := Count - 1; op <= Lengths+1; op++ {
			want := op == Count || name == "void" && op > Count && op <= Lengths
			switch op {
			case Sum, CheckedSum:
				want = want || name == "byte" || name == "long" || name == "decimal(18,3)"
			case DoubleSum:
				want = want || name == "byte" || name == "long" || name == "decimal(18,3)" || name == "float" || name == "double"
			case DecimalSum:
				want = want || name == "decimal(18,3)" || name == "decimal(19,3)"
			case Lengths:
				want = want || name == "string" || name == "binary"
			}
			if err := Check(op, typ); (err == nil) != want {
				t.Errorf("operation %d of %s: %v", op, name, err)
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 10000
	for _, c := range []struct {
		name string
		op   Op
	}{
		{"long", Sum}, {"long", CheckedSum}, {"integer", CheckedSum}, {"double", DoubleSum}, {"decimal(18,3)", CheckedSum},
		{"decimal(28,10)", DecimalSum},
	} {
		for _, nulls := range []int{0, 12} {
			b.Run(fmt.Sprintf("%s/%d/nulls=%d", c.name, c.op, nulls), func(b *testing.B) {
				s := numbers(b, r, c.name, n, nulls, 30)
				b.SetBytes(int64(len(s.column.Values)))
				var sum Total
				for b.Loop() {
					sum.Add(c.op, s.column, s.column.Validity)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
			})
		}
	}
}
