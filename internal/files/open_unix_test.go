//go:build unix

package files

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Open refuses anything but regular files. Opening a FIFO would block, and reading a device may
// never end.
func TestNotRegular(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, "/dev/zero", "/dev/stdin", dir} {
		_, _, err := Open(path)
		assert.ErrorIs(t, err, ErrNotRegular, path)
		_, err = ReadFile(path, 1<<20)
		assert.ErrorIs(t, err, ErrNotRegular, path)
	}
}
