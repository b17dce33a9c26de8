package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/profile"
)

// faultyMain returns the path of the example in which the symbol info of main is overwritten with
// 0xff.
func faultyMain(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	u, err := r.UnitBySuffix("main.cc")
	require.NoError(t, err)
	s, err := u.Symbol("main")
	require.NoError(t, err)
	info, err := s.Info()
	require.NoError(t, err)
	at := info.Section()
	for i := at.Offset + 1; i < at.Offset+at.Size; i++ {
		data[i] = 0xff
	}
	return writeFile(t, "faulty.afdo", data)
}

// TestOpenInputIsLazy checks that lookup reads only the needed parts of a version 4 file.
func TestOpenInputIsLazy(t *testing.T) {
	path := faultyMain(t)
	assert.Equal(t, must(t, "lookup", example(".afdo"), "--unit", "cart.cc"), must(t, "lookup", path, "--unit", "cart.cc"))
	for _, args := range [][]string{{"lookup", path, "--unit", "main.cc"}, {"show", path}, {"units", path}} {
		r := afdoRun(args...)
		assert.Equal(t, cli.StatusFault, r.status, "%q", args)
		assert.Empty(t, r.out)
		assert.Regexp(t, `^afdo: \S*faulty.afdo: unit "src/main.cc", symbol "main": section \d+ \(symbol info\) at offset \d+: bad count: `, r.err)
	}
}

func TestOpenInputErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	data, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	e := newEnv(cli.Env{In: iotest.ErrReader(broken)})
	_, err = loadProfile(e, "-")
	assert.EqualError(t, err, "standard input: broken pipe")
	assert.ErrorIs(t, err, broken)

	e.In = iotest.TimeoutReader(iotest.HalfReader(strings.NewReader(strings.Repeat(string(data), 4))))
	_, err = loadProfile(e, "-")
	assert.ErrorIs(t, err, iotest.ErrTimeout)

	cut := writeFile(t, "cut.afdo", data[:40])
	_, err = loadProfile(e, cut)
	assert.ErrorIs(t, err, afdo.ErrHeader)
	assert.ErrorContains(t, err, cut+": ")

	later := writeFile(t, "later.afdo", []byte("gcov\x00\x00\x00\x05\x00\x00\x00\x00"))
	_, err = loadProfile(e, later)
	assert.ErrorIs(t, err, afdo.ErrVersion)

	text := writeFile(t, "text", []byte("filenames = { 7 }"))
	_, err = loadProfile(e, text)
	assert.ErrorContains(t, err, text+": textfmt: line 1, column 15: ")

	_, err = loadProfile(e, filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestOpenPipe checks that a pipe is read into memory, whatever its name, because it cannot be
// mapped.
func TestOpenPipe(t *testing.T) {
	data, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skipf("pipes have no names: %v", err)
	}
	written := make(chan error)
	go func() {
		_, err := w.Write(data)
		written <- errors.Join(err, w.Close())
	}()
	assert.Equal(t, must(t, "lookup", example(".afdo"), "--unit", "cart.cc"), must(t, "lookup", path, "--unit", "cart.cc"))
	assert.NoError(t, <-written)
}

// TestCompressedInput checks that every verb that reads profiles reads a compressed file like its
// contents.
func TestCompressedInput(t *testing.T) {
	for _, form := range forms {
		data, err := os.ReadFile(example(form.extension))
		require.NoError(t, err)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		path := writeFile(t, "packed.gz", packed.Bytes())
		for _, args := range []string{
			"show FILE", "show FILE --json", "units FILE", "lookup FILE -s main", "top FILE", "check FILE",
			"convert FILE --to text", "merge FILE --to v4", "fingerprint FILE", "slice FILE --unit cart.cc --to v3",
		} {
			run := func(path string) result {
				r := afdoRun(strings.Fields(strings.ReplaceAll(args, "FILE", path))...)
				r.out, r.err = strings.ReplaceAll(r.out, path, "FILE"), strings.ReplaceAll(r.err, path, "FILE")
				return r
			}
			plain := run(example(form.extension))
			require.NotEqual(t, cli.StatusUsage, plain.status, args)
			require.Equal(t, plain, run(path), "%s %s", args, form.extension)
		}
	}
}

// A countingReader counts the bytes that are read from a file.
type countingReader struct {
	r io.Reader
	n int
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// TestOpenedOnce checks that a verb opens its file once and reads it once.
func TestOpenedOnce(t *testing.T) {
	input.LimitMemory()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	samples := writeFile(t, "samples", []byte("main:10:1\n 1: 9\n 2: 1 f:1\n"))
	for path, text := range map[string]string{
		example(".txt"): "text", example(".afdo"): "text", example(".v3.afdo"): "text", example(".v2.afdo"): "text", samples: "sampletext",
	} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		openedOnce(t, path) // from here on there is a limit
		for _, args := range [][]string{
			{"lookup", "FILE", "--symbol", "main"}, {"show", "FILE"}, {"top", "FILE"}, {"convert", "FILE", "--to", text},
			{"check", "FILE"}, {"merge", "FILE", "--to", text},
		} {
			at := slices.Index(args, "FILE")
			args[at] = path
			once := openedOnce(t, path)
			before := debug.SetMemoryLimit(-1)
			must(t, args...)
			assert.Equal(t, once, debug.SetMemoryLimit(-1)-before, "%q", args)

			args[at] = "-"
			stdin := &countingReader{r: bytes.NewReader(data)}
			r := afdoWith(stdin, args...)
			assert.Equal(t, cli.StatusDone, r.status, "%q: %s", args, r.err)
			assert.Equal(t, len(data), stdin.n, "%q", args)
		}
	}
}

// openedOnce returns by how much the memory limit grows when a file is opened once.
func openedOnce(t *testing.T, path string) int64 {
	t.Helper()
	before := debug.SetMemoryLimit(-1)
	f, err := input.Open(nil, path)
	require.NoError(t, err)
	f.Close()
	return debug.SetMemoryLimit(-1) - before
}

// loadProfile reads a whole profile of any format into memory.
func loadProfile(e *verb.Env, path string) (p *profile.Profile, err error) {
	err = e.WithFile(path, func(f *input.File, k kind.Kind) error {
		return verb.Dispatch(e, "merge", k, func(k kind.CanLoad) error {
			l, err := k.Load(f)
			if err == nil {
				p = l.Profile
			}
			return err
		}, nil)
	})
	return p, err
}
