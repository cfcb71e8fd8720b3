// Package cmem is the C allocator behind memory.Allocator: memory that the
// garbage collector does not see, counted and limited for the whole process.
package cmem

// #include <stdlib.h>
import "C"

import (
	"unsafe"

	"github.com/quiverspark/quiver/native/memory"
)

// Allocator allocates with the C library. Its Counter counts all of it.
type Allocator struct{ memory.Counter }

// Default is the process's allocator.
var Default Allocator

// Alloc implements memory.Allocator.
func (a *Allocator) Alloc(n int) ([]byte, error) {
	if err := a.Reserve(int64(n)); err != nil {
		return nil, err
	}
	// aligned_alloc wants a multiple of the alignment.
	p := C.aligned_alloc(memory.Align, C.size_t((max(n, 1)+memory.Align-1)&^(memory.Align-1)))
	if p == nil {
		a.Release(int64(n))
		return nil, &memory.LimitError{Requested: int64(n), InUse: a.InUse()}
	}
	b := unsafe.Slice((*byte)(p), n)
	clear(b)
	return b, nil
}

// Free implements memory.Allocator.
func (a *Allocator) Free(b []byte) {
	C.free(unsafe.Pointer(unsafe.SliceData(b)))
	a.Release(int64(len(b)))
}
