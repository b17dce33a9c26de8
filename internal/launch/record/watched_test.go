package record

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Watched.appeared reports that a missing name exists if something is created that leads to a file,
// and does not report anything else that is created.
func TestAppeared(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "inc"), 0o777))
	missing := map[string][]string{"inc": {"sys", "b.h"}, ".": {"none", "ä.h"}}
	appeared := func(folder string) bool {
		now := Look(dir, folder)
		found, _ := (&Watched{now, missing[folder]}).appeared(dir, now.State)
		return found
	}
	for _, c := range []struct {
		name, folder string
		want         bool
	}{
		{"inc/other.h", "inc", false},
		{"inc/B.H", "inc", isThere(t, "B.H", "b.h")},
		{"inc/b.h", "inc", true},
		{"inc/sys/x", "inc", true}, // what is above deep has to be watched then
		{"other/c.h", ".", false},
		{"ä.h", ".", true},
		{"none/x", ".", true},
	} {
		path := filepath.Join(dir, c.name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, nil, 0o666))
		assert.Equal(t, c.want, appeared(c.folder), c.name)
		require.NoError(t, os.Remove(path))
		if filepath.Dir(c.name) != "inc" {
			_ = os.Remove(filepath.Dir(path))
		}
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "inc")))
	assert.False(t, appeared("inc"), "the folder is gone")
}

// The new state of a folder with few names is not worth storing, because it may change with every
// compile.
func TestRenewed(t *testing.T) {
	dir := t.TempDir()
	r := &Record{Watched: []Watched{{Look(dir, "."), []string{"a.h"}}}}
	for i := range longListing {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o666))
		then := time.Unix(int64(i), 0) // clocks of file systems may stand still for milliseconds
		require.NoError(t, os.Chtimes(dir, then, then))
		require.True(t, r.Holds(nil, dir, nil))
		assert.Equal(t, i+1 == longListing, r.Renewed, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.h"), nil, 0o666))
	assert.False(t, r.Holds(nil, dir, nil))
}

// isThere reports whether the file system finds the file written under the name asked.
func isThere(t *testing.T, written, asked string) bool {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, written), nil, 0o666))
	return exists(dir, asked)
}

// lookInto fails for folders, and for a file that was replaced after its state was taken.
func TestLookInto(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) { require.NoError(t, os.WriteFile(filepath.Join(dir, "a.h"), []byte(text), 0o666)) }
	buf := make([]byte, 4)
	write("int f(void);")
	in := Look(dir, "a.h")
	require.True(t, in.lookInto(dir, buf))
	again := Look(dir, "a.h")
	require.True(t, again.lookInto(dir, make([]byte, 100)))
	assert.Equal(t, in, again)
	write("int f(int, int);")
	assert.False(t, in.lookInto(dir, buf))
	folder := Look(dir, ".")
	assert.False(t, folder.lookInto(dir, buf))
	gone := Look(dir, "none.h")
	assert.False(t, gone.lookInto(dir, buf))
}

// If a file has just changed, Add reports that the record must not be cached. The record still has
// the hash of the file's content, because other cache keys contain Record.State.
func TestAddChanged(t *testing.T) {
	dir := t.TempDir()
	state := func(text string) uint64 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.h"), []byte(text), 0o666))
		r := new(Record)
		assert.False(t, r.Add(nil, dir, []string{"a.h"}, nil, time.Unix(1, 0)))
		return r.State()
	}
	first := state("int f(void);")
	assert.Equal(t, first, state("int f(void);"))
	assert.NotEqual(t, first, state("int g(void);"))
}
