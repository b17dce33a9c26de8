package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// RemoveStale removes old temporary files and no other files.
func TestRemoveStale(t *testing.T) {
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
	RemoveStale(dir)
	assert.Equal(t, []string{
		".afdo-00000000000000ff.tmp", ".afdo-0123.tmp", ".afdo-0123456789abcdee.tmp", ".afdo-0123456789abcdefg.tmp",
		".other-0123456789abcdef.tmp", "afdo-0123456789abcdef.tmp",
	}, names(t, dir))
}

// Replace keeps the mode of the file. Discarding a Pending does not change its target.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
	require.NoError(t, os.Chmod(path, 0o640))

	p, err := Create(path, path)
	require.NoError(t, err)
	_, err = p.Write([]byte("never"))
	require.NoError(t, err)
	p.Discard()
	data, err := ReadFile(path, 3)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))

	require.NoError(t, Replace(path, []byte("new!")))
	data, err = ReadFile(path, 4)
	require.NoError(t, err)
	assert.Equal(t, "new!", string(data))
	_, err = ReadFile(path, 3)
	require.ErrorIs(t, err, ErrTooLarge)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o640, info.Mode().Perm())

	require.NoError(t, os.Chmod(path, 0))
	require.NoError(t, Replace(path, []byte("newer")))
	info, err = os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm())
	assert.Equal(t, []string{"file"}, names(t, dir))

	_, err = Create("given", filepath.Join(dir, "none", "file"))
	assert.ErrorContains(t, err, "create given: ")
}

// If CommitPair is interrupted, there is never an old file beside a new one.
func TestCommitPair(t *testing.T) {
	dir := t.TempDir()
	paths := [2]string{filepath.Join(dir, "list"), filepath.Join(dir, "order")}
	pair := func(content string) (pending [2]*Pending) {
		for i, path := range paths {
			p, err := Create(path, path)
			require.NoError(t, err)
			_, err = p.Write([]byte(content))
			require.NoError(t, err)
			pending[i] = p
		}
		return pending
	}
	first := pair("old")
	require.NoError(t, CommitPair(first[0], first[1]))
	second := pair("new")
	require.NoError(t, os.Remove(second[1].TempName())) // as if the process ended before this rename
	require.Error(t, CommitPair(second[0], second[1]))
	require.NoFileExists(t, paths[0])
	left, err := os.ReadFile(paths[1])
	require.NoError(t, err)
	require.Equal(t, "old", string(left))
	third := pair("new")
	require.NoError(t, CommitPair(third[0], third[1]))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "new", string(data))
	}
}
