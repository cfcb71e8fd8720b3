package pack

import (
	"fmt"
	"math/rand"
	"testing"
)

// Shapes of every length up to what the kernel holds and beyond, with digits in
// any places, with nulls, by the kernel and without: what went in comes out.
func TestHexadecimalShapes(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	hex := 0
	for round := range 600 {
		length := 4 + round%90
		digits := make([]bool, length)
		share := 1 + rnd.Intn(10)
		for i := range digits {
			digits[i] = rnd.Intn(10) < share
		}
		letters := []string{"0123456789abcdef", "0123456789ABCDEF"}[round&1]
		template := make([]byte, length)
		for i := range template {
			template[i] = byte(' ' + rnd.Intn(90))
		}
		n := 8 + rnd.Intn(200)
		texts := make([]string, n)
		for i := range texts {
			for k, digit := range digits {
				if digit {
					template[k] = letters[rnd.Intn(16)]
				}
			}
			texts[i] = string(template)
		}
		var validity []byte
		if round%3 == 0 {
			validity = make([]byte, (n+7)/8)
			for i := range n {
				if rnd.Intn(4) > 0 {
					validity[i>>3] |= 1 << (i & 7)
				}
			}
		}
		want := newColumn(kinds["string"], n, validity, nil, texts)
		p := newPair()
		stored := p.encode(t, want)
		if len(stored[2]) > 0 && stored[2][0] == encHex {
			hex++
		}
		p.decodeBothWays(t, fmt.Sprintf("length %d, %v", length, digits), want, stored)
	}
	if hex < 300 {
		t.Fatalf("only %d of 600 columns are stored as hexadecimal", hex)
	}
}
