package engine

import (
	"unsafe"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/schema"
)

// minGap is how many bytes that are left out make it worth while to leave them
// out of what is copied, too: one more Need takes as long as copying about so many.
const minGap = 1 << 10

// plan appends what is needed of the i-th projected column to d.needs.
func (d *Decoder) plan(i, numSegments int) error {
	c := d.columns[i]
	start, end, err := d.bounds(c)
	if err != nil {
		return err
	}
	s := &d.stretches[i]
	*s = stretch{start: start, length: end - start}
	n := Need{Length: s.length, FirstSegment: c, NumSegments: segmentsOf(s.length)}
	if numSegments != len(d.schema.Fields) || n.NumSegments != 1 {
		n.FirstSegment = 0
		for i := range c { // some column is split: count what is before
			start, end, err := d.bounds(i)
			if err != nil {
				return err
			}
			n.FirstSegment += segmentsOf(end - start)
		}
	}
	if n.FirstSegment+n.NumSegments > numSegments {
		return ipc.Corrupt("its segments are %d to %d, the batch has %d", n.FirstSegment, n.FirstSegment+n.NumSegments-1, numSegments)
	}
	r := ranges{d: d, need: n, start: start, length: s.length, wanted: s.length, buffer: d.schema.FirstBuffer[c]}
	first := len(d.needs)
	if d.checksums == nil { // which are of whole segments
		if d.read == ReadVectors && d.head.Codec == ipc.CodecNone && n.NumSegments == 1 && !d.filtering {
			r.wanted, r.prefix, s.inPlace = 0, true, true
		}
		if err := r.walk(d.cols[i].Type, d.schema.Fields[c].Type); err != nil {
			return err
		}
	}
	r.add(s.length)
	s.needs = d.needs[first:] // of another array, maybe, once more are appended; see shareNeeds
	d.stats.BytesRead += s.length - r.skipped
	return nil
}

// shareNeeds has all stretches look at the array that the caller fills in.
func (d *Decoder) shareNeeds() {
	at := 0
	for i := range d.stretches {
		n := len(d.stretches[i].needs)
		d.stretches[i].needs = d.needs[at : at+n]
		at += n
	}
}

// segmentsOf returns how many segments a column of that many stored bytes has.
func segmentsOf(length int64) int {
	if length <= MaxSegment {
		return 1
	}
	return int((length-1)/MaxSegment) + 1 // no sum with a damaged length, which may be the longest there is
}

// bounds returns the body offsets at which column c starts and ends. Columns
// without buffers start where the next one does.
func (d *Decoder) bounds(c int) (start, end int64, err error) {
	if start, err = d.bufferStart(d.schema.FirstBuffer[c]); err != nil {
		return 0, 0, err
	}
	if end, err = d.bufferStart(d.schema.FirstBuffer[c+1]); err != nil {
		return 0, 0, err
	}
	if end < start {
		return 0, 0, ipc.Corrupt("its stored bytes are from %d to %d", start, end)
	}
	return start, end, nil
}

// bufferStart returns the body offset of a buffer, or of the body's end.
func (d *Decoder) bufferStart(i int) (int64, error) {
	if i == d.head.NumBuffers() {
		return d.head.BodyLength, nil
	}
	b, err := d.head.Buffer(i)
	return b.Offset, err
}

// ranges finds out which bytes of a column have to be seen: those of buffers
// that are not left out. With prefix, of an uncompressed column whose values
// are read in place, none behind the last bitmap, booleans or offsets, by
// which the column is checked.
type ranges struct {
	d             *Decoder
	need          Need // without Skip and Data
	start, length int64
	wanted        int64 // nothing is to be seen from here on
	prefix        bool

	buffer  int   // next
	from    int64 // all before is in needs, or left out
	some    bool  // there is a Need
	skipped int64
}

func (r *ranges) walk(t, stored *schema.Type) error {
	for i := range t.Kind.NumBuffers() {
		if r.prefix && (i == 0 || i == 1 && (t.Kind.HasOffsets() || t.Kind == schema.Bool)) {
			b, err := r.d.head.Buffer(r.buffer)
			if err != nil {
				return err
			}
			r.wanted = min(max(r.wanted, b.Offset+b.Length-r.start), r.length)
		}
		r.buffer++
	}
	for i, f := range t.Children {
		if next := stored.Children[i].Type; f.Type.Kind != next.Kind {
			if err := r.leaveOut(next); err != nil {
				return err
			}
		} else if err := r.walk(f.Type, next); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut passes over the buffers of a field.
func (r *ranges) leaveOut(stored *schema.Type) error {
	_, buffers := stored.NodesAndBuffers()
	first, err := r.d.bufferStart(r.buffer)
	if err != nil {
		return err
	}
	r.buffer += buffers
	next, err := r.d.bufferStart(r.buffer)
	if err != nil {
		return err
	}
	first, next = first-r.start, next-r.start
	if first < r.from || next < first || next > r.length {
		return ipc.Corrupt("buffers up to %d are from %d to %d, in a column of %d bytes", r.buffer-1, first, next, r.length)
	}
	r.skipped += next - first
	if next-first >= minGap {
		r.add(first)
		r.from = next
	}
	return nil
}

// add appends a Need for what is to be seen before to, if there is anything or
// if it is the column's last chance to have one.
func (r *ranges) add(to int64) {
	end := max(min(to, r.wanted), r.from)
	if end == r.from && (to < r.length || r.some) {
		return
	}
	n := r.need
	n.Skip = r.from
	n.Data = r.d.arena.Bytes(int(end - r.from))
	r.d.needs = append(r.d.needs, n)
	r.some = true
}

// checkPresent tells whether the caller had the segments of a column as the
// header describes them.
func (d *Decoder) checkPresent(s *stretch) error {
	for i := range s.needs {
		n := &s.needs[i]
		if n.Present != n.Length {
			return ipc.Corrupt("its segments have %d bytes, the header says %d", n.Present, n.Length)
		}
		if d.checksums != nil {
			if err := d.verify(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// at returns the bytes of a column from offset on that the caller has copied,
// length of them or nil.
func (s *stretch) at(offset, length int64) []byte {
	for i := range s.needs {
		n := &s.needs[i]
		if from := offset - n.Skip; from >= 0 && from+length <= int64(len(n.Data)) {
			return n.Data[from : from+length : from+length]
		}
	}
	return nil
}

// find is the inverse of at: where in the column b is, if it is part of what was copied.
func (s *stretch) find(b []byte) (offset int64, found bool) {
	for i := range s.needs {
		n := &s.needs[i]
		if len(n.Data) == 0 {
			continue
		}
		from := int64(uintptr(unsafe.Pointer(&b[0]))) - int64(uintptr(unsafe.Pointer(&n.Data[0])))
		if from >= 0 && from+int64(len(b)) <= int64(len(n.Data)) {
			return n.Skip + from, true
		}
	}
	return 0, false
}
