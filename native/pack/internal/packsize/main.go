// Command packsize prints what pack makes of relations: size, ratio, encodings
// and speed per column.
//
//	packsize [-rows N] [-columns] [-zstd] flat nested wide100 wide200 wide1500 lineitem orders public FILE.arrow …
//
// Files are Arrow IPC files of flat types; they are cut into batches of 10,000 rows.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"sort"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
	"github.com/quiverspark/quiver/native/pack"
	"github.com/quiverspark/quiver/native/pack/internal/corpus"
)

func main() {
	rows := flag.Int("rows", 500_000, "rows of a generated relation")
	columns := flag.Bool("columns", false, "one line per column")
	withZstd := flag.Bool("zstd", false, "also compress each buffer with zstd (klauspost, default level), for its size")
	profile := flag.String("cpuprofile", "", "write a profile to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%-28s %9s %9s %9s %7s %9s %9s  %s\n",
		"relation", "raw MiB", "zstd MiB", "MiB", "ratio", "enc MB/s", "dec GB/s", "encodings (stored buffers)")
	for _, name := range flag.Args() {
		rel, n, err := relation(name, *rows)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := measure(rel, n, *columns, *withZstd); err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			os.Exit(1)
		}
	}
}

func relation(name string, rows int) (corpus.Relation, int, error) {
	for _, r := range []corpus.Relation{corpus.Flat, corpus.Nested, corpus.Lineitem, corpus.Orders, corpus.Public} {
		if r.Name == name {
			return r, rows, nil
		}
	}
	var columns int
	if _, err := fmt.Sscanf(name, "wide%d", &columns); err == nil {
		return corpus.Wide(columns), 20_000_000 / columns, nil
	}
	r, err := arrowFile(name)
	return r, 0, err
}

// tally is what a top-level column took.
type tally struct {
	raw, stored int
	zstd        int // what zstd makes of the same buffers, one by one
	enc, dec    time.Duration
	encodings   map[string]int
}

func (t *tally) add(o *tally) {
	t.raw += o.raw
	t.stored += o.stored
	t.zstd += o.zstd
	t.enc += o.enc
	t.dec += o.dec
}

func (t *tally) print(name string) {
	mib := func(n int) float64 { return float64(n) / (1 << 20) }
	keys := make([]string, 0, len(t.encodings))
	for k := range t.encodings {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return t.encodings[keys[i]] > t.encodings[keys[j]] })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, t.encodings[k])
	}
	fmt.Printf("%-28s %9.2f %9.2f %9.2f %7.2f %9.0f %9.2f  %s\n", name, mib(t.raw), mib(t.zstd), mib(t.stored), float64(t.raw)/float64(t.stored),
		float64(t.raw)/1e6/t.enc.Seconds(), float64(t.raw)/1e9/t.dec.Seconds(), strings.Join(keys, ", "))
}

func measure(rel corpus.Relation, rows int, columns, withZstd bool) error {
	m := &meter{d: pack.NewDecoder(), arena: memory.NewArena(new(memory.Checked))}
	defer m.arena.Close()
	if withZstd {
		var err error
		if m.zstd, err = zstd.NewWriter(nil); err != nil {
			return err
		}
	}
	var per []tally
	for batch := range rel.Batches(rows) {
		if per == nil {
			per = make([]tally, len(batch))
			nodes := 0
			for _, c := range batch {
				nodes += len(corpus.Nodes(nil, c))
			}
			m.e = pack.NewEncoder(nodes)
		}
		node := 0
		for i, c := range batch {
			n := corpus.Nodes(nil, c)
			if err := m.column(n, node, &per[i]); err != nil {
				return fmt.Errorf("column %s: %w", rel.Columns[i], err)
			}
			node += len(n)
		}
	}
	var total tally
	for i := range per {
		total.add(&per[i])
		if columns {
			per[i].print(rel.Name + "." + rel.Columns[i])
		}
	}
	total.print(rel.Name)
	return nil
}

type meter struct {
	e     *pack.Encoder
	d     *pack.Decoder
	arena *memory.Arena
	dst   []byte
	zstd  *zstd.Encoder // nil: not wanted
}

// column encodes and decodes the nodes of one top-level column.
func (m *meter) column(nodes []*column.Column, first int, t *tally) error {
	if t.encodings == nil {
		t.encodings = map[string]int{}
	}
	for i, c := range nodes {
		own := *c
		own.Children = nil
		t.raw += corpus.RawSize(&own)
		if m.zstd != nil {
			t.zstd += m.zstdSize(&own)
		}
		if need := pack.MaxStored(c); cap(m.dst) < need {
			m.dst = make([]byte, 0, need)
		}
		var lens [3]int64
		start := now()
		out := m.e.AppendNode(m.dst[:0], first+i, c, &lens)
		t.enc += now() - start
		t.stored += len(out)
		stored := split(out, lens)
		got := column.New(c.Type)
		// The second run finds everything in L2, as a scan's does that has just copied it.
		for range 2 {
			m.arena.Reset()
			start = now()
			if err := m.d.Node(got, c.Len, c.Nulls, stored, m.arena); err != nil {
				return err
			}
		}
		t.dec += now() - start
		t.encodings[pack.Describe(c, stored)]++
	}
	return nil
}

func (m *meter) zstdSize(c *column.Column) (n int) {
	buffers := [][]byte{c.Values, c.Offsets, c.Data}
	if c.Nulls > 0 {
		buffers = append(buffers, c.Validity)
	}
	for _, b := range buffers {
		n += min(len(b), len(m.zstd.EncodeAll(b, nil)))
	}
	return n
}

func split(out []byte, lens [3]int64) (stored [3][]byte) {
	at := int64(0)
	for i, l := range lens {
		if l > 0 {
			stored[i] = out[at : at+l]
		}
		at += (l + 7) &^ 7
	}
	return stored
}
