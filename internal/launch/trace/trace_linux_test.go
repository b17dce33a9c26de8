//go:build amd64 || arm64

package trace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/launch/trace"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A signal, such as those of Go's scheduler, may interrupt a lookup while it is being answered, and
// the kernel repeats the lookup. If nobody answered the repeated one, the program would wait
// forever.
func TestSignals(t *testing.T) {
	sh := testenv.Tool(t, "sh")
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = syscall.Kill(os.Getpid(), syscall.SIGURG)
			}
		}
	}()
	for range testenv.Rounds(5, 50) {
		done := make(chan error, 1)
		go func() {
			_, err := trace.Run(dir, true, func() error {
				cmd := exec.Command(sh, "-c", "for i in 1 2 3 4; do (for j in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e a ]; [ -e b ]; [ -e c ]; [ -e none ]; done) & done; wait")
				cmd.Dir = dir
				return cmd.Run()
			})
			done <- err
		}()
		select {
		case err := <-done:
			assert.NoError(t, err)
		case <-time.After(30 * time.Second):
			t.Fatal("the program waits forever")
		}
	}
}

// TestMain makes the test's executable a helper process if it is started as one.
func TestMain(m *testing.M) {
	if os.Args[0] == "afdo-observer" {
		trace.RunHelper()
	}
	if os.Args[0] == "afdo-observed" {
		observeLoop(os.Args[1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The filter also applies to a process that a program leaves in the background. Its lookups are
// answered after Run has returned: by this process, or by a helper process once this process has
// called RunHelper.
func TestBackground(t *testing.T) {
	sh := testenv.Tool(t, "sh")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("read"), 0o600))
	for range 3 {
		cmd := exec.Command(sh, "-c", "(while [ ! -e go ]; do sleep 0.05; done; cat a >b 2>&1; mv b c) </dev/null >/dev/null 2>&1 & exit 3")
		cmd.Dir = dir
		log, err := trace.Run(dir, true, cmd.Run)
		assert.Error(t, err)
		if log == nil {
			t.Skip("the system cannot observe a program")
		}
		testenv.Settle()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
		var text []byte
		require.Eventually(t, func() bool {
			text, err = os.ReadFile(filepath.Join(dir, "c"))
			return err == nil
		}, 20*time.Second, 10*time.Millisecond)
		assert.Equal(t, "read", string(text))
		require.Eventually(t, func() bool { return len(children(t)) == 0 }, 20*time.Second, 10*time.Millisecond, "the helper ends")
		require.NoError(t, os.Remove(filepath.Join(dir, "go")))
		require.NoError(t, os.Remove(filepath.Join(dir, "c")))
		trace.RunHelper()
	}
	cmd := exec.Command(sh, "-c", "[ -e a ]")
	cmd.Dir = dir
	_, err := trace.Run(dir, false, cmd.Run)
	assert.NoError(t, err)
	assert.Empty(t, children(t), "a compiler that leaves nothing needs no helper")
}

// If the observing process is killed in the middle of a run, a helper answers the lookups of the
// processes that live on, including one that was received but not answered.
func TestKilled(t *testing.T) {
	sh := testenv.Tool(t, "sh")
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		for range testenv.Rounds(3, 50) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("read"), 0o600))
			cmd := exec.Command("/proc/self/exe")
			cmd.Args, cmd.Dir = []string{"afdo-observed", sh}, dir
			require.NoError(t, cmd.Start())
			require.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(dir, "ready"))
				return err == nil
			}, 20*time.Second, time.Millisecond)
			require.NoError(t, cmd.Process.Signal(signal))
			_ = cmd.Wait()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
			require.Eventually(t, func() bool {
				text, err := os.ReadFile(filepath.Join(dir, "c"))
				return err == nil && string(text) == "read"
			}, 20*time.Second, 10*time.Millisecond)
		}
	}
}

// observeLoop observes a shell that looks files up all the time, until a file named go exists.
func observeLoop(sh string) {
	trace.RunHelper()
	cmd := exec.Command(sh, "-c", "> ready; i=0; while [ ! -e go ] && [ $i -lt 1000000 ]; do i=$((i+1)); done; cat a >b 2>&1; mv b c")
	_, _ = trace.Run(".", true, cmd.Run)
}

// children returns the process IDs of the processes that this process has started.
func children(t *testing.T) (pids string) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		pids += string(text)
	}
	return pids
}
