//go:build unix

package pack

import (
	"math/rand"
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// guardPage is memory that ends where no memory is: a read behind it faults.
type guardPage struct{ mem []byte }

func newGuardPage(t testing.TB, size int) *guardPage {
	page := os.Getpagesize()
	size = (size + page - 1) &^ (page - 1)
	mem, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	if err := syscall.Mprotect(mem[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return &guardPage{mem: mem[:size:size]}
}

// end copies b to the end of the memory.
func (g *guardPage) end(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	at := len(g.mem) - len(b)
	copy(g.mem[at:], b)
	return g.mem[at:len(g.mem):len(g.mem)]
}

// Kernels in assembly are not seen by the race detector's pointer checks:
// decode buffers, whole and damaged, at the end of their memory, by both kinds
// of kernels.
func TestNoReadBehindBuffers(t *testing.T) {
	cols, stored := samples(t)
	pages := [3]*guardPage{newGuardPage(t, 1<<20), newGuardPage(t, 1<<20), newGuardPage(t, 1<<20)}
	r := rand.New(rand.NewSource(12))
	h, d := newHostileArena(), NewDecoder()
	for _, fast := range []bool{true, false} {
		withKernels(fast, func() {
			for i, c := range cols {
				var s [3][]byte
				for k, b := range stored[i] {
					s[k] = pages[k].end(b)
				}
				if err := h.node(t, d, c.Type, c.Len, c.Nulls, s); err != nil {
					t.Fatalf("%s (%s): %v", c.Type.Name, describe(stored[i]), err)
				}
				sel := make([]byte, (c.Len+7)/8)
				_, _, _ = d.SelectRange(c.Type.Kind, s[1], nil, c.Len, 0, 10, sel, h.arena)
				for range 10 {
					k := r.Intn(3)
					if len(stored[i][k]) == 0 {
						continue
					}
					bad := append([]byte(nil), stored[i][k]...)
					bad[r.Intn(min(len(bad), 24))] = byte(r.Uint32())
					s[k] = pages[k].end(bad[:1+r.Intn(len(bad))])
					_ = h.node(t, d, c.Type, c.Len, c.Nulls, s)
				}
			}
		})
	}
}

// Encoders do not read behind their input either.
func TestNoReadBehindInput(t *testing.T) {
	cols, _ := samples(t)
	pages := [4]*guardPage{newGuardPage(t, 1<<20), newGuardPage(t, 1<<20), newGuardPage(t, 1<<20), newGuardPage(t, 1<<20)}
	for _, c := range cols {
		own := *c
		// Values and offsets are aligned in Arrow: their length decides where they begin.
		own.Validity, own.Data = pages[0].end(c.Validity), pages[3].end(c.Data)
		own.Values, own.Offsets = pages[1].end(c.Values), pages[2].end(c.Offsets)
		if v := own.Values; len(v) > 0 && uintptr(unsafe.Pointer(&v[0]))%8 != 0 {
			own.Values = c.Values
		}
		newPair().roundTrip(t, c.Type.Name, &own)
	}
}
