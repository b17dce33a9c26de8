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

// A signal, such as those of Go's scheduler, may interrupt a lookup that is answered at that
// moment, and the lookup is made again. If nobody answers then, the program waits forever.
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
