package memory

import "unsafe"

// Arena is a bump allocator: buffers are valid until Reset or Close. It is used
// by one goroutine at a time. Running into the native memory limit panics with
// a *LimitError, which the engine turns into an error; kernels need no error
// path for memory.
type Arena struct {
	alloc  Allocator
	chunks [][]byte
	cur    int // index of the chunk in use
	off    int // bytes used of that chunk
	total  int // bytes in all chunks
}

// NewArena returns an empty Arena; it allocates nothing until the first Bytes.
func NewArena(a Allocator) *Arena { return &Arena{alloc: a} }

// Bytes returns n bytes with arbitrary content, 64-byte aligned, with at least
// Slack spare bytes of capacity behind them.
func (a *Arena) Bytes(n int) []byte {
	if n < 0 {
		panic("memory: negative size")
	}
	need := (n + Slack + Align - 1) &^ (Align - 1)
	for a.cur < len(a.chunks) {
		if c := a.chunks[a.cur]; len(c)-a.off >= need {
			b := c[a.off : a.off+n : a.off+need]
			a.off += need
			return b
		}
		a.cur++
		a.off = 0
	}
	size := max(minChunk, need, min(a.total, maxGrowth))
	c, err := a.alloc.Alloc(size)
	if err != nil {
		panic(err)
	}
	a.chunks = append(a.chunks, c)
	a.total += size
	a.off = need
	return c[0:n:need]
}

// Zeroed is Bytes with all n bytes zero.
func (a *Arena) Zeroed(n int) []byte {
	b := a.Bytes(n)
	clear(b)
	return b
}

// Shrink gives back the tail of b, which must be the buffer most recently
// returned by Bytes, keeping its first n bytes.
func (a *Arena) Shrink(b []byte, n int) []byte {
	need := (n + Slack + Align - 1) &^ (Align - 1)
	if give := cap(b) - need; give > 0 && a.cur < len(a.chunks) {
		c := a.chunks[a.cur]
		if a.off >= cap(b) && unsafe.SliceData(b) == unsafe.SliceData(c[a.off-cap(b):]) {
			a.off -= give
			return b[0:n:need]
		}
	}
	return b[:n]
}

// Reset makes all memory available again; buffers handed out before are invalid.
// Memory beyond a bound is given back to the allocator.
func (a *Arena) Reset() {
	for a.total > keepBytes && len(a.chunks) > 0 {
		last := a.chunks[len(a.chunks)-1]
		a.chunks = a.chunks[:len(a.chunks)-1]
		a.total -= len(last)
		a.alloc.Free(last)
	}
	a.cur, a.off = 0, 0
}

// Close gives all memory back. The Arena is empty afterwards and may be used again.
func (a *Arena) Close() {
	for _, c := range a.chunks {
		a.alloc.Free(c)
	}
	a.chunks, a.cur, a.off, a.total = nil, 0, 0, 0
}

// Allocated returns the bytes the Arena holds.
func (a *Arena) Allocated() int { return a.total }
