package docs_test

import (
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/go-afdo/afdo"

// A row is what CONTRIBUTING.md says of a package.
type row struct {
	layer   int
	imports []string // of its own layer, and of other modules
}

// The layers whose packages have rules of their own.
const (
	testLayer = "Tests"
	ownLayer  = "Modules of their own"
)

// layers reads the tables of packages in CONTRIBUTING.md: the names of the layers from the bottom
// up, and the packages by the folder of each, that of the root being ".".
func layers(t *testing.T) (names []string, rows map[string]row) {
	rows = make(map[string]row)
	_, text, found := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Where things are\n")
	require.True(t, found)
	text, _, found = strings.Cut(text, "\n### ")
	require.True(t, found)
	code := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "#### "); ok {
			name, _, _ := strings.Cut(heading, ":")
			names = append(names, name)
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		r := row{layer: len(names) - 1}
		for _, m := range code.FindAllStringSubmatch(strings.Join(cells[3:], ""), -1) {
			r.imports = append(r.imports, m[1])
		}
		pkg := code.FindStringSubmatch(cells[1])[1]
		assert.NotContains(t, rows, pkg, "CONTRIBUTING.md has package %s twice", pkg)
		rows[pkg] = r
	}
	require.NotEmpty(t, rows)
	return names, rows
}

// mayImport says why a package that is no test may not import another one, or nothing if it may.
func mayImport(names []string, rows map[string]row, from, to string) string {
	importer := rows[from]
	inside, isOurs := strings.CutPrefix(to, module)
	if !isOurs {
		if strings.Contains(strings.Split(to, "/")[0], ".") && !slices.Contains(importer.imports, to) {
			return "its row in CONTRIBUTING.md does not name it"
		}
		return ""
	}
	inside = strings.TrimPrefix(inside, "/")
	if inside == "" {
		inside = "."
	}
	imported, ok := rows[inside]
	switch {
	case !ok:
		return "CONTRIBUTING.md has no row for it"
	case names[imported.layer] == testLayer && names[importer.layer] != testLayer:
		return "it is for tests alone"
	case imported.layer > importer.layer:
		return "it is of a higher layer, " + names[imported.layer]
	case imported.layer < importer.layer, names[importer.layer] == testLayer:
		return ""
	case !strings.HasPrefix(inside, from+"/") && !slices.Contains(importer.imports, inside):
		return "it is of the same layer, and its row in CONTRIBUTING.md does not name it"
	}
	return ""
}

// imports returns what a Go file imports.
func imports(t *testing.T, file string) (paths []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range f.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// TestImports holds the imports of all packages against the tables of CONTRIBUTING.md.
func TestImports(t *testing.T) {
	names, rows := layers(t)
	var own []string
	for _, file := range files(t, "go.mod") {
		if dir := path.Dir(file); dir != "." {
			own = append(own, dir)
		}
	}
	there := make(map[string]bool)
	used := make(map[string][]string)
	for _, file := range files(t, ".go") {
		dir := path.Dir(file)
		if strings.Contains("/"+dir+"/", "/testdata/") {
			continue
		}
		r, ok := rows[dir]
		if !ok {
			assert.True(t, there[dir], "CONTRIBUTING.md has no row for package %s", dir)
			there[dir] = true
			continue
		}
		there[dir] = true
		isOwn := slices.ContainsFunc(own, func(of string) bool { return dir == of || strings.HasPrefix(dir, of+"/") })
		assert.Equal(t, isOwn, names[r.layer] == ownLayer, "the layer of %s", dir)
		if isOwn || strings.HasSuffix(file, "_test.go") || names[r.layer] == testLayer {
			continue
		}
		for _, imported := range imports(t, file) {
			used[dir] = append(used[dir], imported, strings.TrimPrefix(imported, module+"/"))
			if why := mayImport(names, rows, dir, imported); why != "" {
				assert.Fail(t, "an import that the layers do not allow", "%s imports %s: %s", file, imported, why)
			}
		}
	}
	for pkg, r := range rows {
		assert.True(t, there[pkg], "CONTRIBUTING.md has a row for %s, which is no package", pkg)
		if name := names[r.layer]; name != testLayer && name != ownLayer {
			for _, imported := range r.imports {
				assert.Contains(t, used[pkg], imported, "the row of %s in CONTRIBUTING.md", pkg)
			}
		}
	}
}

// TestMayImport checks the rules themselves, by the tables as they are.
func TestMayImport(t *testing.T) {
	names, rows := layers(t)
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"gcov", module, true},
		{"gcov", module + "/profile", true},
		{"gcov", "strings", true},
		{"slice", module + "/slice/internal/program", true},
		{"create", module + "/samples", true},
		{".", module + "/profile", false},
		{"profile", module + "/gcov", false},
		{"gcov", module + "/textfmt", false},
		{"driver", module + "/internal/cli", false},
		{"gcov", module + "/internal/testkit/gen", false},
		{"gcov", module + "/nowhere", false},
		{".", "github.com/spf13/cobra", false},
	} {
		t.Run(c.from+" imports "+c.to, func(t *testing.T) {
			assert.Equal(t, c.allowed, mayImport(names, rows, c.from, c.to) == "")
		})
	}
}
