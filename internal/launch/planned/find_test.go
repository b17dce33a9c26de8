//go:build unix

package planned_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A compiles is a folder with a source, a header and a profile, with a launcher for compiles of the
// source.
type compiles struct {
	t    *testing.T
	dir  string
	argv []string
}

func newCompiles(t *testing.T, argv ...string) *compiles {
	c := &compiles{t, t.TempDir(), append(argv, "-O2", "-Ifirst", "-c", "a.c")}
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(c.dir, "cache"))
	t.Setenv("PATH", filepath.Join(c.dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("CCACHE_DISABLE", "")
	profile, err := os.ReadFile("../../../testdata/shop.afdo")
	require.NoError(t, err)
	for _, folder := range []string{"bin", "first", "second"} {
		require.NoError(t, os.Mkdir(c.path(folder), 0o777))
	}
	c.write("prof.afdo", string(profile))
	c.write("a.h", "int price(int);\n")
	c.write("a.c", "#include \"a.h\"\nint price(int x) { return x + 1; }\n")
	testenv.Settle()
	return c
}

func (c *compiles) path(name string) string { return filepath.Join(c.dir, name) }

func (c *compiles) write(name, text string) {
	require.NoError(c.t, os.WriteFile(c.path(name), []byte(text), 0o777))
}

func (c *compiles) key() string { return planned.Key([]string{"profile=prof.afdo"}, c.argv, c.dir) }

func (c *compiles) find() *planned.Plan { return planned.Find(c.key(), c.argv, c.dir) }

func (c *compiles) prepare() *driver.Plan {
	cache, err := driver.OpenCache()
	require.NoError(c.t, err)
	l := driver.Launcher{Profile: "prof.afdo", Cache: cache}
	for range 2 { // the first one warns that the profile has nothing of the source
		plan, err := l.Prepare(c.t.Context(), c.argv, c.dir)
		require.NoError(c.t, err)
		plan.Keep(c.key())
		if plan.Outcome == store.UpToDate {
			return plan
		}
	}
	c.t.Fatal("not up to date")
	return nil
}

// The cached plan of a command is found until something changes with which the launcher might make
// another plan.
func TestFind(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	c := newCompiles(t, "gcc")
	assert.Nil(t, c.find())
	plan := c.prepare()
	expect := func(want bool, why string) {
		t.Helper()
		got := c.find()
		if assert.Equal(t, want, got != nil, why); got != nil {
			assert.Equal(t, plan.Argv, got.Argv, why)
			assert.Equal(t, plan.Env, got.Env, why)
		}
	}
	expect(true, "nothing has changed")
	require.NoError(t, os.Chtimes(c.path("a.h"), time.Now(), time.Now()))
	expect(true, "the content is the same")
	c.write("first/b.h", "")
	expect(true, "another file in a folder of the search")
	assert.Nil(t, planned.Find(c.key(), append(c.argv, "-g"), c.dir))
	assert.Nil(t, planned.Find(c.key(), c.argv, c.path("first")))
	key := c.key()
	t.Setenv("CPATH", "x")
	assert.NotEqual(t, key, c.key())
	require.NoError(t, os.Unsetenv("CPATH"))

	undo := func(name string) func() {
		old, err := os.ReadFile(c.path(name))
		require.NoError(t, err)
		return func() { c.write(name, string(old)) }
	}
	for _, change := range []struct {
		why      string
		do, back func()
	}{
		{"a header has changed", func() { c.write("a.h", "int price(long);\n") }, undo("a.h")},
		{"the slice has changed", func() { c.write("a.o.afdo", "") }, undo("a.o.afdo")},
		{"a compiler comes before", func() { require.NoError(t, os.Symlink(gcc, c.path("bin/gcc"))) },
			func() { require.NoError(t, os.Remove(c.path("bin/gcc"))) }},
		{"the profile has changed", func() { require.NoError(t, os.Chtimes(c.path("prof.afdo"), time.Now(), time.Now())) }, nil},
	} {
		change.do()
		expect(false, change.why)
		if change.back != nil {
			change.back()
			expect(true, "not any more: "+change.why)
		}
	}
	plan = c.prepare()
	expect(true, "prepared again")
	require.NoError(t, os.RemoveAll(c.path("cache/inputs")))
	expect(false, "the inputs are unknown")
}

// The statistics count a command once, whether the launcher or Find has made its plan.
func TestFindCounts(t *testing.T) {
	testenv.Tool(t, "gcc")
	c := newCompiles(t, "gcc")
	c.prepare()
	require.NotNil(t, c.find())
	cache, err := store.Default()
	require.NoError(t, err)
	counts, _, err := cache.Stats()
	require.NoError(t, err)
	for _, count := range counts {
		if count.Outcome == store.UpToDate {
			assert.Equal(t, int64(2), count.Times)
			assert.Zero(t, count.Preprocessed)
			return
		}
	}
	assert.Fail(t, "not counted")
}

// The plan of a command is not cached if it depends on something that is not checked when the plan
// is used again.
func TestNotKept(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	for _, argv := range [][]string{{"nice", gcc}, {gcc, "@options"}, {gcc, "-DX=\"@\"", "-O0"}} {
		c := newCompiles(t, argv...)
		c.write("options", "-DY")
		if argv[len(argv)-1] == "-O0" {
			c.argv = append(c.argv, "-O0") // which is worth a warning
		}
		c.prepare()
		assert.Nil(t, c.find(), argv)
	}
}
