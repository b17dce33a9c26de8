package doccheck

import (
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/go-afdo/afdo"

// testFolders are the folders with packages that only tests import, and with separate modules. The
// layers do not restrict their imports.
var testFolders = []string{
	"internal/testkit", "internal/doccheck", "spec", "fuzz", "contrib", "bench", "cmd/afdo/internal/clitest",
	"compile/slice/internal/slicetest", "fleet/beam", "fleet/remote/blob",
}

// A layer is a line of the list of layers in CONTRIBUTING.md: a name and its folders.
type layer struct {
	name    string
	folders []string
}

// layers returns the layers of CONTRIBUTING.md from the top down.
func layers(t *testing.T) (all []layer) {
	for line := range strings.Lines(blocks(t, "CONTRIBUTING.md", "layers")[0]) {
		words := strings.Fields(line)
		require.Greater(t, len(words), 1, line)
		all = append(all, layer{words[0], words[1:]})
	}
	return all
}

// isIn reports whether folder is one of the folders or below one of them.
func isIn(folder string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return folder == f || strings.HasPrefix(folder, f+"/")
	})
}

// layerOf returns the number of the layer with the longest folder that folder is in, or -1.
func layerOf(all []layer, folder string) int {
	best, length := -1, 0
	for n, l := range all {
		for _, f := range l.folders {
			if isIn(folder, []string{f}) && len(f) > length {
				best, length = n, len(f)
			}
		}
	}
	return best
}

// mayImport returns why a package may not import another package of this module, or "".
func mayImport(all []layer, from, to string) string {
	importer, imported := layerOf(all, from), layerOf(all, to)
	switch {
	case isIn(from, testFolders):
		return ""
	case isIn(to, testFolders):
		return "only tests may import it"
	case importer < 0 || imported < 0:
		return "CONTRIBUTING.md has no layer for it"
	case imported < importer:
		return "layer " + all[imported].name + " is above layer " + all[importer].name
	}
	return ""
}

// TestImports compares the imports of all files with the layers.
func TestImports(t *testing.T) {
	all := layers(t)
	for _, file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range f.Imports {
			to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if ours {
				to = path.Clean(strings.TrimPrefix(to, "/"))
				assert.Empty(t, mayImport(all, path.Dir(file), to), "%s imports %s", file, to)
			}
		}
	}
}

func TestMayImport(t *testing.T) {
	all := layers(t)
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"format/gcov", ".", true},
		{"format/gcov", "profile", true},
		{"produce/create", "input/samples", true},
		{"internal/v4/wire", "internal/decode", true},
		{"compile/driver", "internal/launch/store", true},
		{".", "profile", false},
		{"profile", "format/gcov", false},
		{"input/samples", "produce/create", false},
		{"compile/driver", "internal/cli", false},
		{"internal/decode", "internal/v4", false},
		{"format/gcov", "internal/testkit/gen", false},
		{"format/gcov", "nowhere", false},
	} {
		assert.Equal(t, c.allowed, mayImport(all, c.from, c.to) == "", "%s imports %s", c.from, c.to)
	}
}

// TestRootModules checks that a program that imports package afdo builds two other modules.
func TestRootModules(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	assert.Equal(t, []string{"github.com/cespare/xxhash/v2", module, "golang.org/x/exp"}, slices.Compact(modules))
}
