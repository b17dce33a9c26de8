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

// TestMapNamesMethods checks that each method and function named in docs/reference/map.md exists.
func TestMapNamesMethods(t *testing.T) {
	named := regexp.MustCompile("`([A-Za-z]+\\.[A-Za-z]+)`").FindAllStringSubmatch(read(t, "docs/reference/map.md"), -1)
	require.Greater(t, len(named), 30)
	functions := functionNames(t)
	for _, m := range named {
		assert.True(t, functions[m[1]], "no method or function is %s", m[1])
	}
}

// TestMapNamesCode checks that all other names in docs/reference/map.md occur in the code:
// functions without their package, constants, types and fields.
func TestMapNamesCode(t *testing.T) {
	named := regexp.MustCompile("`([a-z]+[A-Z][A-Za-z]*|[A-Z][A-Za-z]*)`").FindAllStringSubmatch(read(t, "docs/reference/map.md"), -1)
	require.Greater(t, len(named), 30)
	words := make(map[string]bool)
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(read(t, path), -1) {
			words[word] = true
		}
	}
	for _, m := range named {
		assert.True(t, words[m[1]], "the code does not have %s", m[1])
	}
}

// functionNames returns the names of the methods of the module as "Reader.Unit", and of its
// functions as "samples.Read". It leaves out test files.
func functionNames(t *testing.T) map[string]bool {
	names := make(map[string]bool)
	for _, path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, read(t, path), parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[receiverOr(f, file.Name.Name)+"."+f.Name.Name] = true
			}
		}
	}
	return names
}

// receiverOr returns the name of the receiver type of a method, or pkg for a function without a
// receiver.
func receiverOr(f *ast.FuncDecl, pkg string) string {
	if f.Recv == nil {
		return pkg
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
