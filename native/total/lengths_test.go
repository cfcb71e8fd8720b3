package total

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quiverspark/quiver/native/column"
)

// The numbers are those of Spark 4.1: select length(cast(X'…' as string)).
func TestCharacters(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "ab\x00": 3,
		"ä€😀": 3, "日本語": 3,
		"\x80": 1, "\xbf\xbf": 2, // continuation bytes
		"\xc0\x80": 2, "\xc1\xbf": 2, // begin nothing
		"\xc2": 1, "\xc2ab": 2, // a character that is cut, one that is not what it says
		"\xe0": 1, "\xe2\x82": 1, "\xe2\x82a": 1, "\xf0\x9f\x98": 1,
		"\xf4\x8f\xbf\xbfz": 2, "\xf5\x80\x80\x80": 4, "\xff\xfe": 2,
	} {
		if got := Characters([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, name := range []string{"string", "binary"} {
		for _, alphabet := range []string{"abc", "aé€😀", "\xff\xe2\x82"} {
			for _, n := range []int{0, 1, 64, 65, 500} {
				for _, nulls := range []int{0, 30, 100} {
					s := numbers(t, r, "byte", n, nulls, 7) // for its nulls
					c := s.column
					c.Type, c.Values = typeOf(t, name), nil
					ends := []int32{0}
					want := Total{Values: int64(n - c.Nulls)}
					for i := range n {
						letters := []rune(alphabet)
						text := strings.Repeat(string(letters[r.IntN(len(letters))]), r.IntN(5))
						if alphabet[0] == 0xff {
							text = strings.Repeat(alphabet[r.IntN(len(alphabet)):], r.IntN(3))
						}
						c.Data = append(c.Data, text...)
						ends = append(ends, int32(len(c.Data)))
						if !s.null[i] {
							want.Low += int64(len(text))
							if name == "string" {
								want.Low += int64(Characters([]byte(text)) - len(text))
							}
						}
					}
					c.Offsets = column.Bytes(ends)
					var got Total
					got.Add(Lengths, c, c.Validity)
					if got != want {
						t.Errorf("%s of %q, %d of %d null: %+v, want %+v", name, alphabet, nulls, n, got, want)
					}
				}
			}
		}
	}
}

func FuzzCharacters(f *testing.F) {
	f.Add([]byte("aé€😀"))
	f.Add([]byte("\xe2\x82\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n := Characters(text)
		if n > len(text) || 4*n < len(text) || isASCII(text) && n != len(text) {
			t.Errorf("%d characters in %d bytes", n, len(text))
		}
	})
}
