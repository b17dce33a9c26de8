package anyprof_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/instrprof"
	"github.com/go-afdo/afdo/format/llvm/memprof"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

var ctx = context.Background()

// openReplaced opens a file with OpenFile and replaces it before calling Profile, to check that the
// path is opened only once. It does not do so for version 4, because mapping a file opens it again.
func openReplaced(t *testing.T, ctx context.Context, data []byte, o ...anyprof.Option) (*anyprof.Profile, error) {
	path := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	f, err := anyprof.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if f.Format() != anyprof.V4 {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path, []byte("another file"), 0o666))
	}
	return f.Profile(o...)
}

// everything returns the contents of a profile as text, which does not depend on the format of a
// kind of profile.
func everything(t *testing.T, p *anyprof.Profile) string {
	t.Helper()
	var text bytes.Buffer
	var err error
	switch m := p.Model().(type) {
	case *afdo.Reader, *profile.Profile:
		whole, gcovErr := p.GCOV()
		require.NoError(t, gcovErr)
		whole.Summary = nil
		err = textfmt.PrintProfile(&text, whole)
	case *sampleprof.Reader:
		whole, readErr := sampleprof.Read(m)
		require.NoError(t, readErr)
		_, err = sampleprof.WriteText(&text, whole)
	case *sampleprof.Profile:
		_, err = sampleprof.WriteText(&text, m)
	case *instrprof.Reader:
		if p.Format().Memory() {
			section, memErr := anyprof.Memory(m)
			require.NoError(t, memErr)
			err = memprof.WriteYAML(&text, section)
			break
		}
		whole := new(instrprof.Profile)
		require.NoError(t, whole.AddIndexed(m, 1, nil))
		_, err = whole.WriteText(&text)
	case *instrprof.RawReader:
		whole := new(instrprof.Profile)
		require.NoError(t, whole.AddRaw(m, 1, nil))
		_, err = whole.WriteText(&text)
	case *instrprof.Profile:
		_, err = m.WriteText(&text)
	case *memprof.Profile:
		err = memprof.WriteYAML(&text, m)
	}
	require.NoError(t, err)
	return text.String()
}

// ways returns all functions that open a profile, each with data as the file, by name.
func ways(t *testing.T, data []byte) map[string]func(context.Context, ...anyprof.Option) (*anyprof.Profile, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "profile")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	require.NoError(t, os.WriteFile(path+".gz", packed.Bytes(), 0o666))
	return map[string]func(context.Context, ...anyprof.Option) (*anyprof.Profile, error){
		"path": func(ctx context.Context, o ...anyprof.Option) (*anyprof.Profile, error) {
			return anyprof.Open(ctx, path, o...)
		},
		"gzip": func(ctx context.Context, o ...anyprof.Option) (*anyprof.Profile, error) {
			return anyprof.Open(ctx, path+".gz", o...)
		},
		"replaced": func(ctx context.Context, o ...anyprof.Option) (*anyprof.Profile, error) {
			return openReplaced(t, ctx, data, o...)
		},
		"stream": func(ctx context.Context, o ...anyprof.Option) (*anyprof.Profile, error) {
			return anyprof.Read(ctx, struct{ io.Reader }{bytes.NewReader(data)}, o...)
		},
		"pieces": func(ctx context.Context, o ...anyprof.Option) (*anyprof.Profile, error) {
			return anyprof.OpenAt(ctx, bytes.NewReader(data), int64(len(data)), o...)
		},
	}
}

// opened opens a file with each of the functions of ways, and checks that all give the same
// contents, which it returns.
func opened(t *testing.T, data []byte, want anyprof.Format) string {
	t.Helper()
	var all []string
	for way, open := range ways(t, data) {
		p, err := open(ctx)
		require.NoError(t, err, way)
		assert.Equal(t, want, p.Format(), way)
		assert.EqualValues(t, len(data), p.Size(), way)
		all = append(all, everything(t, p))
		require.NoError(t, p.Close())
	}
	for _, other := range all[1:] {
		require.Equal(t, all[0], other)
	}
	require.NotEmpty(t, all[0])
	return all[0]
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return data
}

// TestGCOV opens a profile in all versions of GCOV and as text. All must have the same contents,
// except that version 2 has no files.
func TestGCOV(t *testing.T) {
	want := opened(t, read(t, "../../testdata/shop.txt"), anyprof.Text)
	assert.Equal(t, want, opened(t, read(t, "../../testdata/shop.afdo"), anyprof.V4))
	assert.Equal(t, want, opened(t, read(t, "../../testdata/shop.compact.afdo"), anyprof.V4Compact))
	assert.Equal(t, want, opened(t, read(t, "../../testdata/shop.v3.afdo"), anyprof.V3))
	assert.NotEmpty(t, opened(t, read(t, "../../testdata/shop.v2.afdo"), anyprof.V2))
}

// For profiles with many units and functions, too, a file that is read lazily has the same contents
// as one that is read whole.
func TestGCOVSynthetic(t *testing.T) {
	p := synth.New(synth.Options{Units: 8, Functions: testenv.Rounds(60, 300), Seed: 1})
	var v4, v3, text bytes.Buffer
	require.NoError(t, builder.Write(&v4, p, builder.Options{Compact: true}))
	_, err := gcov.Write(&v3, p, gcov.WriteOptions{Version: 3})
	require.NoError(t, err)
	require.NoError(t, textfmt.PrintProfile(&text, p))
	want := opened(t, v4.Bytes(), anyprof.V4Compact)
	assert.Equal(t, want, opened(t, text.Bytes(), anyprof.Text))
	assert.NotEmpty(t, opened(t, v3.Bytes(), anyprof.V3)) // in which symbols of one name are one

	a, err := anyprof.Read(ctx, bytes.NewReader(v4.Bytes()))
	require.NoError(t, err)
	whole, err := a.GCOV()
	require.NoError(t, err)
	assert.NoError(t, profile.Compare(p, whole))
}

// All formats of LLVM's sample profiles give the same contents.
func TestSample(t *testing.T) {
	p := sampleText(t)
	var ext, binary, text, hashed bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&ext, p, sampleprof.WriteOptions{}))
	require.NoError(t, sampleprof.WriteExtBinary(&hashed, p, sampleprof.WriteOptions{MD5: true}))
	_, err := sampleprof.WriteBinary(&binary, p)
	require.NoError(t, err)
	_, err = sampleprof.WriteText(&text, p)
	require.NoError(t, err)
	want := opened(t, text.Bytes(), anyprof.SampleText)
	assert.Equal(t, want, opened(t, ext.Bytes(), anyprof.ExtBinary))
	assert.Equal(t, want, opened(t, binary.Bytes(), anyprof.Binary))
	assert.NotEmpty(t, opened(t, hashed.Bytes(), anyprof.ExtBinary))
}

func sampleText(t *testing.T) *sampleprof.Profile {
	p, err := sampleprof.ParseTextBytes([]byte("main:100:3\n 1: 10\n 2.1: 20 f:15 g:5\n 3: callee:60\n  1: 40\n  2: deep:20\n   1: 20 f:2\n 4: 10\nf:17:17\n 0: 17\n"))
	require.NoError(t, err)
	return p
}

// Both forms of a context-sensitive profile have the same contents.
func TestContexts(t *testing.T) {
	text := "[main:3.1 @ f:2 @ g]:7:2\n 1: 7\n[main]:5:1\n 1: 5\n[g]:9:1\n 1: 9\n"
	p, err := sampleprof.ParseTextBytes([]byte(text))
	require.NoError(t, err)
	var ext bytes.Buffer
	require.NoError(t, sampleprof.WriteExtBinary(&ext, p, sampleprof.WriteOptions{}))
	want := opened(t, []byte(text), anyprof.SampleText)
	assert.Equal(t, want, opened(t, ext.Bytes(), anyprof.ExtBinary))
}

// The indexed file has the same contents as the raw file from which it was made, and the text the
// same as both.
func TestInstr(t *testing.T) {
	zoo := "../llvm/instrprof/testdata/zoo"
	for _, name := range []string{"ir", "ir-cpp", "frontend", "block-coverage", "loop-entries"} {
		want := opened(t, read(t, zoo, name+".proftext"), anyprof.ProfText)
		assert.Equal(t, want, opened(t, read(t, zoo, name+".profdata"), anyprof.ProfData), name)
		assert.NotEmpty(t, opened(t, read(t, zoo, name+".profraw"), anyprof.ProfRaw), name)
	}
}

// Contradictory records of a function are an error, unless the option DropMismatches is set.
func TestMismatch(t *testing.T) {
	text := []byte("f\n1\n2\n1\n2\n\nf\n1\n1\n5\n")
	for way, open := range ways(t, text) {
		_, err := open(ctx)
		assert.ErrorIs(t, err, instrprof.ErrMismatch, way)
		dropped := 0
		p, err := open(ctx, anyprof.DropMismatches(func(error) { dropped++ }))
		require.NoError(t, err, way)
		assert.Equal(t, 1, dropped, way)
		assert.Equal(t, 1, p.Model().(*instrprof.Profile).NumRecords(), way)
	}
}

func memoryProfile(t *testing.T) *memprof.Profile {
	p, err := memprof.ParseYAML(strings.NewReader(`---
HeapProfileRecords:
  - GUID: main
    AllocSites:
      - Callstack:
          - { Function: leaf, LineOffset: 3, Column: 7, IsInlineFrame: true }
          - { Function: main, LineOffset: 9, Column: 1, IsInlineFrame: false }
        MemInfoBlock:
          AllocCount: 4
          TotalSize: 96
          TotalLifetime: 1
          TotalLifetimeAccessDensity: 1
    CallSites: []
`))
	require.NoError(t, err)
	return p
}

func TestMemory(t *testing.T) {
	p := memoryProfile(t)
	var yaml bytes.Buffer
	require.NoError(t, memprof.WriteYAML(&yaml, p))
	section := func(offset int64) ([]byte, error) { return p.Section(3, offset) }
	var indexed bytes.Buffer
	require.NoError(t, new(instrprof.Profile).WriteIndexed(&indexed, instrprof.IndexedOptions{MemProf: section}))
	want := opened(t, yaml.Bytes(), anyprof.MemProfYAML)
	assert.Equal(t, want, opened(t, indexed.Bytes(), anyprof.MemProf))
	for n := 120; n < indexed.Len(); n += 3 { // the magic and the offsets stay
		cut := bytes.Clone(indexed.Bytes())
		clear(cut[n:])
		for way, open := range ways(t, cut) {
			if p, err := open(ctx); err == nil {
				assert.NoError(t, p.Close(), way)
			}
		}
	}
}

// Only the formats of GCOV are read as a GCOV profile.
func TestNoGCOV(t *testing.T) {
	p, err := anyprof.Read(ctx, strings.NewReader("main:12:3\n 1: 2\n"))
	require.NoError(t, err)
	_, err = p.GCOV()
	assert.ErrorIs(t, err, afdo.ErrMagic)
}

// Opening a file ends with the context's error once the context is done.
func TestCancel(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	data := read(t, "../../testdata/shop.compact.afdo")
	for way, open := range ways(t, data) {
		_, err := open(done)
		assert.ErrorIs(t, err, context.Canceled, way)
	}
}

// Files that cannot be opened lead to an error that names their format.
func TestRefused(t *testing.T) {
	_, err := anyprof.Open(ctx, t.TempDir())
	assert.ErrorContains(t, err, "not a regular file")
	_, err = anyprof.Open(ctx, "no such file", nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = anyprof.Read(ctx, strings.NewReader("what is this?"))
	assert.ErrorIs(t, err, anyprof.ErrUnknown)
	_, err = anyprof.OpenAt(ctx, bytes.NewReader(nil), 0)
	assert.ErrorIs(t, err, anyprof.ErrUnknown)
	_, err = anyprof.OpenAt(ctx, bytes.NewReader(nil), -1)
	assert.ErrorIs(t, err, anyprof.ErrUnknown)
	failure := errors.New("a fault of the disk")
	_, err = anyprof.Read(ctx, io.MultiReader(strings.NewReader("gcov"), failingReader{failure}))
	assert.ErrorIs(t, err, failure)
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// FuzzAnyFormat: a truncated or damaged file leads to an error or to a result, but not to a panic.
func FuzzAnyFormat(f *testing.F) {
	for _, pattern := range []string{"../../testdata/shop.*", "../../testdata/corrupt/*", "../llvm/instrprof/testdata/zoo/ir.*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, path := range paths {
			data, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := anyprof.OpenAt(ctx, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		defer p.Close()
		if _, err := p.GCOV(); err != nil {
			return
		}
		require.NotZero(t, p.Format())
	})
}
