package doccheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// needs skips the test if one of the programs is not installed. In CI it fails the test.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		testenv.Tool(t, program)
	}
}

// TestAutoFDOGuide runs the commands of docs/guide/tutorial.md: a program is built, profiled with
// callgrind, and compiled with the profile. For another input, it then takes fewer instructions
// than with -O2 alone.
func TestAutoFDOGuide(t *testing.T) {
	testenv.NeedSweep(t)
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		t.Skip("the guide is for x86-64 Linux")
	}
	needs(t, "gcc", "awk", "valgrind")
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "docs/guide/autofdo"))))
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin", "afdo"), "./cmd/afdo")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	env := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "AFDO_CACHE_DIR="+filepath.Join(dir, "cache"))
	said := ""
	for _, block := range blocks(t, "docs/guide/tutorial.md", "sh") {
		cmd := exec.Command("sh", "-e", "-c", block)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s%s", block, out)
		said += string(out)
	}
	assert.Regexp(t, `afdo: [\d,]+ samples, [\d,]+ in words, (100\.00|99\.\d\d)% of them placed; \d+ functions written`, said)
	before, after := instructions(t, said, "before"), instructions(t, said, "after")
	t.Logf("%d instructions before, %d after", before, after)
	assert.Less(t, float64(after), 0.98*float64(before))
}

// instructions returns the number of instructions of a callgrind file, from the output of a grep
// that printed the totals of several files.
func instructions(t *testing.T, said, file string) uint64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + file + `\.out:summary: (\d+)$`).FindStringSubmatch(said)
	require.NotNil(t, m, "%s", said)
	n, err := strconv.ParseUint(m[1], 10, 64)
	require.NoError(t, err)
	return n
}
