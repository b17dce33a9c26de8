package sampleprof

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// seedFiles returns the files of [seeds], which it makes once.
var seedFiles map[string][]byte

// seeds returns small files of every kind and layout, by name. Tests must not change them.
func seeds(t testing.TB) map[string][]byte {
	if seedFiles == nil {
		seedFiles = makeSeeds(t)
	}
	return seedFiles
}

func makeSeeds(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for name, s := range shapes {
		p := randomProfile(rand.New(rand.NewPCG(5, uint64(len(name)))), s)
		p.SymbolList = []string{"one", "two"}
		for layout, l := range layouts {
			if !s.contexts || !l.options.SplitLayout {
				files[name+", "+layout] = extBinary(t, p, l.options)
			}
		}
		files[name+", in trees"] = inTrees(t, p, WriteOptions{SplitLayout: !s.contexts}, 104)
		if !s.contexts && !s.probes {
			files[name+", older"] = binaryOf(t, p)
		}
	}
	return files
}

// requireFormatError checks that an error about a file has one of the types that the package
// documents.
func requireFormatError(t *testing.T, err error) {
	t.Helper()
	var format *afdo.FormatError
	var version *afdo.VersionError
	if errors.As(err, &version) {
		return
	}
	require.ErrorAs(t, err, &format)
	require.NotEmpty(t, format.Detail)
	if format.Err == afdo.ErrLimit {
		return
	}
	require.ErrorIs(t, err, afdo.ErrMalformed)
}

// read reads all functions of a file into a profile.
func read(data []byte) (*Profile, error) {
	r, err := OpenBytes(data)
	if err != nil {
		return nil, err
	}
	if _, err := r.Summary(); err != nil && !errors.Is(err, afdo.ErrNotFound) {
		return nil, err
	}
	return Read(r)
}

func FuzzSampleProfile(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		requireLikeNaive(t, data)
	})
}

// requireLikeNaive compares the functions that a Reader finds in a file with those that the naive
// decoder finds.
func requireLikeNaive(t *testing.T, data []byte) {
	t.Helper()
	r, err := OpenBytes(data)
	if err != nil {
		requireFormatError(t, err)
		_, slow := naiveText(data)
		require.Error(t, slow, "%v", err)
		return
	}
	want, slow := naiveText(data)
	p, err := Read(r)
	if err != nil {
		requireFormatError(t, err)
		if !errors.Is(err, afdo.ErrLimit) {
			require.Error(t, slow, "%v", err)
		}
		return
	}
	require.NoError(t, slow)
	var text strings.Builder
	if _, err := WriteText(&text, p); err != nil {
		require.ErrorIs(t, err, afdo.ErrUnrepresentable)
		return
	}
	require.Equal(t, want, text.String())
	requireLookups(t, r, p)
	requireRoundTrip(t, p, want)
	requireSlice(t, r, want)
}

// requireSlice takes two slices of a file. The slice of all names must equal the whole profile,
// unless the function offsets are wrong. The slice of no name must be empty.
func requireSlice(t *testing.T, r *Reader, want string) {
	t.Helper()
	whole, err := r.Slice(func(string) bool { return true })
	switch {
	case errors.Is(err, ErrHashed), errors.Is(err, afdo.ErrNotFound): // MD5s, or no summary
		return
	case err != nil:
		requireFormatError(t, err)
		return
	}
	nothing, err := r.Slice(func(string) bool { return false })
	require.NoError(t, err)
	require.Zero(t, nothing.NumFunctions())
	for _, s := range []*Slice{whole, nothing} {
		var file, again bytes.Buffer
		require.NoError(t, s.Write(&file))
		require.NoError(t, s.Write(&again))
		require.True(t, bytes.Equal(file.Bytes(), again.Bytes()))
		q, err := OpenBytes(file.Bytes())
		require.NoError(t, err)
		before, err := r.Summary()
		require.NoError(t, err)
		after, err := q.Summary()
		require.NoError(t, err)
		require.Equal(t, before, after)
		p, err := Read(q)
		require.NoError(t, err)
		if s == whole && r.checkAllOffsets() == nil {
			require.Equal(t, want, textOf(t, p))
		}
	}
}

// requireLookups looks up each function of a profile in its file and compares the two. If the
// function offsets of the file are wrong, a lookup may return an error or find nothing.
func requireLookups(t *testing.T, r *Reader, p *Profile) {
	t.Helper()
	for f := range p.Functions() {
		name := p.Name(f.Name)
		if name.Hashed || p.ContextSensitive {
			continue
		}
		g, err := r.Function(name.Text)
		if errors.Is(err, afdo.ErrNotFound) || errors.Is(err, afdo.ErrMalformed) {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, name, r.Name(g.Name))
	}
}

// requireRoundTrip writes a profile in each format and reads it again. The text of the result must
// be want.
func requireRoundTrip(t *testing.T, p *Profile, want string) {
	t.Helper()
	for _, l := range []WriteOptions{{}, {Compress: true}, {SplitLayout: true}} {
		if p.ContextSensitive && l.SplitLayout {
			continue
		}
		q := decoded(t, extBinary(t, p, l))
		require.Equal(t, want, textOf(t, q))
		require.Equal(t, kindOf(p), kindOf(q))
	}
}

func kindOf(p *Profile) Profile {
	return Profile{ContextSensitive: p.ContextSensitive, FS: p.FS, Partial: p.Partial, PreInlined: p.PreInlined, Probes: p.Probes}
}

func FuzzSampleText(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	for _, bad := range badTexts {
		f.Add([]byte(bad.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 {
			return
		}
		p, err := ParseTextBytes(data)
		if err != nil {
			var syntax *afdo.FormatError
			require.ErrorAs(t, err, &syntax)
			require.GreaterOrEqual(t, bytes.Count(data, []byte("\n"))+1, syntax.Line)
			require.Positive(t, syntax.Column)
			return
		}
		require.True(t, isText(data), "%q", data)
		require.NotZero(t, p.NumFunctions())
		var text strings.Builder
		if _, err := WriteText(&text, p); err != nil {
			require.ErrorIs(t, err, afdo.ErrUnrepresentable)
			return
		}
		q := decoded(t, extBinary(t, p, WriteOptions{}))
		require.Equal(t, text.String(), textOf(t, q))
	})
}
