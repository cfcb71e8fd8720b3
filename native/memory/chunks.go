//go:build !asan

package memory

const (
	minChunk  = 256 << 10
	maxGrowth = 16 << 20
	// keepBytes bounds what Reset keeps for the next batch, so that one huge
	// row does not pin its memory for the rest of the task.
	keepBytes = 64 << 20
)
