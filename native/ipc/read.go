package ipc

import (
	"encoding/binary"
	"math"

	"github.com/quiverspark/quiver/native/ipc/flatbuf"
)

// Header is a parsed message. It keeps the node and buffer vectors as bytes of
// the slice given to Parse, which must stay unchanged while the Header is used;
// reading one entry costs the same however many there are.
type Header struct {
	Rows       int64  // ≥ 0
	Codec      string // one of the Codec constants
	BodyLength int64  // ≥ 0, a multiple of 8

	nodes, buffers []byte // 16 bytes an entry
}

// Slots of the tables, as numbered in Arrow's format files.
const (
	slotMessageVersion, slotMessageHeaderType, slotMessageHeader    = 0, 1, 2
	slotMessageBodyLength, slotMessageMetadata                      = 3, 4
	slotBatchLength, slotBatchNodes, slotBatchBuffers               = 0, 1, 2
	slotBatchCompression, slotBatchVariadic                         = 3, 4
	slotCompressionCodec, slotCompressionMethod, slotKey, slotValue = 0, 1, 0, 1

	entrySize = 16 // of a FieldNode and of a Buffer
)

// Parse reads the header of a stored batch: exactly one encapsulated message.
// The bytes need not be trusted: every offset in them is checked, and the
// Header's methods cannot read outside of them. Errors are *CorruptError,
// *VersionError and *CodecError.
func Parse(header []byte) (Header, error) {
	if len(header) < prefixSize {
		return Header{}, Corrupt("header has %d bytes, too few for a message", len(header))
	}
	if c := binary.LittleEndian.Uint32(header); c != continuation {
		return Header{}, Corrupt("header starts with 0x%08x instead of the continuation marker", c)
	}
	size := int64(int32(binary.LittleEndian.Uint32(header[4:])))
	if size != int64(len(header)-prefixSize) {
		return Header{}, Corrupt("header says %d bytes of metadata, there are %d", size, len(header)-prefixSize)
	}
	fb := fbuf(header[prefixSize:])
	msg, ok := fb.root()
	if !ok {
		return Header{}, Corrupt("message table is out of bounds")
	}
	return parseMessage(msg)
}

func parseMessage(msg table) (h Header, err error) {
	if h.Codec, err = parseMetadata(msg); err != nil {
		return Header{}, err
	}
	if v := flatbuf.MetadataVersion(msg.int(slotMessageVersion, 2, 0)); v != flatbuf.MetadataVersionV5 {
		return Header{}, Corrupt("message metadata version is %d instead of %d (V5)", int(v), int(flatbuf.MetadataVersionV5))
	}
	if t := flatbuf.MessageHeader(msg.int(slotMessageHeaderType, 1, 0)); t != flatbuf.MessageHeaderRecordBatch {
		return Header{}, Corrupt("message is of kind %d instead of %d (RecordBatch)", int(t), int(flatbuf.MessageHeaderRecordBatch))
	}
	h.BodyLength = msg.int(slotMessageBodyLength, 8, 0)
	if h.BodyLength < 0 || h.BodyLength&7 != 0 {
		return Header{}, Corrupt("body length %d is negative or no multiple of 8", h.BodyLength)
	}
	batch, present, ok := msg.table(slotMessageHeader)
	if !ok || !present {
		return Header{}, Corrupt("record batch table is missing or out of bounds")
	}
	if h.Rows = batch.int(slotBatchLength, 8, 0); h.Rows < 0 {
		return Header{}, Corrupt("row count is %d", h.Rows)
	}
	if h.nodes, ok = batch.bytes(slotBatchNodes, entrySize); !ok {
		return Header{}, Corrupt("vector of field nodes is out of bounds")
	}
	if h.buffers, ok = batch.bytes(slotBatchBuffers, entrySize); !ok {
		return Header{}, Corrupt("vector of buffers is out of bounds")
	}
	if v, ok := batch.bytes(slotBatchVariadic, 8); !ok || len(v) > 0 {
		return Header{}, Corrupt("record batch has variadic buffers")
	}
	return h, checkCompression(batch, h.Codec)
}

// parseMetadata returns the codec named by the custom metadata, after checking
// the format version: nothing else is certain to mean the same in another one.
func parseMetadata(msg table) (string, error) {
	start, n, ok := msg.vector(slotMessageMetadata, 4)
	if !ok {
		return "", Corrupt("custom metadata is out of bounds")
	}
	var format, codec []byte
	for i := range n {
		at := start + 4*i
		kv, ok := msg.buf.table(at + msg.buf.u32(at))
		key, ok1 := kv.bytes(slotKey, 1)
		value, ok2 := kv.bytes(slotValue, 1)
		if !ok || !ok1 || !ok2 {
			return "", Corrupt("custom metadata entry %d is out of bounds", i)
		}
		switch string(key) {
		case KeyFormat:
			format = value
		case KeyCodec:
			codec = value
		}
	}
	if format == nil || codec == nil {
		return "", Corrupt("message lacks %s or %s in its custom metadata: not written by Quiver", KeyFormat, KeyCodec)
	}
	if string(format) != FormatVersion {
		return "", &VersionError{Version: string(format)}
	}
	name, ok := KnownCodec(codec)
	if !ok {
		return "", &CodecError{Name: string(codec)}
	}
	return name, nil
}

func checkCompression(batch table, codec string) error {
	c, present, ok := batch.table(slotBatchCompression)
	if !ok {
		return Corrupt("body compression table is out of bounds")
	}
	if codec == CodecNone || codec == CodecPack {
		if present {
			return Corrupt("codec is %s, yet the message has Arrow body compression", codec)
		}
		return nil
	}
	if !present {
		return Corrupt("codec is %s, yet the message has no Arrow body compression", codec)
	}
	want := flatbuf.CompressionTypeLZ4_FRAME
	if codec == CodecZstd {
		want = flatbuf.CompressionTypeZSTD
	}
	if t := flatbuf.CompressionType(c.int(slotCompressionCodec, 1, 0)); t != want {
		return Corrupt("codec is %s, yet the Arrow body compression is of type %d", codec, int(t))
	}
	if m := flatbuf.BodyCompressionMethod(c.int(slotCompressionMethod, 1, 0)); m != flatbuf.BodyCompressionMethodBUFFER {
		return Corrupt("body compression method is %d instead of BUFFER", int(m))
	}
	return nil
}

// NumNodes returns the number of field nodes.
func (h *Header) NumNodes() int { return len(h.nodes) / entrySize }

// NumBuffers returns the number of buffers.
func (h *Header) NumBuffers() int { return len(h.buffers) / entrySize }

// CheckShape tells whether there are as many nodes and buffers as a schema needs.
func (h *Header) CheckShape(nodes, buffers int) error {
	if h.NumNodes() != nodes || h.NumBuffers() != buffers {
		return Corrupt("batch has %d field nodes and %d buffers, its schema needs %d and %d",
			h.NumNodes(), h.NumBuffers(), nodes, buffers)
	}
	return nil
}

// Node returns field node i. Its length is within 0…MaxInt32, as int32 offsets
// and row counts are, and its null count within 0…length.
func (h *Header) Node(i int) (Node, error) {
	if i < 0 || i >= h.NumNodes() {
		return Node{}, Corrupt("field node %d is needed, there are %d", i, h.NumNodes())
	}
	a, b := entry(h.nodes, i)
	if a < 0 || a > math.MaxInt32 || b < 0 || b > a {
		return Node{}, Corrupt("field node %d has length %d and null count %d", i, a, b)
	}
	return Node{Length: a, Nulls: b}, nil
}

// Buffer returns buffer i, which lies within the body and starts at a multiple of 8.
func (h *Header) Buffer(i int) (Buffer, error) {
	if i < 0 || i >= h.NumBuffers() {
		return Buffer{}, Corrupt("buffer %d is needed, there are %d", i, h.NumBuffers())
	}
	off, n := entry(h.buffers, i)
	if off < 0 || n < 0 || off&7 != 0 || off > h.BodyLength || n > h.BodyLength-off {
		return Buffer{}, Corrupt("buffer %d at offset %d with %d bytes is misaligned or outside of the body of %d bytes",
			i, off, n, h.BodyLength)
	}
	return Buffer{Offset: off, Length: n}, nil
}

func entry(v []byte, i int) (int64, int64) {
	e := v[i*entrySize : i*entrySize+entrySize]
	return int64(binary.LittleEndian.Uint64(e)), int64(binary.LittleEndian.Uint64(e[8:]))
}
