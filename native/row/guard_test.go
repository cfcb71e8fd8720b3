package row

import (
	"syscall"
	"testing"

	"github.com/quiverspark/quiver/native/column"
)

// guarded returns n bytes behind which memory is not accessible, so that
// reading or writing past them is a fault.
func guarded(t testing.TB, n int) []byte {
	page := syscall.Getpagesize()
	size := (n+page-1)/page*page + page
	m, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(m) })
	if err := syscall.Mprotect(m[size-page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return m[size-page-n : size-page : size-page]
}

func guardedCopy(t testing.TB, b []byte) []byte {
	if b == nil {
		return nil
	}
	g := guarded(t, len(b))
	copy(g, b)
	return g
}

// guardColumn moves the buffers of c and its children into guarded memory.
func guardColumn(t testing.TB, c *column.Column) {
	c.Validity = guardedCopy(t, c.Validity)
	c.Values = guardedCopy(t, c.Values)
	c.Offsets = guardedCopy(t, c.Offsets)
	c.Data = guardedCopy(t, c.Data)
	for _, child := range c.Children {
		guardColumn(t, child)
	}
}
