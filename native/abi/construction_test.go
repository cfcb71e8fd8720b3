package abi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
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
	files, found := 0, map[string]bool{}
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
		for _, name := range lastingMaps(file) {
			found[filepath.Base(filepath.Dir(set.Position(file.Pos()).Filename))+"."+name] = true
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
	if !maps.Equal(found, knownMaps) {
		t.Errorf("maps that outlive a call are %v; docs/hardening.md says how these are written: %v", found, knownMaps)
	}
}

// Two threads that write a map at once end the process. What docs/hardening.md
// says of each of these must hold for one that is new.
var knownMaps = map[string]bool{
	"abi.live":      true, // behind a lock
	"schema.young":  true, // behind a lock, as is
	"schema.old":    true,
	"engine.codecs": true, // of a handle, which has a lock
	"memory.live":   true, // of tests
	// tables that nothing writes
	"codec.zstdEncoders": true, "pack.encodingNames": true,
	"flatbuf.EnumNamesMetadataVersion": true, "flatbuf.EnumValuesMetadataVersion": true, "flatbuf.EnumNamesCompressionType": true,
	"flatbuf.EnumValuesCompressionType": true, "flatbuf.EnumNamesMessageHeader": true, "flatbuf.EnumValuesMessageHeader": true,
	"flatbuf.EnumNamesBodyCompressionMethod": true, "flatbuf.EnumValuesBodyCompressionMethod": true,
}

// lastingMaps returns the names of fields and package variables that are maps.
func lastingMaps(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return false // its variables go with the call
		case *ast.Field:
			if _, ok := n.Type.(*ast.MapType); ok {
				for _, name := range n.Names {
					names = append(names, name.Name)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				var typ ast.Node = n.Type
				if i < len(n.Values) {
					if literal, ok := n.Values[i].(*ast.CompositeLit); ok {
						typ = literal.Type
					} else if call, ok := n.Values[i].(*ast.CallExpr); ok && len(call.Args) > 0 {
						typ = call.Args[0] // of make
					}
				}
				if _, ok := typ.(*ast.MapType); ok {
					names = append(names, name.Name)
				}
			}
		}
		return true
	})
	return names
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
