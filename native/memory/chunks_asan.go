//go:build asan

package memory

// Under AddressSanitizer every buffer is an allocation of its own, freed by
// Reset: what reads beyond a buffer or keeps one for too long is found.
const minChunk, maxGrowth, keepBytes = 0, 0, 0
