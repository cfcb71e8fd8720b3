package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/total"
)

var totalTypes = []string{
	`"integer"`,
	`"string"`,
	structOf(`"long"`, structOf(`"decimal(20,2)"`, `"double"`), `"string"`),
	`{"type":"array","elementType":"long","containsNull":true}`,
	`"decimal(9,2)"`,
}

// Nodes of the projection {2, 0, 1, 3, 4}.
const (
	nodeStruct = iota
	nodeLong
	nodeInner
	nodeDecimal20
	nodeDouble
	nodeInnerString
	nodeInteger
	nodeString
	nodeArray
	nodeElement
	nodeDecimal9
	totalNodes
)

var totalProjection = []int{2, 0, 1, 3, 4}

var totalTerms = []Term{
	{nodeStruct, total.Count}, {nodeLong, total.Sum}, {nodeLong, total.DoubleSum}, {nodeInner, total.Count},
	{nodeDecimal20, total.DecimalSum}, {nodeDouble, total.DoubleSum}, {nodeInnerString, total.Lengths}, {nodeInteger, total.CheckedSum},
	{nodeString, total.Lengths}, {nodeString, total.Count}, {nodeArray, total.Count}, {nodeDecimal9, total.DecimalSum},
	{nodeDecimal9, total.Sum}, {nodeDecimal9, total.DoubleSum},
}

// arrowTotal adds up what arrow-go reads, value by value.
func arrowTotal(op total.Op, a arrow.Array, null func(int) bool) (sum total.Total) {
	double := 0.0
	for i := range a.Len() {
		if null(i) || a.IsNull(i) {
			continue
		}
		sum.Values++
		long, exact := int64(0), 0.0
		switch a := a.(type) {
		case *array.Int32:
			long = int64(a.Value(i))
		case *array.Int64:
			long = a.Value(i)
		case *array.Float64:
			exact = a.Value(i)
		case *array.Decimal128:
			long = int64(a.Value(i).LowBits()) // the samples fit
		case *array.String:
			long = int64(utf8.RuneCountInString(a.Value(i)))
		}
		if _, ok := a.(*array.Float64); !ok {
			exact = float64(long)
		}
		if op != total.Count && op != total.DoubleSum {
			sum.Low += long
		}
		double += exact
	}
	switch op {
	case total.DoubleSum:
		sum.Low = int64(math.Float64bits(double))
	case total.DecimalSum:
		sum.High = sum.Low >> 63
	}
	return sum
}

func arrowTotals(rec arrow.RecordBatch) (sums []total.Total) {
	never := func(int) bool { return false }
	outer := rec.Column(2).(*array.Struct)
	inner := outer.Field(1).(*array.Struct)
	inInner := func(i int) bool { return outer.IsNull(i) || inner.IsNull(i) }
	arrays := map[int32]arrow.Array{
		nodeStruct: outer, nodeLong: outer.Field(0), nodeInner: inner, nodeDecimal20: inner.Field(0), nodeDouble: inner.Field(1),
		nodeInnerString: outer.Field(2), nodeInteger: rec.Column(0), nodeString: rec.Column(1), nodeArray: rec.Column(3),
		nodeDecimal9: rec.Column(4),
	}
	for _, t := range totalTerms {
		null := never
		switch t.Node {
		case nodeLong, nodeInner, nodeInnerString:
			null = outer.IsNull
		case nodeDecimal20, nodeDouble:
			null = inInner
		}
		sums = append(sums, arrowTotal(t.Op, arrays[t.Node], null))
	}
	return sums
}

func TestTotals(t *testing.T) {
	s := sparkSchema(t, totalTypes...)
	r := rand.New(rand.NewPCG(31, 1))
	for _, codec := range ipc.CodecNames() {
		for _, n := range []int{0, 1, 64, 1500} {
			for _, nulls := range []int{0, 20, 100} {
				t.Run(fmt.Sprintf("%s/%d/%d", codec, n, nulls), func(t *testing.T) {
					var mem memory.Checked
					d, err := NewDecoder(s, totalProjection, &mem)
					if err != nil {
						t.Fatal(err)
					}
					got, want := make([]total.Total, len(totalTerms)), make([]total.Total, len(totalTerms))
					for range 2 {
						rec := randomRecord(r, s, n, nulls)
						if err := feed(d, ReadTotals, encoded(t, s, rec, codec, &mem)); err != nil {
							t.Fatal(err)
						}
						stats, err := d.Totals(totalTerms, got)
						if err != nil || stats.Rows != int64(n) {
							t.Fatal(stats, err)
						}
						for i, sum := range arrowTotals(rec) {
							add(&want[i], sum, totalTerms[i].Op)
						}
					}
					for i, g := range got {
						if !closeTotals(totalTerms[i].Op, g, want[i]) {
							t.Errorf("%v: %+v, want %+v", totalTerms[i], g, want[i])
						}
					}
					d.Close()
					if mem.Live() != 0 {
						t.Errorf("%d allocations leak", mem.Live())
					}
				})
			}
		}
	}
}

func add(t *total.Total, sum total.Total, op total.Op) {
	t.Values += sum.Values
	if op == total.DoubleSum {
		t.Low = int64(math.Float64bits(math.Float64frombits(uint64(t.Low)) + math.Float64frombits(uint64(sum.Low))))
		return
	}
	t.Low += sum.Low
	if op == total.DecimalSum {
		t.High = t.Low >> 63
	}
}

// closeTotals leaves room for the order in which doubles of two batches were added here.
func closeTotals(op total.Op, a, b total.Total) bool {
	if op == total.DoubleSum {
		x, y := math.Float64frombits(uint64(a.Low)), math.Float64frombits(uint64(b.Low))
		if math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-9*math.Abs(x) {
			a.Low = b.Low
		}
	}
	return a == b
}

// Fields that nothing reads are void, and nodes are counted without what is below them.
func TestTotalsWithoutFields(t *testing.T) {
	s := sparkSchema(t, totalTypes...)
	rec := randomRecord(rand.New(rand.NewPCG(31, 2)), s, 700, 20)
	for _, codec := range ipc.CodecNames() {
		var mem memory.Checked
		b := encoded(t, s, rec, codec, &mem)
		d, err := NewPartialDecoder(s, totalProjection, []int{nodeInner, nodeInnerString}, &mem)
		if err != nil {
			t.Fatal(err)
		}
		if err := feed(d, ReadTotals, b); err != nil {
			t.Fatal(err)
		}
		sums := make([]total.Total, 3)
		// The struct is a node, its long, its void, its other void; then the integer.
		if _, err := d.Totals([]Term{{1, total.Sum}, {2, total.Count}, {4, total.Sum}}, sums); err != nil {
			t.Fatal(err)
		}
		want := arrowTotals(rec)
		if sums[0] != want[1] || sums[1] != (total.Total{}) || sums[2] != want[7] {
			t.Errorf("%s: %+v, want %+v, none, %+v", codec, sums, want[1], want[7])
		}
		d.Close()
		if mem.Live() != 0 {
			t.Errorf("%d allocations leak", mem.Live())
		}
	}
}

func TestWrongTerms(t *testing.T) {
	s := sparkSchema(t, totalTypes...)
	rec := randomRecord(rand.New(rand.NewPCG(31, 3)), s, 50, 20)
	var mem memory.Checked
	b := encoded(t, s, rec, "pack", &mem)
	d, err := NewDecoder(s, totalProjection, &mem)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for want, term := range map[string]Term{
		"node -1 of 11":            {-1, total.Count},
		"node 11 of 11":            {totalNodes, total.Count},
		"node 9, which is no":      {nodeElement, total.Count},
		"type array":               {nodeArray, total.Sum},
		"type string":              {nodeString, total.DoubleSum},
		"type decimal(20,2)":       {nodeDecimal20, total.Sum},
		"there is no operation 6":  {nodeInteger, total.Lengths + 1},
		"there is no operation -1": {nodeInteger, -1},
	} {
		if err := feed(d, ReadTotals, b); err != nil {
			t.Fatal(err)
		}
		sums := make([]total.Total, 2)
		_, err := d.Totals([]Term{{nodeInteger, total.Sum}, term}, sums)
		if !errors.As(err, new(*OptionError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", term, err, want)
		}
		if sums[0] != (total.Total{}) {
			t.Errorf("%v: an error, and %+v was added", term, sums[0])
		}
	}
	if err := feed(d, ReadVectors, b); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Totals(nil, nil); err == nil {
		t.Error("a batch planned for vectors was added up")
	}
}

// A filter decides which batches are read, not which rows of these count.
func TestTotalsInSpiteOfAFilter(t *testing.T) {
	s := sparkSchema(t, `"long"`)
	rec := randomRecord(rand.New(rand.NewPCG(31, 4)), s, 300, 20)
	var mem memory.Checked
	d, err := NewDecoder(s, []int{0}, &mem)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.SetFilter("0 null\n"); err != nil {
		t.Fatal(err)
	}
	if err := feed(d, ReadTotals, encoded(t, s, rec, "pack", &mem)); err != nil {
		t.Fatal(err)
	}
	sums := make([]total.Total, 1)
	if _, err := d.Totals([]Term{{0, total.Sum}}, sums); err != nil {
		t.Fatal(err)
	}
	if want := arrowTotal(total.Sum, rec.Column(0), func(int) bool { return false }); sums[0] != want {
		t.Errorf("%+v, want %+v", sums[0], want)
	}
}

func BenchmarkTotals(b *testing.B) {
	for _, codec := range []string{"pack", "none"} {
		b.Run(codec, func(b *testing.B) {
			terms := []Term{{0, total.CheckedSum}, {1, total.CheckedSum}, {2, total.CheckedSum}}
			sums := make([]total.Total, len(terms))
			benchDecode(b, codec, []int{0, 1, 2}, func(d *Decoder, e stored) error {
				if err := feed(d, ReadTotals, e); err != nil {
					return err
				}
				_, err := d.Totals(terms, sums)
				return err
			})
		})
	}
}
