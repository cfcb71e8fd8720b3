//go:build quiverhooks

package engine

import (
	"errors"
	"unsafe"
)

// injectable: built for tests that need a failure inside the library.
const injectable = true

// inject fails as asked: "panic" (explicit), "nil" (nil dereference), "wild"
// (read of an unmapped address), "index", "error".
func inject(kind string) error {
	switch kind {
	case "panic":
		panic("injected")
	case "nil":
		var p *[4]int
		return errors.New(string(rune(p[3])))
	case "wild":
		p := (*byte)(unsafe.Add(unsafe.Pointer(nil), 1<<40|0xdead))
		return errors.New(string(rune(*p)))
	case "index":
		i := len(kind)
		return errors.New(kind[i : i+1][i:])
	case "error":
		return errors.New("injected")
	}
	return nil
}
