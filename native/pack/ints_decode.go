package pack

import (
	"unsafe"
)

// intBlock is the head of one block of an integer stream.
type intBlock struct {
	mode        byte
	width       uint
	factor      uint64 // 0: none
	ref         uint64
	base, slope uint64
	excCount    int
	excWidth    uint
	excRef      uint64
	excPos      []byte
	excBits     []byte // guard bytes readable behind len
	packed      []byte // all of its capacity is readable
}

// readBlock parses the head of a block of n values of size bytes and moves r
// behind the block.
func readBlock(r *reader, n, size int) (b intBlock) {
	head := r.byte()
	b.mode = head & modeMask
	switch b.mode {
	case modeConstant:
		b.ref = r.zigzag()
	case modePlain:
		b.packed = r.bytes(n * size)
	case modeReference, modeDelta, modeDelta2:
		if head&hasFactor != 0 {
			b.factor = r.factor(size)
		}
		b.width = r.width()
		b.ref = r.zigzag()
		if b.mode != modeReference {
			b.base = r.zigzag()
		}
		if b.mode == modeDelta2 {
			b.slope = r.zigzag()
		}
		if head&hasExceptions != 0 {
			b.excCount = r.count("number of exceptions", n)
			b.excWidth = r.width()
			b.excRef = r.zigzag()
			b.excPos = r.bytes(2 * b.excCount)
			b.excBits = r.bytes(packedLen(b.excCount, b.excWidth))
		}
		b.packed = r.bytes(packedLen(n, b.width))
	default:
		r.fail("unknown block mode %d", b.mode)
	}
	if r.err == nil && (head&^(modeMask|hasExceptions|hasFactor) != 0 || b.excCount == 0 && head&hasExceptions != 0 ||
		b.factor == 0 && head&hasFactor != 0) {
		r.fail("bad block head %#x", head)
	}
	return b
}

// factor reads the common factor of a block of values of size bytes.
func (r *reader) factor(size int) uint64 {
	f := r.uvarint()
	if r.err == nil && (f < 2 || bitLen(f) > uint(8*size)) {
		r.fail("factor %d of values of %d bytes", f, size)
	}
	return f
}

func (r *reader) width() uint {
	w := uint(r.byte())
	if r.err == nil && w > maxWidth && w != 64 {
		r.fail("bit width %d", w)
		return 0
	}
	return w
}

// decode writes the block's values to dst, whose length must be the n of readBlock.
func decodeBlock[T unsigned](b *intBlock, dst []T) error {
	switch b.mode {
	case modeConstant:
		fill(dst, T(b.ref))
		return nil
	case modePlain:
		copy(bytesOf(dst), b.packed)
		return nil
	}
	if b.width == 0 && b.mode == modeDelta {
		return stretches(b, dst)
	}
	if b.factor == 0 {
		unpackBits(dst, b.packed[:cap(b.packed)], b.width, T(b.ref))
	} else {
		unpackBits(dst, b.packed[:cap(b.packed)], b.width, 0)
		multiply(dst, T(b.factor), T(b.ref))
	}
	if b.excCount > 0 {
		if err := patch(b, dst); err != nil {
			return err
		}
	}
	switch b.mode {
	case modeDelta:
		prefixSum(dst, T(b.base))
	case modeDelta2:
		prefixSum(dst, T(b.slope))
		prefixSum(dst, T(b.base))
	}
	return nil
}

func patch[T unsigned](b *intBlock, dst []T) error {
	exc := exceptions{b: b}
	for range b.excCount {
		pos, value := exc.next()
		if pos >= len(dst) {
			return errPosition
		}
		dst[pos] = T(value)
	}
	return nil
}

// stretches decodes a delta block of width 0: between exceptions, runs and
// sequences, values rise by ref.
func stretches[T unsigned](b *intBlock, dst []T) error {
	v, step := T(b.base), T(b.ref)
	at := 0
	exc := exceptions{b: b}
	for range b.excCount {
		pos, delta := exc.next()
		if pos >= len(dst) || pos < at {
			return errPosition
		}
		if pos > at {
			v = progress(dst[at:pos], v+step, step)
		}
		v += T(delta)
		dst[pos] = v
		at = pos + 1
	}
	progress(dst[at:], v+step, step)
	return nil
}

// progress writes v, v+step, … to dst and returns the last one; for an empty
// dst that is v-step.
func progress[T unsigned](dst []T, v, step T) T {
	if step == 0 {
		fill(dst, v)
		return v
	}
	for ; len(dst) >= 4; dst = dst[4:] {
		d := (*[4]T)(dst)
		d[0] = v
		d[1] = v + step
		d[2] = v + 2*step
		d[3] = v + 3*step
		v += 4 * step
	}
	for i := range dst {
		dst[i] = v
		v += step
	}
	return v - step
}

// fill sets all of dst to v, in pieces that double: copying is fastest.
func fill[T unsigned](dst []T, v T) {
	n := min(len(dst), 32)
	for i := range dst[:n] {
		dst[i] = v
	}
	for n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
}

// exceptions walks the exceptions of a block.
type exceptions struct {
	b   *intBlock
	i   int
	bit uintptr
}

func (x *exceptions) next() (pos int, value uint64) {
	b := x.b
	pos = int(b.excPos[2*x.i]) | int(b.excPos[2*x.i+1])<<8
	if b.excWidth > 0 {
		p := unsafe.Pointer(unsafe.SliceData(b.excBits))
		value = load64(p, x.bit>>3) >> (x.bit & 7)
		if b.excWidth < 64 {
			value &= 1<<b.excWidth - 1
		}
	}
	x.i++
	x.bit += uintptr(b.excWidth)
	return pos, value + b.excRef
}

// prefixSum replaces dst[i] by base + dst[0] + … + dst[i].
func prefixSum[T unsigned](dst []T, base T) {
	n, base := fastPrefixSum(dst, base)
	for dst = dst[n:]; len(dst) >= 4; dst = dst[4:] {
		d := (*[4]T)(dst)
		a := base + d[0]
		b := d[0] + d[1]
		c := d[2] + d[3]
		d[0] = a
		d[1] = base + b
		d[2] = base + b + d[2]
		base += b + c
		d[3] = base
	}
	for i := range dst {
		base += dst[i]
		dst[i] = base
	}
}

// decodeInts reads an integer stream of len(dst) values.
func decodeInts[T unsigned](r *reader, dst []T) {
	var z T
	for len(dst) > 0 && r.err == nil {
		n := min(len(dst), blockLen)
		b := readBlock(r, n, int(unsafe.Sizeof(z)))
		if r.err != nil {
			return
		}
		if err := decodeBlock(&b, dst[:n]); err != nil {
			r.err = err
		}
		dst = dst[n:]
	}
}
