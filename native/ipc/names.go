// Package ipc writes and reads the header of a stored batch: an Arrow IPC
// encapsulated message that holds a RecordBatch, as the columnar format
// specification of Apache Arrow describes it, with two entries of custom
// metadata that say how the body is to be read. It knows nothing of schemas
// and does not touch the body.
package ipc

import (
	"fmt"
	"strings"
)

// The codecs a stored batch may name. They are also the values of the setting
// that chooses one.
const (
	// CodecNone: body buffers as they are.
	CodecNone = "none"
	// CodecLZ4 is Arrow body compression with LZ4_FRAME.
	CodecLZ4 = "lz4"
	// CodecZstd is Arrow body compression with ZSTD.
	CodecZstd = "zstd"
	// CodecPack: light-weight encodings of our own, see package pack. The body
	// is not readable by other Arrow implementations.
	CodecPack = "pack"
)

// FormatVersion is the storage format this build writes and reads.
const FormatVersion = "1"

// Keys of the message's custom metadata.
const (
	KeyFormat = "quiver.format"
	KeyCodec  = "quiver.codec"
)

var codecNames = [...]string{CodecNone, CodecLZ4, CodecZstd, CodecPack}

// CodecNames returns the known codecs.
func CodecNames() []string { return codecNames[:] }

// KnownCodec returns the constant equal to name, without allocating, and
// whether there is one.
func KnownCodec[S ~string | ~[]byte](name S) (string, bool) {
	for _, n := range codecNames {
		if string(name) == n {
			return n, true
		}
	}
	return "", false
}

// CorruptError reports bytes that are not a batch this build could have
// written: damaged, cut short, or something else altogether.
type CorruptError struct {
	What string // what is wrong, naming the part
}

func (e *CorruptError) Error() string { return "corrupt batch: " + e.What }

// Corrupt returns a *CorruptError with a formatted message.
func Corrupt(format string, args ...any) error {
	return &CorruptError{What: fmt.Sprintf(format, args...)}
}

// VersionError reports a batch of another storage format version.
type VersionError struct {
	Version string // as the batch says
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("batch has storage format version %s, this build reads %s", clip(e.Version), FormatVersion)
}

// CodecError reports a codec that this build does not know.
type CodecError struct {
	Name string
}

func (e *CodecError) Error() string {
	return fmt.Sprintf("unknown codec %q; known codecs: %s", clip(e.Name), strings.Join(codecNames[:], ", "))
}

// clip bounds text that comes from a payload before it gets into a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
