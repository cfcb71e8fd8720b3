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
	// ReadTotals decodes for Totals.
	ReadTotals
)

// Need tells of some bytes of one projected column that the decoder has to see.
// A column has one, or more where fields of it are left out.
type Need struct {
	FirstSegment, NumSegments int    // the column's
	Length                    int64  // bytes that these segments have together, by the header
	Skip                      int64  // bytes of them that come before those to copy
	Data                      []byte // where to copy the next len(Data) bytes
	Present                   int64  // bytes that the segments really have, set by the caller
}

// stretch is what a plan has for one projected column.
type stretch struct {
	start  int64 // offset of the column in the body
	length int64 // stored bytes of it
	needs  []Need
	// inPlace: values are read from the segment, which is not copied as a whole.
	inPlace bool
}

// Decoder decodes some columns of batches of one schema. It is used by one
// goroutine at a time and keeps its scratch memory from batch to batch.
type Decoder struct {
	schema *schema.Schema
	// projected has void in the place of fields that are left out.
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
	// stretches[i] is of projected column i.
	stretches []stretch
	cols      []*column.Column
	// places[i] tells, for the i-th buffer in pre-order of the projected columns
	// (three a node), where the vector reader finds it; those of column i begin
	// at placesAt[i].
	places   []place
	placesAt []int
	rowFilter
	vec    Vectors
	leaves []leaf // of Totals
	stats  ReadStats
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
	BytesRead int64 // stored bytes of the projected columns, without what is left out
	Nanos     int64
	Kept      int64 // rows that the filter has left
}

// NewDecoder returns a decoder for the columns of s in projection, in that
// order, that takes its scratch memory from a.
func NewDecoder(s *schema.Schema, projection []int, a memory.Allocator) (*Decoder, error) {
	return NewPartialDecoder(s, projection, nil, a)
}

// NewPartialDecoder is NewDecoder without the fields of structs that unread
// lists; see [schema.Schema.Without], where s is the schema of the projection.
// They are decoded as void: all null.
func NewPartialDecoder(s *schema.Schema, projection, unread []int, a memory.Allocator) (*Decoder, error) {
	p, err := s.Project(projection)
	if err != nil {
		return nil, err
	}
	if p, err = p.Without(unread); err != nil {
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
	d.places = make([]place, 3*p.NodeCount())
	d.stretches = make([]stretch, len(projection))
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
	d.filtering = (read == ReadVectors || read == ReadRows) && d.wanted()
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
	d.needs = d.needs[:0]
	for i := range d.columns {
		if err := d.plan(i, numSegments); err != nil {
			return nil, d.inColumn(i, err)
		}
	}
	d.shareNeeds()
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

// decode fills d.cols and d.places from what the caller copied.
func (d *Decoder) decode() error {
	t0 := time.Now()
	for i := range d.stretches {
		if err := d.checkPresent(&d.stretches[i]); err != nil {
			return d.inColumn(i, err)
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
	s, c := &d.stretches[i], d.columns[i]
	w := walker{d: d, stretch: s, node: d.schema.FirstNode[c], buffer: d.schema.FirstBuffer[c], end: s.start, place: d.placesAt[i]}
	if err := w.column(d.cols[i], d.schema.Fields[c].Type, d.head.Rows); err != nil {
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
