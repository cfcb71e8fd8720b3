// Package pack is the codec `pack`: light-weight encodings of Arrow buffers,
// chosen per buffer and batch from what the data looks like. Nothing here is an
// entropy coder: every encoding decodes at several gigabytes a second.
//
// The stored form is described in docs/storage-format-pack.md; each encoding is
// in a file of its own that names the paper or format it follows.
//
// A stored buffer that is as long as the Arrow buffer it stands for is that
// buffer, raw. Every other stored buffer is shorter, begins with a byte that
// names the encoding and ends with guardLen zero bytes. Slots that are null
// keep their validity bit only; their values may change.
package pack

import (
	"fmt"

	"github.com/pierrec/lz4/v4"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

// Encodings, the first byte of a stored buffer that is not raw. Values are part
// of the format.
const (
	encConstant = 1
	encInts     = 2
	encDict     = 3
	encLZ4      = 4
	encSplit    = 5
	encDecimals = 6
	encDecimal  = 7
	encWrapped  = 8

	encBits = 16 // a bitmap's own encodings: see bitmap.go

	encLengths = 32

	encStringDict = 48
	encFSST       = 49
	encPrefixInt  = 50
	encHex        = 51
)

// Encoder packs the columns of one relation, batch after batch. It remembers
// per node what worked for the batch before and tries that first. It is used
// by one goroutine at a time and holds no native memory.
type Encoder struct {
	nodes []nodeState
	scratch
}

// scratch is memory that all nodes share.
type scratch struct {
	ints  intEncoder
	lz    lz4.Compressor
	best  []byte // candidate outputs
	alt   []byte
	alt2  []byte
	bytes []byte // filled or transposed copies of the input, lz4 samples
	wrap  []byte
	trial []byte
	words []int64
	hex   hexShape
	codes []int32
	set   hashSet
	bits  []byte
	lens  []int32
	texts textDictBuilder
}

// nodeState is what is remembered of a node between batches.
type nodeState struct {
	values memo
	text   memo
	// symbols is the FSST table in use, shared by the batches until a review.
	symbols *symbolTable
}

// NewEncoder returns an Encoder for a schema with that many Arrow field nodes.
func NewEncoder(nodes int) *Encoder { return &Encoder{nodes: make([]nodeState, nodes)} }

// MaxStored returns an upper bound of what AppendNode appends for c, children
// excluded, including room that kernels may write behind their output.
func MaxStored(c *column.Column) int {
	n := len(c.Validity) + len(c.Values) + len(c.Offsets) + len(c.Data)
	return n + n/32 + 256
}

// AppendNode appends the stored forms of c's own buffers to dst: validity, then
// values or offsets, then data. Each starts and ends at a multiple of 8 of
// dst's length and is padded with zeros; lens receives the lengths before
// padding, 0 for a buffer that is absent. node is c's index among the field
// nodes of the schema (pre-order). dst should have MaxStored(c) bytes of spare
// capacity, else it is moved. c's buffers are not modified.
func (e *Encoder) AppendNode(dst []byte, node int, c *column.Column, lens *[3]int64) []byte {
	*lens = [3]int64{}
	kind := c.Type.Kind
	if kind == schema.Null || c.Len == 0 {
		return dst
	}
	if len(c.Values)+len(c.Data) > maxKept {
		defer e.trim()
	}
	st := &e.nodes[node]
	validity := c.Validity
	if c.Nulls == 0 {
		validity = nil
	}
	if c.Nulls > 0 && c.Nulls < c.Len {
		dst = closeBuffer(e.appendBitmap(dst, validity, c.Len), len(dst), &lens[0])
	}
	start := len(dst)
	switch {
	case kind == schema.String || kind == schema.Binary:
		return e.appendText(dst, st, c, validity, lens)
	case kind == schema.List || kind == schema.Map:
		dst = e.appendOffsets(dst, c.Offsets[:4*(c.Len+1)], nil)
	case kind == schema.Bool:
		if c.Nulls < c.Len {
			dst = e.appendBools(dst, c.Values, validity, c.Len)
		}
	case c.Nulls == c.Len:
		// Nothing to keep.
	case kind == schema.Int8:
		dst = appendFixed[int8](e, dst, st, c, validity)
	case kind == schema.Int16:
		dst = appendFixed[int16](e, dst, st, c, validity)
	case kind == schema.Int32, kind == schema.Float32:
		dst = appendFixed[int32](e, dst, st, c, validity)
	case kind == schema.Int64, kind == schema.Float64:
		dst = appendFixed[int64](e, dst, st, c, validity)
	case kind == schema.Decimal:
		dst = e.appendDecimals(dst, st, c, validity)
	}
	return closeBuffer(dst, start, &lens[1])
}

// maxKept bounds each piece of scratch that an Encoder keeps, so that one huge
// column does not hold on to memory for the rest of the task.
const maxKept = 4 << 20

func (s *scratch) trim() {
	for _, b := range []*[]byte{&s.best, &s.alt, &s.alt2, &s.bytes, &s.wrap, &s.trial} {
		if cap(*b) > maxKept {
			*b = nil
		}
	}
}

// closeBuffer records the length of the buffer that began at start and pads it.
func closeBuffer(dst []byte, start int, length *int64) []byte {
	*length = int64(len(dst) - start)
	return appendZeros(dst, -(len(dst)-start)&7)
}

func appendZeros(dst []byte, n int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:n]...)
}

func appendGuard(dst []byte) []byte { return appendZeros(dst, guardLen) }

// Decoder unpacks columns. It is used by one goroutine at a time; it keeps a
// little scratch on the Go heap and no native memory.
type Decoder struct {
	u32   [blockLen]uint32
	u64   [blockLen]uint64
	hi    [blockLen]uint64
	dict  []uint64
	flags []byte
	text  textDict
	fsst  fsstTable

	inner, planes, dictBytes []byte
	prefix, suffix, padded   literal
	hex                      hexDecoder
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder { return &Decoder{} }

// Node decodes one node of n slots, nulls of them null, from its stored
// buffers (nil where absent). c.Type tells the kind; Len, Nulls, Validity,
// Values, Offsets and Data are filled, c.Children left alone. Buffers come from
// arena, except raw ones, which alias stored. The error names what is wrong
// with the stored bytes.
//
// Offsets start at 0 and never fall. For strings the last one is len(Data); for
// List and Map the caller compares it with the child's length.
func (d *Decoder) Node(c *column.Column, n, nulls int, stored [3][]byte, arena *memory.Arena) error {
	kind := c.Type.Kind
	if n < 0 || nulls < 0 || nulls > n {
		return fmt.Errorf("pack: %d nulls among %d slots", nulls, n)
	}
	c.Len, c.Nulls = n, nulls
	c.Validity, c.Values, c.Offsets, c.Data = nil, nil, nil, nil
	if kind == schema.Null {
		c.Nulls = n
		return nil
	}
	if err := d.validity(c, stored[0], arena); err != nil {
		return fmt.Errorf("pack: validity of a %s column: %w", c.Type.Name, err)
	}
	if n == 0 || nulls == n {
		return d.allNull(c, stored, arena)
	}
	var err error
	switch {
	case kind == schema.String || kind == schema.Binary:
		err = d.textNode(c, stored[1], stored[2], arena)
	case kind == schema.List || kind == schema.Map:
		c.Offsets, err = d.offsets(stored[1], n, nil, arena)
	case kind == schema.Bool:
		c.Values, err = d.bitmap(stored[1], n, arena)
	case kind.ValueWidth() > 0:
		c.Values, err = d.fixed(kind, stored[1], n, arena)
	}
	if err != nil {
		return fmt.Errorf("pack: %s column: %w", c.Type.Name, err)
	}
	return nil
}

// allNull fills a column without a valid slot. Lists keep their offsets, since
// their children do.
func (d *Decoder) allNull(c *column.Column, stored [3][]byte, arena *memory.Arena) (err error) {
	kind := c.Type.Kind
	switch {
	case kind.HasOffsets():
		if c.Offsets, err = d.offsets(stored[1], c.Len, nil, arena); err != nil {
			return fmt.Errorf("pack: %s column: %w", c.Type.Name, err)
		}
		c.Data = arena.Bytes(0)
		if total := lastOffset(c.Offsets); total != 0 && (kind == schema.String || kind == schema.Binary) {
			return fmt.Errorf("pack: %s column: %d bytes of data in null slots", c.Type.Name, total)
		}
	case kind == schema.Bool:
		c.Values = arena.Zeroed((c.Len + 7) >> 3)
	case kind.ValueWidth() > 0:
		c.Values = arena.Zeroed(c.Len * kind.ValueWidth())
	}
	return nil
}

// maxScratch bounds what a Decoder keeps on the Go heap per purpose; larger
// needs are met by the arena.
const maxScratch = 1 << 20

// scratch returns n bytes of any content with guardLen more readable, in *keep
// where that is not too much.
func (d *Decoder) scratch(keep *[]byte, n int, arena *memory.Arena) []byte {
	if n > maxScratch {
		return arena.Bytes(n)
	}
	*keep = resize(*keep, n+guardLen)
	return (*keep)[:n]
}
