package abi

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/quiverspark/quiver/native/engine"
	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

func message(e *Error) string {
	s := string(e.Message[:])
	return s[:strings.IndexByte(s, 0)]
}

func TestGuardTurnsEveryFailureIntoACode(t *testing.T) {
	wild := unsafe.Add(unsafe.Pointer(nil), 0x10000000000)
	var none *engine.Batch
	var m map[string]int
	for name, c := range map[string]struct {
		f    func() error
		code Code
		text string
	}{
		"nil":         {func() error { return nil }, OK, ""},
		"option":      {func() error { return &engine.OptionError{What: "no"} }, Invalid, "no"},
		"other":       {func() error { return errors.New("other") }, Invalid, "other"},
		"corrupt":     {func() error { return fmt.Errorf("column 1: %w", ipc.Corrupt("short")) }, Corrupt, "column 1: corrupt batch: short"},
		"version":     {func() error { return &ipc.VersionError{Version: "9"} }, Corrupt, "version 9"},
		"codec":       {func() error { return &ipc.CodecError{Name: "x"} }, Corrupt, `unknown codec "x"`},
		"type":        {func() error { return &schema.UnsupportedTypeError{Path: "c", Type: "geometry"} }, Unsupported, "geometry"},
		"memory":      {func() error { panic(&memory.LimitError{Requested: 5, Limit: 3}) }, Memory, "limit 3"},
		"panic":       {func() error { panic("boom") }, Internal, "bug in libquiver, the call was given up: boom"},
		"nil pointer": {func() error { _ = none.Rows; return nil }, Internal, "nil pointer"},
		"nil map":     {func() error { m["x"] = 1; return nil }, Internal, "nil map"},
		"wild read":   {func() error { return errors.New(string(rune(*(*byte)(wild)))) }, Internal, "address"},
	} {
		t.Run(name, func(t *testing.T) {
			var e Error
			code := Guard(&e, c.f)
			if code != c.code || e.Code != code || !strings.Contains(message(&e), c.text) {
				t.Fatalf("code %d, %q", code, message(&e))
			}
		})
	}
}

func TestPutTextCutsAtACharacter(t *testing.T) {
	dst := make([]byte, 5)
	if n := PutText(dst, "ab€"); n != 2 || string(dst[:3]) != "ab\x00" {
		t.Fatalf("%d %q", n, dst)
	}
	if n := PutText(dst, "a€"); n != 4 || string(dst) != "a€\x00" {
		t.Fatalf("%d %q", n, dst)
	}
	if PutText(nil, "a") != 0 {
		t.Fatal("wrote to nothing")
	}
}

func newDecoder(t *testing.T, a memory.Allocator) *Handle {
	t.Helper()
	s, err := schema.ParseSpark([]byte(`{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d, err := engine.NewDecoder(s, []int{0}, a)
	if err != nil {
		t.Fatal(err)
	}
	return &Handle{Decoder: d}
}

func TestHandlesAreNotReusedAndFreeWhatTheyHold(t *testing.T) {
	var mem memory.Checked
	var hs Handles
	h := hs.Add(newDecoder(t, &mem), &mem)
	if err := hs.Decoder(h, func(h *Handle) error { h.Ends(10); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := hs.Encoder(h, func(*Handle) error { return nil }); err == nil {
		t.Fatal("a decoder was used as an encoder")
	}
	if hs.Len() != 1 || mem.Live() == 0 {
		t.Fatalf("%d handles, %d allocations", hs.Len(), mem.Live())
	}
	hs.Close(h)
	hs.Close(h)
	if hs.Len() != 0 || mem.Live() != 0 {
		t.Fatalf("%d handles, %d allocations", hs.Len(), mem.Live())
	}
	for _, bad := range []int64{h, 0, -1, 99} {
		var ce *closedError
		if err := hs.Decoder(bad, func(*Handle) error { return nil }); !errors.As(err, &ce) {
			t.Fatalf("handle %d: %v", bad, err)
		}
	}
	if next := hs.Add(newDecoder(t, &mem), &mem); next == h {
		t.Fatal("handle was reused")
	}
}

// Close from another thread waits for the call that is under way and lets no
// later one in.
func TestCloseDuringCalls(t *testing.T) {
	var mem memory.Checked
	var hs Handles
	for range 50 {
		h := hs.Add(newDecoder(t, &mem), &mem)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for hs.Decoder(h, func(h *Handle) error { h.Ends(100)[99] = 1; return nil }) == nil {
				}
			})
		}
		wg.Go(func() { hs.Close(h) })
		wg.Wait()
	}
	if hs.Len() != 0 || mem.Live() != 0 {
		t.Fatalf("%d handles, %d allocations", hs.Len(), mem.Live())
	}
}
