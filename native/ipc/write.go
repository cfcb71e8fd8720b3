package ipc

import (
	"encoding/binary"
	"sync"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/quiverspark/quiver/native/ipc/flatbuf"
)

// Buffer is the place of one buffer in the body, in bytes. Length is what is
// stored, without padding.
type Buffer struct{ Offset, Length int64 }

// Node describes one array: its slots and how many of them are null.
type Node struct{ Length, Nulls int64 }

// Message is what AppendMessage writes. Nodes and Buffers are in Arrow's order:
// depth first, parents before children.
type Message struct {
	Rows       int64
	Codec      string // one of the Codec constants
	Nodes      []Node
	Buffers    []Buffer
	BodyLength int64
}

const (
	continuation = 0xFFFFFFFF
	prefixSize   = 8 // continuation and metadata size
)

var builders = sync.Pool{New: func() any { return flatbuffers.NewBuilder(4 << 10) }}

// AppendMessage appends m as an encapsulated message: continuation marker,
// int32 metadata size, flatbuffer, padding to a multiple of 8 bytes. The result
// depends on m alone. It panics if m.Codec is not one of the constants.
func AppendMessage(dst []byte, m *Message) []byte {
	b := builders.Get().(*flatbuffers.Builder)
	defer builders.Put(b)
	b.Reset()
	b.Finish(buildMessage(b, m))
	fb := b.FinishedBytes()
	size := (len(fb) + 7) &^ 7
	dst = binary.LittleEndian.AppendUint32(dst, continuation)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, fb...)
	var zero [8]byte
	return append(dst, zero[:size-len(fb)]...)
}

// A flatbuffer is written back to front, and so are the vectors' elements. The
// vectors' space is reserved and aligned by their Start functions, hence the
// unchecked Place calls.
func buildMessage(b *flatbuffers.Builder, m *Message) flatbuffers.UOffsetT {
	flatbuf.RecordBatchStartNodesVector(b, len(m.Nodes))
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		b.PlaceInt64(m.Nodes[i].Nulls)
		b.PlaceInt64(m.Nodes[i].Length)
	}
	nodes := b.EndVector(len(m.Nodes))
	flatbuf.RecordBatchStartBuffersVector(b, len(m.Buffers))
	for i := len(m.Buffers) - 1; i >= 0; i-- {
		b.PlaceInt64(m.Buffers[i].Length)
		b.PlaceInt64(m.Buffers[i].Offset)
	}
	buffers := b.EndVector(len(m.Buffers))
	compression := buildCompression(b, m.Codec)

	flatbuf.RecordBatchStart(b)
	flatbuf.RecordBatchAddLength(b, m.Rows)
	flatbuf.RecordBatchAddNodes(b, nodes)
	flatbuf.RecordBatchAddBuffers(b, buffers)
	if compression != 0 {
		flatbuf.RecordBatchAddCompression(b, compression)
	}
	batch := flatbuf.RecordBatchEnd(b)

	format := keyValue(b, KeyFormat, FormatVersion)
	codec := keyValue(b, KeyCodec, m.Codec)
	flatbuf.MessageStartCustomMetadataVector(b, 2)
	b.PrependUOffsetT(codec)
	b.PrependUOffsetT(format)
	meta := b.EndVector(2)

	flatbuf.MessageStart(b)
	flatbuf.MessageAddVersion(b, flatbuf.MetadataVersionV5)
	flatbuf.MessageAddHeaderType(b, flatbuf.MessageHeaderRecordBatch)
	flatbuf.MessageAddHeader(b, batch)
	flatbuf.MessageAddBodyLength(b, m.BodyLength)
	flatbuf.MessageAddCustomMetadata(b, meta)
	return flatbuf.MessageEnd(b)
}

// buildCompression returns 0 for the codecs that are not body compression.
func buildCompression(b *flatbuffers.Builder, codec string) flatbuffers.UOffsetT {
	var t flatbuf.CompressionType
	switch codec {
	case CodecNone, CodecPack:
		return 0
	case CodecLZ4:
		t = flatbuf.CompressionTypeLZ4_FRAME
	case CodecZstd:
		t = flatbuf.CompressionTypeZSTD
	default:
		panic(&CodecError{Name: codec})
	}
	flatbuf.BodyCompressionStart(b)
	flatbuf.BodyCompressionAddCodec(b, t)
	flatbuf.BodyCompressionAddMethod(b, flatbuf.BodyCompressionMethodBUFFER)
	return flatbuf.BodyCompressionEnd(b)
}

func keyValue(b *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k, v := b.CreateString(key), b.CreateString(value)
	flatbuf.KeyValueStart(b)
	flatbuf.KeyValueAddKey(b, k)
	flatbuf.KeyValueAddValue(b, v)
	return flatbuf.KeyValueEnd(b)
}
