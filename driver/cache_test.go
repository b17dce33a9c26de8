package driver

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

func newCache(t *testing.T) *Cache {
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(t.TempDir(), "new", "cache"))
	c, err := OpenCache()
	require.NoError(t, err)
	return c
}

func TestCache(t *testing.T) {
	c := newCache(t)
	_, ok := c.get(kindInputs, "a")
	assert.False(t, ok)
	c.put(kindInputs, "a", []byte("one"))
	c.put(kindInputs, "b", nil)
	c.put(kindInputs, "a", []byte("two"))
	got, ok := c.get(kindInputs, "a")
	assert.True(t, ok)
	assert.Equal(t, "two", string(got))
	got, ok = c.get(kindInputs, "b")
	assert.True(t, ok)
	assert.Empty(t, got)

	// A damaged file, and one of another key, are none.
	path, err := c.path(kindInputs, "a")
	require.NoError(t, err)
	for _, damage := range []string{"", "tw", "twx" + strings.Repeat("\x00", 8)} {
		require.NoError(t, os.WriteFile(path, []byte(damage), 0o666))
		_, ok = c.get(kindInputs, "a")
		assert.False(t, ok, damage)
	}
	require.NoError(t, os.Rename(c.pathOf(kindInputs, "b"), path))
	_, ok = c.get(kindInputs, "a")
	assert.False(t, ok)
}

func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("AFDO_CACHE_DIR", "relative")
	c, err := OpenCache()
	require.NoError(t, err)
	assert.Equal(t, "relative", filepath.Base(c.Dir()))
	assert.True(t, filepath.IsAbs(c.Dir()))
	info, err := os.Stat("relative")
	require.NoError(t, err)
	if checkPrivate("", info) == nil {
		assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	}

	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "file", "x"))
	require.NoError(t, os.WriteFile("file", nil, 0o666))
	_, err = OpenCache()
	assert.ErrorIs(t, err, ErrNoCache)
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "file"))
	_, err = OpenCache()
	assert.ErrorIs(t, err, ErrNoCache)

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
	c.put(kindInputs, "a", []byte("one"))
	_, ok := c.get(kindInputs, "a")
	assert.False(t, ok)
	_, err := c.path(kindInputs, "a")
	assert.ErrorIs(t, err, ErrNoCache)
	assert.True(t, c.once("x"))
	assert.True(t, c.once("x"), "nothing is kept")
	c.Record(Count{Outcome: Sliced, Times: 1})
	counts, err := c.Stats()
	assert.NoError(t, err)
	assert.Empty(t, counts)
	c.trimNowAndThen()
}

// age makes the files of a kind older.
func (c *Cache) age(t *testing.T, kind string, by time.Duration) {
	entries, err := os.ReadDir(filepath.Join(c.dir, kind))
	require.NoError(t, err)
	for _, e := range entries {
		path := filepath.Join(c.dir, kind, e.Name())
		info, err := os.Stat(path)
		require.NoError(t, err)
		when := info.ModTime().Add(-by)
		require.NoError(t, os.Chtimes(path, when, when))
	}
}

func TestCacheTrim(t *testing.T) {
	c := newCache(t)
	c.put(kindInputs, "old", make([]byte, 1000))
	c.age(t, kindInputs, 40*24*time.Hour)
	c.put(kindStamps, "big", make([]byte, 5000))
	c.age(t, kindStamps, 3*time.Hour)
	c.put(kindSlices, "used", make([]byte, 1000))
	c.age(t, kindSlices, 2*time.Hour)
	c.Record(Count{Outcome: Sliced, Times: 1})
	usage, err := c.Usage()
	require.NoError(t, err)
	assert.Equal(t, Usage{3, 7024}, usage)

	gone, err := c.Trim()
	require.NoError(t, err)
	assert.Equal(t, Usage{1, 1008}, gone, "what nobody has used for long")
	_, ok := c.get(kindStamps, "big") // now it has been used
	assert.True(t, ok)
	c.maxSize = 6000
	gone, err = c.Trim()
	require.NoError(t, err)
	assert.Equal(t, Usage{1, 1008}, gone, "what has not been used for longest")
	_, ok = c.get(kindStamps, "big")
	assert.True(t, ok)

	gone, err = c.Clean()
	require.NoError(t, err)
	assert.Equal(t, 1, gone.Files)
	counts, err := c.Stats()
	require.NoError(t, err)
	assert.Len(t, counts, 1, "the statistics stay")
}

func TestCacheOnce(t *testing.T) {
	c := newCache(t)
	var mu sync.Mutex
	said := 0
	say := func() {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if c.once("something") {
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
	c.age(t, kindSaid, time.Hour)
	say()
	assert.Equal(t, 2, said, "in the next build")
}

func TestStats(t *testing.T) {
	c := newCache(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				c.Record(Count{Outcome: Sliced, Times: 1, Bytes: 10, Time: time.Millisecond})
				c.Record(Count{Outcome: AsItIs, Reason: OnlyPreprocesses, Times: 1})
			}
		})
	}
	all.Wait()
	want := map[Count]bool{
		{Outcome: Sliced, Times: 400, Bytes: 4000, Time: 400 * time.Millisecond}: true,
		{Outcome: AsItIs, Reason: OnlyPreprocesses, Times: 400}:                  true,
	}
	check := func() {
		t.Helper()
		counts, err := c.Stats()
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
	counts, err := c.Stats()
	require.NoError(t, err)
	assert.Empty(t, counts)
}

func TestRecord(t *testing.T) {
	r := &record{
		inputs:  []inputFile{{"a.c", 10}, {"", 1<<64 - 1}},
		watched: []watched{{inputFile{"inc", 7}, []string{"inc/a.h", "inc/b.h"}}},
		there:   []string{"inc/c.h"},
		text:    []byte("whatever"),
	}
	data := r.encode()
	got, ok := decodeRecord(data)
	require.True(t, ok)
	assert.Equal(t, r, got)
	for n := range len(data) - len(r.text) {
		_, ok := decodeRecord(data[:n])
		assert.False(t, ok, "%d bytes", n)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add((&record{inputs: []inputFile{{"a.c", 1}}, watched: []watched{{inputFile{".", 2}, []string{"f"}}}, text: []byte("x")}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, ok := decodeRecord(data)
		if !ok {
			return
		}
		again, ok := decodeRecord(r.encode())
		require.True(t, ok)
		require.Equal(t, r, again)
	})
}
