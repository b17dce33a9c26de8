package doccheck

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// function returns the source text of a function in a Go file, without its doc comment.
func function(t *testing.T, file, name string) string {
	t.Helper()
	re := regexp.MustCompile(`(?ms)^func ` + regexp.QuoteMeta(name) + `\(.*?^}\n`)
	f := re.FindString(read(t, file))
	require.NotEmpty(t, f, "%s has no function %s", file, name)
	return f
}

// TestReadmeCode checks that the code in the README is the package example, which is compiled and
// run.
func TestReadmeCode(t *testing.T) {
	body := function(t, "example_test.go", "Example")
	body = regexp.MustCompile(`(?s)^[^\n]*\n(.*)\t// (?:O|Unordered o)utput:.*$`).FindStringSubmatch(body)[1]
	body = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "")
	assert.Equal(t, strings.TrimSpace(body), strings.TrimSpace(blocks(t, "README.md", "go")[0]))
}

// TestRationaleCode checks that the code in docs/rationale.md equals code of this package, which is
// compiled and tested.
func TestRationaleCode(t *testing.T) {
	assert.Equal(t, function(t, "internal/doccheck/mmap_test.go", "withMapped"), blocks(t, "docs/rationale.md", "go")[0])
}

// TestReadmeVerbs checks that the README lists the verbs that the command has.
func TestReadmeVerbs(t *testing.T) {
	verbs := regexp.MustCompile("(?m)^\\| `afdo ([a-z]+) ").FindAllStringSubmatch(read(t, "README.md"), -1)
	require.NotEmpty(t, verbs)
	for _, v := range verbs {
		files, err := filepath.Glob(root + "/cmd/afdo/internal/*/" + v[1] + ".go")
		require.NoError(t, err)
		assert.NotEmpty(t, files, "no file for afdo %s", v[1])
	}
}

// TestDependenciesAreExplained checks that docs/rationale.md mentions each module that go.mod
// requires directly.
func TestDependenciesAreExplained(t *testing.T) {
	rationale := read(t, "docs/rationale.md")
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		assert.True(t, strings.Contains(rationale, "| `"+m[1]+"` |"), "docs/rationale.md has nothing on %s", m[1])
	}
}
