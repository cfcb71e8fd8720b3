package row

import (
	"fmt"
	"strings"
)

// Error reports row bytes or columns that cannot be what Spark or the encoder wrote.
type Error struct {
	Row  int    // index of the row within the batch, -1 if not known
	Path string // the column, nested fields joined by dots, empty for the row itself
	What string // what is wrong
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("row:")
	if e.Row >= 0 {
		fmt.Fprintf(&b, " row %d:", e.Row)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, " column %s:", e.Path)
	}
	b.WriteString(" ")
	b.WriteString(e.What)
	return b.String()
}

// fault is an Error on its way up the type tree: pos is where in the rows, path
// grows from the leaf to the root.
type fault struct {
	pos  int
	path []string
	what string
}

func faultf(pos int, format string, args ...any) *fault {
	return &fault{pos: pos, what: fmt.Sprintf(format, args...)}
}

// in adds the name of the field or nested slot that the fault is in.
func (f *fault) in(name string) *fault {
	if f != nil {
		f.path = append(f.path, name)
	}
	return f
}

func (f *fault) joined() string {
	var b strings.Builder
	for i := len(f.path) - 1; i >= 0; i-- {
		b.WriteString(f.path[i])
		if i > 0 {
			b.WriteByte('.')
		}
	}
	return b.String()
}
