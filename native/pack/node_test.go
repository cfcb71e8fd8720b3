package pack

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/schema"
)

var kinds = map[string]*schema.Type{
	"bool":    {Kind: schema.Bool, Name: "boolean"},
	"int8":    {Kind: schema.Int8, Name: "byte"},
	"int16":   {Kind: schema.Int16, Name: "short"},
	"int32":   {Kind: schema.Int32, Name: "integer"},
	"int64":   {Kind: schema.Int64, Name: "long"},
	"float32": {Kind: schema.Float32, Name: "float"},
	"float64": {Kind: schema.Float64, Name: "double"},
	"decimal": {Kind: schema.Decimal, Name: "decimal(38,2)", Precision: 38, Scale: 2},
	"string":  {Kind: schema.String, Name: "string"},
	"binary":  {Kind: schema.Binary, Name: "binary"},
	"null":    {Kind: schema.Null, Name: "void"},
	"struct":  {Kind: schema.Struct, Name: "struct"},
	"list":    {Kind: schema.List, Name: "array"},
}

// newColumn makes a column of fixed-width values or, where texts is not nil, of strings.
func newColumn(t *schema.Type, n int, validity, values []byte, texts []string) *column.Column {
	c := column.New(t)
	c.Len, c.Values = n, values
	if validity != nil {
		c.Nulls = column.CountNulls(validity, n)
		if c.Nulls > 0 {
			c.Validity = validity
		}
	}
	if texts != nil {
		offsets := make([]int32, n+1)
		for i, s := range texts {
			if validity != nil && !bit(validity, i) {
				s = ""
			}
			c.Data = append(c.Data, s...)
			offsets[i+1] = int32(len(c.Data))
		}
		c.Offsets = bytesOf(offsets)
	}
	return c
}

// sameColumn tells where two columns differ in what must survive.
func sameColumn(want, got *column.Column) error {
	if got.Len != want.Len || got.Nulls != want.Nulls {
		return fmt.Errorf("%d slots, %d nulls; want %d, %d", got.Len, got.Nulls, want.Len, want.Nulls)
	}
	kind := want.Type.Kind
	w := kind.ValueWidth()
	if len(got.Values) != w*want.Len && kind != schema.Bool {
		return fmt.Errorf("%d bytes of values", len(got.Values))
	}
	text := kind == schema.String || kind == schema.Binary
	var wo, gotOff []int32
	if kind.HasOffsets() {
		wo, gotOff = column.View[int32](want.Offsets), column.View[int32](got.Offsets)
		if len(gotOff) != want.Len+1 || gotOff[0] != 0 {
			return fmt.Errorf("%d offsets", len(gotOff))
		}
		if text && int(gotOff[want.Len]) != len(got.Data) {
			return fmt.Errorf("last offset %d, %d bytes", gotOff[want.Len], len(got.Data))
		}
	}
	for i := range want.Len {
		if want.IsNull(i) != got.IsNull(i) {
			return fmt.Errorf("slot %d: null is %v", i, got.IsNull(i))
		}
		if wo != nil && !text && gotOff[i+1] != wo[i+1] {
			return fmt.Errorf("offset %d is %d, want %d", i+1, gotOff[i+1], wo[i+1])
		}
		if kind != schema.Null && want.IsNull(i) {
			continue
		}
		switch {
		case kind == schema.Bool:
			if bit(want.Values, i) != bit(got.Values, i) {
				return fmt.Errorf("slot %d is %v", i, bit(got.Values, i))
			}
		case w > 0:
			if a, b := want.Values[i*w:(i+1)*w], got.Values[i*w:(i+1)*w]; !bytes.Equal(a, b) {
				return fmt.Errorf("slot %d is %x, want %x", i, b, a)
			}
		case text:
			a, b := want.Data[wo[i]:wo[i+1]], got.Data[gotOff[i]:gotOff[i+1]]
			if !bytes.Equal(a, b) {
				return fmt.Errorf("slot %d is %q, want %q", i, b, a)
			}
		}
	}
	return nil
}

type codecPair struct {
	e     *Encoder
	d     *Decoder
	alloc memory.Checked
	arena *memory.Arena
}

func newPair() *codecPair {
	p := &codecPair{e: NewEncoder(1), d: NewDecoder()}
	p.arena = memory.NewArena(&p.alloc)
	return p
}

// encode returns the stored buffers of c, each exactly as long as stored.
func (p *codecPair) encode(t testing.TB, c *column.Column) (stored [3][]byte) {
	t.Helper()
	before := [...][]byte{slices.Clone(c.Validity), slices.Clone(c.Values), slices.Clone(c.Offsets), slices.Clone(c.Data)}
	dst := make([]byte, 0, MaxStored(c))
	var lens [3]int64
	out := p.e.AppendNode(dst, 0, c, &lens)
	if len(out) > 0 && &out[0] != &dst[:1][0] {
		t.Fatalf("MaxStored is %d, but %d were needed", cap(dst), len(out))
	}
	for i, b := range [...][]byte{c.Validity, c.Values, c.Offsets, c.Data} {
		if !bytes.Equal(b, before[i]) {
			t.Fatal("the input was modified")
		}
	}
	at := 0
	for i, l := range lens {
		// A copy in memory of its own, so that the race detector's checks find over-reads.
		if l > 0 {
			stored[i] = bytesOf(append(make([]uint64, 0, l/8+1), make([]uint64, (l+7)/8)...))[:l:l]
			copy(stored[i], out[at:])
		}
		at += int(l)
		for ; at&7 != 0; at++ {
			if out[at] != 0 {
				t.Fatal("padding is not zero")
			}
		}
	}
	if at != len(out) {
		t.Fatalf("lengths add up to %d of %d bytes", at, len(out))
	}
	return stored
}

// roundTrip encodes c a few times (the choice is remembered) and returns the stored size.
func (p *codecPair) roundTrip(t testing.TB, name string, c *column.Column) int {
	t.Helper()
	size := 0
	for range 2 {
		stored := p.encode(t, c)
		size = len(stored[0]) + len(stored[1]) + len(stored[2])
		if raw := len(c.Validity) + len(c.Values) + len(c.Offsets) + len(c.Data); size > raw+raw/100 {
			t.Fatalf("%s: %d bytes, raw %d", name, size, raw)
		}
		p.arena.Reset()
		got := column.New(c.Type)
		if err := p.d.Node(got, c.Len, c.Nulls, stored, p.arena); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := sameColumn(c, got); err != nil {
			t.Fatalf("%s (%s): %v", name, describe(stored), err)
		}
	}
	return size
}

// decodeBothWays decodes what is stored of c by the kernels for this processor and without.
func (p *codecPair) decodeBothWays(t testing.TB, name string, c *column.Column, stored [3][]byte) {
	t.Helper()
	for _, fast := range []bool{true, false} {
		withKernels(fast, func() {
			got := column.New(c.Type)
			if err := p.d.Node(got, c.Len, c.Nulls, stored, p.arena); err != nil {
				t.Fatal(err)
			}
			if err := sameColumn(c, got); err != nil {
				t.Fatalf("%s, %d strings, kernels %v: %v", name, c.Len, fast, err)
			}
		})
	}
}

func (p *codecPair) close(t testing.TB) {
	t.Helper()
	p.arena.Close()
	if p.alloc.Live() != 0 || p.alloc.InUse() != 0 {
		t.Fatal("leak")
	}
}

func describe(stored [3][]byte) string {
	var b strings.Builder
	for _, s := range stored {
		if len(s) == 0 {
			b.WriteString("- ")
		} else {
			fmt.Fprintf(&b, "%d:%d ", s[0], len(s))
		}
	}
	return b.String()
}

// valuesOf gives n values of a kind in several shapes.
func valuesOf(kind schema.Kind, n int) map[string][]byte {
	m := map[string][]byte{}
	r := rand.New(rand.NewSource(3))
	put := func(name string, b []byte) { m[name] = b }
	series := intSeries(n, 5)
	for _, name := range slices.Sorted(maps.Keys(series)) {
		s := series[name]
		switch kind {
		case schema.Bool:
			b := make([]byte, (n+7)/8)
			for i, v := range s {
				b[i>>3] |= byte(v&1) << (i & 7)
			}
			put(name, b)
		case schema.Int8:
			put(name, convert[int8](s))
		case schema.Int16:
			put(name, convert[int16](s))
		case schema.Int32:
			put(name, convert[int32](s))
		case schema.Int64:
			put(name, bytesOf(s))
		case schema.Float32:
			put(name, convert[float32](s))
			put("bits/"+name, convert[int32](s))
		case schema.Float64:
			put(name, convert[float64](s))
			put("bits/"+name, bytesOf(s))
		case schema.Decimal:
			b := make([]int64, 0, 2*n)
			for _, v := range s {
				b = append(b, v, v>>63)
			}
			put(name, bytesOf(b))
			w := slices.Clone(b)
			for i := 1; i < len(w); i += 2 {
				w[i] = r.Int63n(3) - 1
			}
			put("wide/"+name, bytesOf(w))
			x := slices.Clone(b)
			for i := range x {
				x[i] = int64(r.Uint64())
			}
			put("random", bytesOf(x))
		}
	}
	factored := factorSeries(n, 5)
	for _, name := range slices.Sorted(maps.Keys(factored)) {
		s := factored[name]
		switch kind {
		case schema.Int8:
			put("zz"+name, convert[int8](s))
		case schema.Int16:
			put("zz"+name, convert[int16](s))
		case schema.Int32:
			put("zz"+name, convert[int32](s))
		case schema.Int64:
			put("zz"+name, bytesOf(s))
		case schema.Float64:
			put("zz"+name, convert[float64](s))
		case schema.Decimal:
			b := make([]int64, 0, 2*n)
			for _, v := range s {
				b = append(b, v, v>>63)
			}
			put("zz"+name, bytesOf(b))
		}
	}
	if kind == schema.Float64 || kind == schema.Float32 {
		special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 1e-310, 0.1, 123.45,
			-1e15, 4503599627370497.5}
		var price, mixed, walk []float64
		at := 100.0
		for range n {
			price = append(price, float64(r.Intn(1000000))/100)
			at += r.NormFloat64()
			walk = append(walk, at)
			if r.Intn(20) == 0 {
				mixed = append(mixed, special[r.Intn(len(special))])
			} else {
				mixed = append(mixed, float64(r.Intn(100000))/1000)
			}
		}
		for name, f := range map[string][]float64{"price": price, "mixed": mixed, "walk": walk} {
			if kind == schema.Float32 {
				f32 := make([]float32, n)
				for i, v := range f {
					f32[i] = float32(v)
				}
				put(name, bytesOf(f32))
			} else {
				put(name, bytesOf(f))
			}
		}
		nan := make([]uint64, n)
		for i := range nan {
			nan[i] = 0x7ff0000000000001 | r.Uint64()&0x8007ffffffffffff
		}
		if kind == schema.Float64 {
			put("nan payloads", bytesOf(nan))
		} else {
			nan32 := make([]uint32, n)
			for i := range nan32 {
				nan32[i] = 0x7f800001 | r.Uint32()&0x803fffff
			}
			put("nan payloads", bytesOf(nan32))
		}
	}
	return m
}

func convert[T column.Fixed](s []int64) []byte {
	out := make([]T, len(s))
	for i, v := range s {
		out[i] = T(v)
	}
	return bytesOf(out)
}

func textsOf(n int) map[string][]string {
	r := rand.New(rand.NewSource(11))
	m := map[string][]string{}
	add := func(name string, f func(i int) string) {
		s := make([]string, n)
		for i := range s {
			s[i] = f(i)
		}
		m[name] = s
	}
	words := strings.Fields("the quick brown fox jumps over a lazy dog while carefully packed deposits sleep furiously among ironic requests")
	sentence := func() string {
		var b strings.Builder
		for range 1 + r.Intn(8) {
			b.WriteString(words[r.Intn(len(words))] + " ")
		}
		return b.String()
	}
	add("empty", func(i int) string { return "" })
	add("constant", func(i int) string { return "the same for all" })
	add("key", func(i int) string { return fmt.Sprintf("str_c_%d", i*37) })
	add("keyLong", func(i int) string {
		return fmt.Sprintf("a prefix of more than eight bytes %d and a suffix", r.Int63()%1e18)
	})
	add("keyEverySize", func(i int) string { return fmt.Sprint(r.Int63() % int64(math.Pow10(1+i%18))) })
	add("padded", func(i int) string { return fmt.Sprintf("Customer#%09d", r.Intn(1e9)) })
	add("padded17", func(i int) string { return fmt.Sprintf("%017dx", r.Intn(1e9)) })
	add("negative", func(i int) string { return fmt.Sprint(r.Intn(200) - 100) })
	add("flag", func(i int) string { return []string{"A", "N", "R"}[r.Intn(3)] })
	add("mode", func(i int) string { return []string{"AIR", "REG AIR", "MAIL", "SHIP", "", "TRUCK"}[r.Intn(6)] })
	add("instruct", func(i int) string {
		return []string{"DELIVER IN PERSON", "TAKE BACK RETURN", "COLLECT COD", "NONE"}[r.Intn(4)]
	})
	add("longEntries", func(i int) string { return strings.Repeat("entry ", 1+i%40) })
	add("sentence", func(i int) string { return sentence() })
	add("json", func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"%s","ok":%v}`, r.Intn(1e6), words[r.Intn(len(words))], r.Intn(2) == 0)
	})
	add("uuid", func(i int) string {
		return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", r.Uint32(), r.Intn(1<<16), r.Intn(1<<16), r.Intn(1<<16), r.Int63()&(1<<48-1))
	})
	add("random", func(i int) string { b := make([]byte, r.Intn(20)); r.Read(b); return string(b) })
	add("oneHuge", func(i int) string {
		if i == n/2 {
			return strings.Repeat("huge", 30000)
		}
		return "x"
	})
	add("ff", func(i int) string { return strings.Repeat("\xff", i%9) + strings.Repeat("\x00", i%3) })
	add("zzDigest", func(i int) string { return fmt.Sprintf("%016X%016X", r.Uint64(), r.Uint64()) })
	add("zzOdd", func(i int) string {
		return fmt.Sprintf("session %05x of node %02d, 0x%09x.", r.Intn(1<<20), i%8, r.Int63()&(1<<36-1))
	})
	add("zzUuid", func(i int) string {
		return fmt.Sprintf("01936f%02x-%04x-7%03x-%04x-%012x", i>>8, i&255<<8, r.Intn(1<<12), 0x8000|r.Intn(1<<14), r.Int63()&(1<<48-1))
	})
	return m
}

func TestNodeRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 100, 1025} {
		for nullName, validity := range nullPatterns(n) {
			for kindName, typ := range kinds {
				p := newPair()
				for name, values := range valuesOf(typ.Kind, n) {
					p.roundTrip(t, fmt.Sprintf("%s/%s/%s/%d", kindName, name, nullName, n), newColumn(typ, n, validity, values, nil))
				}
				p.close(t)
			}
			p := newPair()
			for name, texts := range textsOf(n) {
				p.roundTrip(t, fmt.Sprintf("string/%s/%s/%d", name, nullName, n), newColumn(kinds["string"], n, validity, nil, texts))
			}
			p.close(t)
		}
	}
}

// Null slots that are not empty: legal in Arrow, met in imported arrays.
func TestNullSlotsWithContent(t *testing.T) {
	const n = 1500
	for nullName, validity := range nullPatterns(n) {
		p := newPair()
		for name, texts := range textsOf(n) {
			c := newColumn(kinds["string"], n, nil, nil, texts)
			if validity != nil {
				c.Validity, c.Nulls = validity, column.CountNulls(validity, n)
			}
			p.roundTrip(t, "string/"+name+"/"+nullName, c)
		}
		offsets := make([]int32, n+1)
		for i := range n {
			offsets[i+1] = offsets[i] + int32(i%5)
		}
		c := newColumn(kinds["list"], n, validity, nil, nil)
		c.Offsets = bytesOf(offsets)
		p.roundTrip(t, "list/"+nullName, c)
		p.roundTrip(t, "struct/"+nullName, newColumn(kinds["struct"], n, validity, nil, nil))
		p.close(t)
	}
}
