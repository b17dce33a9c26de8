package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// fakeCompiler writes a program that answers like a compiler and notes every question in the file
// asked.
func fakeCompiler(t *testing.T, path, about, version string) {
	if runtime.GOOS == "windows" {
		t.Skip("the compiler is a shell script")
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(`#!/bin/sh
echo "$*" >> %s/asked
case $1 in
--version) echo "%s" ;;
-dump*) echo "%s" ;;
*) [ -f text ] || { echo 'a.c:1: error: no x.h' >&2; exit 1; }; cat text; [ ! -f search ] || cat search >&2 ;;
esac
`, filepath.Dir(path), about, version)), 0o777))
	settle()
}

func asked(t *testing.T, dir string) []string {
	data, err := os.ReadFile(filepath.Join(dir, "asked"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

const fsf = "gcc (GCC) X\nCopyright (C) 2022 Free Software Foundation, Inc."

func TestFindCompiler(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gcc")
	for _, c := range []struct {
		about, version string
		reads          uint32
	}{
		{fsf, "12.1.0", 2}, {fsf, "12", 2}, {fsf, "15.3.0", 2}, {fsf, "16.2.0", 3}, {fsf, "17.0.0", 3},
		{fsf, "9.5.0", 0}, {fsf, "11.3.0", 0}, {fsf, "", 0}, {fsf, "trunk", 0}, {"clang version 14.0.6", "14.0.6", 0},
	} {
		fakeCompiler(t, path, c.about, c.version)
		got, err := FindCompiler(t.Context(), command.Parse([]string{"./gcc"}, dir), nil)
		if c.reads == 0 {
			assert.ErrorIs(t, err, ErrNotGCC, "%+v", c)
			continue
		}
		require.NoError(t, err, "%+v", c)
		assert.Equal(t, &Compiler{Path: path, Version: c.version, reads: c.reads}, got)
		assert.Equal(t, c.reads, got.Reads())
	}
	_, err := FindCompiler(t.Context(), command.Parse([]string{"./none-gcc"}, dir), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFindCompilerCaches(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("AFDO_CACHE_DIR", filepath.Join(dir, "cache"))
	path := filepath.Join(dir, "gcc")
	fakeCompiler(t, path, fsf, "12.2.0")
	cache, err := OpenCache()
	require.NoError(t, err)
	for range 3 {
		c, err := FindCompiler(t.Context(), command.Parse([]string{path}, dir), cache)
		require.NoError(t, err)
		assert.Equal(t, "12.2.0", c.Version)
	}
	assert.Equal(t, []string{"--version", "-dumpfullversion -dumpversion"}, asked(t, dir))
	fakeCompiler(t, path, fsf, "16.1.0")
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	c, err := FindCompiler(t.Context(), command.Parse([]string{path}, dir), cache)
	require.NoError(t, err)
	assert.Equal(t, "16.1.0", c.Version)
	assert.Len(t, asked(t, dir), 5)
}

// TestMaskedCompiler has a link to ccache before the compiler in PATH.
func TestMaskedCompiler(t *testing.T) {
	dir := t.TempDir()
	fakeCompiler(t, filepath.Join(dir, "bin/gcc"), fsf, "12.2.0")
	fakeCompiler(t, filepath.Join(dir, "bin/ccache"), fsf, "1.0")
	masks := filepath.Join(dir, "masks")
	require.NoError(t, os.Mkdir(masks, 0o777))
	require.NoError(t, os.Symlink(filepath.Join(dir, "bin/ccache"), filepath.Join(masks, "gcc")))
	t.Setenv("PATH", masks+":"+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	for _, name := range []string{"gcc", filepath.Join(masks, "gcc")} {
		c, err := FindCompiler(t.Context(), command.Parse([]string{name}, dir), nil)
		require.NoError(t, err, name)
		assert.Equal(t, filepath.Join(dir, "bin/gcc"), c.Path, name)
	}
}

// TestRealCompiler asks the machine's own.
func TestRealCompiler(t *testing.T) {
	for _, name := range []string{"gcc", "g++"} {
		c, err := FindCompiler(t.Context(), command.Parse([]string{testenv.Tool(t, name)}, t.TempDir()), nil)
		require.NoError(t, err)
		assert.Regexp(t, `^\d+\.\d+`, c.Version)
	}
}
