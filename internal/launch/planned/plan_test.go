package planned

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/launch/record"
)

// A plan is the same after encoding and decoding. Data that ends before the list of files is
// refused, and so is a NUL in what would run.
func TestEncode(t *testing.T) {
	p := &Plan{
		Command: []string{"gcc", "", "-c"}, Dir: "/d", Argv: []string{"gcc", "-fauto-profile=a"}, Env: []string{},
		Program: "gcc", Path: "/bin/gcc", Files: []record.File{{Path: "/bin/gcc", State: 1<<64 - 1}, {Path: "p", State: 2}},
		Slice: "/d/a", Stamp: 3, Inputs: "k", Result: 4, Before: "b\t", After: "\ta\n",
	}
	data := p.encode()
	assert.Equal(t, p, decodePlan(data))
	p.Files = nil
	for i := range p.encode() {
		assert.Nil(t, decodePlan(data[:i]), i)
	}
	assert.Nil(t, decodePlan(append(data, 9, 'x')), "a path that is cut")
	p.Argv = []string{"gcc", "a\x00b"}
	assert.Nil(t, decodePlan(p.encode()), "an argument with a NUL")
	p.Argv, p.Env = []string{"gcc"}, []string{"A=\x00"}
	assert.Nil(t, decodePlan(p.encode()), "a setting with a NUL")
	p.Argv = nil
	assert.Nil(t, decodePlan(p.encode()), "nothing to run")
}

// The cache key of a command depends on all environment variables that the launcher itself reads.
func TestVariables(t *testing.T) {
	get := regexp.MustCompile(`(?:Getenv|LookupEnv|setting)\((?:\w[\w.]*, )?"([A-Z_]+)"`)
	found := 0
	count := func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range get.FindAllStringSubmatch(string(text), -1) {
			found++
			assert.Contains(t, variables, m[1], path)
		}
		return err
	}
	for _, dir := range []string{"../../../compile/driver", "../../command", ".."} {
		require.NoError(t, filepath.WalkDir(dir, count))
	}
	assert.GreaterOrEqual(t, found, 10)
}
