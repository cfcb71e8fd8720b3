// Package engine puts pivot, statistics, codecs and message layout together:
// one Encoder or Decoder is what a task works with, behind the C ABI or from Go.
package engine

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/quiverspark/quiver/native/codec"
	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/pack"
	"github.com/quiverspark/quiver/native/row"
	"github.com/quiverspark/quiver/native/schema"
	"github.com/quiverspark/quiver/native/stats"
)

// MaxSegment is the longest segment in bytes; longer columns are split.
const MaxSegment = 16 << 20

// Batch is an encoded batch. Its slices are memory of the encoder and valid
// until its next call.
type Batch struct {
	Rows        int
	DecodedSize int64    // bytes, as Spark's column statistics count them
	Header      []byte   // encapsulated IPC message without the body
	Stats       []byte   // UnsafeRow of the statistics
	Segments    [][]byte // the body, at least one segment for each column
	Checksums   []byte   // CRC32C, 4 bytes each, little-endian: of all but the segments, then of each segment
}

// Encoder encodes batches of one schema. It is used by one goroutine at a time
// and keeps its scratch memory from batch to batch.
type Encoder struct {
	schema *schema.Schema
	opts   Options
	arena  *memory.Arena
	rows   *row.FromRows
	codec  codec.Codec   // zstd, lz4; nil for none and pack
	pack   *pack.Encoder // for pack
	stats  *stats.Computer
	msg    ipc.Message
	// row, head and sums are where statistics row, header and checksums are put together.
	row, head, sums []byte
	batch           Batch
	// columns of an imported batch; see importer
	imported []*column.Column
}

// NewEncoder returns an encoder that takes its scratch memory from a.
func NewEncoder(s *schema.Schema, o Options, a memory.Allocator) (*Encoder, error) {
	c, err := o.newCodec()
	if err != nil {
		return nil, err
	}
	e := &Encoder{schema: s, opts: o, arena: memory.NewArena(a), codec: c,
		rows: row.NewFromRows(s), stats: stats.NewComputer(s)}
	n := len(s.Fields)
	if o.Codec == ipc.CodecPack {
		e.pack = pack.NewEncoder(s.FirstNode[n])
	}
	e.msg.Codec = o.Codec
	e.msg.Nodes = make([]ipc.Node, 0, s.FirstNode[n])
	e.msg.Buffers = make([]ipc.Buffer, 0, s.FirstBuffer[n])
	return e, nil
}

// EncodeRows encodes concatenated UnsafeRows; ends[i] is the end offset of row i.
func (e *Encoder) EncodeRows(rows []byte, ends []int64) (*Batch, error) {
	if err := inject(e.opts.inject); err != nil {
		return nil, err
	}
	e.arena.Reset()
	cols, err := e.rows.Columns(rows, ends, e.arena)
	if err != nil {
		return nil, err
	}
	return e.encode(cols, len(ends))
}

// EncodeRecord encodes an Arrow record batch whose columns have the types that
// the schema maps to (dictionary-encoded values of such a type are decoded).
func (e *Encoder) EncodeRecord(rec arrow.RecordBatch) (*Batch, error) {
	if err := inject(e.opts.inject); err != nil {
		return nil, err
	}
	if int(rec.NumCols()) != len(e.schema.Fields) {
		return nil, &OptionError{fmt.Sprintf("the record batch has %d columns, the schema %d", rec.NumCols(), len(e.schema.Fields))}
	}
	e.arena.Reset()
	cols, err := e.importRecord(rec)
	if err != nil {
		return nil, err
	}
	return e.encode(cols, int(rec.NumRows()))
}

// ArrowSchema returns the Arrow types that EncodeRecord expects.
func (e *Encoder) ArrowSchema() *arrow.Schema { return e.schema.Arrow() }

// Close frees the scratch memory.
func (e *Encoder) Close() { e.arena.Close() }

// encode writes statistics, segments, header and checksums of columns it may overwrite
// (null slots only).
func (e *Encoder) encode(cols []*column.Column, rows int) (*Batch, error) {
	b := &e.batch
	b.Rows = rows
	var err error
	if e.row, b.DecodedSize, err = e.stats.Append(e.row[:0], cols); err != nil {
		return nil, err
	}
	b.Stats = e.keep(e.row)
	b.Segments = b.Segments[:0]
	e.msg.Rows = int64(rows)
	e.msg.Nodes = e.msg.Nodes[:0]
	e.msg.Buffers = e.msg.Buffers[:0]
	e.msg.BodyLength = 0
	for _, c := range cols {
		seg := e.arena.Bytes(e.maxStored(c))
		body := e.appendColumn(seg[:0], c)
		if len(body) > len(seg) {
			panic("engine: a stored column is longer than its bound")
		}
		body = e.arena.Shrink(seg, len(body))
		e.msg.BodyLength += int64(len(body))
		for len(body) > MaxSegment {
			b.Segments = append(b.Segments, body[:MaxSegment])
			body = body[MaxSegment:]
		}
		b.Segments = append(b.Segments, body)
	}
	e.head = ipc.AppendMessage(e.head[:0], &e.msg)
	b.Header = e.keep(e.head)
	e.sums = appendChecksums(e.sums[:0], b, len(cols))
	b.Checksums = e.keep(e.sums)
	return b, nil
}

// keep copies b, which is Go memory, to where C may see it.
func (e *Encoder) keep(b []byte) []byte {
	out := e.arena.Bytes(len(b))
	copy(out, b)
	return out
}

// maxStored bounds the stored length of a column, children included.
func (e *Encoder) maxStored(c *column.Column) int {
	var n int
	if e.pack != nil {
		n = pack.MaxStored(c)
	} else {
		n = codec.MaxStored(len(c.Validity)) + codec.MaxStored(len(c.Values)) +
			codec.MaxStored(len(c.Offsets)) + codec.MaxStored(len(c.Data)) + 4*8
	}
	for _, child := range c.Children {
		n += e.maxStored(child)
	}
	return n
}

// appendColumn appends the stored buffers of c and its children, in Arrow's
// pre-order, each padded to 8 bytes, and records nodes and buffers. Recursion
// is as deep as the type, which the schema parser bounds.
func (e *Encoder) appendColumn(dst []byte, c *column.Column) []byte {
	node := len(e.msg.Nodes)
	e.msg.Nodes = append(e.msg.Nodes, ipc.Node{Length: int64(c.Len), Nulls: int64(c.Nulls)})
	k := c.Type.Kind
	if e.pack != nil {
		start := len(dst)
		var lens [3]int64
		dst = e.pack.AppendNode(dst, node, c, &lens)
		off := e.msg.BodyLength + int64(start)
		for i := range k.NumBuffers() {
			e.msg.Buffers = append(e.msg.Buffers, ipc.Buffer{Offset: off, Length: lens[i]})
			off += (lens[i] + 7) &^ 7
		}
	} else if k != schema.Null {
		if e.codec != nil {
			codec.FillNulls(c)
		}
		dst = e.appendBuffer(dst, c.Validity)
		if w := k.ValueWidth(); w > 0 || k == schema.Bool {
			dst = e.appendBuffer(dst, c.Values)
		} else if k.HasOffsets() {
			dst = e.appendBuffer(dst, c.Offsets)
		}
		if k == schema.String || k == schema.Binary {
			dst = e.appendBuffer(dst, c.Data)
		}
	}
	for _, child := range c.Children {
		dst = e.appendColumn(dst, child)
	}
	return dst
}

func (e *Encoder) appendBuffer(dst, buf []byte) []byte {
	start := len(dst)
	dst = codec.AppendBuffer(dst, e.codec, buf)
	e.msg.Buffers = append(e.msg.Buffers,
		ipc.Buffer{Offset: e.msg.BodyLength + int64(start), Length: int64(len(dst) - start)})
	for len(dst)&7 != 0 {
		dst = append(dst, 0)
	}
	return dst
}
