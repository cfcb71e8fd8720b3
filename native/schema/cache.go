package schema

import (
	"fmt"
	"sync"
)

// A relation's schema arrives as text with every encoder and decoder that is
// opened, that is, once a task. cacheEntries and cacheBytes bound a generation
// of the cache; there are two.
const (
	cacheEntries = 64
	cacheBytes   = 4 << 20
)

// cache keeps schemas by their text in two generations: what was not asked for
// while one filled up is dropped.
type cache struct {
	mu         sync.Mutex
	young, old map[string]*Schema
	bytes      int // of the texts in young
}

var parsed cache

// Cached is ParseSpark with a bounded cache in front: the same text gives the
// same *Schema while it is in use often enough. It is safe for concurrent use.
func Cached(json []byte) (*Schema, error) { return parsed.get(json) }

func (c *cache) get(json []byte) (*Schema, error) {
	if s := c.lookup(json); s != nil {
		return s, nil
	}
	// Two tasks may parse the same text at once; the second result wins.
	s, err := ParseSpark(json)
	if err == nil {
		c.mu.Lock()
		c.store(string(json), s)
		c.mu.Unlock()
	}
	return s, err
}

func (c *cache) lookup(json []byte) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.young[string(json)]; s != nil {
		return s
	}
	s := c.old[string(json)]
	if s != nil {
		c.store(string(json), s)
	}
	return s
}

func (c *cache) store(json string, s *Schema) {
	if c.young == nil || len(c.young) >= cacheEntries || c.bytes+len(json) > cacheBytes {
		c.old, c.young, c.bytes = c.young, map[string]*Schema{}, 0
	}
	if _, ok := c.young[json]; !ok {
		c.bytes += len(json)
	}
	c.young[json] = s
}

// Project returns the schema of the columns at the given positions, in that
// order; a position may occur more than once. Types are shared.
func (s *Schema) Project(cols []int) (*Schema, error) {
	fields := make([]Field, len(cols))
	for i, c := range cols {
		if c < 0 || c >= len(s.Fields) {
			return nil, fmt.Errorf("column %d is out of range: the schema has %d columns", c, len(s.Fields))
		}
		fields[i] = s.Fields[c]
	}
	return New(fields), nil
}
