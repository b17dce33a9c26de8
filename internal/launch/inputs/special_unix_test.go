//go:build unix

package inputs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Line markers may name FIFOs, devices and huge files. These are not read, and are no reason to
// compile without a slice.
func TestInputsOfSpecialFiles(t *testing.T) {
	p := newProject(t)
	p.write("a.c", "#line 1 \"fifo\"\n")
	require.NoError(t, syscall.Mkfifo(filepath.Join(p.dir, "fifo"), 0o600))
	sparse, err := os.Create(filepath.Join(p.dir, "sparse"))
	require.NoError(t, err)
	require.NoError(t, sparse.Truncate(1<<40))
	require.NoError(t, sparse.Close())
	text := "# 1 \"a.c\"\n"
	for _, name := range []string{"fifo", "sparse", "/dev/zero", "/dev/stdin", "/dev/urandom", "/dev/tty"} {
		text += "# 1 \"" + name + "\" 1\nint g(void) { }\n# 2 \"a.c\" 2\n"
	}
	p.write("text", text+"int f(void) { }\n")
	p.write("search", "#include \"...\" search starts here:\n#include <...> search starts here:\n inc\nEnd of search list.\n")
	for range 2 {
		in, _ := p.find("-c", "a.c")
		assert.Equal(t, []string{"f", "g"}, defines(t, in, "f", "g", "h"))
	}
}
