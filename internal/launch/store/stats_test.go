package store

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
)

func newCache(t *testing.T) *Store {
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(t.TempDir(), "new", "cache"))
	c, err := Default()
	require.NoError(t, err)
	return c
}

func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("AFDO_CACHE_DIR", "relative")
	c, err := Default()
	require.NoError(t, err)
	assert.Equal(t, "relative", filepath.Base(c.Dir()))
	assert.True(t, filepath.IsAbs(c.Dir()))

	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "file", "x"))
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	_, err = Default()
	assert.ErrorIs(t, err, ErrNone)
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "file"))
	_, err = Default()
	assert.ErrorIs(t, err, ErrNone)

	t.Setenv("AFDO_CACHE_DIR", "relative")
	for value, ok := range map[string]bool{"": true, "10": true, "5M": true, "1g": true, "x": false, "5T": false, "-1": false, "9999999999G": false} {
		t.Setenv("AFDO_CACHE_SIZE", value)
		_, err := Default()
		assert.Equal(t, ok, err == nil, value)
	}
}

// TestNoCache uses a nil Store, for which there is no folder.
func TestNoCache(t *testing.T) {
	var c *Store
	c.Put(Inputs, "a", []byte("one"))
	_, ok := c.Get(Inputs, "a")
	assert.False(t, ok)
	_, err := c.Path(Inputs, "a")
	assert.ErrorIs(t, err, ErrNone)
	assert.True(t, c.Once("x"))
	assert.True(t, c.Once("x"), "nothing is kept")
	c.Note(Count{Outcome: Sliced, Times: 1})
	counts, _, err := c.Stats()
	assert.NoError(t, err)
	assert.Empty(t, counts)
	c.TrimNowAndThen()
}

// age makes the cached files of a kind older by a duration.
func (c *Store) age(t *testing.T, kind string, by time.Duration) {
	entries, err := os.ReadDir(filepath.Join(c.Dir(), kind))
	require.NoError(t, err)
	for _, e := range entries {
		path := filepath.Join(c.Dir(), kind, e.Name())
		info, err := os.Stat(path)
		require.NoError(t, err)
		when := info.ModTime().Add(-by)
		require.NoError(t, os.Chtimes(path, when, when))
	}
}

func TestCacheTrim(t *testing.T) {
	c := newCache(t)
	c.Put(Inputs, "old", make([]byte, 1000))
	c.age(t, Inputs, 40*24*time.Hour)
	c.Put(Stamps, "big", make([]byte, 5000))
	c.age(t, Stamps, 3*time.Hour)
	c.Put(Slices, "used", make([]byte, 1000))
	c.age(t, Slices, 2*time.Hour)
	c.Note(Count{Outcome: Sliced, Times: 1})
	n, bytes, err := c.Usage()
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	assert.EqualValues(t, 7024, bytes)

	n, bytes, err = c.Remove(c.MaxSize, c.MaxAge)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.EqualValues(t, 1008, bytes, "what nobody has used for long")
	_, ok := c.Get(Stamps, "big") // now it has been used
	assert.True(t, ok)
	c.MaxSize = 6000
	n, bytes, err = c.Remove(c.MaxSize, c.MaxAge)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.EqualValues(t, 1008, bytes, "what has not been used for longest")
	_, ok = c.Get(Stamps, "big")
	assert.True(t, ok)

	n, _, err = c.Remove(0, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	counts, _, err := c.Stats()
	require.NoError(t, err)
	assert.Len(t, counts, 1, "the statistics stay")
}

func TestStats(t *testing.T) {
	c := newCache(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				c.Note(Count{Outcome: Sliced, Times: 1, Bytes: 10, Time: time.Millisecond, Preprocessed: 1})
				c.Note(Count{Outcome: AsItIs, Reason: command.OnlyPreprocesses, Times: 1})
			}
		})
	}
	all.Wait()
	want := map[Count]bool{
		{Outcome: Sliced, Times: 400, Bytes: 4000, Time: 400 * time.Millisecond, Preprocessed: 400}: true,
		{Outcome: AsItIs, Reason: command.OnlyPreprocesses, Times: 400}:                             true,
	}
	check := func() {
		t.Helper()
		counts, _, err := c.Stats()
		require.NoError(t, err)
		assert.Len(t, counts, 2)
		for _, count := range counts {
			assert.True(t, want[count], "%+v", count)
		}
	}
	check()
	c.foldStats()
	check()
	data, err := os.ReadFile(c.statsPath())
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(data), "\n"))
	require.NoError(t, os.WriteFile(c.statsPath(), append(data, "nonsense\nsliced\t\tx\t1\t1\n"...), 0o666))
	check()
	require.NoError(t, c.ZeroStats())
	require.NoError(t, c.ZeroStats())
	require.NoError(t, c.ZeroStats())
	counts, _, err := c.Stats()
	require.NoError(t, err)
	assert.Empty(t, counts)
}

// The statistics name the sources that got no slice in their last compile, even after the lines
// have been replaced by their sums.
func TestStatsOfFiles(t *testing.T) {
	c := newCache(t)
	for _, count := range []Count{
		{Outcome: Whole, File: "/src/z.m"},
		{Outcome: Nothing, File: "/src/tab\tquote\"line\n.c"},
		{Outcome: AsItIs, Reason: command.Unreadable, File: "/src/b.c"},
		{Outcome: UpToDate, File: "/src/z.m"},
		{Outcome: AsItIs, Reason: command.OnlyPreprocesses, File: "/src/c.c"},
		{Outcome: Whole, File: "/src/mended.cc"},
		{Outcome: Sliced, File: "/src/mended.cc", SliceBytes: 10, ProfileBytes: 1000},
		{Outcome: Sliced, File: "/src/d.c", SliceBytes: 20, ProfileBytes: 1000},
	} {
		count.Times = 1
		c.Note(count)
	}
	for range 2 {
		counts, files, err := c.Stats()
		require.NoError(t, err)
		assert.Equal(t, []FileOutcome{
			{"/src/b.c", AsItIs, command.Unreadable}, {"/src/tab\tquote\"line\n.c", Nothing, ""}, {"/src/z.m", Whole, ""},
		}, files)
		assert.Contains(t, counts, Count{Outcome: Sliced, Times: 2, SliceBytes: 30, ProfileBytes: 2000})
		assert.Contains(t, counts, Count{Outcome: Whole, Times: 2})
		c.foldStats()
	}
	for i := range 2 * maxFiles {
		c.Note(Count{Outcome: Whole, Times: 1, File: strconv.Itoa(i)})
	}
	c.foldStats()
	_, files, err := c.Stats()
	require.NoError(t, err)
	assert.Len(t, files, maxFiles)
}
