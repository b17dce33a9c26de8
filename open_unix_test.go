//go:build unix

package afdo_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// Opening a FIFO fails at once, even if no process writes to it.
func TestOpenFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := afdo.Open(path)
	require.ErrorContains(t, err, "not a regular file")
}
