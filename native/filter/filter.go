// Package filter evaluates simple conditions on decoded columns, so that a
// reader can leave rows out before it decodes and hands over the rest.
package filter

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// Condition is met by slots of one column. Null slots meet none but Null.
type Condition struct {
	// Column is an index into the columns that the conditions were parsed for.
	Column int
	test   test
	// of range: disjoint and rising, both ends included
	ranges []interval
	// of equal: sorted bytewise; of prefix: one
	values [][]byte
}

type interval struct{ lo, hi int64 }

type test uint8

const (
	inRange test = iota
	equal
	prefix
	null
	notNull
)

// Parse reads conditions, all of which rows have to meet, one a line:
//
//	COLUMN range LO HI [LO HI …]   signed integers, both ends included, disjoint and rising
//	COLUMN equal xHEX [xHEX …]     strings that are equal to one of these, bytewise
//	COLUMN prefix xHEX             strings that begin so
//	COLUMN null | value            slots that are null, or are not
//
// COLUMN is an index into types. Ranges are for Bool (0 and 1), Int8 to Int64,
// Decimal of at most 18 digits (unscaled values), and Float32 and Float64 by
// their [Key].
func Parse(text string, types []*schema.Type) ([]Condition, error) {
	var out []Condition
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			return nil, fmt.Errorf("filter: %q is no condition", line)
		}
		i, err := strconv.Atoi(words[0])
		if err != nil || i < 0 || i >= len(types) {
			return nil, fmt.Errorf("filter: column %s of %d", words[0], len(types))
		}
		c, err := parse(words[1], words[2:], types[i])
		if err != nil {
			return nil, fmt.Errorf("filter: %s of column %d (%s): %w", words[1], i, types[i].Name, err)
		}
		c.Column = i
		out = append(out, c)
	}
	return out, nil
}

func parse(name string, operands []string, t *schema.Type) (c Condition, err error) {
	switch name {
	case "range":
		c.test = inRange
		if !hasRanges(t) {
			return c, fmt.Errorf("the type has no ranges")
		}
		c.ranges, err = parseRanges(operands)
		return c, err
	case "equal", "prefix":
		c.test = equal
		if t.Kind != schema.String {
			return c, fmt.Errorf("the type is no string")
		}
		for _, w := range operands {
			v, err := hex.DecodeString(strings.TrimPrefix(w, "x"))
			if err != nil || !strings.HasPrefix(w, "x") {
				return c, fmt.Errorf("%q is not x and hexadecimal digits", w)
			}
			c.values = append(c.values, v)
		}
		sort.Slice(c.values, func(i, j int) bool { return bytes.Compare(c.values[i], c.values[j]) < 0 })
		if name == "prefix" {
			if c.test = prefix; len(c.values) != 1 {
				return c, fmt.Errorf("%d prefixes", len(c.values))
			}
		}
		return c, nil
	case "null":
		c.test = null
	case "value":
		c.test = notNull
	default:
		return c, fmt.Errorf("there is no such condition")
	}
	if len(operands) > 0 {
		return c, fmt.Errorf("%d operands", len(operands))
	}
	return c, nil
}

func hasRanges(t *schema.Type) bool {
	switch t.Kind {
	case schema.Decimal:
		return t.Precision <= 18
	case schema.Bool, schema.Int8, schema.Int16, schema.Int32, schema.Int64, schema.Float32, schema.Float64:
		return true
	}
	return false
}

func parseRanges(words []string) (out []interval, err error) {
	if len(words)%2 != 0 {
		return nil, fmt.Errorf("an odd number of ends")
	}
	for i := 0; i < len(words); i += 2 {
		lo, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil {
			return nil, err
		}
		hi, err := strconv.ParseInt(words[i+1], 10, 64)
		if err != nil {
			return nil, err
		}
		if lo > hi || len(out) > 0 && out[len(out)-1].hi >= lo {
			return nil, fmt.Errorf("%d to %d does not rise", lo, hi)
		}
		out = append(out, interval{lo, hi})
	}
	return out, nil
}

// Key maps floating-point values to integers in Catalyst's order: NaN is
// greatest and equal to itself, -0.0 = 0.0.
func Key(v float64) int64 {
	if v != v {
		return math.MaxInt64
	}
	b := int64(math.Float64bits(v + 0)) // -0.0 + 0.0 = 0.0
	return b ^ int64(uint64(b>>63)>>1)
}

// block is how many values are brought into comparable form at a time.
const block = 1024

// Scratch is memory that Select needs; its zero value is ready.
type Scratch struct {
	keys [block]uint64
	more [block / 8]byte
}

// Select writes the first (c.Len+7)/8 bytes of sel: the bits of the slots that
// meet the condition are set, all others clear.
func (f *Condition) Select(c *column.Column, sel []byte, s *Scratch) {
	n := c.Len
	sel = sel[:(n+7)>>3]
	switch f.test {
	case null, notNull:
		f.selectNulls(c, sel)
	case equal, prefix:
		f.selectStrings(c, sel)
	default:
		f.selectRanges(c, sel, s)
	}
	if f.test != null {
		column.And(sel, c.Validity)
	}
	if n&7 != 0 {
		sel[n>>3] &= 1<<(n&7) - 1
	}
}

func (f *Condition) selectNulls(c *column.Column, sel []byte) {
	all := byte(0)
	if (c.Type.Kind == schema.Null) == (f.test == null) {
		all = 0xFF
	}
	for i := range sel {
		sel[i] = all
	}
	if f.test == null && c.Validity != nil {
		for i := range sel {
			sel[i] = ^c.Validity[i]
		}
	}
}

func (f *Condition) selectStrings(c *column.Column, sel []byte) {
	clear(sel)
	offsets := column.View[int32](c.Offsets)[:c.Len+1]
	switch {
	case f.test == prefix:
		f.eachString(c, offsets, sel, func(v []byte) bool { return bytes.HasPrefix(v, f.values[0]) })
	case len(f.values) == 1: // most are of another length
		want := f.values[0]
		from := offsets[0]
		for i, to := range offsets[1:] {
			if int(to-from) == len(want) && string(c.Data[from:to]) == string(want) {
				sel[i>>3] |= 1 << (i & 7)
			}
			from = to
		}
	default:
		f.eachString(c, offsets, sel, f.oneOf)
	}
}

func (f *Condition) eachString(c *column.Column, offsets []int32, sel []byte, meets func([]byte) bool) {
	from := offsets[0]
	for i, to := range offsets[1:] {
		if meets(c.Data[from:to]) {
			sel[i>>3] |= 1 << (i & 7)
		}
		from = to
	}
}

func (f *Condition) oneOf(v []byte) bool {
	at := sort.Search(len(f.values), func(i int) bool { return bytes.Compare(f.values[i], v) >= 0 })
	return at < len(f.values) && bytes.Equal(f.values[at], v)
}

func (f *Condition) selectRanges(c *column.Column, sel []byte, s *Scratch) {
	switch c.Type.Kind {
	case schema.Bool:
		f.selectBits(c.Values, sel)
	case schema.Int8:
		within(f, column.View[uint8](c.Values)[:c.Len], sel, s)
	case schema.Int16:
		within(f, column.View[uint16](c.Values)[:c.Len], sel, s)
	case schema.Int32:
		within(f, column.View[uint32](c.Values)[:c.Len], sel, s)
	case schema.Int64:
		within(f, column.View[uint64](c.Values)[:c.Len], sel, s)
	case schema.Decimal: // the low half is the value, where there are at most 18 digits
		v := column.View[uint64](c.Values)[:2*c.Len]
		for at := 0; at < c.Len; at += block {
			keys := s.keys[:min(block, c.Len-at)]
			part := v[2*at : 2*(at+len(keys))]
			for i := range keys {
				keys[i] = part[2*i]
			}
			within(f, keys, sel[at>>3:], s)
		}
	case schema.Float32:
		floats(f, column.View[float32](c.Values)[:c.Len], sel, s)
	case schema.Float64:
		floats(f, column.View[float64](c.Values)[:c.Len], sel, s)
	}
}

// floats selects by key.
func floats[T float32 | float64](f *Condition, values []T, sel []byte, s *Scratch) {
	for at := 0; at < len(values); at += block {
		part := values[at:min(at+block, len(values))]
		keys := s.keys[:len(part)]
		for i, v := range part {
			keys[i] = uint64(Key(float64(v)))
		}
		within(f, keys, sel[at>>3:], s)
	}
}

func within[T column.Unsigned](f *Condition, values []T, sel []byte, s *Scratch) {
	switch {
	case len(f.ranges) == 1:
		column.SelectRange(sel, values, f.ranges[0].lo, f.ranges[0].hi)
	case len(f.ranges) > 8:
		search(f, values, sel)
	default:
		clear(sel[:(len(values)+7)>>3])
		for at := 0; at < len(values); at += block {
			part := values[at:min(at+block, len(values))]
			out := sel[at>>3:]
			for _, r := range f.ranges {
				column.SelectRange(s.more[:], part, r.lo, r.hi)
				for i := range (len(part) + 7) >> 3 {
					out[i] |= s.more[i]
				}
			}
		}
	}
}

// search is for many ranges: a binary search a value.
func search[T column.Unsigned](f *Condition, values []T, sel []byte) {
	clear(sel[:(len(values)+7)>>3])
	for i, u := range values {
		shift := 64 - 8*unsafe.Sizeof(u)
		v := int64(u) << shift >> shift
		at := sort.Search(len(f.ranges), func(k int) bool { return f.ranges[k].hi >= v })
		if at < len(f.ranges) && f.ranges[at].lo <= v {
			sel[i>>3] |= 1 << (i & 7)
		}
	}
}

func (f *Condition) selectBits(values, sel []byte) {
	var zero, one byte // 0xFF where it qualifies
	for _, r := range f.ranges {
		if r.lo <= 0 && r.hi >= 0 {
			zero = 0xFF
		}
		if r.lo <= 1 && r.hi >= 1 {
			one = 0xFF
		}
	}
	for i := range sel {
		sel[i] = values[i]&one | ^values[i]&zero
	}
}
