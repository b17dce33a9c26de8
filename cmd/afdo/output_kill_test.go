package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// temporaries lists the temporary files of a folder.
func temporaries(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, ".afdo-*.tmp"))
	require.NoError(t, err)
	return paths
}

// TestKilledWriterLeavesWholeFile kills a writing process at many moments: the file is always the
// old or the new one, and complete. A later run removes the temporary file that it leaves.
func TestKilledWriterLeavesWholeFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no afdo to start and kill")
	}
	kills := testenv.Rounds(10, 100)
	dir := t.TempDir()
	source, target := filepath.Join(dir, "source"), filepath.Join(dir, "out.afdo")
	require.NoError(t, os.WriteFile(source, gen.Big(testenv.Rounds(500, 1_000), true), 0o666))
	convert := func() *exec.Cmd { return exec.Command("afdo", "convert", source, "--to", "v4", "-o", target) }

	start := time.Now()
	require.NoError(t, convert().Run())
	whole := time.Since(start)
	fresh, err := os.ReadFile(target)
	require.NoError(t, err)
	old, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)

	require.NoError(t, os.Chmod(target, 0o640))
	killed, kept, replaced := 0, 0, 0
	for range kills {
		require.NoError(t, os.WriteFile(target, old, 0o666))
		cmd := convert()
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(rand.Int64N(int64(whole) * 5 / 4)))
		require.NoError(t, ignoreDone(cmd.Process.Kill()))
		if cmd.Wait() != nil {
			killed++
		} else {
			whole = whole * 3 / 4 // the first run may have taken longer than the others
		}
		found, err := os.ReadFile(target)
		require.NoError(t, err)
		switch {
		case bytes.Equal(found, old):
			kept++
		case bytes.Equal(found, fresh):
			replaced++
		default:
			t.Fatalf("%d bytes that are neither the old file's %d nor the new one's %d", len(found), len(old), len(fresh))
		}
		info, err := os.Stat(target)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o640), info.Mode())
	}
	require.NotZero(t, killed)
	require.NotZero(t, kept)
	left := temporaries(t, dir)
	t.Logf("%d of %d killed, %d kept the old file, %d have the new one, %d temporary files left", killed, kills, kept, replaced, len(left))
	assert.LessOrEqual(t, len(left), killed)

	for _, path := range left {
		long := time.Now().Add(-2 * files.StaleAfter)
		require.NoError(t, os.Chtimes(path, long, long))
	}
	require.NoError(t, convert().Run())
	assert.Empty(t, temporaries(t, dir))
}

func ignoreDone(err error) error {
	if err == os.ErrProcessDone {
		return nil
	}
	return err
}
