package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// say returns a writer of an output.
func say(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// files lists the names in a folder.
func files(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func requireFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func TestOutputIsNewFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255)) // as long as names get
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o666))
	require.NoError(t, new(env).withOutput(path, say("hello")))
	requireFile(t, path, "hello")
	assert.Equal(t, []string{filepath.Base(path), "plain"}, files(t, dir))

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
	require.NoError(t, new(env).withOutput(path, func(w io.Writer) error {
		requireFile(t, path, "before") // until the new one is complete
		return say("after")(w)
	}))
	requireFile(t, path, "after")
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode())
	assert.Equal(t, []string{"out"}, files(t, dir))
}

func TestOutputFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	failure := errors.New("failure")
	fail := func(w io.Writer) error {
		if err := say(strings.Repeat("half", 1<<20))(w); err != nil {
			return err
		}
		return failure
	}
	assert.ErrorIs(t, new(env).withOutput(path, fail), failure)
	assert.Empty(t, files(t, dir))

	require.NoError(t, os.WriteFile(path, []byte("before"), 0o666))
	assert.ErrorIs(t, new(env).withOutput(path, fail), failure)
	requireFile(t, path, "before")
	assert.Panics(t, func() { _ = new(env).withOutput(path, func(io.Writer) error { panic("at work") }) })
	requireFile(t, path, "before")
	assert.Equal(t, []string{"out"}, files(t, dir))

	assert.ErrorIs(t, new(env).withOutput(filepath.Join(dir, "none", "out"), say("")), fs.ErrNotExist)
	var pathErr *fs.PathError
	assert.ErrorAs(t, new(env).withOutput(dir, say("")), &pathErr)
}

func TestOutputFollowsLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("before"), 0o666))
	if err := os.Symlink("target", link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	require.NoError(t, new(env).withOutput(link, say("after")))
	requireFile(t, target, "after")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type())

	require.NoError(t, os.Remove(target))
	assert.ErrorIs(t, new(env).withOutput(link, say("")), fs.ErrNotExist)
}

// A device is no file to be replaced.
func TestOutputToDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/null")
	}
	require.NoError(t, new(env).withOutput("/dev/null", say("hello")))
	info, err := os.Stat("/dev/null")
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeDevice)

	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	assert.ErrorContains(t, new(env).withOutput("/dev/full", say("hello")), "no space left")
	r := afdoRun("convert", example(".txt"), "--to", "v4", "-o", "/dev/full")
	assert.Equal(t, result{statusFault, "", "afdo: write /dev/full: no space left on device\n"}, r)
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestStandardOutputFails(t *testing.T) {
	for _, args := range [][]string{
		{"show", example(".afdo")},
		{"show", example(".afdo"), "--json"},
		{"units", example(".afdo")},
		{"lookup", example(".afdo"), "--unit", "cart.cc"},
		{"lookup", example(".afdo"), "--unit", "cart.cc", "--json"},
		{"lookup", example(".afdo"), "--symbol", "main"},
		{"convert", example(".afdo"), "--to", "text"},
		{"convert", example(".afdo"), "--to", "v2"},
		{"--version"},
	} {
		var stderr bytes.Buffer
		e := &env{out: failingWriter{errors.New("disk full")}, err: &stderr}
		assert.Equal(t, statusFault, e.run(args), "afdo %q", args)
		assert.Equal(t, 1, strings.Count(stderr.String(), "disk full"), "afdo %q: %s", args, &stderr)
	}
}

// writeUntilKilled is a process of its own that never comes to the end of its output.
func writeUntilKilled() {
	e := &env{out: os.Stdout}
	_ = e.withOutput(os.Args[1], func(w io.Writer) error {
		if err := say(strings.Repeat("half", 1<<20))(w); err != nil {
			return err
		}
		os.Stdout.WriteString("writing\n")
		select {}
	})
}

func TestSignalLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no way to interrupt another process")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o666))
	cmd := exec.Command("write-until-kill", path)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "writing\n", line)
	require.Len(t, files(t, dir), 2, "the temporary file")

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	assert.EqualError(t, cmd.Wait(), "signal: interrupt")
	requireFile(t, path, "before")
	assert.Equal(t, []string{"out"}, files(t, dir))
}

// terminal returns something that is a terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !isTerminal(f) {
		t.Skipf("no terminal to be had: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestBinaryIsNotForTerminals(t *testing.T) {
	var stderr bytes.Buffer
	e := &env{out: terminal(t), err: &stderr}
	for _, f := range []string{"v4", "v4c", "v3", "v2"} {
		stderr.Reset()
		assert.Equal(t, statusUsage, e.run([]string{"convert", example(".txt"), "--to", f}))
		assert.Equal(t, "afdo: "+f+" is not for a terminal: use -o FILE\nTry 'afdo convert --help'.\n", stderr.String())
		stderr.Reset()
		out := filepath.Join(t.TempDir(), "out")
		assert.Equal(t, statusDone, e.run([]string{"convert", example(".txt"), "--to", f, "-o", out}))
		assert.FileExists(t, out)
	}
}
