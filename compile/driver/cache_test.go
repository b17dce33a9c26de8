package driver

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
	"github.com/go-afdo/afdo/internal/launch/store"
)

func newCache(t *testing.T) *Cache {
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(t.TempDir(), "new", "cache"))
	c, err := OpenCache()
	require.NoError(t, err)
	return c
}

func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("AFDO_CACHE_DIR", "relative")
	c, err := OpenCache()
	require.NoError(t, err)
	assert.Equal(t, "relative", filepath.Base(c.Dir()))
	assert.True(t, filepath.IsAbs(c.Dir()))

	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "file", "x"))
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	_, err = OpenCache()
	assert.ErrorIs(t, err, errNoCache)
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "file"))
	_, err = OpenCache()
	assert.ErrorIs(t, err, errNoCache)

	t.Setenv("AFDO_CACHE_DIR", "relative")
	for value, ok := range map[string]bool{"": true, "10": true, "5M": true, "1g": true, "x": false, "5T": false, "-1": false, "9999999999G": false} {
		t.Setenv("AFDO_CACHE_SIZE", value)
		_, err := OpenCache()
		assert.Equal(t, ok, err == nil, value)
	}
}

// TestNoCache does without a folder.
func TestNoCache(t *testing.T) {
	var c *Cache
	c.files().Put(store.Inputs, "a", []byte("one"))
	_, ok := c.files().Get(store.Inputs, "a")
	assert.False(t, ok)
	_, err := c.files().Path(store.Inputs, "a")
	assert.ErrorIs(t, err, errNoCache)
	assert.True(t, c.files().Once("x"))
	assert.True(t, c.files().Once("x"), "nothing is kept")
	c.note(Count{Outcome: OutcomeSliced, Times: 1})
	counts, _, err := c.Stats()
	assert.NoError(t, err)
	assert.Empty(t, counts)
	c.trimNowAndThen()
}

// age makes the files of a kind older.
func (c *Cache) age(t *testing.T, kind string, by time.Duration) {
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
	c.files().Put(store.Inputs, "old", make([]byte, 1000))
	c.age(t, store.Inputs, 40*24*time.Hour)
	c.files().Put(store.Stamps, "big", make([]byte, 5000))
	c.age(t, store.Stamps, 3*time.Hour)
	c.files().Put(store.Slices, "used", make([]byte, 1000))
	c.age(t, store.Slices, 2*time.Hour)
	c.note(Count{Outcome: OutcomeSliced, Times: 1})
	usage, err := c.Usage()
	require.NoError(t, err)
	assert.Equal(t, Usage{3, 7024}, usage)

	gone, err := c.Trim()
	require.NoError(t, err)
	assert.Equal(t, Usage{1, 1008}, gone, "what nobody has used for long")
	_, ok := c.files().Get(store.Stamps, "big") // now it has been used
	assert.True(t, ok)
	c.maxSize = 6000
	gone, err = c.Trim()
	require.NoError(t, err)
	assert.Equal(t, Usage{1, 1008}, gone, "what has not been used for longest")
	_, ok = c.files().Get(store.Stamps, "big")
	assert.True(t, ok)

	gone, err = c.Clean()
	require.NoError(t, err)
	assert.Equal(t, 1, gone.Files)
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
				c.note(Count{Outcome: OutcomeSliced, Times: 1, Bytes: 10, Time: time.Millisecond, Preprocessed: 1})
				c.note(Count{Outcome: OutcomeAsItIs, Reason: command.OnlyPreprocesses, Times: 1})
			}
		})
	}
	all.Wait()
	want := map[Count]bool{
		{Outcome: OutcomeSliced, Times: 400, Bytes: 4000, Time: 400 * time.Millisecond, Preprocessed: 400}: true,
		{Outcome: OutcomeAsItIs, Reason: command.OnlyPreprocesses, Times: 400}:                             true,
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
	data, err := os.ReadFile(c.store.StatsPath())
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(data), "\n"))
	require.NoError(t, os.WriteFile(c.store.StatsPath(), append(data, "nonsense\nsliced\t\tx\t1\t1\n"...), 0o666))
	check()
	require.NoError(t, c.ZeroStats())
	require.NoError(t, c.ZeroStats())
	require.NoError(t, c.ZeroStats())
	counts, _, err := c.Stats()
	require.NoError(t, err)
	assert.Empty(t, counts)
}

// TestStatsOfFiles tells which sources got no slice the last time, also when the lines have been
// summed up.
func TestStatsOfFiles(t *testing.T) {
	c := newCache(t)
	for _, count := range []Count{
		{Outcome: OutcomeWhole, File: "/src/z.m"},
		{Outcome: OutcomeNothing, File: "/src/tab\tquote\"line\n.c"},
		{Outcome: OutcomeAsItIs, Reason: ReasonUnreadable, File: "/src/b.c"},
		{Outcome: OutcomeUpToDate, File: "/src/z.m"},
		{Outcome: OutcomeAsItIs, Reason: command.OnlyPreprocesses, File: "/src/c.c"},
		{Outcome: OutcomeWhole, File: "/src/mended.cc"},
		{Outcome: OutcomeSliced, File: "/src/mended.cc", SliceBytes: 10, ProfileBytes: 1000},
		{Outcome: OutcomeSliced, File: "/src/d.c", SliceBytes: 20, ProfileBytes: 1000},
	} {
		count.Times = 1
		c.note(count)
	}
	for range 2 {
		counts, files, err := c.Stats()
		require.NoError(t, err)
		assert.Equal(t, []FileOutcome{
			{"/src/b.c", OutcomeAsItIs, ReasonUnreadable}, {"/src/tab\tquote\"line\n.c", OutcomeNothing, ""}, {"/src/z.m", OutcomeWhole, ""},
		}, files)
		assert.Contains(t, counts, Count{Outcome: OutcomeSliced, Times: 2, SliceBytes: 30, ProfileBytes: 2000})
		assert.Contains(t, counts, Count{Outcome: OutcomeWhole, Times: 2})
		c.foldStats()
	}
	for i := range 2 * maxFiles {
		c.note(Count{Outcome: OutcomeWhole, Times: 1, File: strconv.Itoa(i)})
	}
	c.foldStats()
	_, files, err := c.Stats()
	require.NoError(t, err)
	assert.Len(t, files, maxFiles)
}
