package engine

import (
	"math/bits"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/filter"
	"github.com/quiverspark/quiver/native/schema"
)

// rowFilter is the part of a decoder that leaves rows out: columns that have
// conditions are decoded first, the others only if some row is left, and where
// a quarter of the rows or fewer are left, only those are handed on.
type rowFilter struct {
	conditions []filter.Condition
	scratch    filter.Scratch
	decoded    []bool // by projected column
	// filtering: the planned batch is filtered.
	filtering bool
	// pause is the number of batches to come that are not looked at, because
	// conditions left many rows of a batch in; useless counts such batches in a row,
	// as far as that makes the pause longer.
	pause, useless int
}

// maxPause bounds the batches that go unfiltered after some where it was no use.
const maxPause = 32

// SetFilter makes the decoder leave out rows that do not meet all conditions,
// where that saves work: it may hand on any row. See [filter.Parse]; columns are
// counted among the projected ones. Records for Arrow consumers are not filtered.
func (d *Decoder) SetFilter(text string) error {
	types := make([]*schema.Type, len(d.cols))
	for i, c := range d.cols {
		types[i] = c.Type
	}
	conditions, err := filter.Parse(text, types)
	if err != nil {
		return &OptionError{err.Error()}
	}
	d.conditions, d.pause, d.useless = conditions, 0, 0
	d.decoded = make([]bool, len(d.cols))
	return nil
}

// wanted tells whether to filter the next batch.
func (f *rowFilter) wanted() bool {
	if len(f.conditions) == 0 {
		return false
	}
	if f.pause > 0 {
		f.pause--
		return false
	}
	return true
}

// learn decides from a filtered batch whether to go on, and whether to drop
// rows. Taking two rows of five was found to take longer than handing on all.
func (f *rowFilter) learn(kept, rows int64) (drop bool) {
	if 4*kept <= rows {
		f.useless = 0
		return true
	}
	if f.pause = 1<<(f.useless+1) - 1; f.pause < maxPause {
		f.useless++ // but no further: a shift past the width of an int gives no pause at all
	} else {
		f.pause = maxPause
	}
	return false
}

func (d *Decoder) decodeFiltered() error {
	clear(d.decoded)
	sel, err := d.selectRows()
	if err != nil {
		return err
	}
	kept := d.head.Rows - int64(column.CountNulls(sel, int(d.head.Rows)))
	drop := d.learn(kept, d.head.Rows)
	if drop {
		d.stats.Kept = kept
	}
	if kept == 0 {
		for _, c := range d.cols {
			column.Clear(c)
		}
		clear(d.places)
		return nil
	}
	var index []int32
	if drop {
		index = d.indexOf(sel, int(kept))
	}
	for i, c := range d.cols {
		if !d.decoded[i] {
			if err := d.decodeColumn(i); err != nil {
				return err
			}
		}
		if drop {
			column.Take(c, index, d.arena.Bytes)
			d.placeTaken(&d.stretches[i], c, d.placesAt[i])
		}
	}
	return nil
}

// selectRows returns a bitmap of the rows that meet all conditions.
func (d *Decoder) selectRows() ([]byte, error) {
	size := int(d.head.Rows+7) >> 3
	var sel []byte
	for k := range d.conditions {
		f := &d.conditions[k]
		if !d.decoded[f.Column] {
			if err := d.decodeColumn(f.Column); err != nil {
				return nil, err
			}
			d.decoded[f.Column] = true
		}
		one := d.arena.Bytes(size)
		f.Select(d.cols[f.Column], one, &d.scratch)
		if sel == nil {
			sel = one
		} else {
			column.And(sel, one)
		}
	}
	return sel, nil
}

// indexOf lists the set bits of sel, of which there are n.
func (d *Decoder) indexOf(sel []byte, n int) []int32 {
	index := column.View[int32](d.arena.Bytes(4 * n))[:0]
	for i, b := range sel {
		for ; b != 0; b &= b - 1 {
			index = append(index, int32(8*i+bits.TrailingZeros8(b)))
		}
	}
	return index
}

// placeTaken finds all buffers of c and below anew.
func (d *Decoder) placeTaken(s *stretch, c *column.Column, at int) (next int) {
	s.placeBuffers(d.places[at:at+3], c)
	at += 3
	for _, child := range c.Children {
		at = d.placeTaken(s, child, at)
	}
	return at
}
