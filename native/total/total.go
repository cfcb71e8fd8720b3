// Package total adds up decoded columns as Spark's sum, avg and count do where
// rows are not grouped: the result of a batch is that of adding its values to
// the buffer of Spark's aggregate one by one, in the order of rows.
package total

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// Op is what is done with the values of a column that are not null. All count them.
type Op int32

// The numbers are those of the C ABI.
const (
	// Count counts values and does nothing else.
	Count Op = iota
	// Sum adds integers, or unscaled decimals of up to 18 digits, in 64 bits and wraps around, as Java's long does.
	Sum
	// CheckedSum is Sum up to the first value with which it would leave 64 bits.
	CheckedSum
	// DoubleSum adds what Sum does, floats or doubles as doubles, each sum rounded as IEEE 754 has it.
	DoubleSum
	// DecimalSum adds unscaled decimals in 128 bits and wraps around.
	DecimalSum
	// Lengths adds the lengths of strings in characters and of binary values in bytes, as Spark's length counts them.
	Lengths
)

// Total is the state of one sum.
type Total struct {
	// Values counts those that are not null.
	Values int64
	// Low is the sum, or its low half, or the bits of a double.
	Low int64
	// High is the high half of a DecimalSum; of a CheckedSum 1 once it has overflowed.
	High int64
	// Excess is the value with which a CheckedSum, which has stayed as it was, would overflow.
	Excess int64
}

// Size is how many 64-bit numbers a Total is.
const Size = 4

// Check tells whether values of the type can be added up in that way.
func Check(op Op, t *schema.Type) error {
	if op < Count || op > Lengths {
		return fmt.Errorf("there is no operation %d", op)
	}
	ok := t.Kind == schema.Null
	switch op {
	case Count:
		ok = true
	case Sum, CheckedSum:
		ok = ok || isInteger(t)
	case DoubleSum:
		ok = ok || isInteger(t) || t.Kind == schema.Float32 || t.Kind == schema.Float64
	case DecimalSum:
		ok = ok || t.Kind == schema.Decimal
	case Lengths:
		ok = ok || t.Kind == schema.String || t.Kind == schema.Binary
	}
	if !ok {
		return fmt.Errorf("values of type %s cannot be added up by operation %d", t.Name, op)
	}
	return nil
}

func isInteger(t *schema.Type) bool {
	return t.Kind >= schema.Int8 && t.Kind <= schema.Int64 || t.Kind == schema.Decimal && t.Precision <= 18
}

// Add adds the values of c. Validity is that of c and of all it is a field of;
// nil where no slot is null. [Check] has allowed the operation.
func (t *Total) Add(op Op, c *column.Column, validity []byte) {
	s := slots{n: c.Len, validity: validity}
	if validity != nil {
		s.nulls = column.CountNulls(validity, c.Len)
	}
	if c.Type.Kind == schema.Null || s.nulls == s.n {
		return
	}
	before := t.Values
	t.Values += int64(s.n - s.nulls)
	switch op {
	case Sum, CheckedSum:
		t.addIntegers(c, s, op == CheckedSum)
		if t.High != 0 {
			t.Values = before
		}
	case DoubleSum:
		t.Low = int64(math.Float64bits(doubles(math.Float64frombits(uint64(t.Low)), c, s)))
	case DecimalSum:
		low, high := decimals(column.View[uint64](c.Values), s)
		var carry uint64
		low, carry = bits.Add64(uint64(t.Low), low, 0)
		high, _ = bits.Add64(uint64(t.High), high, carry)
		t.Low, t.High = int64(low), int64(high)
	case Lengths:
		t.Low += lengths(c, s)
	}
}

func (t *Total) addIntegers(c *column.Column, s slots, checked bool) {
	switch c.Type.Kind {
	case schema.Int8:
		addAll(t, column.View[int8](c.Values), 1, s, checked)
	case schema.Int16:
		addAll(t, column.View[int16](c.Values), 1, s, checked)
	case schema.Int32:
		addAll(t, column.View[int32](c.Values), 1, s, checked)
	case schema.Int64:
		addAll(t, column.View[int64](c.Values), 1, s, checked)
	case schema.Decimal:
		addAll(t, column.View[int64](c.Values), 2, s, checked)
	}
}

// addAll adds every step-th of the values. All slots are added, then the null
// ones taken off again: where sums wrap around, order does not matter.
func addAll[T int8 | int16 | int32 | int64](t *Total, v []T, step int, s slots, checked bool) {
	if checked && t.High != 0 {
		return
	}
	sum, extent := sumAll(v, step, s.n)
	if checked && !fits(t.Low, extent, s.n) {
		addOneByOne(t, v, step, s)
		return
	}
	if s.nulls > 0 {
		for k := range s.words() {
			for w := s.nullWord(k); w != 0; w &= w - 1 {
				sum -= int64(v[(k*64+bits.TrailingZeros64(w))*step])
			}
		}
	}
	t.Low += sum
}

// sumAll returns the sum of n values, and a number of which no value x, or ^x
// where it is negative, has a bit more.
func sumAll[T int8 | int16 | int32 | int64](v []T, step, n int) (sum int64, extent uint64) {
	var a, b, x, y int64
	i := 0
	if step == 1 {
		v = v[:n]
		for ; i+4 <= len(v); i += 4 {
			p, q, r, s := int64(v[i]), int64(v[i+1]), int64(v[i+2]), int64(v[i+3])
			a += p + q
			b += r + s
			x |= p ^ p>>63 | q ^ q>>63
			y |= r ^ r>>63 | s ^ s>>63
		}
	}
	for ; i < n; i++ {
		p := int64(v[i*step])
		a += p
		x |= p ^ p>>63
	}
	return a + b, uint64(x | y)
}

// fits tells whether n values of that extent can be added to sum, in any order, without leaving 64 bits.
func fits(sum int64, extent uint64, n int) bool {
	high, most := bits.Mul64(extent+1, uint64(n))
	room := math.MaxInt64 - uint64(sum^sum>>63)
	return high == 0 && most <= room
}

func addOneByOne[T int8 | int16 | int32 | int64](t *Total, v []T, step int, s slots) {
	acc := t.Low
	for k := range s.words() {
		for w := s.validWord(k); w != 0; w &= w - 1 {
			x := int64(v[(k*64+bits.TrailingZeros64(w))*step])
			next := acc + x
			if (acc^next)&(x^next) < 0 {
				t.Low, t.High, t.Excess = acc, 1, x
				return
			}
			acc = next
		}
	}
	t.Low = acc
}

func decimals(v []uint64, s slots) (low, high uint64) {
	v = v[:2*s.n]
	var carry uint64
	for i := 0; i+2 <= len(v); i += 2 {
		low, carry = bits.Add64(low, v[i], 0)
		high, _ = bits.Add64(high, v[i+1], carry)
	}
	if s.nulls > 0 {
		for k := range s.words() {
			for w := s.nullWord(k); w != 0; w &= w - 1 {
				i := 2 * (k*64 + bits.TrailingZeros64(w))
				low, carry = bits.Sub64(low, v[i], 0)
				high, _ = bits.Sub64(high, v[i+1], carry)
			}
		}
	}
	return low, high
}

func doubles(sum float64, c *column.Column, s slots) float64 {
	switch c.Type.Kind {
	case schema.Int8:
		return addDoubles(sum, column.View[int8](c.Values), 1, s)
	case schema.Int16:
		return addDoubles(sum, column.View[int16](c.Values), 1, s)
	case schema.Int32:
		return addDoubles(sum, column.View[int32](c.Values), 1, s)
	case schema.Int64:
		return addDoubles(sum, column.View[int64](c.Values), 1, s)
	case schema.Decimal:
		return addDoubles(sum, column.View[int64](c.Values), 2, s)
	case schema.Float32:
		return addDoubles(sum, column.View[float32](c.Values), 1, s)
	default:
		return addDoubles(sum, column.View[float64](c.Values), 1, s)
	}
}

// addDoubles adds in the order of slots, on which the rounding depends.
func addDoubles[T int8 | int16 | int32 | int64 | float32 | float64](sum float64, v []T, step int, s slots) float64 {
	if s.nulls == 0 {
		for i := range s.n {
			sum += float64(v[i*step])
		}
		return sum
	}
	for k := range s.words() {
		for w := s.validWord(k); w != 0; w &= w - 1 {
			sum += float64(v[(k*64+bits.TrailingZeros64(w))*step])
		}
	}
	return sum
}

// slots are n slots, of which those with a zero bit in validity are null.
type slots struct {
	n, nulls int
	validity []byte // nil: none is null
}

func (s slots) words() int { return (s.n + 63) / 64 }

// validWord has the bits of the slots from 64*k on that are not null.
func (s slots) validWord(k int) uint64 { return s.word(k, 0) }

// nullWord has the bits of the slots from 64*k on that are null.
func (s slots) nullWord(k int) uint64 { return s.word(k, math.MaxUint64) }

func (s slots) word(k int, flip uint64) uint64 {
	w := uint64(math.MaxUint64)
	if s.validity != nil {
		if rest := s.validity[8*k:]; len(rest) >= 8 {
			w = column.View[uint64](rest[:8])[0]
		} else {
			w = 0
			for i, b := range rest {
				w |= uint64(b) << (8 * i)
			}
		}
	}
	w ^= flip
	if left := s.n - 64*k; left < 64 {
		w &= 1<<left - 1
	}
	return w
}
