package files

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Files that the kernel makes up are refused: they count as regular and as empty, and some, such as
// /proc/kmsg, never end.
func TestOfKernel(t *testing.T) {
	for _, path := range []string{"/proc/self/status", "/proc/self/maps", "/proc/version"} {
		_, _, err := Open(path)
		assert.ErrorIs(t, err, ErrNotRegular, path)
		_, err = ReadFile(path, 1<<20)
		assert.ErrorIs(t, err, ErrNotRegular, path)
	}
	f, _, err := Open("/proc/self/exe") // a link to a file of a disk
	assert.NoError(t, err)
	assert.NoError(t, f.Close())
}
