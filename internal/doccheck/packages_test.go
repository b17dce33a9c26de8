package doccheck

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const packagesPage = "docs/reference/packages.md"

var update = flag.Bool("update", false, "write generated documents")

// synopses returns the first sentence of each package comment of the repository, by folder.
func synopses(t *testing.T) map[string]string {
	found := make(map[string]string)
	for _, file := range files(t, ".go") {
		dir := path.Dir(file)
		if strings.Contains(file, "testdata/") || strings.HasSuffix(file, "_test.go") && found[dir] != "" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		if text := new(doc.Package).Synopsis(f.Doc.Text()); text != "" || found[dir] == "" {
			found[dir] = text
		}
	}
	return found
}

// withoutSubject removes the subject of a sentence: "Package x reads y." becomes "reads y".
func withoutSubject(synopsis string) string {
	words := strings.SplitN(strings.TrimRight(synopsis, ".:"), " ", 3)
	if len(words) == 3 && (words[0] == "Package" || words[0] == "Command") {
		return words[2]
	}
	return synopsis
}

// packagesText returns the contents of docs/reference/packages.md: a table for each layer, from the
// top down.
func packagesText(t *testing.T) string {
	all := layers(t)
	all = append(all, layer{"tests", nil})
	tables := make([][]string, len(all))
	texts := synopses(t)
	for dir, text := range texts {
		assert.NotEmpty(t, text, "package %s has no package comment", dir)
		n := layerOf(all, dir)
		if isIn(dir, testFolders) {
			n = len(all) - 1
		}
		require.NotEqual(t, -1, n, "package %s has no layer", dir)
		tables[n] = append(tables[n], fmt.Sprintf("| `%s` | %s |\n", dir, strings.ReplaceAll(withoutSubject(text), "|", `\|`)))
	}
	var page strings.Builder
	page.WriteString("# Packages\n\nEach line is the first sentence of a package comment. `go test ./internal/doccheck -run TestPackages -update` writes this page. [The list of layers](../../CONTRIBUTING.md#where-things-are) says which package may import which.\n")
	for n, rows := range tables {
		slices.Sort(rows)
		fmt.Fprintf(&page, "\n## %s\n\n| package | what it does |\n|---|---|\n%s", all[n].name, strings.Join(rows, ""))
	}
	return page.String()
}

// TestPackages compares docs/reference/packages.md with the package comments. With the flag
// -update, it writes the page.
func TestPackages(t *testing.T) {
	want := packagesText(t)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, packagesPage), []byte(want), 0o666))
	}
	assert.Equal(t, want, read(t, packagesPage), "run: go test ./internal/doccheck -run TestPackages -update")
}
