//go:build linux && amd64

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestTuneAfterInstallingValgrind checks that a training run that was too short for recording by
// steps is repeated with valgrind once that is installed, as the message says, and that all later
// steps are repeated, too.
func TestTuneAfterInstallingValgrind(t *testing.T) {
	testenv.NeedSweep(t)
	t.Parallel()
	testenv.Tool(t, "gcc")
	testenv.Tool(t, "valgrind")
	testenv.Tool(t, "awk")
	s := newSite(t)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS("../../docs/guide/autofdo")))
	s.run("sh", "-c", "awk -v seed=1 -f text.awk | head -n 6000 > training.txt; awk -v seed=2 -f text.awk | head -n 60 > other.txt")
	s.write("build.sh", "cc -O2 -o words words.c table.c\n")
	programs := testenv.OnlyPrograms(t, "afdo", "sh", "cc", "as", "ld", "cat", "true", "valgrind")
	valgrind, hidden := filepath.Join(programs, "valgrind"), filepath.Join(programs, "not-installed")
	require.NoError(t, os.Rename(valgrind, hidden))
	s.setenv("PATH", programs)
	tune := func() (said string, err error) {
		cmd := s.command("afdo", "tune", "--rounds", "6", "--train", "./words < training.txt", "--measure", "./words < other.txt", "--", "sh", "build.sh")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	said, err := tune()
	if !strings.Contains(said, "or install valgrind and run the same command again") {
		t.Skipf("the training is not recorded by steps here, or is not short: %v\n%s", err, said)
	}
	require.NoError(t, os.Rename(hidden, valgrind))
	said, err = tune()
	require.NoError(t, err, said)
	assert.Regexp(t, `building without a profile +done before\n`, said)
	assert.Contains(t, said, "training, under callgrind ")
	assert.NotRegexp(t, `creating the profile +done before\n`, said)
	assert.NotRegexp(t, `building with the profile +done before\n`, said)
	said, err = tune()
	require.NoError(t, err, said)
	assert.Regexp(t, `training +done before\n`, said)
	assert.Regexp(t, `building with the profile +done before\n`, said)
}
