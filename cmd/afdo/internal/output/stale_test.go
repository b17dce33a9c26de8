package output

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
)

// Nothing but temporary files of this program that nobody has written to for long is taken away.
func TestStaleFiles(t *testing.T) {
	dir := t.TempDir()
	long := time.Now().Add(-2 * StaleAfter)
	for name, stale := range map[string]bool{
		".afdo-0123456789abcdef.tmp":  true,
		".afdo-0123456789abcdee.tmp":  false, // fresh
		".afdo-0123456789abcdefg.tmp": true,
		".afdo-0123.tmp":              true,
		"afdo-0123456789abcdef.tmp":   true,
		".other-0123456789abcdef.tmp": true,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o666))
		if stale {
			require.NoError(t, os.Chtimes(path, long, long))
		}
	}
	folder := filepath.Join(dir, ".afdo-00000000000000ff.tmp")
	require.NoError(t, os.Mkdir(folder, 0o777))
	require.NoError(t, os.Chtimes(folder, long, long))
	require.NoError(t, Write(nil, filepath.Join(dir, "out"), clitest.Say("hello")))
	assert.Equal(t, []string{
		".afdo-00000000000000ff.tmp", ".afdo-0123.tmp", ".afdo-0123456789abcdee.tmp", ".afdo-0123456789abcdefg.tmp",
		".other-0123456789abcdef.tmp", "afdo-0123456789abcdef.tmp", "out",
	}, clitest.Files(t, dir))
}
