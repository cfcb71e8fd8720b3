package pack

import (
	"github.com/quiverspark/quiver/native/column"
	"github.com/quiverspark/quiver/native/memory"
)

type fsstTable struct{}

func (e *Encoder) appendFSST(dst []byte, t *textInput) []byte                { return nil }
func (d *Decoder) fsstText(r *reader, c *column.Column, arena *memory.Arena) { r.fail("x") }
