package pack

// The chooser compares candidates by cost: the bytes they take plus a toll, a
// share of the raw size that stands for the time it takes to decode. Memory is
// what a cache is short of, so tolls are small; they decide near ties.
//
// Trying every candidate on every batch would cost more than encoding, so what
// a node's last batch ended with is tried first and kept while it does about as
// well as it did. Every reviewAfter batches all candidates are tried again.

const reviewAfter = 64

// Tolls in 1/256 of the raw size.
var toll = [256]int{
	encInts: 4, encDict: 8, encLZ4: 16, encSplit: 24, encDecimals: 8, encDecimal: 4,
	encStringDict: 8, encFSST: 16, encPrefixInt: 8, encHex: 8,
}

// wrapToll is what another lz4 pass over encoded bytes costs, in 1/256 of the
// bytes that go in.
const wrapToll = 24

// memo remembers the choice made for a buffer.
type memo struct {
	enc     byte // 0: raw
	wrapped bool
	known   bool
	age     uint8
	share   float32 // stored size / raw size
}

// cost is what stored bytes of encoding enc cost for a buffer of raw bytes.
func cost(enc byte, stored, raw int) int { return stored + raw*toll[enc]>>8 }

// worthwhile tells whether an encoded form may replace the raw one.
func worthwhile(stored, raw int) bool { return stored <= raw-raw/8 && stored < raw }

// stillGood tells whether the remembered choice did about as well as before.
func (m *memo) stillGood(stored, raw int) bool {
	m.age++
	if m.age >= reviewAfter {
		return false
	}
	return float32(stored) <= (m.share*1.25)*float32(raw)+64
}

func (m *memo) remember(enc byte, wrapped bool, stored, raw int) {
	*m = memo{enc: enc, wrapped: wrapped, known: true, share: float32(stored) / float32(max(raw, 1))}
}
