// Package abi is the Go side of the structs in jni/quiver.h: results are laid
// out in C memory of the handle they belong to, failures become codes and
// messages. exports.go asserts that both sides have the same sizes.
package abi

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/quiverspark/quiver/native/engine"
	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// Code is a quiver_code.
type Code int32

// The codes of quiver.h.
const (
	OK Code = iota
	Invalid
	Corrupt
	Memory
	Closed
	Unsupported
	Internal
)

// Error is a quiver_error.
type Error struct {
	Code    Code
	Message [2044]byte // UTF-8, zero-terminated
}

// Guard runs f and turns its error, its panic or a memory fault in Go code
// into a code and a message in e. Nothing gets past it.
func Guard(e *Error, f func() error) (code Code) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			code = e.put(recovered(r))
		}
	}()
	if err := f(); err != nil {
		return e.put(err)
	}
	return OK
}

// recovered turns what a panic carries into an error.
func recovered(r any) error {
	if err, ok := r.(error); ok {
		if le := (*memory.LimitError)(nil); errors.As(err, &le) {
			return le
		}
		if ae := (*ArgumentError)(nil); errors.As(err, &ae) {
			return ae
		}
	}
	return &internalError{fmt.Sprintf("bug in libquiver, the call was given up: %v\n%s", r, debug.Stack())}
}

// ArgumentError is a panic about an argument that cannot be what the caller says.
type ArgumentError struct{ Message string }

func (e *ArgumentError) Error() string { return e.Message }

type internalError struct{ msg string }

func (e *internalError) Error() string { return e.msg }

func (e *Error) put(err error) Code {
	e.Code = codeOf(err)
	// a message may quote stored bytes
	PutText(e.Message[:], strings.ToValidUTF8(err.Error(), "\uFFFD"))
	return e.Code
}

func codeOf(err error) Code {
	switch {
	case as[*memory.LimitError](err):
		return Memory
	case as[*ipc.CorruptError](err), as[*ipc.VersionError](err), as[*ipc.CodecError](err):
		return Corrupt
	case as[*schema.UnsupportedTypeError](err):
		return Unsupported
	case as[*closedError](err):
		return Closed
	case as[*engine.OptionError](err):
		return Invalid
	case as[*internalError](err):
		return Internal
	}
	return Invalid
}

func as[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}

// PutText copies as much of text as fits, cut at a character, and a zero to
// dst and returns the bytes copied.
func PutText(dst []byte, text string) int {
	if len(dst) == 0 {
		return 0
	}
	n := min(len(text), len(dst)-1)
	for n > 0 && n < len(text) && text[n]&0xC0 == 0x80 {
		n--
	}
	copy(dst, text[:n])
	dst[n] = 0
	return n
}
