package abi

import (
	"fmt"
	"sync"

	"github.com/quiverspark/quiver/native/engine"
	"github.com/quiverspark/quiver/native/memory"
)

// Handle is an encoder or decoder that was given out as an integer, with the
// C memory in which its results are described.
type Handle struct {
	Encoder *engine.Encoder
	Decoder *engine.Decoder

	mu     sync.Mutex // held during a call, so that Close waits
	closed bool
	arena  *memory.Arena
	needs  []need // as last given out
	source []engine.Need
}

type closedError struct{ handle int64 }

func (e *closedError) Error() string {
	return fmt.Sprintf("handle %d is closed or was never given out", e.handle)
}

// Handles maps integers to encoders and decoders. Integers are not reused.
type Handles struct {
	mu   sync.RWMutex
	last int64
	live map[int64]*Handle
}

// Add gives out a handle for h, whose result descriptions go into memory of a.
func (t *Handles) Add(h *Handle, a memory.Allocator) int64 {
	h.arena = memory.NewArena(a)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = map[int64]*Handle{}
	}
	t.last++
	t.live[t.last] = h
	return t.last
}

// Encoder calls f with the encoder's handle, alone.
func (t *Handles) Encoder(handle int64, f func(*Handle) error) error {
	return t.with(handle, func(h *Handle) error {
		if h.Encoder == nil {
			return &engine.OptionError{What: fmt.Sprintf("handle %d is a decoder", handle)}
		}
		return f(h)
	})
}

// Decoder calls f with the decoder's handle, alone.
func (t *Handles) Decoder(handle int64, f func(*Handle) error) error {
	return t.with(handle, func(h *Handle) error {
		if h.Decoder == nil {
			return &engine.OptionError{What: fmt.Sprintf("handle %d is an encoder", handle)}
		}
		return f(h)
	})
}

func (t *Handles) with(handle int64, f func(*Handle) error) error {
	t.mu.RLock()
	h := t.live[handle]
	t.mu.RUnlock()
	if h == nil {
		return &closedError{handle}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return &closedError{handle}
	}
	return f(h)
}

// Close frees what the handle holds, after a call that is under way.
func (t *Handles) Close(handle int64) {
	t.mu.Lock()
	h := t.live[handle]
	delete(t.live, handle)
	t.mu.Unlock()
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	if h.Encoder != nil {
		h.Encoder.Close()
	}
	if h.Decoder != nil {
		h.Decoder.Close()
	}
	h.arena.Close()
}

// Len returns the number of open handles.
func (t *Handles) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.live)
}
