package row

import (
	"math/bits"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
)

// putSlots writes values, zero-extended as Spark's writers do, nulls as zero.
func putSlots[T uint8 | uint16 | uint32 | uint64](dst unsafe.Pointer, starts []int, off int, c *column.Column, lo int) {
	values := column.View[T](c.Values)[lo:][:len(starts)]
	dst = at(dst, off)
	if c.Validity == nil {
		for i, st := range starts {
			store64(dst, st, uint64(values[i]))
		}
		return
	}
	for b := 0; b < len(starts); b += 64 {
		group := starts[b:min(b+64, len(starts))]
		v := values[b:][:len(group)]
		valid := bitsAt(c.Validity, lo+b, len(group))
		if valid == ^uint64(0) {
			for i, st := range group {
				store64(dst, st, uint64(v[i]))
			}
			continue
		}
		for i, st := range group {
			store64(dst, st, uint64(v[i])&-(valid&1))
			valid >>= 1
		}
	}
}

// validBits is bitsAt of c's validity, all ones where there is none.
func validBits(c *column.Column, i, n int) uint64 {
	if c.Validity == nil {
		return ^uint64(0)
	}
	return bitsAt(c.Validity, i, n)
}

func putBools(dst unsafe.Pointer, starts []int, off int, c *column.Column, lo int) {
	dst = at(dst, off)
	for b := 0; b < len(starts); b += 64 {
		group := starts[b:min(b+64, len(starts))]
		v := bitsAt(c.Values, lo+b, len(group)) & validBits(c, lo+b, len(group))
		for _, st := range group {
			store64(dst, st, v&1)
			v >>= 1
		}
	}
}

// putDecimals writes decimals that are kept as longs.
func putDecimals(dst unsafe.Pointer, starts []int, off int, c *column.Column, lo int) {
	values := pairs(c.Values)[lo:][:len(starts)]
	dst = at(dst, off)
	for b := 0; b < len(starts); b += 64 {
		group := starts[b:min(b+64, len(starts))]
		v := values[b:][:len(group)]
		valid := validBits(c, lo+b, len(group))
		for i, st := range group {
			store64(dst, st, v[i][0]&-(valid&1))
			valid >>= 1
		}
	}
}

// bigEndian returns the n significant bytes of v, in memory order, behind which
// there are zeros.
func bigEndian(v [2]uint64, n int) (first, second uint64) {
	s := 128 - 8*n
	if s >= 64 {
		return bits.ReverseBytes64(v[0] << (s - 64)), 0
	}
	return bits.ReverseBytes64(v[1]<<s | v[0]>>(64-s)), bits.ReverseBytes64(v[0] << s)
}

// putBigDecimals writes decimals of more than 18 digits; their 16 bytes are
// there for nulls too, as is the offset.
func putBigDecimals(dst unsafe.Pointer, starts, cursor []int, off int, c *column.Column, lo int) {
	values := pairs(c.Values)[lo:][:len(starts)]
	for i, st := range starts {
		var first, second uint64
		n := 0
		if !c.IsNull(lo + i) {
			n = decimalSize(values[i])
			first, second = bigEndian(values[i], n)
		}
		at := cursor[i]
		store64(dst, st+off, uint64(at)<<32|uint64(n))
		store64(dst, st+at, first)
		store64(dst, st+at+8, second)
		cursor[i] = at + decimalBytes
	}
}

// putIntervals writes calendar intervals. For a null Spark keeps offset and size
// and leaves the 16 bytes as they were; here they are zero.
func putIntervals(dst unsafe.Pointer, starts, cursor []int, off int, c *column.Column, lo int) {
	months := column.View[uint32](c.Children[0].Values)[lo:][:len(starts)]
	days := column.View[uint32](c.Children[1].Values)[lo:][:len(starts)]
	micros := column.View[uint64](c.Children[2].Values)[lo:][:len(starts)]
	for i, st := range starts {
		var first, second uint64
		if !c.IsNull(lo + i) {
			first, second = uint64(months[i])|uint64(days[i])<<32, micros[i]
		}
		at := cursor[i]
		store64(dst, st+off, uint64(at)<<32|intervalBytes)
		store64(dst, st+at, first)
		store64(dst, st+at+8, second)
		cursor[i] = at + intervalBytes
	}
}

// putStrings writes strings and binaries.
func putStrings(dst unsafe.Pointer, starts, cursor []int, off int, c *column.Column, lo int) {
	offsets := column.View[int32](c.Offsets)[lo:][:len(starts)+1]
	cursor = cursor[:len(starts)]
	src, limit := ptr(c.Data), cap(c.Data)-shortCopy
	o := int(offsets[0])
	offsets = offsets[1:][:len(starts)]
	for b := 0; b < len(starts); b += 64 {
		group := starts[b:min(b+64, len(starts))]
		ends := offsets[b:][:len(group)]
		cur := cursor[b:][:len(group)]
		valid := validBits(c, lo+b, len(group))
		for i, st := range group {
			begin, end := o, int(ends[i])
			o = end
			mask := -int(valid & 1)
			valid >>= 1
			n := (end - begin) & mask
			at := cur[i]
			cur[i] = at + round8(n)
			store64(dst, st+off, uint64(at<<32|n)&uint64(mask))
			if n > shortCopy || begin > limit {
				copyLong(unsafe.Add(dst, st+at), c.Data, begin, n)
			} else if n > 0 {
				copyShort(unsafe.Add(dst, st+at), unsafe.Add(src, begin), n)
			}
		}
	}
}

// shortCopy is the longest value that copyShort copies, and what it may read.
const shortCopy = 32

// copyShort copies n bytes, 1 to shortCopy, and pads them with zeros to a
// multiple of eight. It copies a fixed number of words, the last of which may be
// written more than once: a loop over their number would be a mispredicted
// branch for most values. It reads up to shortCopy bytes.
func copyShort(dst, src unsafe.Pointer, n int) {
	last := (n - 1) &^ 7
	store64(dst, 0, load64(src, 0))
	if n > 16 {
		store64(dst, 8, load64(src, 8))
		mid := min(last, 16)
		store64(dst, mid, load64(src, mid))
	}
	store64(dst, last, load64(src, last)&(^uint64(0)>>(uint(-8*n)&63)))
}

// copyPadded copies data[b:b+n] to dst and pads it with zeros to a multiple of
// eight bytes. It may read up to the capacity of data.
func copyPadded(dst unsafe.Pointer, data []byte, b, n int) {
	if n > shortCopy || b > cap(data)-shortCopy {
		copyLong(dst, data, b, n)
	} else if n > 0 {
		copyShort(dst, unsafe.Add(ptr(data), b), n)
	}
}

func copyLong(dst unsafe.Pointer, data []byte, b, n int) {
	if n&7 != 0 {
		store64(dst, n&^7, 0)
	}
	copyExact(dst, data, b, n)
}

// copyExact copies data[b:b+n] to dst and touches nothing else.
func copyExact(dst unsafe.Pointer, data []byte, b, n int) {
	copy(unsafe.Slice((*byte)(dst), n), data[b:b+n])
}
