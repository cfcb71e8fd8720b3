//go:build !linux

package main

import "time"

var began = time.Now()

// now is wall time where thread CPU time is not to be had.
func now() time.Duration { return time.Since(began) }
