package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/quiverspark/quiver/native/ipc"
	"github.com/quiverspark/quiver/native/memory"
)

func newCodec(t testing.TB, name string, level int) Codec {
	t.Helper()
	c, err := New(name, level)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// codecs are all but zstd's higher levels, which clear megabytes with each call.
func codecs(t testing.TB) []Codec {
	return []Codec{newCodec(t, "lz4", 0), newCodec(t, "zstd", 1), newCodec(t, "zstd", 3)}
}

// buffers of the kinds that a batch has, of n values each.
func buffers(n int) map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	var ids, dates, offsets, text, random, runs []byte
	off := uint32(0)
	for i := range n {
		ids = binary.LittleEndian.AppendUint64(ids, uint64(1_000_000+i))
		dates = binary.LittleEndian.AppendUint32(dates, uint32(8000+r.IntN(2500)))
		random = binary.LittleEndian.AppendUint64(random, r.Uint64())
		runs = append(runs, byte(i>>10))
		s := fmt.Sprintf("str_a_%d", r.IntN(100000))
		text = append(text, s...)
		offsets = binary.LittleEndian.AppendUint32(offsets, off)
		off += uint32(len(s))
	}
	return map[string][]byte{"int64": ids, "dates": dates, "offsets": binary.LittleEndian.AppendUint32(offsets, off),
		"strings": text, "random": random, "runs": runs, "zeros": make([]byte, 8*n)}
}

// arenaBytes has the shape of an arena's buffers and a guard behind their slack.
type arenaBytes struct{ mem []byte }

func newArenaBytes(n int) arenaBytes {
	m := make([]byte, n+memory.Slack+64)
	for i := range m {
		m[i] = 0xA5
	}
	return arenaBytes{m}
}

func (a arenaBytes) dst() []byte {
	n := len(a.mem) - memory.Slack - 64
	return a.mem[:n:len(a.mem)]
}

func (a arenaBytes) intact() bool {
	for _, b := range a.mem[len(a.mem)-64:] {
		if b != 0xA5 {
			return false
		}
	}
	return true
}

// roundTrip stores src and reads it back, checking capacity and guard.
func roundTrip(t testing.TB, c Codec, src []byte) (stored []byte) {
	t.Helper()
	dst := make([]byte, 3, 3+MaxStored(len(src)))
	copy(dst, "abc")
	out := AppendBuffer(dst, c, src)
	if &out[0] != &dst[0] {
		t.Fatalf("the capacity of MaxStored(%d) was not enough", len(src))
	}
	if string(out[:3]) != "abc" {
		t.Fatal("what was in dst is gone")
	}
	stored = out[3:]
	s, err := ParseStored(c, stored)
	if err != nil {
		t.Fatal(err)
	}
	if s.Length != len(src) {
		t.Fatalf("length %d instead of %d", s.Length, len(src))
	}
	a := newArenaBytes(s.Length)
	if err := s.Decode(c, a.dst()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.dst(), src) {
		t.Fatal("other bytes came back")
	}
	if !a.intact() {
		t.Fatal("something was written behind the slack")
	}
	return stored
}

func TestRoundTrip(t *testing.T) {
	sizes := []int{0, 1, 10, 31, 32, 33, 500, 10_000, 100_000}
	if testing.Short() {
		sizes = sizes[:8]
	}
	for _, c := range append(codecs(t), nil) {
		for _, n := range sizes {
			for name, src := range buffers(n) {
				stored := roundTrip(t, c, src)
				if c == nil {
					if !bytes.Equal(stored, src) {
						t.Error("codec none changes bytes")
					}
					continue
				}
				raw := len(stored) >= 8 && int64(binary.LittleEndian.Uint64(stored)) == -1
				switch {
				case len(src) == 0 && len(stored) != 0:
					t.Error("an empty buffer is not empty")
				case len(src) > 0 && len(src) < 256 && !raw:
					t.Errorf("%s: %d bytes are compressed", c.Name(), len(src))
				case n >= 500 && name == "random" && !raw:
					t.Errorf("%s: random bytes are compressed", c.Name())
				case n >= 500 && (name == "zeros" || name == "runs") && raw && len(src) >= 4000:
					t.Errorf("%s: %s are raw", c.Name(), name)
				case !raw && len(stored)-8 > len(src)-len(src)/8:
					t.Errorf("%s: %d bytes became %d", c.Name(), len(src), len(stored))
				}
			}
		}
	}
}

// Buffers of several blocks, of which some compress and some do not.
func TestMixedBlocks(t *testing.T) {
	b := buffers(40_000)
	var src []byte
	for _, name := range []string{"zeros", "random", "strings", "random", "int64", "random", "zeros", "dates"} {
		src = append(src, b[name]...)
	}
	for _, c := range codecs(t) {
		roundTrip(t, c, src)
		roundTrip(t, c, src[:lz4BlockSize])
		roundTrip(t, c, src[:lz4BlockSize+1])
		roundTrip(t, c, src[:4*lz4BlockSize-1])
	}
}

func TestTooLittleCapacity(t *testing.T) {
	src := buffers(5000)["strings"]
	for _, c := range codecs(t) {
		for _, spare := range []int{0, 8, 100, len(src) / 2, len(src)} {
			out := AppendBuffer(make([]byte, 0, spare), c, src)
			s, err := ParseStored(c, out)
			if err != nil {
				t.Fatal(err)
			}
			a := newArenaBytes(s.Length)
			if err := s.Decode(c, a.dst()); err != nil || !bytes.Equal(a.dst(), src) {
				t.Fatalf("%s, %d bytes: %v", c.Name(), spare, err)
			}
		}
	}
}

func TestNew(t *testing.T) {
	for _, name := range []string{"lz4", "zstd"} {
		if c := newCodec(t, name, 1); c.Name() != name {
			t.Error(c.Name())
		}
	}
	if c, err := New("none", 0); c != nil || err != nil {
		t.Error(c, err)
	}
	for name, want := range map[string]string{"snappy": "known codecs: none, lz4, zstd, pack", "pack": "none, lz4, zstd", "": "known codecs"} {
		if _, err := New(name, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, level := range []int{-1, 0, 23} {
		if _, err := New("zstd", level); err == nil || !strings.Contains(err.Error(), "1 to 22") {
			t.Errorf("level %d: %v", level, err)
		}
	}
	strings := buffers(20_000)["strings"]
	for _, level := range []int{MinZstdLevel, 2, 3, 5, 6, 9, 10, MaxZstdLevel} {
		roundTrip(t, newCodec(t, "zstd", level), strings)
	}
}

func TestHigherLevelsAreSmaller(t *testing.T) {
	src := buffers(20_000)["strings"]
	fast := len(AppendBuffer(nil, newCodec(t, "zstd", 1), src))
	best := len(AppendBuffer(nil, newCodec(t, "zstd", 22), src))
	if best >= fast {
		t.Errorf("level 22 gives %d bytes, level 1 gives %d", best, fast)
	}
}

// Vectors of the reference implementation of xxHash.
func TestXXH32(t *testing.T) {
	for in, want := range map[string]uint32{
		"":    0x02CC5D05,
		"a":   0x550D7456,
		"abc": 0x32D153FF,
		"Nobody inspects the spammish repetition": 0xE2293B2F,
	} {
		if got := xxh32([]byte(in)); got != want {
			t.Errorf("%q: %08x instead of %08x", in, got, want)
		}
	}
}

func TestLZ4FrameLayout(t *testing.T) {
	c := lz4Codec{}
	src := append(make([]byte, lz4BlockSize), buffers(2000)["random"]...)
	f := c.AppendCompressed(nil, src)
	if got := f[:6]; !bytes.Equal(got, []byte{0x04, 0x22, 0x4D, 0x18, 0x68, 0x50}) {
		t.Errorf("% x", got)
	}
	if got := binary.LittleEndian.Uint64(f[6:]); got != uint64(len(src)) {
		t.Errorf("content size %d", got)
	}
	n := int(binary.LittleEndian.Uint32(f[15:]))
	second := binary.LittleEndian.Uint32(f[19+n:])
	if n > 2000 || second != 1<<31|16000 {
		t.Errorf("blocks of %d and %x bytes", n, second)
	}
	if end := f[len(f)-4:]; len(f) != 15+4+n+4+16000+4 || !bytes.Equal(end, []byte{0, 0, 0, 0}) {
		t.Errorf("end % x, %d bytes", end, len(f))
	}
}

// Other implementations read what is written.
func TestOthersReadOurFrames(t *testing.T) {
	for name, src := range buffers(70_000) {
		got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(lz4Codec{}.AppendCompressed(nil, src))))
		if err != nil || !bytes.Equal(got, src) {
			t.Errorf("lz4 %s: %v", name, err)
		}
		r, err := zstd.NewReader(bytes.NewReader(newCodec(t, "zstd", 1).AppendCompressed(nil, src)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err = io.ReadAll(r); err != nil || !bytes.Equal(got, src) {
			t.Errorf("zstd %s: %v", name, err)
		}
		r.Close()
	}
}

// Frames as other writers make them: linked blocks, checksums, no content size.
func TestForeignFrames(t *testing.T) {
	src := bytes.Join([][]byte{buffers(30_000)["strings"], buffers(9000)["random"], buffers(30_000)["strings"]}, nil)
	var names []string
	var frames [][]byte
	for i := range 16 {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		size := []lz4.BlockSize{lz4.Block64Kb, lz4.Block4Mb}[i>>3]
		if err := w.Apply(lz4.BlockSizeOption(size), lz4.BlockChecksumOption(i&1 != 0), lz4.ChecksumOption(i&2 != 0),
			lz4.SizeOption(uint64(len(src)*(i>>2&1)))); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(src); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		names, frames = append(names, fmt.Sprintf("pierrec %04b", i)), append(frames, b.Bytes())
	}
	names, frames = append(names, "linked"), append(frames, linkedFrame(t, src))
	for i, f := range frames {
		a := newArenaBytes(len(src))
		if err := (lz4Codec{}).Decompress(a.dst(), f); err != nil || !bytes.Equal(a.dst(), src) || !a.intact() {
			t.Errorf("%s: %v", names[i], err)
		}
		// Every single damaged byte of the payload is found where there are checksums.
		for _, at := range []int{0, 4, 5, 6, len(f) / 3, len(f) - 5} {
			bad := bytes.Clone(f)
			bad[at] ^= 0x10
			err := (lz4Codec{}).Decompress(a.dst(), bad)
			if err == nil && (f[4]&(lz4FlagBlockChecksum|lz4FlagContentChecksum) != 0 || at < 7) {
				t.Errorf("%s: damage at %d was not found", names[i], at)
			}
		}
	}
	// zstd with a checksum and without a content size.
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, bytes.NewReader(src)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := newArenaBytes(len(src))
	if err := newCodec(t, "zstd", 1).Decompress(a.dst(), b.Bytes()); err != nil || !bytes.Equal(a.dst(), src) {
		t.Error("zstd stream:", err)
	}
}

// linkedFrame builds by hand a frame whose second block is one match that
// reaches into the first, which is what linked blocks are about.
func linkedFrame(t *testing.T, src []byte) []byte {
	t.Helper()
	// Header: linked, no content size, 64 KiB blocks.
	f := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	f = append(f, lz4Version, 4<<4)
	f = append(f, byte(xxh32(f[4:])>>8))
	for len(src) > 0 {
		block := src[:min(len(src), 64<<10)]
		src = src[len(block):]
		f = binary.LittleEndian.AppendUint32(f, lz4RawBlock|uint32(len(block)))
		f = append(f, block...)
	}
	return binary.LittleEndian.AppendUint32(f, 0)
}

func TestLinkedBlocks(t *testing.T) {
	f := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	f = append(f, lz4Version, 4<<4)
	f = append(f, byte(xxh32(f[4:])>>8))
	block := func(b []byte, flag uint32) {
		f = binary.LittleEndian.AppendUint32(f, flag|uint32(len(b)))
		f = append(f, b...)
	}
	block([]byte("0123456789abcdef"), lz4RawBlock)
	// One literal "<", a match of 8 bytes 17 back, then the five literals a block must end with.
	block([]byte{0x14, '<', 17, 0, 0x50, 'v', 'w', 'x', 'y', 'z'}, 0)
	f = binary.LittleEndian.AppendUint32(f, 0)
	want := "0123456789abcdef<01234567vwxyz"
	a := newArenaBytes(len(want))
	if err := (lz4Codec{}).Decompress(a.dst(), f); err != nil || string(a.dst()) != want {
		t.Fatalf("%q, %v", a.dst(), err)
	}
	f[4] |= lz4FlagIndependent
	f[6] = byte(xxh32(f[4:6]) >> 8)
	if err := (lz4Codec{}).Decompress(a.dst(), f); err == nil {
		t.Fatal("an independent block read the one before")
	}
}

func TestWrongLengths(t *testing.T) {
	src := buffers(10_000)["strings"]
	for _, c := range codecs(t) {
		frame := c.AppendCompressed(nil, src)
		for _, n := range []int{0, 1, len(src) - 1, len(src) + 1, len(src) + 63, 2 * len(src)} {
			a := newArenaBytes(n)
			err := c.Decompress(a.dst(), frame)
			var ce *ipc.CorruptError
			if !errors.As(err, &ce) || !a.intact() {
				t.Errorf("%s into %d bytes: %v", c.Name(), n, err)
			}
		}
		for _, n := range []int{0, 3, 5, 8, 14, len(frame) / 2, len(frame) - 1} {
			a := newArenaBytes(len(src))
			if err := c.Decompress(a.dst(), frame[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes are enough", c.Name(), n, len(frame))
			}
		}
		a := newArenaBytes(len(src))
		if err := c.Decompress(a.dst(), append(bytes.Clone(frame), 0)); err == nil {
			t.Errorf("%s: a byte more was not noticed", c.Name())
		}
	}
}

func TestParseStored(t *testing.T) {
	stored := func(n int64, payload int) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(n)), make([]byte, payload)...)
	}
	for _, c := range codecs(t) {
		for _, bad := range [][]byte{make([]byte, 7), stored(-2, 10), stored(1<<31, 1<<20), stored(1<<20, 1), stored(1, 0), stored(-1<<63, 1)} {
			var ce *ipc.CorruptError
			if _, err := ParseStored(c, bad); !errors.As(err, &ce) {
				t.Errorf("%s: % x: %v", c.Name(), bad[:7], err)
			}
		}
		if s, err := ParseStored(c, stored(-1, 3)); err != nil || !s.Raw || s.Length != 3 {
			t.Error(s, err)
		}
		// Arrow allows an empty buffer with a prefix.
		if s, err := ParseStored(c, stored(0, 0)); err != nil || s.Length != 0 || s.Decode(c, nil) != nil {
			t.Error(s, err)
		}
		s, err := ParseStored(c, stored(-1, 3))
		if err != nil || s.Decode(c, make([]byte, 4)) == nil {
			t.Error("a raw buffer of another length was read")
		}
	}
}

// What maxRatio says is what the best case reaches.
func TestMaxRatioHoldsForRuns(t *testing.T) {
	for _, c := range codecs(t) {
		for _, n := range []int{1000, 100_000, 20_000_000} {
			if n > 1_000_000 && testing.Short() {
				continue
			}
			roundTrip(t, c, make([]byte, n))
		}
	}
}

func TestNoGarbage(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items at random under the race detector")
	}
	src := buffers(10_000)["strings"]
	for _, c := range codecs(t) {
		stored := make([]byte, 0, MaxStored(len(src)))
		a := newArenaBytes(len(src))
		dst := a.dst()
		n := testing.AllocsPerRun(20, func() {
			stored = AppendBuffer(stored[:0], c, src)
			s, err := ParseStored(c, stored)
			if err == nil {
				err = s.Decode(c, dst)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if n >= 1 {
			t.Errorf("%s allocates %v times a buffer", c.Name(), n)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, b := range buffers(300) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, c := range codecs(t) {
			roundTrip(t, c, src)
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for _, b := range buffers(300) {
		for _, c := range codecs(f) {
			f.Add(c.AppendCompressed(nil, b), uint16(len(b)))
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte, n uint16) {
		for _, c := range []Codec{lz4Codec{}, newZstd(1)} {
			a := newArenaBytes(int(n))
			err := c.Decompress(a.dst(), frame)
			var ce *ipc.CorruptError
			if err != nil && !errors.As(err, &ce) {
				t.Errorf("%s: %v", c.Name(), err)
			}
			if !a.intact() {
				t.Errorf("%s wrote behind the slack", c.Name())
			}
			if s, err := ParseStored(c, frame); err == nil && s.Length <= 1<<16 {
				a := newArenaBytes(s.Length)
				_ = s.Decode(c, a.dst())
			}
		}
	})
}

var benchBuffers = []string{"int64", "dates", "strings", "offsets"}

func BenchmarkAppendBuffer(b *testing.B) {
	all := buffers(10_000)
	for _, c := range codecs(b) {
		for _, name := range benchBuffers {
			src := all[name]
			b.Run(c.Name()+"/"+name, func(b *testing.B) {
				dst := make([]byte, 0, MaxStored(len(src)))
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					dst = AppendBuffer(dst[:0], c, src)
				}
				b.ReportMetric(float64(len(src))/float64(len(dst)), "ratio")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	all := buffers(10_000)
	for _, c := range codecs(b)[:2] {
		for _, name := range benchBuffers {
			src := all[name]
			b.Run(c.Name()+"/"+name, func(b *testing.B) {
				s, err := ParseStored(c, AppendBuffer(nil, c, src))
				if err != nil {
					b.Fatal(err)
				}
				dst := newArenaBytes(len(src)).dst()
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Decode(c, dst); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
