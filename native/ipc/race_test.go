//go:build race

package ipc

// sync.Pool drops items at random under the race detector.
const raceEnabled = true
