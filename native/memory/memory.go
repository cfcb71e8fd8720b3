// Package memory holds the allocator interface through which every byte of
// native scratch memory is obtained, the counters that make it visible, and
// Arena, the bump allocator that encoders and decoders reuse from batch to batch.
//
// Nothing in this package imports "C": production code plugs in the C allocator
// of package cmem, tests plug in a Checked allocator.
package memory

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Slack is the number of spare, addressable bytes that every buffer handed out
// by an Arena has behind its length (within its capacity). Decoders may write
// there: klauspost's zstd is 40 % faster with it, and 8-byte loads at the end
// of a buffer need no special case.
const Slack = 64

// Align is the alignment in bytes of every buffer handed out by an Arena.
const Align = 64

// LimitError reports that an allocation would exceed the native memory limit.
type LimitError struct {
	Requested int64 // bytes asked for
	InUse     int64 // bytes in use at that time
	Limit     int64 // bytes allowed; 0 if it was the system that had no more
}

func (e *LimitError) Error() string {
	if e.Limit == 0 {
		return fmt.Sprintf("the system has no memory left: %d bytes requested, %d in use natively; "+
			"give the process more memory or lower spark.quiver.batch.maxBytes", e.Requested, e.InUse)
	}
	return fmt.Sprintf("native memory limit reached: %d bytes requested, %d in use, limit %d; "+
		"raise spark.quiver.native.memoryLimit or lower spark.quiver.batch.maxBytes", e.Requested, e.InUse, e.Limit)
}

// Allocator hands out zeroed memory outside of the garbage collector's heap.
// Implementations are safe for concurrent use.
type Allocator interface {
	// Alloc returns n zeroed bytes, 64-byte aligned, or a *LimitError.
	Alloc(n int) ([]byte, error)
	// Free returns memory obtained from Alloc; b must be exactly the slice Alloc returned.
	Free(b []byte)
}

// Counter counts bytes in use and enforces an optional limit. The zero value
// has no limit.
type Counter struct {
	inUse atomic.Int64
	peak  atomic.Int64
	limit atomic.Int64
}

// Reserve accounts for n bytes or returns a *LimitError. A request that is
// refused is never visible to others: it must not make theirs fail.
func (c *Counter) Reserve(n int64) error {
	for {
		before := c.inUse.Load()
		limit := c.limit.Load()
		if n < 0 || n > math.MaxInt64-before || limit > 0 && n > limit-before {
			return &LimitError{Requested: n, InUse: before, Limit: limit}
		}
		if c.inUse.CompareAndSwap(before, before+n) {
			c.raise(before + n)
			return nil
		}
	}
}

func (c *Counter) raise(used int64) {
	for {
		p := c.peak.Load()
		if used <= p || c.peak.CompareAndSwap(p, used) {
			return
		}
	}
}

// Release gives back n bytes.
func (c *Counter) Release(n int64) { c.inUse.Add(-n) }

// InUse returns the bytes in use.
func (c *Counter) InUse() int64 { return c.inUse.Load() }

// Peak returns the most bytes that were ever in use.
func (c *Counter) Peak() int64 { return c.peak.Load() }

// SetLimit sets the limit in bytes; 0 means none.
func (c *Counter) SetLimit(n int64) { c.limit.Store(n) }

// Checked is an Allocator over Go memory for tests: it finds leaks, double
// frees and frees of foreign slices.
type Checked struct {
	Counter
	mu   sync.Mutex
	live map[*byte]int
}

// Alloc implements Allocator.
func (a *Checked) Alloc(n int) ([]byte, error) {
	if err := a.Reserve(int64(n)); err != nil {
		return nil, err
	}
	raw := make([]byte, n+Align)
	off := int(-uintptr(unsafe.Pointer(&raw[0])) & (Align - 1))
	b := raw[off : off+n : off+n]
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == nil {
		a.live = map[*byte]int{}
	}
	a.live[unsafe.SliceData(b)] = n
	return b, nil
}

// Free implements Allocator and panics on a slice that is not live.
func (a *Checked) Free(b []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := unsafe.SliceData(b)
	if n, ok := a.live[p]; !ok || n != len(b) {
		panic("memory: free of memory that is not live")
	}
	delete(a.live, p)
	a.Release(int64(len(b)))
}

// Live returns the number of allocations that were not freed.
func (a *Checked) Live() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.live)
}
