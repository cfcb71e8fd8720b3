package schema

import (
	"encoding/json"
	"fmt"
)

// scanner is a small pull parser for JSON, made for schemas: encoding/json
// would go over a relation of thousands of columns several times, since the
// type of a field is a string or an object. Values nobody asks for are skipped
// by counting brackets, so their inner grammar is not checked.
type scanner struct {
	data []byte
	pos  int
}

// SyntaxError reports text that is not JSON or not of the form Spark writes.
type SyntaxError struct {
	Offset int    // byte at which the trouble was noticed
	What   string // what is wrong
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid Spark schema JSON at byte %d: %s", e.Offset, e.What)
}

func (s *scanner) fail(format string, args ...any) error {
	return &SyntaxError{Offset: s.pos, What: fmt.Sprintf(format, args...)}
}

// peek returns the next byte that is no white space, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) expect(c byte) error {
	if got := s.peek(); got != c {
		if got == 0 {
			return s.fail("the text ends where %q is expected", c)
		}
		return s.fail("%q where %q is expected", got, c)
	}
	s.pos++
	return nil
}

// rawString returns the bytes between the quotes, and whether they hold escapes.
func (s *scanner) rawString() (raw []byte, escaped bool, err error) {
	if err := s.expect('"'); err != nil {
		return nil, false, err
	}
	for i := s.pos; i < len(s.data); i++ {
		switch s.data[i] {
		case '"':
			raw, s.pos = s.data[s.pos:i], i+1
			return raw, escaped, nil
		case '\\':
			escaped = true
			i++
		}
	}
	return nil, false, s.fail("the text ends within a string")
}

// unescaped returns a string's content; without escapes it aliases the input.
func (s *scanner) unescaped() ([]byte, error) {
	start := s.pos
	raw, escaped, err := s.rawString()
	if err != nil || !escaped {
		return raw, err
	}
	var v string
	s.pos, start = start, s.pos
	s.peek()
	quoted := s.data[s.pos:start]
	s.pos = start
	if err := json.Unmarshal(quoted, &v); err != nil {
		return nil, s.fail("a string is malformed: %v", err)
	}
	return []byte(v), nil
}

func (s *scanner) string() (string, error) {
	b, err := s.unescaped()
	return string(b), err
}

func (s *scanner) bool() (bool, error) {
	s.peek()
	for _, v := range [...]string{"true", "false"} {
		if rest := s.data[s.pos:]; len(rest) >= len(v) && string(rest[:len(v)]) == v {
			s.pos += len(v)
			return v == "true", nil
		}
	}
	return false, s.fail("true or false is expected")
}

// object calls member for each key, with the scanner at its value; member must
// consume the value.
func (s *scanner) object(member func(key []byte) error) error {
	return s.sequence('{', '}', func() error {
		key, err := s.unescaped()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		return member(key)
	})
}

// array calls element with the scanner at each element, which it must consume.
func (s *scanner) array(element func() error) error {
	return s.sequence('[', ']', element)
}

func (s *scanner) sequence(open, end byte, element func() error) error {
	if err := s.expect(open); err != nil {
		return err
	}
	if s.peek() == end {
		s.pos++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if s.peek() == ',' {
			s.pos++
			continue
		}
		return s.expect(end)
	}
}

// skip passes over one value of any kind, however deeply nested, in a loop.
func (s *scanner) skip() error {
	depth := 0
	for {
		switch c := s.peek(); c {
		case 0:
			return s.fail("the text ends within a value")
		case '"':
			if _, _, err := s.rawString(); err != nil {
				return err
			}
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			if depth == 0 {
				return s.fail("%q where a value is expected", c)
			}
			depth--
			s.pos++
		case ',', ':':
			if depth == 0 {
				return s.fail("%q where a value is expected", c)
			}
			s.pos++
			continue
		default:
			s.literal()
		}
		if depth == 0 {
			return nil
		}
	}
}

// literal passes over a number, true, false or null.
func (s *scanner) literal() {
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch s.data[s.pos] {
		case ' ', '\n', '\t', '\r', ',', ':', '}', ']', '{', '[', '"':
			return
		}
	}
}
