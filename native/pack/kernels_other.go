//go:build !amd64

package pack

import "unsafe"

// useAVX2 exists for tests; there is nothing to switch here.
var useAVX2 = false

func fastUnpack[T unsigned](dst []T, src []byte, w uint, ref T) int { return 0 }

func (h *hexDecoder) fastHex(dst, packed []byte, length, digits int, segments []hexSegment, letters uint64) int {
	return 0
}

func fastPrefixSum[T unsigned](dst []T, base T) (int, T) { return 0, base }

func fastMultiply[T unsigned](dst []T, f, ref T) int { return 0 }

func fastMinMax(v []uint64) (n int, lo, hi int64) { return 0, 0, 0 }

func fastNumbers(out unsafe.Pointer, ends []uint32, nums []uint64, prefix *literal) int { return 0 }
