package abi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
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

// Go ends the process for what it takes for a bad pointer in memory that it
// stores a pointer to, C memory included; see address.
func TestNoPointersAreStoredInMemoryOfC(t *testing.T) {
	for _, v := range []any{Bytes{}, Batch{}, need{}, buffer{}, Vectors{}, Error{}} {
		if path := pointerIn(reflect.TypeOf(v)); path != "" {
			t.Errorf("%T%s is a pointer", v, path)
		}
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "../../exports.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		pointers := map[string]bool{} // parameters that are pointers to pointers
		for _, param := range f.Type.Params.List {
			if outer, ok := param.Type.(*ast.StarExpr); ok {
				if _, ok := outer.X.(*ast.StarExpr); ok {
					for _, name := range param.Names {
						pointers[name.Name] = true
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				for _, to := range a.Lhs {
					if star, ok := to.(*ast.StarExpr); ok {
						if name, ok := star.X.(*ast.Ident); ok && pointers[name.Name] {
							t.Errorf("%s stores a pointer", set.Position(a.Pos()))
						}
					}
				}
			}
			return true
		})
	}
}

// pointerIn returns the path of a pointer within t, or nothing.
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if path := pointerIn(t.Field(i).Type); path != "" {
				return "." + t.Field(i).Name + path
			}
		}
		return ""
	case reflect.Array:
		return pointerIn(t.Elem())
	case reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uintptr:
		return ""
	}
	return " (" + t.String() + ")"
}
