package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newStore(t *testing.T) *Store {
	s, err := OpenStore(filepath.Join(t.TempDir(), "cache"))
	require.NoError(t, err)
	return s
}

func TestStore(t *testing.T) {
	c := newStore(t)
	_, ok := c.Get(Inputs, "a")
	assert.False(t, ok)
	c.Put(Inputs, "a", []byte("one"))
	c.Put(Inputs, "b", nil)
	c.Put(Inputs, "a", []byte("two"))
	got, ok := c.Get(Inputs, "a")
	assert.True(t, ok)
	assert.Equal(t, "two", string(got))
	got, ok = c.Get(Inputs, "b")
	assert.True(t, ok)
	assert.Empty(t, got)

	// A damaged file, and one of another key, are none.
	path, err := c.Path(Inputs, "a")
	require.NoError(t, err)
	for _, damage := range []string{"", "tw", "twx" + strings.Repeat("\x00", 8)} {
		require.NoError(t, os.WriteFile(path, []byte(damage), 0o666))
		_, ok = c.Get(Inputs, "a")
		assert.False(t, ok, damage)
	}
	require.NoError(t, os.Rename(c.pathOf(Inputs, "b"), path))
	_, ok = c.Get(Inputs, "a")
	assert.False(t, ok)
}

func TestOnce(t *testing.T) {
	c := newStore(t)
	var mu sync.Mutex
	said := 0
	say := func() {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if c.Once("something") {
					mu.Lock()
					said++
					mu.Unlock()
				}
			})
		}
		all.Wait()
	}
	say()
	assert.Equal(t, 1, said)
	entries, err := filepath.Glob(filepath.Join(c.Dir(), Said, "*"))
	require.NoError(t, err)
	for _, path := range entries {
		when := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(path, when, when))
	}
	say()
	assert.Equal(t, 2, said, "in the next build")
	say()
	assert.Equal(t, 2, said, "once in it")
}

func TestStoreIsPrivate(t *testing.T) {
	info, err := os.Stat(newStore(t).Dir())
	require.NoError(t, err)
	if checkPrivate("", info) == nil {
		assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	}
}

// Remove does not remove files that no store has made. It does not follow a symbolic link in the
// place of a folder.
func TestRemoveLeavesForeignFiles(t *testing.T) {
	c := newStore(t)
	c.Put(Inputs, "a", []byte("one"))
	own := filepath.Join(c.Dir(), Inputs, "notes.txt")
	require.NoError(t, os.WriteFile(own, nil, 0o600))
	elsewhere := filepath.Join(t.TempDir(), "0123456789abcdef")
	require.NoError(t, os.WriteFile(elsewhere, nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Dir(elsewhere), filepath.Join(c.Dir(), Slices)))
	n, _, err := c.Remove(0, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.FileExists(t, own)
	assert.FileExists(t, elsewhere)
}
