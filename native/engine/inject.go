//go:build !quiverhooks

package engine

// injectable is false in real builds: there is no way to inject a failure.
const injectable = false

func inject(string) error { return nil }
