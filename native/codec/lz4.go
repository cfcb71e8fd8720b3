package codec

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/pierrec/lz4/v4"

	"github.com/quiverspark/quiver/native/ipc"
)

// The LZ4 frame format, as its specification describes it. What is written:
// version 01, independent blocks of 256 KiB, the content size, no checksums.
// What is read: every frame of that version without a dictionary, since other
// writers link their blocks and add checksums.
const (
	lz4Magic   = 0x184D2204
	lz4Version = 1 << 6 // in the two high bits of FLG

	lz4FlagIndependent     = 1 << 5
	lz4FlagBlockChecksum   = 1 << 4
	lz4FlagContentSize     = 1 << 3
	lz4FlagContentChecksum = 1 << 2
	lz4FlagReserved        = 1 << 1
	lz4FlagDictionary      = 1 << 0

	lz4BlockID   = 5 // 256 KiB
	lz4BlockSize = 256 << 10
	lz4RawBlock  = 1 << 31 // in a block's size
	lz4Window    = 64 << 10
)

type lz4Codec struct{}

var lz4Compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}

func (lz4Codec) Name() string { return ipc.CodecLZ4 }

// A match's length grows by 255 with each byte.
func (lz4Codec) maxRatio() int64 { return 255 }

func (lz4Codec) AppendCompressed(dst, src []byte) []byte {
	// A block that finds no room would be stored as it is.
	dst = appendLZ4Header(slices.Grow(dst, maxLZ4Frame(len(src))), len(src))
	c := lz4Compressors.Get().(*lz4.Compressor)
	for len(src) > 0 {
		block := src[:min(len(src), lz4BlockSize)]
		src = src[len(block):]
		dst = appendLZ4Block(dst, c, block)
	}
	lz4Compressors.Put(c)
	return binary.LittleEndian.AppendUint32(dst, 0) // end mark
}

// maxLZ4Frame is the size of a frame of n bytes of which none compress.
func maxLZ4Frame(n int) int {
	const header, blockHeader, endMark = 15, 4, 4
	return header + n + (n/lz4BlockSize+1)*blockHeader + endMark
}

func appendLZ4Header(dst []byte, contentSize int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	start := len(dst)
	dst = append(dst, lz4Version|lz4FlagIndependent|lz4FlagContentSize, lz4BlockID<<4)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(contentSize))
	return append(dst, byte(xxh32(dst[start:])>>8))
}

// appendLZ4Block compresses into dst's spare capacity, and stores a block that
// does not get smaller as it is.
func appendLZ4Block(dst []byte, c *lz4.Compressor, block []byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	room := dst[len(dst):min(cap(dst), len(dst)+len(block)-1)]
	n, err := c.CompressBlock(block, room)
	if n == 0 || err != nil {
		binary.LittleEndian.PutUint32(dst[start:], lz4RawBlock|uint32(len(block)))
		return append(dst, block...)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(n))
	return dst[:len(dst)+n]
}

// lz4Frame is the header of a frame.
type lz4Frame struct {
	linked, blockChecksum, contentChecksum bool
	maxBlock                               int
	contentSize                            int64 // -1 if it is not given
}

func (lz4Codec) Decompress(dst, src []byte) error {
	f, src, err := parseLZ4Header(src)
	if err != nil {
		return err
	}
	if f.contentSize >= 0 && f.contentSize != int64(len(dst)) {
		return ipc.Corrupt("lz4 frame holds %d bytes, %d are expected", f.contentSize, len(dst))
	}
	done := 0
	for {
		if len(src) < 4 {
			return ipc.Corrupt("lz4 frame ends without an end mark")
		}
		size := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if size == 0 {
			break
		}
		n, rest, err := f.block(dst, done, size, src)
		if err != nil {
			return err
		}
		done += n
		src = rest
	}
	if f.contentChecksum {
		if len(src) < 4 || binary.LittleEndian.Uint32(src) != xxh32(dst[:done]) {
			return ipc.Corrupt("lz4 frame: content checksum is missing or wrong")
		}
		src = src[4:]
	}
	if done != len(dst) {
		return ipc.Corrupt("lz4 frame held %d bytes, %d are expected", done, len(dst))
	}
	if len(src) != 0 {
		return ipc.Corrupt("%d bytes follow the lz4 frame", len(src))
	}
	return nil
}

// block decodes one block to dst[done:] and returns how much it held.
func (f *lz4Frame) block(dst []byte, done int, size uint32, src []byte) (n int, rest []byte, err error) {
	raw := size&lz4RawBlock != 0
	stored := int(size &^ lz4RawBlock)
	if stored > f.maxBlock || stored > len(src) {
		return 0, nil, ipc.Corrupt("lz4 block says it has %d bytes, %d are left and %d allowed", stored, len(src), f.maxBlock)
	}
	data, rest := src[:stored], src[stored:]
	if f.blockChecksum {
		if len(rest) < 4 || binary.LittleEndian.Uint32(rest) != xxh32(data) {
			return 0, nil, ipc.Corrupt("lz4 frame: block checksum is missing or wrong")
		}
		rest = rest[4:]
	}
	room := dst[done:min(len(dst), done+f.maxBlock)]
	switch {
	case raw:
		if stored > len(room) {
			return 0, nil, ipc.Corrupt("lz4 frame holds more than the %d bytes expected", len(dst))
		}
		n = copy(room, data)
	case f.linked:
		n, err = lz4.UncompressBlockWithDict(data, room, dst[max(0, done-lz4Window):done])
	default:
		n, err = lz4.UncompressBlock(data, room)
	}
	if err != nil {
		return 0, nil, ipc.Corrupt("lz4 block is malformed or holds more than the %d bytes left", len(room))
	}
	return n, rest, nil
}

func parseLZ4Header(src []byte) (f lz4Frame, rest []byte, err error) {
	const fixed = 4 + 2 + 1 // magic, FLG, BD, checksum
	if len(src) < fixed {
		return f, nil, ipc.Corrupt("lz4 frame has %d bytes, too few for its header", len(src))
	}
	if m := binary.LittleEndian.Uint32(src); m != lz4Magic {
		return f, nil, ipc.Corrupt("lz4 frame starts with 0x%08x instead of its magic number", m)
	}
	flags, bd := src[4], src[5]
	id := bd >> 4
	if flags&0xC0 != lz4Version || flags&(lz4FlagReserved|lz4FlagDictionary) != 0 || bd&0x8F != 0 || id < 4 {
		return f, nil, ipc.Corrupt("lz4 frame has descriptor 0x%02x%02x, which is not known", flags, bd)
	}
	f = lz4Frame{linked: flags&lz4FlagIndependent == 0, blockChecksum: flags&lz4FlagBlockChecksum != 0,
		contentChecksum: flags&lz4FlagContentChecksum != 0, maxBlock: 1 << (8 + 2*id), contentSize: -1}
	end := 6
	if flags&lz4FlagContentSize != 0 {
		if end += 8; len(src) <= end {
			return f, nil, ipc.Corrupt("lz4 frame ends within its header")
		}
		if f.contentSize = int64(binary.LittleEndian.Uint64(src[6:])); f.contentSize < 0 {
			return f, nil, ipc.Corrupt("lz4 frame has content size %d", f.contentSize)
		}
	}
	if src[end] != byte(xxh32(src[4:end])>>8) {
		return f, nil, ipc.Corrupt("lz4 frame: header checksum is wrong")
	}
	return f, src[end+1:], nil
}
