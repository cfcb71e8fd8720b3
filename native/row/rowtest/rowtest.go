// Package rowtest reads the golden file that testdata/gen writes with Spark, and
// prints columns as it does. Only tests use it.
package rowtest

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// Case is rows that Spark has made.
type Case struct {
	Name   string
	Schema *schema.Schema
	Rows   [][]byte
	Values []string // of each row, as Text prints them
	Stats  []byte   // Spark's statistics row, nil where it is not what we want
}

// Cases reads the golden file at path.
func Cases(t testing.TB, path string) []Case {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []Case
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		key, rest, _ := strings.Cut(lines.Text(), " ")
		if key == "case" {
			cases = append(cases, Case{Name: rest})
			continue
		}
		c := &cases[len(cases)-1]
		switch key {
		case "schema":
			if c.Schema, err = schema.ParseSpark([]byte(rest)); err != nil {
				t.Fatal(c.Name, err)
			}
		case "row":
			c.Rows = append(c.Rows, unhex(t, rest))
		case "value":
			c.Values = append(c.Values, rest)
		case "stats":
			c.Stats = unhex(t, rest)
		default:
			t.Fatalf("%s: unknown line %q", path, key)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return cases
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Concat concatenates the rows of c that pick names.
func (c *Case) Concat(pick []int) (rows []byte, ends []int64) {
	for _, i := range pick {
		rows = append(rows, c.Rows[i]...)
		ends = append(ends, int64(len(rows)))
	}
	return rows, ends
}

// Row prints row i.
func Row(cols []*column.Column, i int) string {
	parts := make([]string, len(cols))
	for k, c := range cols {
		parts[k] = Text(c, i)
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// Text prints slot i of c as testdata/gen does: floats as their bits, decimals
// unscaled, bytes in hex, maps as arrays of pairs.
func Text(c *column.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	switch c.Type.Kind {
	case schema.Bool:
		return fmt.Sprint(c.Values[i>>3]>>(i&7)&1 != 0)
	case schema.Int8:
		return fmt.Sprint(column.View[int8](c.Values)[i])
	case schema.Int16:
		return fmt.Sprint(column.View[int16](c.Values)[i])
	case schema.Int32:
		return fmt.Sprint(column.View[int32](c.Values)[i])
	case schema.Int64:
		return fmt.Sprint(column.View[int64](c.Values)[i])
	case schema.Float32:
		return fmt.Sprintf("%x", column.View[uint32](c.Values)[i])
	case schema.Float64:
		return fmt.Sprintf("%x", column.View[uint64](c.Values)[i])
	case schema.Decimal:
		w := column.View[uint64](c.Values)[2*i:]
		v := new(big.Int).Lsh(big.NewInt(int64(w[1])), 64)
		return v.Add(v, new(big.Int).SetUint64(w[0])).String()
	case schema.String, schema.Binary:
		o := column.View[int32](c.Offsets)[i:]
		return "'" + hex.EncodeToString(c.Data[o[0]:o[1]])
	case schema.List, schema.Map:
		o := column.View[int32](c.Offsets)[i:]
		var parts []string
		for j := int(o[0]); j < int(o[1]); j++ {
			parts = append(parts, Text(c.Children[0], j))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return Row(c.Children, i)
}
