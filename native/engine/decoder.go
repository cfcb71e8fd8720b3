package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/quiverspark/quiver/native/codec"
	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/pack"
	"github.com/quiverspark/quiver/native/row"
	"github.com/quiverspark/quiver/native/schema"
)

// Read is what a planned batch will be decoded to.
type Read int

const (
	// ReadVectors decodes for heap-backed vectors: raw buffers stay in their segment.
	ReadVectors Read = iota
	// ReadRows decodes for NextRows.
	ReadRows
	// ReadArrow decodes into memory that is handed over to an Arrow consumer.
	ReadArrow
)

// Need tells what of one projected column the decoder has to see.
type Need struct {
	FirstSegment, NumSegments int
	Length                    int64  // bytes that these segments have together, by the header
	Data                      []byte // where to copy their first len(Data) bytes
	Present                   int64  // bytes that they really have, set by the caller

	start int64 // offset of the column in the body
}

// Decoder decodes some columns of batches of one schema. It is used by one
// goroutine at a time and keeps its scratch memory from batch to batch.
type Decoder struct {
	schema    *schema.Schema
	projected *schema.Schema
	columns   []int // projection
	alloc     memory.Allocator
	arena     *memory.Arena
	blocks    *memory.Arena // of NextRows, one block at a time
	codecs    map[string]codec.Codec
	pack      *pack.Decoder
	rows      *row.ToRows

	head ipc.Header
	// checksums of the planned batch, nil where it is not to be checked.
	checksums []byte
	codec     codec.Codec // of the planned batch, nil for none and pack
	read      Read
	// planned: Plan succeeded and its result was not decoded yet.
	planned bool
	needs   []Need
	cols    []*column.Column
	// places[i] tells, for the i-th buffer in pre-order of the projected columns
	// (three a node), where the vector reader finds it; those of column i begin
	// at placesAt[i].
	places   []place
	placesAt []int
	rowFilter
	vec   Vectors
	stats ReadStats
}

// place is where a buffer's plain bytes are.
type place struct {
	data   []byte // in native memory; nil where only the segment has them
	inSeg  bool   // the segment has exactly these bytes at offset
	offset int64  // in the column's segment
	length int64
}

// ReadStats is what reading a batch took.
type ReadStats struct {
	Rows      int64
	BytesRead int64 // stored bytes of the projected columns
	Nanos     int64
	Kept      int64 // rows that the filter has left
}

// NewDecoder returns a decoder for the columns of s in projection, in that
// order, that takes its scratch memory from a.
func NewDecoder(s *schema.Schema, projection []int, a memory.Allocator) (*Decoder, error) {
	p, err := s.Project(projection)
	if err != nil {
		return nil, err
	}
	d := &Decoder{schema: s, projected: p, columns: projection, alloc: a,
		arena: memory.NewArena(a), blocks: memory.NewArena(a)}
	d.cols = make([]*column.Column, len(projection))
	d.placesAt = make([]int, len(projection))
	for i, f := range p.Fields {
		d.cols[i] = column.New(f.Type)
		d.placesAt[i] = 3 * p.FirstNode[i]
	}
	d.places = make([]place, 3*p.FirstNode[len(projection)])
	d.needs = make([]Need, len(projection))
	return d, nil
}

// Close frees the scratch memory.
func (d *Decoder) Close() {
	d.arena.Close()
	d.blocks.Close()
}

// Plan reads a batch's header and tells what is needed of its segments. With
// the batch's checksums (nil: none) the projected segments are checked when
// they are decoded. Header and checksums are only used during the call.
func (d *Decoder) Plan(read Read, header []byte, numSegments int, checksums []byte) ([]Need, error) {
	if read != ReadArrow {
		d.arena.Reset()
	} else {
		d.arena.Close() // what is decoded now changes hands; see Record
		d.arena = memory.NewArena(d.alloc)
	}
	d.read, d.planned = read, false
	d.filtering = d.wanted() && read != ReadArrow
	clear(d.places)
	d.stats = ReadStats{}
	// The header is read again while decoding, after the caller's memory may be gone.
	own := d.arena.Bytes(len(header))
	copy(own, header)
	d.checksums = nil
	if checksums != nil {
		if err := checkCount(checksums, numSegments); err != nil {
			return nil, err
		}
		d.checksums = d.arena.Bytes(len(checksums))
		copy(d.checksums, checksums)
	}
	head, err := ipc.Parse(own)
	if err != nil {
		return nil, err
	}
	d.head = head
	s := d.schema
	n := len(s.Fields)
	if err := d.head.CheckShape(s.FirstNode[n], s.FirstBuffer[n]); err != nil {
		return nil, err
	}
	if head.Rows > math.MaxInt32 {
		return nil, ipc.Corrupt("the batch says it has %d rows", head.Rows)
	}
	d.stats.Rows = head.Rows
	if d.codec, err = d.codecFor(head.Codec); err != nil {
		return nil, err
	}
	for i, c := range d.columns {
		if err := d.plan(&d.needs[i], c, numSegments); err != nil {
			return nil, inColumn(err, c, s.Fields[c].Name)
		}
		d.stats.BytesRead += d.needs[i].Length
	}
	d.planned = true
	return d.needs, nil
}

// codecFor returns the buffer codec of that name, made once per decoder.
func (d *Decoder) codecFor(name string) (codec.Codec, error) {
	switch name {
	case ipc.CodecNone:
		return nil, nil
	case ipc.CodecPack:
		if d.pack == nil {
			d.pack = pack.NewDecoder()
		}
		return nil, nil
	}
	if c, ok := d.codecs[name]; ok {
		return c, nil
	}
	c, err := codec.New(name, 1)
	if err != nil {
		return nil, err
	}
	if d.codecs == nil {
		d.codecs = map[string]codec.Codec{}
	}
	d.codecs[name] = c
	return c, nil
}

func (d *Decoder) plan(n *Need, c, numSegments int) error {
	start, end, err := d.bounds(c)
	if err != nil {
		return err
	}
	*n = Need{start: start, Length: end - start, FirstSegment: c, NumSegments: segmentsOf(end - start)}
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
	wanted := n.Length
	if d.read == ReadVectors && d.head.Codec == ipc.CodecNone && n.NumSegments == 1 && d.checksums == nil && !d.filtering {
		if wanted, err = d.prefix(c, start); err != nil {
			return err
		}
	}
	n.Data = d.arena.Bytes(int(wanted))
	return nil
}

// segmentsOf returns how many segments a column of that many stored bytes has.
func segmentsOf(length int64) int { return max(1, int((length+MaxSegment-1)/MaxSegment)) }

// bounds returns the body offsets at which column c starts and ends. Columns
// without buffers start where the next one does.
func (d *Decoder) bounds(c int) (start, end int64, err error) {
	if start, err = d.columnStart(c); err != nil {
		return 0, 0, err
	}
	if end, err = d.columnStart(c + 1); err != nil {
		return 0, 0, err
	}
	if end < start {
		return 0, 0, ipc.Corrupt("its stored bytes are from %d to %d", start, end)
	}
	return start, end, nil
}

func (d *Decoder) columnStart(c int) (int64, error) {
	i := d.schema.FirstBuffer[c]
	if i == d.head.NumBuffers() {
		return d.head.BodyLength, nil
	}
	b, err := d.head.Buffer(i)
	return b.Offset, err
}

// prefix returns how many leading bytes of an uncompressed column that starts
// at start must be seen to expand and check it: validity bitmaps, booleans and
// offsets, but no values behind the last of these.
func (d *Decoder) prefix(c int, start int64) (need int64, err error) {
	next := d.schema.FirstBuffer[c]
	var walk func(t *schema.Type) error
	walk = func(t *schema.Type) error {
		for i := range t.Kind.NumBuffers() {
			b, err := d.head.Buffer(next)
			if err != nil {
				return err
			}
			next++
			if i == 0 || i == 1 && (t.Kind.HasOffsets() || t.Kind == schema.Bool) {
				need = max(need, b.Offset+b.Length-start)
			}
		}
		for _, f := range t.Children {
			if err := walk(f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	err = walk(d.schema.Fields[c].Type)
	_, end, _ := d.bounds(c)
	return min(need, end-start), err
}

// decode fills d.cols and d.places from what the caller copied.
func (d *Decoder) decode() error {
	t0 := time.Now()
	for i := range d.columns {
		n := &d.needs[i]
		if n.Present != n.Length {
			return d.inColumn(i, ipc.Corrupt("its segments have %d bytes, the header says %d", n.Present, n.Length))
		}
		if d.checksums != nil {
			if err := d.verify(n); err != nil {
				return d.inColumn(i, err)
			}
		}
	}
	if err := d.decodeColumns(); err != nil {
		return err
	}
	d.stats.Nanos = time.Since(t0).Nanoseconds()
	return nil
}

func (d *Decoder) decodeColumns() error {
	d.stats.Kept = d.head.Rows
	if d.filtering {
		return d.decodeFiltered()
	}
	for i := range d.columns {
		if err := d.decodeColumn(i); err != nil {
			return err
		}
	}
	return nil
}

// decodeColumn decodes the i-th projected column.
func (d *Decoder) decodeColumn(i int) error {
	n, c := &d.needs[i], d.columns[i]
	w := walker{d: d, need: n, node: d.schema.FirstNode[c], buffer: d.schema.FirstBuffer[c], end: n.start, place: d.placesAt[i]}
	if err := w.column(d.cols[i], d.head.Rows); err != nil {
		return d.inColumn(i, err)
	}
	return nil
}

func (d *Decoder) inColumn(i int, err error) error {
	c := d.columns[i]
	return inColumn(err, c, d.schema.Fields[c].Name)
}

// Rows decodes the planned batch for NextRows.
func (d *Decoder) Rows() (ReadStats, error) {
	if err := d.expect(ReadRows); err != nil {
		return ReadStats{}, err
	}
	if err := d.decode(); err != nil {
		return ReadStats{}, err
	}
	if d.rows == nil {
		d.rows = row.NewToRows(d.projected)
	}
	d.rows.ScratchIn(d.arena)
	if err := d.rows.Begin(d.cols, int(d.stats.Kept)); err != nil {
		return ReadStats{}, ipc.Corrupt("%v", err)
	}
	return d.stats, nil
}

// NextRows returns the next block of UnsafeRows as concatenated bytes, with
// the end offset of each row in ends[:n]; n is 0 after the last row. The block
// closes once it has target bytes or len(ends) rows.
func (d *Decoder) NextRows(target int, ends []int32) (block []byte, n int, err error) {
	if d.rows == nil || d.planned || d.read != ReadRows {
		return nil, 0, &OptionError{"no batch is being read by rows"}
	}
	d.blocks.Reset()
	if block, n, err = d.rows.Next(d.blocks, target, ends); n == 0 {
		d.rows.End()
	}
	return block, n, err
}

// expect uses up the plan, which must be for r: what it points to is decoded once.
func (d *Decoder) expect(r Read) error {
	if !d.planned || d.read != r {
		return &OptionError{fmt.Sprintf("no batch is planned for reading in mode %d", r)}
	}
	d.planned = false
	return nil
}

func inColumn(err error, index int, name string) error {
	return fmt.Errorf("column %d (%s): %w", index, name, err)
}
