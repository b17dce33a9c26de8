package toolchain

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestFindCompiler(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gcc")
	for _, c := range []struct {
		about, version string
		reads          uint32
	}{
		{testenv.FSF, "12.1.0", 2}, {testenv.FSF, "12", 2}, {testenv.FSF, "15.3.0", 2}, {testenv.FSF, "16.2.0", 3}, {testenv.FSF, "17.0.0", 3},
		{testenv.FSF, "9.5.0", 0}, {testenv.FSF, "11.3.0", 0}, {testenv.FSF, "", 0}, {testenv.FSF, "trunk", 0}, {"clang version 14.0.6", "14.0.6", 0},
	} {
		testenv.FakeCompiler(t, path, c.about, c.version)
		got, err := Find(t.Context(), command.Parse([]string{"./gcc"}, dir), nil)
		if c.reads == 0 {
			assert.ErrorIs(t, err, ErrNotGCC, "%+v", c)
			continue
		}
		require.NoError(t, err, "%+v", c)
		assert.Equal(t, &Compiler{Path: path, Version: c.version, major: majorOf(c.version), reads: c.reads}, got)
		assert.Equal(t, c.reads, got.Reads())
	}
	_, err := Find(t.Context(), command.Parse([]string{"./none-gcc"}, dir), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFindCompilerCaches(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gcc")
	testenv.FakeCompiler(t, path, testenv.FSF, "12.2.0")
	cache, err := store.OpenStore(filepath.Join(dir, "cache"))
	require.NoError(t, err)
	for range 3 {
		c, err := Find(t.Context(), command.Parse([]string{path}, dir), cache)
		require.NoError(t, err)
		assert.Equal(t, "12.2.0", c.Version)
	}
	assert.Equal(t, []string{"--version", "-dumpfullversion -dumpversion"}, testenv.Asked(t, dir))
	testenv.FakeCompiler(t, path, testenv.FSF, "16.1.0")
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	c, err := Find(t.Context(), command.Parse([]string{path}, dir), cache)
	require.NoError(t, err)
	assert.Equal(t, "16.1.0", c.Version)
	assert.Len(t, testenv.Asked(t, dir), 5)
}

// TestMaskedCompiler has a link to ccache, with the name of the compiler, before the compiler in
// PATH.
func TestMaskedCompiler(t *testing.T) {
	dir := t.TempDir()
	testenv.FakeCompiler(t, filepath.Join(dir, "bin/gcc"), testenv.FSF, "12.2.0")
	testenv.FakeCompiler(t, filepath.Join(dir, "bin/ccache"), testenv.FSF, "1.0")
	masks := filepath.Join(dir, "masks")
	require.NoError(t, os.Mkdir(masks, 0o777))
	require.NoError(t, os.Symlink(filepath.Join(dir, "bin/ccache"), filepath.Join(masks, "gcc")))
	t.Setenv("PATH", masks+":"+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	for _, name := range []string{"gcc", filepath.Join(masks, "gcc")} {
		c, err := Find(t.Context(), command.Parse([]string{name}, dir), nil)
		require.NoError(t, err, name)
		assert.Equal(t, filepath.Join(dir, "bin/gcc"), c.Path, name)
	}
}

// TestRealCompiler finds the version of the machine's own compiler.
func TestRealCompiler(t *testing.T) {
	for _, name := range []string{"gcc", "g++"} {
		c, err := Find(t.Context(), command.Parse([]string{testenv.Tool(t, name)}, t.TempDir()), nil)
		require.NoError(t, err)
		assert.Regexp(t, `^\d+\.\d+`, c.Version)
	}
}

// A wrapper may start a server that keeps the wrapper's output open. The launcher does not wait for
// the server.
func TestServerOfWrapper(t *testing.T) {
	testenv.Tool(t, "sh")
	dir := t.TempDir()
	path := filepath.Join(dir, "gcc")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nsleep 30 &\necho $1\n"), 0o777))
	began := time.Now()
	out, err := NewObserver(path, dir, os.Environ()).ask(t.Context(), "--version")
	require.NoError(t, err)
	assert.Equal(t, "--version\n", string(out))
	assert.Less(t, time.Since(began), 20*time.Second)
}
