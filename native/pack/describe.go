package pack

import (
	"encoding/binary"
	"strings"

	"github.com/quiverspark/quiver/native/column"
)

var encodingNames = map[byte]string{
	encConstant: "constant", encInts: "ints", encDict: "dict", encLZ4: "lz4", encSplit: "split", encDecimals: "alp", encDecimal: "decimal",
	bitsConstant: "constant", bitsPeriodic: "periodic", bitsRuns: "runs", bitsSparse: "sparse", encLengths: "lengths",
	encStringDict: "dictionary", encFSST: "fsst", encPrefixInt: "prefix+int", encHex: "hex",
}

// Describe names the encodings of a node's stored buffers, for tools and logs:
// "-" where one is absent, "raw" where it is as in Arrow.
func Describe(c *column.Column, stored [3][]byte) string {
	raw := [3]int{len(c.Validity), len(c.Values) + len(c.Offsets), len(c.Data)}
	var parts []string
	for i, b := range stored {
		switch {
		case len(b) == 0:
			parts = append(parts, "-")
		case len(b) == raw[i]:
			parts = append(parts, "raw")
		case b[0] == encWrapped:
			parts = append(parts, "lz4("+innerName(b)+")")
		default:
			parts = append(parts, encodingNames[b[0]])
		}
	}
	return strings.Join(parts[:max(1, c.Type.Kind.NumBuffers())], "/")
}

// innerName reads the first literal of the lz4 block in a wrapped buffer,
// which is the encoding inside.
func innerName(b []byte) string {
	_, n := binary.Uvarint(b[1:])
	if n <= 0 || len(b) < n+3 {
		return "?"
	}
	b = b[1+n:]
	literals := b[0] >> 4
	for b = b[1:]; literals == 15 && len(b) > 1; b = b[1:] {
		if b[0] != 255 {
			literals = 0
		}
	}
	return encodingNames[b[0]]
}
