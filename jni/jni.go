// Package jni holds the C side of the Java native interface: jni.c calls the
// C ABI of quiver.h and moves bytes between Java arrays and native memory.
package jni

// #cgo CFLAGS: -Wall -Wextra -Werror -O2
// #cgo LDFLAGS: -ldl
// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stddef.h>
// static int signal_chain_preloaded(void) { return dlsym(RTLD_DEFAULT, "JVM_get_signal_action") != NULL; }
import "C"

// SignalChainPreloaded tells whether libjsig is in the process. With it a nil
// dereference in Go is not turned into a panic but kills the process.
func SignalChainPreloaded() bool { return C.signal_chain_preloaded() != 0 }
