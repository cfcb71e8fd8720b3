package row

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/row/rowtest"
)

// stringRows makes n rows of one string of so many bytes.
func stringRows(t testing.TB, n, size int) (rows []byte, ends []int64) {
	s := parse(t, `"string"`)
	text := strings.Repeat("x", n*size)
	offsets := make([]int32, n+1)
	for i := range offsets {
		offsets[i] = int32(i * size)
	}
	c := &column.Column{Type: s.Fields[0].Type, Len: n, Offsets: column.Bytes(offsets), Data: []byte(text)}
	rows = toRows(t, NewToRows(s), []*column.Column{c}, n, 1<<30, n, newArena(t))
	return rows, endsOf(t, s, []*column.Column{c}, n)
}

// TestStringsOfChangingSizes meets batches that the one before has not prepared for.
func TestStringsOfChangingSizes(t *testing.T) {
	p, a := NewFromRows(parse(t, `"string"`)), newArena(t)
	for _, size := range []int{3, 500, 0, 31, 32, 33, 1000, 1} {
		rows, ends := stringRows(t, 2000, size)
		dirty(a, 1<<20)
		cols, err := p.Columns(rows, ends, a)
		if err != nil {
			t.Fatal(err)
		}
		checkColumns(t, cols[0])
		if !bytes.Equal(cols[0].Data, bytes.Repeat([]byte("x"), 2000*size)) {
			t.Fatalf("strings of %d bytes differ", size)
		}
		if limit := 4*len(rows) + 4<<20; a.Allocated() > limit {
			t.Fatalf("%d bytes allocated for rows of %d", a.Allocated(), len(rows))
		}
	}
}

// TestAfterTheMemoryLimit goes on with a FromRows that was stopped half-way.
func TestAfterTheMemoryLimit(t *testing.T) {
	var c memory.Checked
	a := memory.NewArena(&c)
	defer a.Close()
	p := NewFromRows(parse(t, `"string"`))
	rows, ends := stringRows(t, 5000, 100)
	pivot := func() (cols []*column.Column, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = r.(error)
			}
		}()
		a.Reset()
		return p.Columns(rows, ends, a)
	}
	c.SetLimit(400_000)
	var limit *memory.LimitError
	if _, err := pivot(); !errors.As(err, &limit) {
		t.Fatal(err)
	}
	c.SetLimit(0)
	cols, err := pivot()
	if err != nil || len(cols[0].Data) != 500_000 {
		t.Fatal(err)
	}
}

func TestMoreThanTwoGiBOfStrings(t *testing.T) {
	p := NewFromRows(parse(t, `"string"`))
	k := p.root.kids[0]
	k.used = math.MaxInt32 - 5
	if f := p.fillBytes(p.root, k, 0, 1, 6, []int{0}, []int{6}); f == nil || !strings.Contains(f.what, "more than 2 GiB") {
		t.Fatal(f)
	}
}

// TestSteadyStateAllocatesNothing: after the first batch all memory is reused.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, s := range shapes {
		if s.times > 100 {
			continue
		}
		s.rows = 500
		sch, cols, rows, ends := s.made(t)
		a := newArena(t)
		from, to := NewFromRows(sch), NewToRows(sch)
		ends32 := make([]int32, len(ends))
		n := testing.AllocsPerRun(5, func() {
			a.Reset()
			if _, err := from.Columns(rows, ends, a); err != nil {
				t.Fatal(err)
			}
			if err := to.Begin(cols, len(ends)); err != nil {
				t.Fatal(err)
			}
			if _, k, _ := to.Next(a, 1<<30, ends32); k != len(ends) {
				t.Fatal(k)
			}
			to.End()
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}

func TestBitsAndBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x := r.Uint64()
		y := transpose8(x)
		for i := range 64 {
			if x>>i&1 != y>>(i&7*8+i>>3)&1 {
				t.Fatalf("bit %d of %x is lost in %x", i, x, y)
			}
		}
		if transpose8(y) != x {
			t.Fatal("transposing twice changes the matrix")
		}
		// A bitmap written in pieces reads back in others.
		n := 1 + r.IntN(300)
		bits := make([]uint64, n)
		bitmap := make([]byte, bitsetBytes(n)+8)
		w := newBitWriter(bitmap)
		for i := 0; i < n; {
			k := min(1+r.IntN(64), n-i)
			var piece uint64
			for j := range k {
				bits[i+j] = r.Uint64() & 1
				piece |= bits[i+j] << j
			}
			w.append(piece, k)
			i += k
		}
		w.flush()
		exact := guardedCopy(t, bitmap[:(n+7)/8])
		for range 20 {
			i := r.IntN(n)
			k := 1 + r.IntN(min(64, n-i))
			got := bitsAt(exact, i, k)
			for j := range k {
				if got>>j&1 != bits[i+j] {
					t.Fatalf("bit %d differs", i+j)
				}
			}
			if k < 64 && got>>k != 0 {
				t.Fatal("bits beyond the last are set")
			}
		}
	}
}

func TestCasesCoverTheTypes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range rowtest.Cases(t, golden) {
		for _, f := range c.Schema.Fields {
			seen[f.Type.Name] = true
		}
	}
	for _, name := range append(leafNames, "array", "map", "struct", "time(6)", "timestamp_ntz") {
		if !seen[name] && !strings.HasPrefix(name, "decimal") {
			t.Errorf("no rows of Spark's with type %s", name)
		}
	}
}
