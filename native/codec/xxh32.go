package codec

import (
	"encoding/binary"
	"math/bits"
)

// The primes of xxHash's 32-bit variant, as its specification gives them.
const (
	xxhPrime1 = 0x9E3779B1
	xxhPrime2 = 0x85EBCA77
	xxhPrime3 = 0xC2B2AE3D
	xxhPrime4 = 0x27D4EB2F
	xxhPrime5 = 0x165667B1
)

// xxh32 is xxHash-32 with seed 0, the checksum of lz4 frames.
func xxh32(b []byte) uint32 {
	var h uint32
	n := len(b)
	if n >= 16 {
		prime1, prime2 := uint32(xxhPrime1), uint32(xxhPrime2)
		acc := [4]uint32{prime1 + prime2, prime2, 0, -prime1}
		for ; len(b) >= 16; b = b[16:] {
			for i := range acc {
				acc[i] = bits.RotateLeft32(acc[i]+binary.LittleEndian.Uint32(b[4*i:])*prime2, 13) * prime1
			}
		}
		h = bits.RotateLeft32(acc[0], 1) + bits.RotateLeft32(acc[1], 7) +
			bits.RotateLeft32(acc[2], 12) + bits.RotateLeft32(acc[3], 18)
	} else {
		h = xxhPrime5
	}
	h += uint32(n)
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*xxhPrime3, 17) * xxhPrime4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*xxhPrime5, 11) * xxhPrime1
	}
	h = (h ^ h>>15) * xxhPrime2
	h = (h ^ h>>13) * xxhPrime3
	return h ^ h>>16
}
