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

// function returns a function of a Go file as it stands there, its doc comment left out.
func function(t *testing.T, file, name string) string {
	t.Helper()
	re := regexp.MustCompile(`(?ms)^func ` + regexp.QuoteMeta(name) + `\(.*?^}\n`)
	f := re.FindString(read(t, file))
	require.NotEmpty(t, f, "%s has no function %s", file, name)
	return f
}

// TestReadmeCode checks that the README shows the package example, which is
// compiled and run.
func TestReadmeCode(t *testing.T) {
	body := function(t, "example_test.go", "Example")
	body = regexp.MustCompile(`(?s)^[^\n]*\n(.*)\t// (?:O|Unordered o)utput:.*$`).FindStringSubmatch(body)[1]
	body = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(body, "")
	assert.Equal(t, strings.TrimSpace(body), strings.TrimSpace(blocks(t, "README.md", "go")[0]))
}

// TestRationaleCode checks that the rationale shows code that is compiled and tested.
func TestRationaleCode(t *testing.T) {
	assert.Equal(t, function(t, "docs/map_test.go", "withMapped"), blocks(t, "docs/rationale.md", "go")[0])
}

// TestReadmeVerbs checks that the command has the verbs that the README lists.
func TestReadmeVerbs(t *testing.T) {
	verbs := regexp.MustCompile("(?m)^\\| `afdo ([a-z]+) ").FindAllStringSubmatch(read(t, "README.md"), -1)
	require.NotEmpty(t, verbs)
	for _, v := range verbs {
		assert.FileExists(t, root+"/cmd/afdo/command_"+v[1]+".go")
	}
}

// TestDependenciesAreExplained checks that the rationale has a word for each direct requirement.
func TestDependenciesAreExplained(t *testing.T) {
	rationale := read(t, "docs/rationale.md")
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		assert.True(t, strings.Contains(rationale, "| `"+m[1]+"` |"), "docs/rationale.md has nothing on %s", m[1])
	}
}

const module = "github.com/go-afdo/afdo"

// layers are the packages by what they may import of this module, apart from
// what is internal; "" is the root package.
var layers = map[string][]string{
	"":        {},
	"index":   {""},
	"profile": {""},
	"builder": {"", "index", "profile"},
	"fleet":   {"profile"},
	"textfmt": {"", "profile"},
	"gcov":    {"", "profile"},
	"slice":   {"", "index", "profile", "builder", "textfmt", "gcov"},
	"check":   {"", "index", "profile", "textfmt", "gcov"},

	"perfdata": {""},
	"samples":  {"", "perfdata"},
	"record":   {"perfdata", "samples"},

	"llvm/instrprof": {""},
	"llvm/memprof":   {""},
	"remote":         {""},

	"internal/v4":          {},
	"internal/v4/wire":     {},
	"internal/v4/indexfmt": {},

	"anyprof": {"", "index", "profile", "textfmt", "gcov", "llvm/sampleprof", "llvm/instrprof", "llvm/memprof"},
}

// others are what packages may import from elsewhere.
var others = map[string][]string{
	"internal/v4":          {"golang.org/x/exp/mmap"},
	"internal/v4/indexfmt": {"github.com/cespare/xxhash/v2"},

	"slice": {"github.com/cespare/xxhash/v2", "github.com/ianlancetaylor/demangle"},

	"llvm/memprof": {"github.com/cespare/xxhash/v2"},
	"perfdata":     {"github.com/klauspost/compress/zstd"},
	"samples":      {"github.com/klauspost/compress/zstd"},
	"record":       {"golang.org/x/sys/unix"},
}

// TestImportsPointOneWay checks the imports of what is not a test.
func TestImportsPointOneWay(t *testing.T) {
	seen := 0
	for _, file := range files(t, ".go") {
		dir := strings.TrimPrefix(path.Dir(file), ".")
		allowed, ok := layers[dir]
		if !ok || strings.HasSuffix(file, "_test.go") {
			continue
		}
		seen++
		f, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range f.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if of, inside := strings.CutPrefix(imported, module); inside {
				of = strings.TrimPrefix(of, "/")
				assert.True(t, slices.Contains(allowed, of) || strings.Contains("/"+of, "/internal/"), "%s imports %s", file, imported)
			} else if strings.Contains(imported, ".") {
				assert.True(t, slices.Contains(others[dir], imported), "%s imports %s", file, imported)
			}
		}
	}
	assert.NotZero(t, seen)
}
