// Package codec compresses single buffers in the form of Arrow IPC body
// compression, so that any Arrow implementation reads them: zstd, and lz4 in
// its frame format. The names of the codecs are those of package ipc.
package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
)

// Codec compresses and decompresses buffers. Implementations are safe for
// concurrent use, start no goroutines, and draw their working memory from pools.
type Codec interface {
	// Name is one of package ipc's constants.
	Name() string
	// AppendCompressed appends src in compressed form, as one frame. It writes
	// into dst's spare capacity if there is MaxStored(len(src)) of it.
	AppendCompressed(dst, src []byte) []byte
	// Decompress fills dst, whose length is the uncompressed length and which
	// must have memory.Slack spare bytes of capacity; these may be overwritten.
	// Nothing else is written, whatever src holds. Errors are *ipc.CorruptError.
	Decompress(dst, src []byte) error
	// maxRatio is how many bytes a byte of a frame can stand for at most.
	maxRatio() int64
}

// Levels of zstd, as its command line has them.
const (
	MinZstdLevel     = 1
	MaxZstdLevel     = 22
	DefaultZstdLevel = 1
)

// New returns the codec of that name, nil for "none". zstdLevel is ignored by
// the other codecs. The codec "pack" is not a codec of single buffers; asking
// for it is an error as for an unknown name.
func New(name string, zstdLevel int) (Codec, error) {
	switch name {
	case ipc.CodecNone:
		return nil, nil
	case ipc.CodecLZ4:
		return lz4Codec{}, nil
	case ipc.CodecZstd:
		if zstdLevel < MinZstdLevel || zstdLevel > MaxZstdLevel {
			return nil, fmt.Errorf("zstd level %d is out of range, allowed are %d to %d", zstdLevel, MinZstdLevel, MaxZstdLevel)
		}
		return newZstd(zstdLevel), nil
	case ipc.CodecPack:
		return nil, fmt.Errorf("codec %s does not compress single buffers; those that do: %s, %s, %s",
			name, ipc.CodecNone, ipc.CodecLZ4, ipc.CodecZstd)
	}
	return nil, &ipc.CodecError{Name: name}
}

const (
	// prefixSize is the int64 in front of a stored buffer: its uncompressed
	// length, or rawMark if what follows is not compressed.
	prefixSize = 8
	rawMark    = -1
	// minCompress is the size below which compressing costs more than it gives.
	minCompress = 256
)

// MaxStored is the capacity that AppendBuffer needs for a buffer of n bytes
// with any codec. Compressors overshoot before they give up on a block.
func MaxStored(n int) int { return prefixSize + n + n/64 + 512 }

// AppendBuffer appends src in stored form: nothing if it is empty; its bytes
// alone if c is nil; else an int64 with the length and the compressed bytes, or
// -1 and the bytes as they are if src is tiny or would not shrink by an eighth.
// dst should have MaxStored(len(src)) of spare capacity.
func AppendBuffer(dst []byte, c Codec, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	if c == nil {
		return append(dst, src...)
	}
	start := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(src)))
	if len(src) >= minCompress {
		out := c.AppendCompressed(dst, src)
		if n := len(out) - len(dst); n <= len(src)-len(src)/8 {
			if unsafe.SliceData(out) != unsafe.SliceData(dst) {
				// The codec ran out of capacity; what it made is small and
				// belongs where the caller's buffer is.
				out = append(dst, out[len(dst):]...)
			}
			return out
		}
	}
	const raw = ^uint64(0) // int64(rawMark)
	binary.LittleEndian.PutUint64(dst[start:], raw)
	return append(dst, src...)
}

// Stored is a buffer in stored form, taken apart.
type Stored struct {
	Length  int    // uncompressed bytes
	Raw     bool   // Payload is the buffer itself
	Payload []byte // aliases the bytes given to ParseStored
}

// ParseStored takes a stored buffer apart; c is nil for codec none. The length
// it returns is at most MaxInt32 and no larger than the codec could have made
// of so few bytes, so that a damaged one does not size an allocation. Errors
// are *ipc.CorruptError.
func ParseStored(c Codec, b []byte) (Stored, error) {
	if c == nil || len(b) == 0 {
		return Stored{Length: len(b), Raw: true, Payload: b}, nil
	}
	if len(b) < prefixSize {
		return Stored{}, ipc.Corrupt("%s buffer has %d bytes, too few for its length", c.Name(), len(b))
	}
	n := int64(binary.LittleEndian.Uint64(b))
	payload := b[prefixSize:]
	if n == rawMark {
		return Stored{Length: len(payload), Raw: true, Payload: payload}, nil
	}
	if n < 0 || n > math.MaxInt32 || n > int64(len(payload))*c.maxRatio() {
		return Stored{}, ipc.Corrupt("%s buffer of %d bytes claims %d uncompressed bytes", c.Name(), len(payload), n)
	}
	return Stored{Length: int(n), Payload: payload}, nil
}

// Decode writes the buffer into dst, which has s.Length bytes and memory.Slack
// of spare capacity. c is the codec given to ParseStored.
func (s Stored) Decode(c Codec, dst []byte) error {
	if len(dst) != s.Length {
		return ipc.Corrupt("buffer has %d bytes, %d are expected", s.Length, len(dst))
	}
	if s.Raw {
		copy(dst, s.Payload)
		return nil
	}
	if len(dst) == 0 {
		return nil
	}
	return c.Decompress(dst, s.Payload)
}

// slack returns dst with the spare capacity that decoders may use, and no more.
func slack(dst []byte) []byte {
	return dst[:len(dst):min(cap(dst), len(dst)+memory.Slack)]
}
