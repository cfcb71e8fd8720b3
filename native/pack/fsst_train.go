package pack

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
)

// Training a symbol table, after the FSST paper's algorithm 3: compress a
// sample with the table so far, count symbols and pairs of neighbours, and make
// the next table of the symbols and concatenations that gain most. Pairs are
// counted in a hash table instead of a matrix of 512 x 512: the sample is small
// and most pairs never occur.

const (
	trainSample = 12 << 10
	trainChunk  = 512
	generations = 5
)

// While training, codes below 256 stand for literal bytes, and 256+i for symbol i.
const firstSymbol = 256

type counter struct {
	key   uint64 // symbol value
	len   uint8
	stamp uint32
	gain  uint32
}

// trainer is scratch for training.
type trainer struct {
	match   matcher
	sample  []byte
	symbols [firstSymbol + maxSymbols]symbol
	n       int // symbols in use behind the literal ones
	single  [firstSymbol + maxSymbols]uint32

	// Open addressing tables of pairs and of candidates.
	pairKeys   []uint32
	pairCounts []uint32
	pairs      []uint32 // occupied places
	cands      []counter
	places     []uint32
	stamp      uint32
}

const pairBits = 15

// trainers are large and seldom needed.
var trainers = sync.Pool{New: func() any {
	t := &trainer{
		pairKeys: make([]uint32, 1<<pairBits), pairCounts: make([]uint32, 1<<pairBits), cands: make([]counter, 1<<pairBits),
	}
	for i := range firstSymbol {
		t.symbols[i] = symbol{val: uint64(i), len: 1}
	}
	return t
}}

// train makes a table for data.
func train(data []byte) *symbolTable {
	t := trainers.Get().(*trainer)
	defer trainers.Put(t)
	t.takeSample(data)
	t.n = 0
	for g := range generations {
		// Early tables are bad guides: they see a part of the sample.
		part := t.sample[:len(t.sample)*(g+1)/generations]
		t.load()
		t.count(part, g < generations-1)
		t.next(g < generations-1)
	}
	return t.table()
}

// takeSample gathers pieces from all over data.
func (t *trainer) takeSample(data []byte) {
	size := min(trainSample, max(len(data)/4, minFSST))
	t.sample = t.sample[:0]
	if len(data) <= size {
		t.sample = append(t.sample, data...)
	} else {
		pieces := size / trainChunk
		// Neighbouring pieces of the sample come from far apart, so that each
		// part of it is like the whole.
		const stride = 7
		for i := range pieces {
			k := i * stride % pieces
			if pieces%stride == 0 {
				k = i
			}
			at := k * (len(data) - trainChunk) / max(pieces-1, 1)
			t.sample = append(t.sample, data[at:at+trainChunk]...)
		}
	}
	t.sample = append(t.sample, make([]byte, 8)...)
}

// load makes the matcher find the symbols so far.
func (t *trainer) load() {
	var row [256]found
	for b := range row {
		row[b] = newFound(b, 1, 0)
	}
	for i, s := range t.symbols[firstSymbol : firstSymbol+t.n] {
		if s.len == 1 {
			row[s.val&0xff] = newFound(firstSymbol+i, 1, 0)
		}
	}
	t.match.reset(&row)
	for i, s := range t.symbols[firstSymbol : firstSymbol+t.n] {
		if s.len > 1 {
			t.match.add(s, newFound(firstSymbol+i, int(s.len), 0))
		}
	}
}

// count compresses sample, of which the last 8 bytes are padding.
func (t *trainer) count(sample []byte, pairs bool) {
	clear(t.single[:])
	for _, p := range t.pairs {
		t.pairCounts[p] = 0
	}
	t.pairs = t.pairs[:0]
	prev := -1
	for i := 0; i+8 < len(sample); {
		w := binary.LittleEndian.Uint64(sample[i:])
		f := t.match.find(w)
		code := f.code()
		t.single[code]++
		if f.len() > 1 {
			t.single[w&0xff]++
		}
		if pairs && prev >= 0 {
			t.pair(prev, code)
			if f.len() > 1 {
				t.pair(prev, int(w&0xff))
			}
		}
		prev = code
		i += f.len()
	}
}

func (t *trainer) pair(a, b int) {
	key := uint32(a<<9 | b)
	h := key * 0x9e3779b1 >> (32 - pairBits)
	for t.pairCounts[h] != 0 && t.pairKeys[h] != key {
		h = (h + 1) & (1<<pairBits - 1)
	}
	if t.pairCounts[h] == 0 {
		if len(t.pairs) > 3<<(pairBits-2) {
			return
		}
		t.pairKeys[h] = key
		t.pairs = append(t.pairs, h)
	}
	t.pairCounts[h]++
}

// candidate adds to the gain of a symbol.
func (t *trainer) candidate(s symbol, gain uint32) {
	h := uint32(fold(s.val^uint64(s.len)<<56)) >> (32 - pairBits)
	for {
		c := &t.cands[h]
		if c.stamp != t.stamp {
			if len(t.places) > 3<<(pairBits-2) {
				return
			}
			*c = counter{key: s.val, len: s.len, stamp: t.stamp, gain: gain}
			t.places = append(t.places, h)
			return
		}
		if c.key == s.val && c.len == s.len {
			c.gain += gain
			return
		}
		h = (h + 1) & (1<<pairBits - 1)
	}
}

// next makes the next table of what count saw.
func (t *trainer) next(pairs bool) {
	t.stamp++
	t.places = t.places[:0]
	for c, n := range t.single[:firstSymbol+t.n] {
		if n == 0 {
			continue
		}
		s := t.symbols[c]
		// Single bytes are kept rather than escaped: an escape costs two.
		gain := n * uint32(s.len)
		if s.len == 1 {
			gain = n * 8
		}
		t.candidate(s, gain)
	}
	if pairs {
		for _, p := range t.pairs {
			n := t.pairCounts[p]
			if n < 3 {
				continue
			}
			a, b := t.symbols[t.pairKeys[p]>>9], t.symbols[t.pairKeys[p]&511]
			if a.len == maxSymbol {
				continue
			}
			s := symbol{val: a.val | b.val<<(8*a.len), len: min(a.len+b.len, maxSymbol)}
			t.candidate(s, n*uint32(s.len))
		}
	}
	t.pick()
}

// pick keeps the candidates that gain most and have a place in the matcher.
func (t *trainer) pick() {
	// A threshold by powers of two first: sorting all would cost more than counting.
	var hist [33]int
	for _, p := range t.places {
		hist[bits.Len32(t.cands[p].gain)]++
	}
	low, total := 32, 0
	for ; low > 0 && total < 2*maxSymbols; low-- {
		total += hist[low]
	}
	keep := t.places[:0]
	for _, p := range t.places {
		if bits.Len32(t.cands[p].gain) > low {
			keep = append(keep, p)
		}
	}
	slices.SortFunc(keep, func(a, b uint32) int {
		x, y := &t.cands[a], &t.cands[b]
		return cmp.Or(cmp.Compare(y.gain, x.gain), cmp.Compare(y.len, x.len), cmp.Compare(x.key, y.key))
	})
	var row [256]found
	t.match.reset(&row)
	t.n = 0
	for _, p := range keep {
		c := &t.cands[p]
		s := symbol{val: c.key, len: c.len}
		if s.len > 2 && !t.match.add(s, newFound(0, int(s.len), 0)) {
			continue // a symbol with the same hash gains more
		}
		t.symbols[firstSymbol+t.n] = s
		if t.n++; t.n == maxSymbols {
			break
		}
	}
}

// table returns the symbols ordered by length.
func (t *trainer) table() *symbolTable {
	s := new(symbolTable)
	s.n = copy(s.symbols[:], t.symbols[firstSymbol:firstSymbol+t.n])
	slices.SortStableFunc(s.symbols[:s.n], func(a, b symbol) int { return cmp.Compare(a.len, b.len) })
	return s
}
