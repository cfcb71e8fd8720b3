package engine

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/quiverspark/quiver/native/ipc"
)

// castagnoli is CRC32C, which processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumSize is the length of one checksum in Batch.Checksums.
const checksumSize = 4

// appendChecksums appends the checksums of a batch: of its head, which covers
// the numbers, header, statistics and the other checksums, then of each segment.
func appendChecksums(dst []byte, b *Batch, columns int) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, checksumSize)...)
	for _, segment := range b.Segments {
		dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(segment, castagnoli))
	}
	head := headChecksum(int64(b.Rows), int64(columns), b.DecodedSize, b.Header, b.Stats, dst[start+checksumSize:])
	binary.LittleEndian.PutUint32(dst[start:], head)
	return dst
}

func headChecksum(rows, columns, decodedSize int64, header, stats, segments []byte) uint32 {
	var numbers [48]byte
	for i, n := range []int64{rows, columns, decodedSize, int64(len(header)), int64(len(stats)), int64(len(segments) / checksumSize)} {
		binary.LittleEndian.PutUint64(numbers[8*i:], uint64(n))
	}
	sum := crc32.Checksum(numbers[:], castagnoli)
	for _, part := range [][]byte{header, stats, segments} {
		sum = crc32.Update(sum, castagnoli, part)
	}
	return sum
}

// CheckHead tells whether all of a batch but its segments is as it was encoded.
// The segments are checked when a Decoder reads them; see Plan.
func CheckHead(rows, columns, decodedSize int64, header, stats []byte, segments int, checksums []byte) error {
	if err := checkCount(checksums, segments); err != nil {
		return err
	}
	want := binary.LittleEndian.Uint32(checksums)
	if sum := headChecksum(rows, columns, decodedSize, header, stats, checksums[checksumSize:]); sum != want {
		return ipc.Corrupt("its header or statistics have checksum %08x, they were stored with %08x", sum, want)
	}
	return nil
}

// checkCount tells whether there is a checksum for the head and each segment.
func checkCount(checksums []byte, segments int) error {
	if len(checksums)%checksumSize != 0 || len(checksums)/checksumSize-1 != segments {
		return ipc.Corrupt("it has %d segments and %d bytes of checksums", segments, len(checksums))
	}
	return nil
}

// verify compares the segments of a projected column with their checksums.
func (d *Decoder) verify(n *Need) error {
	rest := n.Data
	for i := range n.NumSegments {
		part := rest[:min(len(rest), MaxSegment)]
		rest = rest[len(part):]
		segment := n.FirstSegment + i
		want := binary.LittleEndian.Uint32(d.checksums[checksumSize*(1+segment):])
		if sum := crc32.Checksum(part, castagnoli); sum != want {
			return ipc.Corrupt("segment %d has checksum %08x, it was stored with %08x", segment, sum, want)
		}
	}
	return nil
}
