package rowtest

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the processor time of this thread, which other load on the
// machine does not lengthen.
func cpuTime() time.Duration {
	var ru syscall.Rusage
	const thisThread = 1 // RUSAGE_THREAD
	if err := syscall.Getrusage(thisThread, &ru); err != nil {
		panic(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// PerValue starts measuring a benchmark that handles so many values in each
// iteration; what it returns reports the processor time a value.
func PerValue(b *testing.B, values int) func() {
	runtime.LockOSThread()
	start := cpuTime()
	return func() {
		cpu := cpuTime() - start
		runtime.UnlockOSThread()
		b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N)/float64(values), "cpu-ns/value")
	}
}
