package doccheck

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLibraryGuide checks that docs/guide/library.md names all public packages and no others, and
// that the functions which it names as entry points exist.
func TestLibraryGuide(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| [^|]+ \| \[([\w/]+)\]\([^)]+\) \| (.*) \|$`).FindAllStringSubmatch(read(t, "docs/guide/library.md"), -1)
	packages := publicPackages(t)
	var named []string
	for _, row := range rows {
		folder := row[1]
		if folder == "afdo" {
			folder = "."
		}
		named = append(named, folder)
		p := packages[folder]
		if !assert.NotNil(t, p, "%s is no package", folder) {
			continue
		}
		for _, name := range regexp.MustCompile("`([\\w.]+)`").FindAllStringSubmatch(row[2], -1) {
			_, inside, _ := strings.Cut(name[1], ".")
			assert.True(t, p.names[inside] || p.names[name[1]], "%s has no %s", folder, name[1])
		}
	}
	all := slices.Collect(maps.Keys(packages))
	all = slices.DeleteFunc(all, func(folder string) bool { return isIn(folder, []string{"contrib", "spec"}) })
	assert.ElementsMatch(t, all, named)
}

// TestExamples checks that each public package of this module has a runnable example.
func TestExamples(t *testing.T) {
	for folder := range publicPackages(t) {
		if isIn(folder, testFolders) {
			continue
		}
		tests, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(tests, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(text), "\nfunc Example")
		}), "%s has no example", folder)
	}
}
