package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/clitest"
)

func TestOutputIsNewFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255)) // as long as names get
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o666))
	require.NoError(t, Write(nil, path, clitest.Say("hello")))
	clitest.RequireFile(t, path, "hello")
	assert.Equal(t, []string{filepath.Base(path), "plain"}, clitest.Files(t, dir))

	want, err := os.Stat(plain)
	require.NoError(t, err)
	got, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, want.Mode(), got.Mode(), "a new file has the mode that others get")
}

func TestOutputReplacesFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o600))
	before, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, Write(nil, path, func(w io.Writer) error {
		clitest.RequireFile(t, path, "before") // until the new one is complete
		return clitest.Say("after")(w)
	}))
	clitest.RequireFile(t, path, "after")
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode())
	assert.Equal(t, []string{"out"}, clitest.Files(t, dir))
}

func TestOutputFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	failure := errors.New("failure")
	fail := func(w io.Writer) error {
		if err := clitest.Say(strings.Repeat("half", 1<<20))(w); err != nil {
			return err
		}
		return failure
	}
	assert.ErrorIs(t, Write(nil, path, fail), failure)
	assert.Empty(t, clitest.Files(t, dir))

	require.NoError(t, os.WriteFile(path, []byte("before"), 0o666))
	assert.ErrorIs(t, Write(nil, path, fail), failure)
	clitest.RequireFile(t, path, "before")
	assert.Panics(t, func() { _ = Write(nil, path, func(io.Writer) error { panic("at work") }) })
	clitest.RequireFile(t, path, "before")
	assert.Equal(t, []string{"out"}, clitest.Files(t, dir))

	assert.ErrorIs(t, Write(nil, filepath.Join(dir, "none", "out"), clitest.Say("")), fs.ErrNotExist)
	var pathErr *fs.PathError
	assert.ErrorAs(t, Write(nil, dir, clitest.Say("")), &pathErr)
}

func TestOutputFollowsLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("before"), 0o666))
	if err := os.Symlink("target", link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	require.NoError(t, Write(nil, link, clitest.Say("after")))
	clitest.RequireFile(t, target, "after")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type())

	require.NoError(t, os.Remove(target))
	require.NoError(t, Write(nil, link, clitest.Say("made")))
	clitest.RequireFile(t, target, "made")
	info, err = os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type())
	assert.Equal(t, []string{"link", "target"}, clitest.Files(t, dir))
}

// TestTemporaryFileIsPrivate checks that while a private file is replaced, its temporary file is
// private as well, also before it is complete.
func TestTemporaryFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, Write(nil, path, func(w io.Writer) error {
		for _, name := range clitest.Files(t, dir) {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.EqualValues(t, 0o600, info.Mode().Perm(), name)
		}
		assert.Len(t, clitest.Files(t, dir), 2)
		return nil
	}))
}

func TestErrorNamesThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodir", "x")
	var at *fs.PathError
	require.ErrorAs(t, Write(nil, path, clitest.Say("")), &at)
	assert.Equal(t, path, at.Path)
	assert.ErrorIs(t, at, fs.ErrNotExist)
}

// TestOutputToDescriptor writes to a pipe by the path of its descriptor: the pipe is written to,
// and not replaced by a file.
func TestOutputToDescriptor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("descriptors have no names")
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, Write(nil, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), w.Fd()), clitest.Say("hello")))
	require.NoError(t, w.Close())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(got))
}

// TestOutputToDevice checks that a device is written to, and not replaced by a file.
func TestOutputToDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/null")
	}
	require.NoError(t, Write(nil, "/dev/null", clitest.Say("hello")))
	info, err := os.Stat("/dev/null")
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeDevice)

	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	assert.ErrorContains(t, Write(nil, "/dev/full", clitest.Say("hello")), "no space left")
}
