package pack

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
)

// bytesFrom is a buffer written by hand, guard added.
func bytesFrom(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		default:
			panic(p)
		}
	}
	return append(b, make([]byte, guardLen)...)
}

func le[T any](v ...T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

func bytesAt(n int, set map[int]byte) []byte {
	b := make([]byte, n)
	for i, v := range set {
		b[i] = v
	}
	return b
}

// Buffers written by hand after docs/storage-format-pack.md decode to what the
// document says.
func TestFormatByHand(t *testing.T) {
	seq := func(n int, f func(i int) int64) []int64 {
		s := make([]int64, n)
		for i := range s {
			s[i] = f(i)
		}
		return s
	}
	i64, str := kinds["int64"], kinds["string"]
	for _, c := range []struct {
		name   string
		want   *column.Column
		stored [3][]byte
	}{
		{"constant", newColumn(kinds["int32"], 20, nil, le(slices.Repeat([]int32{-2}, 20)...), nil),
			[3][]byte{1: bytesFrom(1, le(int32(-2)))}},
		// zigzag of -1 is 1
		{"constant block", newColumn(i64, 20, nil, le(slices.Repeat([]int64{-1}, 20)...), nil),
			[3][]byte{1: bytesFrom(2, 0, 1)}},
		// 0, 1, 2, 3 in two bits each are 0xe4; ref 5 is zigzag 10
		{"reference", newColumn(i64, 8, nil, le[int64](5, 6, 7, 8, 5, 6, 7, 8), nil),
			[3][]byte{1: bytesFrom(2, 1, 2, 10, 0xe4, 0xe4)}},
		// one exception at 2, width 8, ref 100 (zigzag 200, 1): 100+5
		{"exception", newColumn(i64, 8, nil, le[int64](5, 6, 105, 8, 5, 6, 7, 8), nil),
			[3][]byte{1: bytesFrom(2, 1|8, 2, 10, 1, 8, 0xc8, 1, 2, 0, 5, 0xe4, 0xe4)}},
		// ref 3 (6), base 7 (14), width 0
		{"sequence", newColumn(i64, 1000, nil, le(seq(1000, func(i int) int64 { return 10 + 3*int64(i) })...), nil),
			[3][]byte{1: bytesFrom(2, 2, 0, 6, 14)}},
		// runs: ref 0, base 4 (8), exception at 500 with delta 9 (width 0, ref 9 = 18)
		{"run", newColumn(i64, 1000, nil, le(seq(1000, func(i int) int64 { return 4 + 9*int64(i/500) })...), nil),
			[3][]byte{1: bytesFrom(2, 2|8, 0, 0, 8, 1, 0, 18, 0xf4, 1)}},
		// d = 1+2, 1+4, …: slope 1 (2), ref 2 (4), base 0
		{"delta2", newColumn(i64, 20, nil, le(seq(20, func(i int) int64 { k := int64(i) + 1; return k + k*(k+1) })...), nil),
			[3][]byte{1: bytesFrom(2, 3, 0, 4, 0, 2)}},
		// 5, 6, 7, 8 as above times 100: factor 100, ref 500 (zigzag 1000: 0xe8 7)
		{"factor", newColumn(i64, 8, nil, le[int64](500, 600, 700, 800, 500, 600, 700, 800), nil),
			[3][]byte{1: bytesFrom(2, 1|16, 100, 2, 0xe8, 7, 0xe4, 0xe4)}},
		// of 2^31, ref -2^31: the values of an int32 wrap around
		{"factor that wraps", newColumn(kinds["int32"], 8, nil, le[int32](math.MinInt32, 0, math.MinInt32, 0, math.MinInt32, 0, math.MinInt32, 0), nil),
			[3][]byte{1: bytesFrom(2, 1|16, 0x80, 0x80, 0x80, 0x80, 8, 2, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xe4, 0xe4)}},
		// the exception is 100+5, its y not multiplied
		{"factor and exception", newColumn(i64, 8, nil, le[int64](500, 600, 105, 800, 500, 600, 700, 800), nil),
			[3][]byte{1: bytesFrom(2, 1|8|16, 100, 2, 0xe8, 7, 1, 8, 0xc8, 1, 2, 0, 5, 0xe4, 0xe4)}},
		// ref 1 (2), base -1 (1): deltas 1, 11, 21, 31, 1, …, but -3 (width 0, ref 5) at 4
		{"factor of deltas", newColumn(i64, 8, nil, le[int64](0, 11, 32, 63, 60, 71, 92, 123), nil),
			[3][]byte{1: bytesFrom(2, 2|8|16, 10, 2, 2, 1, 1, 0, 5, 4, 0, 0xe4, 0xe4)}},
		// d = slope 1 (2) and from there on 10*x more each: x = 0, 1, 2, 3, 0, …
		{"factor of delta2", newColumn(i64, 8, nil, le[int64](1, 12, 43, 104, 165, 236, 327, 448), nil),
			[3][]byte{1: bytesFrom(2, 3|16, 10, 2, 0, 0, 2, 0xe4, 0xe4)}},
		{"two blocks", newColumn(kinds["int8"], 1030, nil, append(make([]byte, 1024), 1, 2, 3, 4, 5, 6), nil),
			[3][]byte{1: bytesFrom(2, 0, 0, 4, 1, 2, 3, 4, 5, 6)}},
		// values 7 and -7 (constant width: reference w 4, ref -7 (13): 14, 0), codes 0 1 0 1 …
		{"dictionary", newColumn(i64, 16, nil, le(slices.Repeat([]int64{7, -7}, 8)...), nil),
			[3][]byte{1: bytesFrom(3, 2, 1, 4, 13, 0x0e, 1, 1, 0, 0xaa, 0xaa)}},
		// lz4 block: token 1 literal, match of 4+15+104 at offset 1, then 5 literals
		{"lz4", newColumn(i64, 16, nil, make([]byte, 128), nil),
			[3][]byte{1: bytesFrom(4, 0x1f, 0, 1, 0, 103, 0x50, 0, 0, 0, 0, 0)}},
		{"split", newColumn(kinds["int16"], 20, nil, le(slices.Repeat([]int16{0x0201, 0x0202}, 10)...), nil),
			[3][]byte{1: bytesFrom(5, 0, slices.Repeat([]byte{1, 2}, 10), 1, 2)}},
		// 123/10^2, one exception at 1: NaN
		{"decimals", newColumn(kinds["float64"], 20, nil, le(slices.Insert(slices.Repeat([]float64{1.23}, 19), 1, math.NaN())...), nil),
			[3][]byte{1: bytesFrom(6, 2, 0, 0xf6, 1, 1, 1, 0, le(math.NaN()))}},
		{"decimal narrow", newColumn(kinds["decimal"], 10, nil, le(slices.Repeat([]int64{-3, -1}, 10)...), nil),
			[3][]byte{1: bytesFrom(7, 0, 0, 5)}},
		{"decimal wide", newColumn(kinds["decimal"], 10, nil, le(slices.Repeat([]int64{-3, 1}, 10)...), nil),
			[3][]byte{1: bytesFrom(7, 1, 0, 5, 0, 2)}},
		// 13 literals: the buffer of "constant block"
		{"wrapped", newColumn(i64, 20, nil, le(slices.Repeat([]int64{-1}, 20)...), nil),
			[3][]byte{1: bytesFrom(8, 11, 0xb0, 2, 0, 1, make([]byte, 8))}},
		{"bool constant", newColumn(kinds["bool"], 400, nil, slices.Repeat([]byte{0xff}, 50), nil), [3][]byte{1: bytesFrom(16, 1)}},
		{"periodic", newColumn(kinds["bool"], 400, nil, slices.Repeat([]byte{0x0f, 0xaa}, 25), nil),
			[3][]byte{1: bytesFrom(17, 2, 0x0f, 0xaa)}},
		{"runs", newColumn(kinds["bool"], 400, nil, append([]byte{0xfe, 0x03}, make([]byte, 48)...), nil),
			[3][]byte{1: bytesFrom(18, 0, 1, 9)}},
		// bit 3 and, 255+0 slots later, bit 259
		{"sparse", newColumn(kinds["bool"], 400, nil, bytesAt(50, map[int]byte{0: 8, 32: 8}), nil),
			[3][]byte{1: bytesFrom(19, 1, 3, 255, 0)}},
		{"nulls", newColumn(i64, 200, slices.Repeat([]byte{0xfe}, 25), make([]byte, 1600), nil),
			[3][]byte{bytesFrom(17, 1, 0xfe), bytesFrom(1, le[int64](0)), nil}},
		{"all null", newColumn(i64, 200, make([]byte, 25), make([]byte, 1600), nil), [3][]byte{}},
		{"lengths", newColumn(str, 10, nil, nil, slices.Repeat([]string{"abc"}, 10)),
			[3][]byte{nil, bytesFrom(32, 0, 0, 6), []byte(strings.Repeat("abc", 10))}},
		{"lengths of nulls", newColumn(str, 16, []byte{0xfe, 0xff}, nil, slices.Repeat([]string{"abc"}, 16)),
			[3][]byte{{0xfe, 0xff}, bytesFrom(32, 1, 0, 6), []byte(strings.Repeat("abc", 15))}},
		{"all empty", newColumn(str, 10, nil, nil, make([]string, 10)), [3][]byte{}},
		{"text dictionary", newColumn(str, 16, nil, nil, slices.Repeat([]string{"ab", "c"}, 8)),
			[3][]byte{2: bytesFrom(48, 2, 24, 1, 1, 2, 1, 0, "abc", 1, 1, 0, 0xaa, 0xaa)}},
		// symbols: "a", "bcd"; an escaped x
		{"fsst", newColumn(str, 8, nil, nil, slices.Repeat([]string{"abcd", "xa"}, 4)),
			[3][]byte{2: bytesFrom(49, 24, 0, 1, 2, 4, 0x22, 0x22, 1, 0, 1, 0, 0, 0, 0, 0, "abcd",
				20, slices.Repeat([]byte{0, 1, 255, 'x', 0}, 4))}},
		// numbers 9, 10, 11 …: ref 1 (2), base 8 (16)
		{"prefix int", newColumn(str, 8, nil, nil, []string{"k9%", "k10%", "k11%", "k12%", "k13%", "k14%", "k15%", "k16%"}),
			[3][]byte{2: bytesFrom(50, 0, 31, 1, "k", 1, "%", 2, 0, 2, 16)}},
		{"padded int", newColumn(str, 8, nil, nil, []string{"009", "010", "011", "012", "013", "014", "015", "016"}),
			[3][]byte{2: bytesFrom(50, 3, 24, 0, 0, 2, 0, 2, 16)}},
		// digits at 1, 2 and 4 to 6 (0x76): 1a, f0 and 3, padded
		{"hex", newColumn(str, 8, nil, nil, slices.Repeat([]string{"#1a-f03", "#9e-000"}, 4)),
			[3][]byte{2: bytesFrom(51, 0, 7, 0x76, "#-", slices.Repeat([]byte{0x1a, 0xf0, 0x30, 0x9e, 0, 0}, 4))}},
		{"hex of nulls", newColumn(str, 9, []byte{0xfe, 1}, nil, slices.Repeat([]string{"0123ABCD"}, 9)),
			[3][]byte{{0xfe, 1}, nil, bytesFrom(51, 1, 8, 0xff, slices.Repeat([]byte{0x01, 0x23, 0xab, 0xcd}, 8))}},
		{"list", func() *column.Column {
			c := newColumn(kinds["list"], 10, nil, nil, nil)
			c.Offsets = le[int32](0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
			return c
		}(), [3][]byte{1: bytesFrom(32, 0, 0, 4)}},
	} {
		p := newPair()
		got := column.New(c.want.Type)
		if err := p.d.Node(got, c.want.Len, c.want.Nulls, c.stored, p.arena); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if err := sameColumn(c.want, got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// goldenColumns are the columns behind testdata/golden, one per encoding and variant at least.
func goldenColumns() map[string]*column.Column {
	m := map[string]*column.Column{}
	const n = 1100
	nulls := nullPatterns(n)
	for _, k := range []string{"bool", "int8", "int16", "int32", "int64", "float32", "float64", "decimal"} {
		values := valuesOf(kinds[k].Kind, n)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if strings.HasPrefix(name, "zz") {
				continue // came later: what is in the other files hangs on the order
			}
			null := []string{"none", "every8", "random10", "front"}[len(m)%4]
			m[strings.ReplaceAll(fmt.Sprintf("%s %s %s", k, name, null), "/", " ")] = newColumn(kinds[k], n, nulls[null], values[name], nil)
		}
	}
	texts := textsOf(n)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		null := []string{"none", "every8", "random10", "front"}[len(m)%4]
		m["string "+name+" "+null] = newColumn(kinds["string"], n, nulls[null], nil, texts[name])
	}
	for name, v := range nulls {
		m["struct "+name] = newColumn(kinds["struct"], n, v, nil, nil)
	}
	for i, k := range []string{"int64", "int32", "int16", "decimal"} {
		values := valuesOf(kinds[k].Kind, n)
		for _, name := range []string{"seconds", "secondsSorted", "outliersOfHundred", "jumpsOfHundred", "quadraticOf500"} {
			null := []string{"none", "every8", "random10", "front"}[i]
			m[fmt.Sprintf("%s zz%s %s", k, name, null)] = newColumn(kinds[k], n, nulls[null], values["zz"+name], nil)
		}
	}
	return m
}

// Golden files hold what a released encoder wrote: three lengths, then the
// buffers. Encoders may get better; decoders must read these for ever. Run with
// -update to add files for new encodings, and never to change old ones.
func TestGoldenFiles(t *testing.T) {
	seen := map[string]bool{}
	heads := map[byte]bool{}
	for name, c := range goldenColumns() {
		path := filepath.Join("testdata", "golden", strings.ReplaceAll(name, " ", "_")+".bin")
		if _, err := os.Stat(path); *update && err != nil {
			var file []byte
			stored := newPair().encode(t, c)
			for _, b := range stored {
				file = binary.LittleEndian.AppendUint32(file, uint32(len(b)))
			}
			if err := os.WriteFile(path, slices.Concat(append([][]byte{file}, stored[:]...)...), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var stored [3][]byte
		at := 12
		for i := range stored {
			l := int(binary.LittleEndian.Uint32(file[4*i:]))
			if l > 0 {
				stored[i] = guarded(file[at : at+l])
			}
			at += l
		}
		p := newPair()
		got := column.New(c.Type)
		if err := p.d.Node(got, c.Len, c.Nulls, stored, p.arena); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := sameColumn(c, got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b := stored[1]; c.Type.Kind == schema.Int64 && len(b) > 0 && b[0] == encInts {
			for _, h := range blockHeads(t, b[1:len(b)-guardLen], c.Len, 8) {
				heads[h] = true
			}
		}
		for _, e := range strings.Split(Describe(c, stored), "/") {
			seen[e] = true
			seen["wrapped"] = seen["wrapped"] || strings.HasPrefix(e, "lz4(")
		}
	}
	for _, e := range append(slices.Collect(maps.Values(encodingNames)), "raw", "-", "wrapped") {
		if !seen[e] {
			t.Errorf("no golden file has encoding %s", e)
		}
	}
	for _, h := range []byte{modeReference, modeDelta, modeReference | hasExceptions, modeDelta | hasExceptions,
		modeReference | hasFactor, modeDelta | hasFactor, modeDelta2 | hasFactor,
		modeReference | hasExceptions | hasFactor, modeDelta | hasExceptions | hasFactor} {
		if !heads[h] {
			t.Errorf("no golden file has a block with head %#x", h)
		}
	}
}
