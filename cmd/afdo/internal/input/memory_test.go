package input

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLimitMemory checks that the memory limit grows with the files that are opened after
// LimitMemory, unless the environment sets a limit.
func TestLimitMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, append([]byte("gcov"), make([]byte, 996)...), 0o666))
	limitAfter := func() int64 {
		f, err := Open(nil, path)
		require.NoError(t, err)
		f.Close()
		return debug.SetMemoryLimit(-1)
	}
	const before = int64(1 << 40)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(before))
	defer limited.Store(false)
	assert.Equal(t, before, limitAfter())
	t.Setenv("GOMEMLIMIT", "1TiB")
	LimitMemory()
	assert.Equal(t, before, limitAfter())
	t.Setenv("GOMEMLIMIT", "")
	LimitMemory()
	want := softFree + softPerByte*(opened.Load()+1000)
	assert.Equal(t, want, limitAfter())
}
