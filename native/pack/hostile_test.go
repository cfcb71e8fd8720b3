package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

const canary = 0xa5

var canaries = bytes.Repeat([]byte{canary}, 1<<10)

// hostileArena is an arena whose memory is filled with canaries; check finds
// out whether anything behind the last buffer was written.
type hostileArena struct {
	alloc  memory.Checked
	arena  *memory.Arena
	filled []byte
}

func newHostileArena() *hostileArena {
	h := &hostileArena{}
	h.alloc.SetLimit(64 << 20)
	h.arena = memory.NewArena(&h.alloc)
	return h
}

func (h *hostileArena) prepare() {
	h.arena.Reset()
	h.filled = h.arena.Bytes(100 << 10)
	fill(h.filled, canary)
	h.arena.Reset()
}

func (h *hostileArena) check(t testing.TB, what string) {
	t.Helper()
	behind := h.arena.Bytes(len(canaries))
	at := uintptr(unsafe.Pointer(&behind[0])) - uintptr(unsafe.Pointer(&h.filled[0]))
	if at > uintptr(len(h.filled)-len(behind)) {
		return // beyond what prepare filled
	}
	if !bytes.Equal(behind, canaries) {
		t.Fatalf("%s: bytes behind the last buffer were overwritten", what)
	}
}

// node decodes and, where that succeeds, checks what Node promises. A limit of
// the arena is no failure.
func (h *hostileArena) node(t testing.TB, d *Decoder, typ *schema.Type, n, nulls int, stored [3][]byte) (err error) {
	t.Helper()
	h.prepare()
	defer func() {
		if r := recover(); r != nil {
			limit, ok := r.(*memory.LimitError)
			if !ok {
				panic(r)
			}
			err = limit
		}
	}()
	c := column.New(typ)
	if err := d.Node(c, n, nulls, stored, h.arena); err != nil {
		if !strings.HasPrefix(err.Error(), "pack: ") {
			t.Fatalf("error without a source: %v", err)
		}
		return err
	}
	checkShape(t, c)
	h.check(t, fmt.Sprint(typ.Name, " ", n, " ", describe(stored)))
	return nil
}

// checkShape checks lengths, offsets and null count of a decoded column.
func checkShape(t testing.TB, c *column.Column) {
	t.Helper()
	kind := c.Type.Kind
	if c.Nulls > 0 && kind != schema.Null {
		if len(c.Validity) < (c.Len+7)/8 || column.CountNulls(c.Validity, c.Len) != c.Nulls {
			t.Fatalf("validity does not have %d nulls", c.Nulls)
		}
	}
	if w := kind.ValueWidth(); len(c.Values) != w*c.Len && kind != schema.Bool {
		t.Fatalf("%d bytes of values for %d slots", len(c.Values), c.Len)
	}
	if !kind.HasOffsets() {
		return
	}
	o := column.View[int32](c.Offsets)
	if len(o) != c.Len+1 || o[0] != 0 || !slices.IsSorted(o) {
		t.Fatal("offsets are wrong")
	}
	if kind != schema.List && int(o[c.Len]) != len(c.Data) {
		t.Fatalf("last offset %d, %d bytes of data", o[c.Len], len(c.Data))
	}
}

// samples encodes columns so that every encoding occurs.
func samples(t testing.TB) (cols []*column.Column, stored [][3][]byte) {
	add := func(c *column.Column) {
		p := newPair()
		cols = append(cols, c)
		stored = append(stored, p.encode(t, c))
	}
	const n = 1300
	nulls := nullPatterns(n)
	for _, typ := range kinds {
		for _, values := range valuesOf(typ.Kind, n) {
			add(newColumn(typ, n, nulls["none"], values, nil))
			add(newColumn(typ, n, nulls["random10"], values, nil))
		}
	}
	for _, v := range nulls {
		add(newColumn(kinds["struct"], n, v, nil, nil))
	}
	for _, texts := range textsOf(n) {
		add(newColumn(kinds["string"], n, nulls["none"], nil, texts))
		add(newColumn(kinds["string"], n, nulls["every8"], nil, texts))
	}
	return cols, stored
}

// Damaged buffers give an error or a well-formed column, never a panic, a read
// or a write outside.
func TestDamagedBuffers(t *testing.T) {
	cols, stored := samples(t)
	r := rand.New(rand.NewSource(9))
	h, d := newHostileArena(), NewDecoder()
	for i, c := range cols {
		for k, b := range stored[i] {
			if len(b) == 0 {
				continue
			}
			for round := range 24 {
				bad := slices.Clone(b)
				switch round % 6 {
				case 0:
					bad = bad[:r.Intn(len(bad))]
				case 1: // in the head, where lengths are
					bad[r.Intn(min(len(bad), 24))] = byte(r.Uint32())
				case 2:
					bad[r.Intn(len(bad))] ^= 1 << r.Intn(8)
				case 3:
					for range 8 {
						bad[r.Intn(len(bad))] = byte(r.Uint32())
					}
				case 4:
					bad = append(bad, make([]byte, 1+r.Intn(20))...)
				case 5:
					at := r.Intn(len(bad))
					copy(bad[at:], binary.AppendUvarint(nil, r.Uint64()>>r.Intn(64)))
				}
				s := stored[i]
				s[k] = guarded(bad)
				_ = h.node(t, d, c.Type, c.Len, c.Nulls, s)
			}
			// Another number of slots than was stored.
			s := stored[i]
			for _, n := range []int{0, 1, c.Len - 1, c.Len + 1, 9 * c.Len} {
				_ = h.node(t, d, c.Type, n, min(c.Nulls, n), s)
			}
		}
	}
}

// guarded copies b so that it ends where its memory does.
func guarded(b []byte) []byte {
	words := make([]uint64, (len(b)+7)/8)
	m := bytesOf(words)
	m = m[len(m)-len(b):]
	copy(m, b)
	return m[:len(m):len(m)]
}

// Buffers that ask for more memory than their bytes justify are refused before
// anything is allocated.
func TestInflatedBuffers(t *testing.T) {
	guard := make([]byte, guardLen)
	uv := func(v uint64) []byte { return binary.AppendUvarint(nil, v) }
	cat := func(parts ...[]byte) []byte { return append(slices.Concat(parts...), guard...) }
	one := func(b byte) []byte { return []byte{b} }
	constant := func(v uint64) []byte { return appendZigzag(one(modeConstant), v) }
	for name, stored := range map[string][3][]byte{
		"wrapped":         {nil, nil, cat(one(encWrapped), uv(1<<30), one(0))},
		"dictionary":      {nil, nil, cat(one(encStringDict), uv(1), uv(1<<30), constant(4), one(0), []byte("abcd"), constant(0))},
		"dictionary lz4":  {nil, nil, cat(one(encStringDict), uv(1), uv(100), constant(1<<30), one(1), uv(1), one(0), constant(0))},
		"too many":        {nil, nil, cat(one(encStringDict), uv(1<<20), uv(1), constant(0))},
		"fsst":            {nil, nil, cat(one(encFSST), uv(100<<20), one(0), constant(1<<20), make([]byte, 8), uv(3), []byte{255, 1, 0})},
		"hex":             {nil, nil, cat(one(encHex), one(0), one(255), bytes.Repeat([]byte{0xff}, 31), one(0x7f), make([]byte, 1000))},
		"hex, no digit":   {nil, nil, cat(one(encHex), one(0), one(16), one(0), one(0), make([]byte, 16))},
		"hex, letters":    {nil, nil, cat(one(encHex), one(2), one(8), one(0xff), make([]byte, 4000))},
		"hex, length 0":   {nil, nil, cat(one(encHex), one(0), one(0))},
		"prefix+int":      {nil, nil, cat(one(encPrefixInt), one(0), uv(1<<30), one(0), one(0), constant(1))},
		"lengths":         {nil, cat(one(encLengths), one(0), constant(1<<31-1)), nil},
		"plain lz4":       {nil, cat(one(encLengths), one(0), constant(1<<20)), cat(one(encLZ4), one(0))},
		"negative length": {nil, cat(one(encLengths), one(0), constant(^uint64(0))), nil},
	} {
		h := newHostileArena()
		err := h.node(t, NewDecoder(), kinds["string"], 100, 0, stored)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if p := h.alloc.Peak(); p > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, p)
		}
	}
}

func TestErrorsNameTheProblem(t *testing.T) {
	guard := make([]byte, guardLen)
	buf := func(b ...byte) []byte { return append(b, guard...) }
	for _, c := range []struct {
		kind   string
		stored [3][]byte
		nulls  int
		want   string
	}{
		{"int64", [3][]byte{nil, buf(99), nil}, 0, "unknown encoding 99 of values"},
		{"int64", [3][]byte{nil, nil, nil}, 0, "absent"},
		{"int64", [3][]byte{nil, buf(encInts, 7), nil}, 0, "unknown block mode 7"},
		{"int64", [3][]byte{nil, buf(encInts, modeReference, 60, 0), nil}, 0, "bit width 60"},
		{"int64", [3][]byte{nil, buf(encInts, modeReference, 50, 0), nil}, 0, "ends too early"},
		{"int64", [3][]byte{nil, buf(encInts, modeConstant, 0, 0, 0), nil}, 0, "2 bytes are left over"},
		{"int64", [3][]byte{nil, buf(encInts, modeReference|hasFactor, 0, 0, 0), nil}, 0, "factor 0 of"},
		{"int64", [3][]byte{nil, buf(encInts, modeDelta|hasFactor, 1, 0, 0, 0), nil}, 0, "factor 1 of"},
		{"int8", [3][]byte{nil, buf(encInts, modeReference|hasFactor, 0x80, 2, 0, 0), nil}, 0, "factor 256 of values of 1 bytes"},
		{"int32", [3][]byte{nil, buf(encInts, modeDelta2|hasFactor, 0x80, 0x80, 0x80, 0x80, 16, 0, 0, 0, 0), nil}, 0, "factor 4294967296 of"},
		{"int64", [3][]byte{nil, buf(encInts, modeReference|hasFactor, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 0, 0), nil}, 0, "ends too early"},
		{"int64", [3][]byte{nil, buf(encInts, modeReference|hasFactor), nil}, 0, "ends too early"},
		{"int64", [3][]byte{nil, buf(encInts, modeConstant|hasFactor, 2, 0), nil}, 0, "bad block head 0x10"},
		{"int64", [3][]byte{nil, slices.Concat([]byte{encInts, modePlain | hasFactor}, make([]byte, 780), make([]byte, guardLen)), nil}, 0, "ends too early"},
		{"int8", [3][]byte{nil, slices.Concat([]byte{encInts, modePlain | hasFactor}, make([]byte, 50), make([]byte, guardLen)), nil}, 0, "ends too early"},
		{"int64", [3][]byte{nil, buf(encInts, modeReference|32, 0, 0), nil}, 0, "bad block head 0x21"},
		{"int64", [3][]byte{nil, make([]byte, 801), nil}, 0, "801 bytes for 100 values"},
		{"int64", [3][]byte{nil, {1, 2}, nil}, 0, "ends too early"},
		{"int64", [3][]byte{nil, make([]byte, 800), nil}, 5, "validity of a long column: buffer is absent"},
		{"int64", [3][]byte{make([]byte, 13), make([]byte, 800), nil}, 5, "100 nulls, the batch says 5"},
		{"int32", [3][]byte{nil, buf(encDecimals, 2, modeConstant, 0, 0), nil}, 0, "encoding of floats"},
		{"bool", [3][]byte{nil, buf(bitsRuns, 1)[:9], nil}, 0, "ends too early"},
		{"string", [3][]byte{nil, make([]byte, 404), []byte("x")}, 0, "1 bytes of data, offsets say 0"},
		{"string", [3][]byte{nil, buf(encLengths, 4, 0, 0), nil}, 0, "unknown flags"},
		{"string", [3][]byte{nil, nil, buf(77)}, 0, "unknown encoding 77 of strings"},
		{"string", [3][]byte{nil, bytesOf(slices.Repeat([]int32{1}, 101)), nil}, 0, "offsets start at 1"},
		{"string", [3][]byte{nil, bytesOf(append(append(make([]int32, 50), 9), make([]int32, 50)...)), nil}, 0, "offsets fall"},
		{"decimal", [3][]byte{nil, buf(encDecimal, 2), nil}, 0, "unknown form 2"},
	} {
		err := newHostileArena().node(t, NewDecoder(), kinds[c.kind], 100, c.nulls, c.stored)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: got %v, want %q", c.kind, describe(c.stored), err, c.want)
		}
	}
	if err := NewDecoder().Node(column.New(kinds["int8"]), 3, 4, [3][]byte{}, nil); err == nil {
		t.Error("more nulls than slots")
	}
}

// Raw buffers that are not aligned are copied, so that views of them are.
func TestUnalignedRawBuffers(t *testing.T) {
	h := newHostileArena()
	raw := bytesOf(make([]uint64, 5))[1:17]
	raw[0] = 7
	c := column.New(kinds["int64"])
	if err := NewDecoder().Node(c, 2, 0, [3][]byte{nil, raw, nil}, h.arena); err != nil {
		t.Fatal(err)
	}
	if uintptr(unsafe.Pointer(&c.Values[0]))&7 != 0 || column.View[int64](c.Values)[0] != 7 {
		t.Fatalf("%v", c.Values)
	}
}

var fuzzKinds = []string{"bool", "int8", "int16", "int32", "int64", "float32", "float64", "decimal", "string", "list", "struct"}

// FuzzDecode feeds arbitrary stored buffers to every kind.
func FuzzDecode(f *testing.F) {
	cols, stored := samples(f)
	for i, c := range cols {
		if i%5 == 0 {
			k := slices.IndexFunc(fuzzKinds, func(k string) bool { return kinds[k] == c.Type })
			f.Add(byte(max(k, 0)), uint16(c.Len), uint16(c.Nulls), stored[i][0], stored[i][1], stored[i][2])
		}
	}
	h, d := newHostileArena(), NewDecoder()
	f.Fuzz(func(t *testing.T, kind byte, n, nulls uint16, validity, second, third []byte) {
		s := [3][]byte{guarded(validity), guarded(second), guarded(third)}
		_ = h.node(t, d, kinds[fuzzKinds[int(kind)%len(fuzzKinds)]], int(n), int(nulls), s)
	})
}

// FuzzRoundTrip makes a column of the bytes given: values repeat with a
// period, so that more than raw comes up.
func FuzzRoundTrip(f *testing.F) {
	for k := range fuzzKinds {
		f.Add(byte(k), uint16(100), uint8(0), []byte("seed of some bytes"))
		f.Add(byte(k), uint16(2000), uint8(3), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8})
		f.Add(byte(k), uint16(1500), uint8(200), []byte("key_000123"))
		// Multiples of a million, and one that is not.
		f.Add(byte(k), uint16(1500), uint8(8<<3), le[int64](1e6, 17e6, -5e6, 1e15, 3e6))
		f.Add(byte(k), uint16(1500), uint8(8<<3|1), le[int64](255e6, 17e6, -5e6, 1e15, 3e6))
		f.Add(byte(k), uint16(1500), uint8(4<<3), le[int32](1e6, 17e6, -5e6, 2e9, 3e6, 3e6+1))
	}
	f.Fuzz(func(t *testing.T, kind byte, n uint16, shape uint8, seed []byte) {
		typ := kinds[fuzzKinds[int(kind)%len(fuzzKinds)]]
		rows := int(n) % 3000
		newPair().roundTrip(t, fmt.Sprint(typ.Name, " ", rows), fuzzColumn(typ, rows, shape, seed))
	})
}

// fuzzColumn grows seed to a column: element i is made of seed and i in ways
// that shape selects.
func fuzzColumn(typ *schema.Type, n int, shape uint8, seed []byte) *column.Column {
	if len(seed) == 0 {
		seed = []byte{0}
	}
	at := func(i int) byte { return seed[i%len(seed)] }
	var validity []byte
	if shape&1 != 0 {
		validity = make([]byte, (n+7)/8)
		for i := range validity {
			validity[i] = at(i) | at(i/3)
		}
		if n&7 != 0 {
			validity[len(validity)-1] &= 1<<(n&7) - 1
		}
	}
	step := uint64(0)
	if shape&2 != 0 {
		step = uint64(shape)
	}
	if typ.Kind.HasOffsets() {
		texts := make([]string, n)
		for i := range texts {
			from := i * int(shape>>2) % len(seed)
			to := min(len(seed), from+int(at(i))%24)
			texts[i] = string(seed[from:to])
			if step != 0 {
				texts[i] += fmt.Sprint(uint64(i) * step)
			}
		}
		c := newColumn(typ, n, validity, nil, texts)
		if n == 0 {
			c.Offsets = make([]byte, 4)
		}
		return c
	}
	w := max(typ.Kind.ValueWidth(), 1)
	values := make([]byte, n*w+8)
	for i := range n {
		var v [16]byte
		for k := range w {
			v[k] = at(i*int(shape>>3) + k)
		}
		binary.LittleEndian.PutUint64(v[:], binary.LittleEndian.Uint64(v[:])+uint64(i)*step)
		copy(values[i*w:(i+1)*w], v[:])
	}
	if typ.Kind == schema.Bool {
		values = values[:(n+7)/8]
	} else {
		values = values[:n*typ.Kind.ValueWidth()]
	}
	return newColumn(typ, n, validity, values, nil)
}
