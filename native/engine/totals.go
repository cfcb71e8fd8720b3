package engine

import (
	"fmt"

	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/schema"
	"github.com/quiverspark/quiver/native/total"
)

// Term is a column, or a field of structs, that is added up.
type Term struct {
	// Node is its Arrow field node, counted in pre-order over the projected columns.
	Node int32
	Op   total.Op
}

// Totals decodes the planned batch and adds each term to its total; where it
// fails, none has changed. Rows that a filter would leave out are added, too.
func (d *Decoder) Totals(terms []Term, totals []total.Total) (ReadStats, error) {
	if err := d.expect(ReadTotals); err != nil {
		return ReadStats{}, err
	}
	if err := d.decode(); err != nil {
		return ReadStats{}, err
	}
	d.leaves = d.leaves[:0]
	for _, c := range d.cols {
		d.appendLeaves(leaf{column: c, parent: -1})
	}
	for _, t := range terms {
		if err := d.check(t); err != nil {
			return ReadStats{}, &OptionError{err.Error()}
		}
	}
	for i, t := range terms {
		totals[i].Add(t.Op, d.leaves[t.Node].column, d.validity(int(t.Node)))
	}
	return d.stats, nil
}

// leaf is a node of the projected columns.
type leaf struct {
	column *column.Column
	parent int // node of the struct that it is a field of, -1: none
	// repeated: it is below an array or a map, so that it has other slots than the batch.
	repeated bool
}

func (d *Decoder) appendLeaves(l leaf) {
	node := len(d.leaves)
	d.leaves = append(d.leaves, l)
	for _, child := range l.column.Children {
		d.appendLeaves(leaf{column: child, parent: node, repeated: l.repeated || l.column.Type.Kind != schema.Struct})
	}
}

func (d *Decoder) check(t Term) error {
	if t.Node < 0 || int(t.Node) >= len(d.leaves) {
		return fmt.Errorf("node %d of %d is to be added up", t.Node, len(d.leaves))
	}
	l := d.leaves[t.Node]
	if l.repeated {
		return fmt.Errorf("node %d, which is no column or field of structs, is to be added up", t.Node)
	}
	return total.Check(t.Op, l.column.Type)
}

// validity is that of the node and of all that it is a field of; nil where no slot is null.
func (d *Decoder) validity(node int) []byte {
	var all []byte
	own := false
	for ; node >= 0; node = d.leaves[node].parent {
		c := d.leaves[node].column
		switch {
		case c.Validity == nil:
		case all == nil:
			all = c.Validity
		default:
			size := (c.Len + 7) / 8
			if !own {
				copied := d.arena.Bytes(size)
				copy(copied, all)
				all, own = copied, true
			}
			column.And(all[:size], c.Validity[:size])
		}
	}
	return all
}
