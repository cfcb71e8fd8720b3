package memory

import (
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

func TestArenaAlignmentSlackAndReuse(t *testing.T) {
	var c Checked
	a := NewArena(&c)
	var first *byte
	for round := 0; round < 3; round++ {
		seen := map[*byte]bool{}
		for i := 0; i < 2000; i++ {
			b := a.Bytes(i)
			if len(b) != i || cap(b)-i < Slack {
				t.Fatalf("len %d cap %d for %d", len(b), cap(b), i)
			}
			p := unsafe.SliceData(b)
			if uintptr(unsafe.Pointer(p))%Align != 0 {
				t.Fatal("not aligned")
			}
			if seen[p] {
				t.Fatal("handed out twice")
			}
			seen[p] = true
			if i == 0 {
				if round == 0 {
					first = p
				} else if p != first {
					t.Fatal("memory was not reused after Reset")
				}
			}
		}
		a.Reset()
	}
	a.Close()
	if c.Live() != 0 || c.InUse() != 0 {
		t.Fatalf("leak: %d allocations, %d bytes", c.Live(), c.InUse())
	}
}

func TestArenaShrinkGivesBackTheTail(t *testing.T) {
	var c Checked
	a := NewArena(&c)
	defer a.Close()
	b := a.Bytes(10000)
	b = a.Shrink(b, 10)
	n := a.Bytes(8)
	if d := uintptr(unsafe.Pointer(unsafe.SliceData(n))) - uintptr(unsafe.Pointer(unsafe.SliceData(b))); d != 128 {
		t.Fatalf("next buffer is %d bytes behind", d)
	}
	if got := a.Shrink(b, 5); len(got) != 5 || a.off != 256 {
		t.Fatal("shrinking an older buffer must not move the arena")
	}
}

func TestLimit(t *testing.T) {
	var c Checked
	c.SetLimit(1 << 20)
	a := NewArena(&c)
	defer func() {
		var le *LimitError
		if err, ok := recover().(error); !ok || !errors.As(err, &le) || le.Requested < 2<<20 {
			t.Fatalf("got %v", err)
		}
		a.Close()
		if c.InUse() != 0 {
			t.Fatal("leak")
		}
	}()
	a.Bytes(100)
	a.Bytes(2 << 20)
}

// A refused request must not count for a moment: others would be refused, too.
func TestRefusedRequestsDoNotHinderOthers(t *testing.T) {
	var c Counter
	c.SetLimit(1000)
	var stop atomic.Bool
	var wg, started sync.WaitGroup
	for range 4 {
		started.Add(1)
		wg.Go(func() {
			started.Done()
			for !stop.Load() {
				if c.Reserve(5000) == nil {
					t.Error("more than the limit was reserved")
					return
				}
			}
		})
	}
	started.Wait()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end) && !t.Failed(); {
		if err := c.Reserve(100); err != nil {
			t.Errorf("a small request was refused: %v", err)
			continue
		}
		c.Release(100)
	}
	stop.Store(true)
	wg.Wait()
	if c.InUse() != 0 || c.Peak() != 100 {
		t.Fatalf("%d bytes in use, peak %d", c.InUse(), c.Peak())
	}
}

func TestImpossibleRequests(t *testing.T) {
	var c Counter
	if err := c.Reserve(10); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{-1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 9} {
		err := c.Reserve(n)
		if err == nil || !strings.Contains(err.Error(), "no memory left") {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if c.InUse() != 10 {
		t.Fatalf("%d bytes in use", c.InUse())
	}
}

func TestResetGivesBackHugeChunks(t *testing.T) {
	var c Checked
	a := NewArena(&c)
	a.Bytes(100)
	a.Bytes(keepBytes + 1)
	a.Reset()
	if a.Allocated() > keepBytes {
		t.Fatalf("%d bytes kept", a.Allocated())
	}
	a.Close()
}
