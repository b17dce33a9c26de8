package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/profile"
)

func TestRecognise(t *testing.T) {
	for _, c := range []struct {
		head string
		want format
		err  string
	}{
		{head: "gcov\x00\x00\x00\x04", want: formatV4},
		{head: "gcov", want: formatV4}, // cut, which is the reader's business
		{head: "adcg\x03\x00\x00\x00\x00\x00\x00\x00", want: formatV3},
		{head: "adcg\x02\x00\x00\x00\x00\x00\x00\x00", want: formatV2},
		{head: "gcda\x00\x00\x00\x03\x00\x00\x00\x00", want: formatV3},
		{head: "gcda\x00\x00\x00\x02\x00\x00\x00\x00", want: formatV2},
		{head: "filenames = {", want: formatText},
		{head: " \t\r\n\v\ffilenames\n= {", want: formatText},
		{head: "extension_2={}", want: formatText},
		{head: "\"main\":0(1:0:0) = {}", want: formatText},
		{head: strings.Repeat("\n", sniffLen), want: formatText},

		{head: "", err: "not a profile: it is empty"},
		{head: " \n", err: "not a profile: it is empty"},
		{head: "gco", err: `not a profile: it begins with "gco"`},
		{head: "main:12:3\n 1: 2", err: `not a profile: it begins with "main:12:3\n 1: 2"`},
		{head: "filenames", err: `not a profile: it begins with "filenames"`},
		{head: "= {", err: `not a profile: it begins with "= {"`},
		{head: "adcg*22B\x01\x02\x03\x04", err: "not a profile: it is a .gcda file of gcc --coverage or -fprofile-generate"},
		{head: "adcg\x01\x00\x00\x00\x00\x00\x00\x00", err: "gcov: unsupported profile version: this is a version 1 profile, not version 2 or 3"},
		{head: "adcg\x03\x00\x00", err: "gcov: at offset 7: truncated section: the header is cut"},
		{head: "\x1f\x8b\x08\x00", err: "not a profile: it is compressed with gzip"},
		{head: "PERFILE2....", err: "not a profile: it is a recording of perf, from which create_gcov makes profiles"},
		{head: "\x7fELF\x02\x01", err: "not a profile: it is an ELF file"},
	} {
		got, err := recognise([]byte(c.head))
		assert.Equal(t, c.want, got, "%q", c.head)
		if c.err == "" {
			assert.NoError(t, err, "%q", c.head)
		} else {
			assert.EqualError(t, err, c.err, "%q", c.head)
		}
	}
}

// forms is the example in all formats, and what shows them is called.
var forms = []struct {
	extension string
	format    format
	order     string
}{
	{".txt", formatText, ""},
	{".afdo", formatV4, ""},
	{".compact.afdo", formatV4Compact, ""},
	{".v3.afdo", formatV3, "little-endian"},
	{".v2.afdo", formatV2, "little-endian"},
}

// Whatever the format, and whether a file can be mapped or comes through a pipe, the same is read.
func TestOpenInput(t *testing.T) {
	for _, form := range forms {
		path := example(form.extension)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var profiles []*profile.Profile
		for name, open := range map[string]func() (*input, error){
			path:             func() (*input, error) { return new(env).openInput(path) },
			"standard input": func() (*input, error) { return (&env{in: strings.NewReader(string(data))}).openInput("-") },
			"a slow pipe": func() (*input, error) {
				return openStream("a slow pipe", iotest.OneByteReader(strings.NewReader(string(data))), nil)
			},
		} {
			in, err := open()
			require.NoError(t, err, "%s %s", path, name)
			assert.Equal(t, name, in.name)
			assert.Equal(t, form.format, in.format, path)
			assert.Equal(t, form.order, in.order, path)
			p, err := in.loadProfile()
			require.NoError(t, err, path)
			assert.EqualValues(t, len(data), in.size, path)
			profiles = append(profiles, p)

			r, err := in.openReader()
			require.NoError(t, err, path)
			again, err := profile.Read(r)
			require.NoError(t, err, path)
			profiles = append(profiles, again)
			in.close()
		}
		for _, p := range profiles[1:] {
			assert.NoError(t, profile.Compare(profiles[0], p), path)
		}
	}
}

// faultyMain returns the example with nothing but 0xff in the samples of main.
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

// Of a version 4 file, only what is looked up is read.
func TestOpenInputIsLazy(t *testing.T) {
	path := faultyMain(t)
	assert.Equal(t, must(t, "lookup", example(".afdo"), "--unit", "cart.cc"), must(t, "lookup", path, "--unit", "cart.cc"))
	for _, args := range [][]string{{"lookup", path, "--unit", "main.cc"}, {"show", path}, {"units", path}} {
		r := afdoRun(args...)
		assert.Equal(t, statusFault, r.status, "%q", args)
		assert.Empty(t, r.out)
		assert.Regexp(t, `^afdo: \S*faulty.afdo: unit "src/main.cc", symbol "main": section \d+ \(symbol info\) at offset \d+: bad count: `, r.err)
	}
}

func TestOpenInputErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	data, err := os.ReadFile(example(".afdo"))
	require.NoError(t, err)
	e := &env{in: iotest.ErrReader(broken)}
	_, err = e.openInput("-")
	assert.EqualError(t, err, "standard input: broken pipe")
	assert.ErrorIs(t, err, broken)

	e.in = iotest.TimeoutReader(iotest.HalfReader(strings.NewReader(strings.Repeat(string(data), 4))))
	_, err = e.openInput("-")
	assert.ErrorIs(t, err, iotest.ErrTimeout)

	cut := writeFile(t, "cut.afdo", data[:40])
	_, err = e.openInput(cut)
	assert.ErrorIs(t, err, afdo.ErrHeader)
	assert.ErrorContains(t, err, cut+": ")

	later := writeFile(t, "later.afdo", []byte("gcov\x00\x00\x00\x05\x00\x00\x00\x00"))
	_, err = e.openInput(later)
	assert.ErrorIs(t, err, afdo.ErrVersion)

	text := writeFile(t, "text", []byte("filenames = { 7 }"))
	_, err = e.loadProfile(text)
	assert.ErrorContains(t, err, text+": textfmt: line 1, column 15: ")

	_, err = e.loadProfile(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What is not a file that can be mapped is read into memory, whatever its name.
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
