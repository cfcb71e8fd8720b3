//go:build race

package codec

// sync.Pool drops items at random under the race detector.
const raceEnabled = true
