// Package tracee builds and starts a program whose instructions a test executes one by one.
package tracee

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

//go:embed testdata/mixed.c
var mixed []byte

// Build compiles a program that uses instructions of many kinds and does not end. It returns the
// path of the program.
func Build(t *testing.T, flags string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "prog")
	require.NoError(t, os.WriteFile(program+".c", mixed, 0o600))
	args := append(strings.Fields(flags), "-o", program, program+".c", "-lm", "-w", "-fno-builtin-memset")
	out, err := exec.Command(testenv.Tool(t, "gcc"), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// runFor is how long a program runs before it is stopped, so that it has reached its loop.
const runFor = 20 * time.Millisecond

// Start starts a program, stops it in its loop, and returns its process ID. The calling goroutine
// must be locked to its thread, which traces the program. The test is skipped where that is
// forbidden. The program is killed after the test.
func Start(t *testing.T, program string) (pid int) {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Dir = t.TempDir()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	time.Sleep(runFor)
	pid = cmd.Process.Pid
	if err := unix.PtraceSeize(pid); err != nil {
		t.Skipf("no process can be traced here: %v", err)
	}
	require.NoError(t, unix.PtraceInterrupt(pid))
	var status unix.WaitStatus
	_, err := unix.Wait4(pid, &status, 0, nil)
	require.NoError(t, err)
	return pid
}
