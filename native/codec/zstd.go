package codec

import (
	"fmt"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/quiverspark/quiver/native/ipc"
)

// zstdWindow bounds the history an encoder keeps, and with it the memory of
// the Go heap that each one in the pool holds (window plus one block). Most
// buffers are smaller than this and are one segment.
const zstdWindow = 1 << 20

type zstdCodec struct{ encoders *sync.Pool }

// One pool for each of klauspost's levels, shared by all users of the level.
var (
	zstdEncoders = map[zstd.EncoderLevel]*sync.Pool{
		zstd.SpeedFastest:           zstdEncoderPool(zstd.SpeedFastest),
		zstd.SpeedDefault:           zstdEncoderPool(zstd.SpeedDefault),
		zstd.SpeedBetterCompression: zstdEncoderPool(zstd.SpeedBetterCompression),
		zstd.SpeedBestCompression:   zstdEncoderPool(zstd.SpeedBestCompression),
	}
	zstdDecoders = sync.Pool{New: func() any { return newZstdDecoder() }}
)

// Concurrency 1 keeps the whole work on the calling goroutine.
func zstdEncoderPool(level zstd.EncoderLevel) *sync.Pool {
	return &sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	}}
}

func newZstdDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(math.MaxInt32))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}

func newZstd(level int) zstdCodec {
	return zstdCodec{encoders: zstdEncoders[zstd.EncoderLevelFromZstd(level)]}
}

func (zstdCodec) Name() string { return ipc.CodecZstd }

// A block of 128 KiB can be a run: a 3-byte header and the byte.
func (zstdCodec) maxRatio() int64 { return 128 << 10 / 4 }

func (c zstdCodec) AppendCompressed(dst, src []byte) []byte {
	e := c.encoders.Get().(*zstd.Encoder)
	dst = e.EncodeAll(src, dst)
	c.encoders.Put(e)
	return dst
}

func (zstdCodec) Decompress(dst, src []byte) error {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return ipc.Corrupt("zstd frame header: %v", err)
	}
	if h.HasFCS && h.FrameContentSize != uint64(len(dst)) {
		return ipc.Corrupt("zstd frame holds %d bytes, %d are expected", h.FrameContentSize, len(dst))
	}
	out, err := decodeZstd(slack(dst)[:0], src)
	if err != nil {
		return ipc.Corrupt("zstd frame: %v", err)
	}
	if len(out) != len(dst) {
		return ipc.Corrupt("zstd frame held %d bytes, %d are expected", len(out), len(dst))
	}
	return nil
}

// decodeZstd turns a panic of the decoder into an error; such a decoder is not
// used again.
func decodeZstd(dst, src []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoder failed: %v", r)
		}
	}()
	d := zstdDecoders.Get().(*zstd.Decoder)
	out, err = d.DecodeAll(src, dst)
	zstdDecoders.Put(d)
	return out, err
}
