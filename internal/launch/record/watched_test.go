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

// A folder that is watched tells when something comes that leads to a file, and nothing else.
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

// A folder with few names may get a new state with every compile, which is not worth storing.
func TestRenewed(t *testing.T) {
	dir := t.TempDir()
	r := &Record{Watched: []Watched{{Look(dir, "."), []string{"a.h"}}}}
	for i := range longListing {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o666))
		then := time.Unix(int64(i), 0) // clocks of file systems may stand still for milliseconds
		require.NoError(t, os.Chtimes(dir, then, then))
		require.True(t, r.Holds(nil, dir))
		assert.Equal(t, i+1 == longListing, r.Renewed, i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.h"), nil, 0o666))
	assert.False(t, r.Holds(nil, dir))
}

// isThere reports whether a file system finds a file under another name.
func isThere(t *testing.T, written, asked string) bool {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, written), nil, 0o666))
	return Exists(dir, asked)
}

// A file is looked into only as long as it is the one that was looked at, and never a folder.
func TestLookInto(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) { require.NoError(t, os.WriteFile(filepath.Join(dir, "a.h"), []byte(text), 0o666)) }
	buf := make([]byte, 4)
	write("int f(void);")
	in := Look(dir, "a.h")
	require.True(t, in.LookInto(dir, buf))
	again := Look(dir, "a.h")
	require.True(t, again.LookInto(dir, make([]byte, 100)))
	assert.Equal(t, in, again)
	write("int f(int, int);")
	assert.False(t, in.LookInto(dir, buf))
	folder := Look(dir, ".")
	assert.False(t, folder.LookInto(dir, buf))
	gone := Look(dir, "none.h")
	assert.False(t, gone.LookInto(dir, buf))
}

// TestAddChanged checks that a record that cannot be kept, because a file has just changed, has the
// file's content nevertheless. Other entries of the cache have a key with Record.State.
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
