//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// lingering is a script in place of a compiler that never ends if it gets a profile. Nor does the
// process that it starts.
const lingering = `#!/bin/sh
case "$*" in
*-fauto-profile*)
	echo left >"$TMPDIR/cc.s"
	sleep 600 &
	echo $! >started.tmp
	mv started.tmp started
	wait ;;
*) exec gcc "$@" ;;
esac
`

// TestExplainKilled checks that a signal ends afdo explain together with the compilers and their
// child processes, and that no temporary files stay.
func TestExplainKilled(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "gcc")
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt}[:testenv.Rounds(1, 2)] {
		dir, temporary := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "gcc"), []byte(lingering), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte("int a;\n"), 0o600))
		profile, err := filepath.Abs(example(".v2.afdo"))
		require.NoError(t, err)
		cmd := exec.Command("afdo", "explain", profile, "--", filepath.Join(dir, "gcc"), "-O2", "-c", "a.c")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		require.NoError(t, cmd.Start())
		started := filepath.Join(dir, "started")
		require.Eventually(t, func() bool { _, err := os.Stat(started); return err == nil }, 30*time.Second, 10*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(s))
		require.Error(t, cmd.Wait())
		left, err := os.ReadDir(temporary)
		require.NoError(t, err)
		assert.Empty(t, left, s)
		assert.Eventually(t, func() bool { return !running(t, started) }, 30*time.Second, 10*time.Millisecond, "%v", s)
	}
}

// running reports whether the process whose ID is in a file still runs.
func running(t *testing.T, path string) bool {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(state), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}
