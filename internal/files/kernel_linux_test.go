package files

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Open refuses files whose content the kernel generates. They count as regular files of size 0, and
// reading some of them, such as /proc/kmsg, never ends.
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
