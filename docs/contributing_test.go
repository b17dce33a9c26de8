package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWaysNameMethods holds the two ways through the reader that CONTRIBUTING.md tells against the
// code: each method that it names is there.
func TestWaysNameMethods(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, ways, found := strings.Cut(string(text), "### A symbol ID's way")
	require.True(t, found)
	ways, _, found = strings.Cut(ways, "\n## ")
	require.True(t, found)
	named := regexp.MustCompile("`([A-Za-z]+\\.[A-Za-z]+)`").FindAllStringSubmatch(ways, -1)
	require.Greater(t, len(named), 10)
	methods := readerMethods(t)
	for _, m := range named {
		assert.Contains(t, methods, m[1])
	}
}

// readerMethods returns the methods of the root package and of what its Reader stands on, as
// "Reader.Unit".
func readerMethods(t *testing.T) map[string]bool {
	files, err := filepath.Glob(filepath.Join(root, "*.go"))
	require.NoError(t, err)
	storage, err := filepath.Glob(filepath.Join(root, "internal/v4/*.go"))
	require.NoError(t, err)
	methods := make(map[string]bool)
	for _, path := range append(files, storage...) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				typ := f.Recv.List[0].Type
				if star, ok := typ.(*ast.StarExpr); ok {
					typ = star.X
				}
				if name, ok := typ.(*ast.Ident); ok {
					methods[name.Name+"."+f.Name.Name] = true
				}
			}
		}
	}
	return methods
}
