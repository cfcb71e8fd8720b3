package corpus

import (
	"fmt"
	"iter"
	"math/rand"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

var words = []string{
	"furiously", "carefully", "quickly", "slyly", "blithely", "ideas", "requests", "deposits", "packages", "foxes",
	"accounts", "theodolites", "instructions", "pinto beans", "dependencies", "excuses", "platelets", "asymptotes",
	"courts", "dolphins", "special", "pending", "unusual", "express", "silent", "final", "ironic", "even", "bold",
	"regular", "sleep", "wake", "are", "cajole", "haggle", "nag", "use", "boost", "affix", "detect", "integrate", "among",
	"above", "according to", "the", "after", "against", "across", "along",
}

func comment(r *rand.Rand, dst []byte, low, high int) []byte {
	end := len(dst) + low + r.Intn(high-low+1)
	for len(dst) < end {
		dst = append(append(dst, pick(r, words)...), ' ')
	}
	return dst[:end]
}

// Lineitem is like TPC-H's lineitem: the same types, orders of magnitude and
// dependencies between columns.
var Lineitem = Relation{Name: "lineitem", Columns: []string{"l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity",
	"l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus", "l_shipdate", "l_commitdate", "l_receiptdate",
	"l_shipinstruct", "l_shipmode", "l_comment"},
	Batches: func(rows int) iter.Seq[[]*column.Column] {
		r := rand.New(rand.NewSource(2))
		order, line, lines, date := int64(0), 1, 0, 0
		return cut(rows, func(_, n int) []*column.Column {
			var longs [11][]int64
			for range n {
				if line > lines {
					order++
					if order&7 == 0 {
						order += 24
					}
					line, lines, date = 1, 1+r.Intn(7), 8035+r.Intn(2406)
				}
				part, quantity := 1+r.Int63n(200000), 1+r.Int63n(50)
				ship := int64(date + 1 + r.Intn(121))
				for c, v := range []int64{order, part, (part+r.Int63n(4)*2501)%10000 + 1, int64(line), quantity * 100,
					quantity * (90000 + part/10%20001 + 100*(part%1000)), r.Int63n(11), r.Int63n(9),
					ship, int64(date + 30 + r.Intn(61)), ship + 1 + r.Int63n(30)} {
					longs[c] = append(longs[c], v)
				}
				line++
			}
			long := func(t *schema.Type, c int) *column.Column {
				return Longs(t, 0, n, all(func(row int) int64 { return longs[c][row] }))
			}
			text := func(f func(row int) string) *column.Column {
				return Texts(0, n, func(dst []byte, row int) ([]byte, bool) { return append(dst, f(row)...), true })
			}
			return []*column.Column{long(Int64, 0), long(Int64, 1), long(Int64, 2), long(Int32, 3), long(Decimal, 4), long(Decimal, 5),
				long(Decimal, 6), long(Decimal, 7),
				text(func(row int) string {
					if longs[10][row] <= 9298 {
						return pick(r, []string{"R", "A"})
					}
					return "N"
				}),
				text(func(row int) string {
					if longs[8][row] > 9298 {
						return "O"
					}
					return "F"
				}),
				long(Int32, 8), long(Int32, 9), long(Int32, 10),
				text(func(int) string {
					return pick(r, []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"})
				}),
				text(func(int) string { return pick(r, []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}) }),
				Texts(0, n, func(dst []byte, _ int) ([]byte, bool) { return comment(r, dst, 10, 43), true }),
			}
		})
	}}

// Orders is like TPC-H's orders.
var Orders = Relation{Name: "orders", Columns: []string{"o_orderkey", "o_custkey", "o_orderstatus", "o_totalprice", "o_orderdate",
	"o_orderpriority", "o_clerk", "o_shippriority", "o_comment"},
	Batches: func(rows int) iter.Seq[[]*column.Column] {
		r := rand.New(rand.NewSource(3))
		return cut(rows, func(from, n int) []*column.Column {
			text := func(f func() string) *column.Column {
				return Texts(0, n, func(dst []byte, _ int) ([]byte, bool) { return append(dst, f()...), true })
			}
			return []*column.Column{
				Longs(Int64, from, n, all(func(row int) int64 { return int64(row/8*32 + row%8 + 1) })),
				Longs(Int64, from, n, all(func(int) int64 { return r.Int63n(50000)*3 + 1 + r.Int63n(2) })),
				text(func() string { return pick(r, []string{"O", "F", "O", "F", "P"}) }),
				Longs(Decimal, from, n, all(func(int) int64 { return 85000 + r.Int63n(50000000) })),
				Longs(Int32, from, n, all(func(int) int64 { return 8035 + r.Int63n(2406) })),
				text(func() string {
					return pick(r, []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"})
				}),
				text(func() string { return fmt.Sprintf("Clerk#%09d", 1+r.Intn(1000)) }),
				Longs(Int32, from, n, all(func(int) int64 { return 0 })),
				Texts(0, n, func(dst []byte, _ int) ([]byte, bool) { return comment(r, dst, 19, 78), true }),
			}
		})
	}}
