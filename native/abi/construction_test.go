package abi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What cannot be caught at the door is not in the sources of the library: a
// goroutine, in which a panic ends the process, and, so that payloads reach
// no file and no command, the packages for these.
func TestNothingThatCannotBeCaught(t *testing.T) {
	const format = `{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .CgoFiles}}{{$d}}/{{.}}
{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, "github.com/quiverspark/quiver").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	forbidden := map[string]bool{"os": true, "os/exec": true, "net": true, "net/http": true, "plugin": true, "syscall": true}
	files := 0
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, root+string(filepath.Separator)) {
			continue // of a module of others
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			if path, _ := strconv.Unquote(imported.Path.Value); forbidden[path] {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if g := goroutine(n); g != token.NoPos {
				t.Errorf("%s starts a goroutine", set.Position(g))
			}
			return true
		})
	}
	if files < 40 {
		t.Fatalf("only %d files were looked at", files)
	}
}

// goroutine returns where n starts one: by go, or by the Go of a WaitGroup.
func goroutine(n ast.Node) token.Pos {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Pos()
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Go" || f.Sel.Name == "AfterFunc") {
			return n.Pos()
		}
	}
	return token.NoPos
}
