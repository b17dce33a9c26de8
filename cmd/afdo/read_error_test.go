//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestReadErrors lets reads of a file fail, from any read on. The verb ends with an error that
// names the file, and leaves no output. Mapped files cannot fail in this way: see
// TestTruncatedUnderMap of package afdo.
func TestReadErrors(t *testing.T) {
	testenv.NeedSweep(t)
	strace := testenv.Tool(t, "strace")
	dir := t.TempDir()
	convert := func(to string) string {
		path := filepath.Join(dir, "file."+to)
		r := afdoRun("convert", example(".txt"), "--to", to, "-o", path)
		require.Zero(t, r.status, r.err)
		return path
	}
	counts := filepath.Join(dir, "file.proftext")
	require.NoError(t, os.WriteFile(counts, counters(300, 20), 0o600))
	indexed := filepath.Join(dir, "file.profdata")
	require.Zero(t, afdoRun("convert", counts, "--to", "profdata", "-o", indexed).status)
	injected := 0
	for _, path := range testenv.Some([]string{convert("v4"), convert("v4c"), convert("v3"), convert("text"), convert("extbinary"), convert("sampletext"), convert("binary"), counts, indexed}, 5) {
		for _, line := range []string{"show FILE", "check FILE", "top FILE", "merge FILE FILE --to TO -o OUT", "diff FILE FILE"} {
			to := strings.TrimPrefix(filepath.Ext(path), ".")
			args := strings.Fields(strings.NewReplacer("FILE", path, "TO", to, "OUT", filepath.Join(dir, "out")).Replace(line))
			injected += failingReads(t, strace, dir, path, args)
		}
	}
	t.Logf("%d runs whose reads failed", injected)
	assert.Greater(t, injected, 25)
}

// failingReads runs a verb again and again: all its reads of a file fail from the first on, then
// from the second on, and so on, until none fails. It returns the number of runs with a failing
// read.
func failingReads(t *testing.T, strace, dir, path string, args []string) int {
	files := clitest.Files(t, dir)
	for n := 1; ; n++ {
		trace := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command(strace, append([]string{
			"-f", "-qq", "-o", trace, "-P", path, "-e", "trace=read,pread64", "-e", fmt.Sprintf("inject=read,pread64:error=EIO:when=%d+", n), "afdo",
		}, args...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		calls, traceErr := os.ReadFile(trace)
		require.NoError(t, traceErr, "%s", stderr.String())
		if !bytes.Contains(calls, []byte("(INJECTED)")) {
			require.NoError(t, err, "%q: %s", args, stderr.String())
			_ = os.Remove(filepath.Join(dir, "out"))
			return n - 1
		}
		var exit *exec.ExitError
		require.True(t, errors.As(err, &exit), "%q with read %d failing: %v", args, n, err)
		assert.Equal(t, cli.StatusFault, exit.ExitCode(), "%q with read %d failing: %s", args, n, stderr.String())
		assert.Contains(t, stderr.String(), path, "%q with read %d failing", args, n)
		assert.Contains(t, stderr.String(), "input/output error", "%q with read %d failing", args, n)
		require.Equal(t, files, clitest.Files(t, dir), "%q with read %d failing", args, n)
		require.Less(t, n, 100, "%q", args)
	}
}
