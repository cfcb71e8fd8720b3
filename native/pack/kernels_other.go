//go:build !amd64

package pack

// useAVX2 exists for tests; there is nothing to switch here.
var useAVX2 = false

func fastUnpack[T unsigned](dst []T, src []byte, w uint, ref T) int { return 0 }

func (h *hexDecoder) fastHex(dst, packed []byte, length, digits int, segments []hexSegment, letters uint64) int {
	return 0
}

func fastPrefixSum[T unsigned](dst []T, base T) (int, T) { return 0, base }

func fastMultiply[T unsigned](dst []T, f, ref T) int { return 0 }
