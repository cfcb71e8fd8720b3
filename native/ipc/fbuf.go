package ipc

import "encoding/binary"

// The flatbuffers runtime trusts its input: a wrong offset panics or reads
// beside the point. Headers come from block storage, so they are read through
// these types, which check each offset against the bytes there are. A field's
// absence is not an error, being out of bounds is.

type fbuf []byte

// table is a table whose vtable and inline fields are known to lie in buf.
type table struct {
	buf    fbuf
	pos    int
	vtable []byte // without its two leading sizes
	inline int    // bytes of inline data from pos
}

func (b fbuf) u16(at int) int { return int(binary.LittleEndian.Uint16(b[at:])) }
func (b fbuf) u32(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }

func (b fbuf) root() (table, bool) {
	if len(b) < 4 {
		return table{}, false
	}
	return b.table(b.u32(0))
}

func (b fbuf) table(pos int) (table, bool) {
	if pos < 0 || pos > len(b)-4 {
		return table{}, false
	}
	vt := pos - int(int32(binary.LittleEndian.Uint32(b[pos:])))
	if vt < 0 || vt > len(b)-4 {
		return table{}, false
	}
	vtSize, inline := b.u16(vt), b.u16(vt+2)
	if vtSize < 4 || vtSize > len(b)-vt || inline < 4 || inline > len(b)-pos {
		return table{}, false
	}
	return table{buf: b, pos: pos, vtable: b[vt+4 : vt+vtSize], inline: inline}, true
}

// field returns the position of a field of the given size, 0 if it is absent,
// -1 if it is out of bounds.
func (t table) field(slot, size int) int {
	if 2*slot+2 > len(t.vtable) {
		return 0
	}
	off := int(binary.LittleEndian.Uint16(t.vtable[2*slot:]))
	switch {
	case off == 0:
		return 0
	case off < 4 || off+size > t.inline:
		return -1
	}
	return t.pos + off
}

// int reads an integer field of 1, 2 or 8 bytes; def stands for an absent one,
// -1 for one out of bounds, which is no valid value of any field read here.
func (t table) int(slot, size int, def int64) int64 {
	at := t.field(slot, size)
	if at <= 0 {
		if at < 0 {
			return -1
		}
		return def
	}
	switch b := t.buf[at:]; size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	default:
		return int64(binary.LittleEndian.Uint64(b))
	}
}

func (t table) table(slot int) (sub table, present, ok bool) {
	at := t.field(slot, 4)
	if at <= 0 {
		return table{}, false, at == 0
	}
	sub, ok = t.buf.table(at + t.buf.u32(at))
	return sub, true, ok
}

// vector returns where the elements of a vector or string start and how many
// there are; start is 0 if it is absent.
func (t table) vector(slot, elemSize int) (start, n int, ok bool) {
	at := t.field(slot, 4)
	if at <= 0 {
		return 0, 0, at == 0
	}
	v := at + t.buf.u32(at)
	if v > len(t.buf)-4 {
		return 0, 0, false
	}
	n = t.buf.u32(v)
	if n > (len(t.buf)-v-4)/elemSize {
		return 0, 0, false
	}
	return v + 4, n, true
}

// bytes is vector for elements that are read by the caller; nil if it is absent.
func (t table) bytes(slot, elemSize int) ([]byte, bool) {
	start, n, ok := t.vector(slot, elemSize)
	if !ok || start == 0 {
		return nil, ok
	}
	return t.buf[start : start+n*elemSize], true
}
