package doccheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGlossaryNamesCode checks that the names of code in docs/reference/glossary.md exist.
func TestGlossaryNamesCode(t *testing.T) {
	code := regexp.MustCompile("`([^`]+)`")
	declared := declaredNames(t)
	n := 0
	for line := range strings.Lines(read(t, "docs/reference/glossary.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(cells[3], -1) {
			assert.True(t, declared[m[1]], "nothing in the code is %s", m[1])
			n++
		}
	}
	assert.Greater(t, n, 40)
}

// declaredNames returns the names that packages of the module declare, such as "afdo.Unit", and the
// fields and methods of their types, such as "afdo.Location.Line".
func declaredNames(t *testing.T) map[string]bool {
	names := make(map[string]bool)
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, read(t, path), parser.SkipObjectResolution)
		require.NoError(t, err)
		pkg := file.Name.Name + "."
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					names[pkg+receiverOr(d, "")+"."+d.Name.Name] = true
				} else {
					names[pkg+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(names, pkg, spec)
				}
			}
		}
	}
	return names
}

func addSpec(names map[string]bool, pkg string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		names[pkg+s.Name.Name] = true
		fields, ok := s.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, f := range fields.Fields.List {
			for _, name := range f.Names {
				names[pkg+s.Name.Name+"."+name.Name] = true
			}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names[pkg+name.Name] = true
		}
	}
}
