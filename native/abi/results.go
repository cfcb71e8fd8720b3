package abi

import (
	"unsafe"

	"github.com/quiverspark/quiver/native/engine"
	"github.com/quiverspark/quiver/native/memory"
)

// address is a pointer to C memory within C memory. It is no pointer to Go's
// compiler: a store of one has the garbage collector, while it marks, look at
// what was there before, and C memory that was never set, or held something
// else, may hold what looks like an address in Go's heap. Where nothing is at
// that address, Go ends the process ("found bad pointer in Go heap").
type address uintptr

func addressOf[T any](s []T) address { return address(unsafe.Pointer(unsafe.SliceData(s))) }

// Bytes is a quiver_bytes.
type Bytes struct {
	Data   address
	Length int64
}

// Batch is a quiver_batch.
type Batch struct {
	Rows, DecodedSize int64
	Header, Stats     Bytes
	NumSegments       int64
	Segments          address // of Bytes
	Checksums         Bytes
}

// need is a quiver_need.
type need struct {
	FirstSegment, NumSegments int32
	Length, Skip, Wanted      int64
	Data                      address
	Present                   int64
}

// buffer is a quiver_buffer.
type buffer struct {
	Source, Segment int32
	Data            address
	Length          int64
}

// Vectors is a quiver_vectors.
type Vectors struct {
	Rows, BytesRead, Nanos, Kept int64
	NumNodes                     int64
	Layout, Buffers              address
}

// SizeOfNeed and SizeOfBuffer are for the size assertions in exports.go.
const (
	SizeOfNeed   = unsafe.Sizeof(need{})
	SizeOfBuffer = unsafe.Sizeof(buffer{})
)

// NewBytes describes b, which lies in C memory.
func NewBytes(b []byte) Bytes { return Bytes{addressOf(b), int64(len(b))} }

// PutAddress puts the address of s, in C memory, into C memory.
func PutAddress[T any](out unsafe.Pointer, s []T) { *(*address)(out) = addressOf(s) }

// ClearPointers sets a struct of C's that code of others will store pointers in.
func ClearPointers[T any](out *T) {
	if out != nil {
		clear(unsafe.Slice((*byte)(unsafe.Pointer(out)), unsafe.Sizeof(*out)))
	}
}

// alloc returns n values of T in C memory of the handle, content arbitrary.
func alloc[T any](a *memory.Arena, n int) []T {
	var z T
	b := a.Bytes(n * int(unsafe.Sizeof(z)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// reset gives up what was described before.
func (h *Handle) reset() {
	h.arena.Reset()
	h.needs, h.source = nil, nil
}

// PutBatch describes b in out.
func (h *Handle) PutBatch(out *Batch, b *engine.Batch) {
	h.reset()
	segments := alloc[Bytes](h.arena, len(b.Segments))
	for i, s := range b.Segments {
		segments[i] = NewBytes(s)
	}
	*out = Batch{Rows: int64(b.Rows), DecodedSize: b.DecodedSize, Header: NewBytes(b.Header), Stats: NewBytes(b.Stats),
		NumSegments: int64(len(segments)), Segments: addressOf(segments),
		Checksums: NewBytes(b.Checksums)}
}

// PutNeeds describes needs as an array of quiver_need and puts its address into out.
func (h *Handle) PutNeeds(out unsafe.Pointer, needs []engine.Need) {
	h.reset()
	h.source = needs
	h.needs = alloc[need](h.arena, len(needs))
	for i, n := range needs {
		h.needs[i] = need{FirstSegment: int32(n.FirstSegment), NumSegments: int32(n.NumSegments),
			Length: n.Length, Skip: n.Skip, Wanted: int64(len(n.Data)), Data: addressOf(n.Data)}
	}
	PutAddress(out, h.needs)
}

// TakePresent passes on what the caller has put into the needs.
func (h *Handle) TakePresent() {
	for i := range h.needs {
		h.source[i].Present = h.needs[i].Present
	}
}

// PutVectors describes v in out.
func (h *Handle) PutVectors(out *Vectors, v *engine.Vectors) {
	layout := alloc[int64](h.arena, len(v.Layout))
	copy(layout, v.Layout)
	buffers := alloc[buffer](h.arena, len(v.Buffers))
	for i, b := range v.Buffers {
		buffers[i] = buffer{Source: int32(b.Source), Segment: int32(b.Segment), Data: addressOf(b.Data), Length: int64(len(b.Data))}
	}
	*out = Vectors{Rows: v.Rows, BytesRead: v.BytesRead, Nanos: v.Nanos, Kept: v.Kept, NumNodes: int64(v.Nodes),
		Layout: addressOf(layout), Buffers: addressOf(buffers)}
}

// PutStats puts what reading took into out.
func PutStats(out *Vectors, s engine.ReadStats) {
	*out = Vectors{Rows: s.Rows, BytesRead: s.BytesRead, Nanos: s.Nanos, Kept: s.Kept}
}

// Ends returns n int32 of C memory of the handle for the end offsets of rows.
func (h *Handle) Ends(n int) []int32 {
	h.reset()
	return alloc[int32](h.arena, n)
}
