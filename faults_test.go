package afdo_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/profile/index"
)

// openCopy writes data to a file that the test may change, and opens it. It returns the path.
func openCopy(t *testing.T, data []byte, o ...afdo.Option) (*afdo.Reader, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.afdo")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	r, err := afdo.Open(path, o...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r, path
}

// If a mapped file is truncated, the call that reads beyond its new end returns an error. This
// holds both for a cut between two pages, where reading causes a memory fault, and for a cut within
// a page, where reading returns zeros.
func TestTruncatedUnderMap(t *testing.T) {
	data := gen.Big(2_000, true)
	for _, size := range []int64{0, 4096, int64(len(data)) / 2, int64(len(data)) - 10, int64(len(data)) - 1} {
		r, path := openCopy(t, data)
		u, err := r.Unit(gen.BigPath(1999)) // file names, before the cut
		require.NoError(t, err)
		require.NoError(t, os.Truncate(path, size))
		err = u.Load()
		var read *afdo.ReadError
		require.ErrorAs(t, err, &read, "cut to %d", size)
		require.ErrorIs(t, err, afdo.ErrChanged)
		_, err = r.Summary()
		require.ErrorIs(t, err, afdo.ErrChanged)
		_, err = r.Section(r.NumSections() - 1)
		require.ErrorIs(t, err, afdo.ErrChanged)
		require.NotErrorIs(t, err, afdo.ErrMalformed)
	}
}

// Reading a mapped file fails after another program has written to the file.
func TestOverwrittenUnderMap(t *testing.T) {
	data := gen.Big(100, false)
	r, path := openCopy(t, data)
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
	u, err := r.Unit(gen.BigPath(1))
	require.ErrorIs(t, err, afdo.ErrChanged)
	require.Nil(t, u)

	r, path = openCopy(t, data)
	u, err = r.Unit(gen.BigPath(1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte{0}, len(data)), 0o666))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	require.ErrorIs(t, u.Load(), afdo.ErrChanged)
}

// A Reader still reads the file that it opened after another file was renamed to its path.
func TestReplacedByRename(t *testing.T) {
	data := gen.Big(100, true)
	r, path := openCopy(t, data)
	require.NoError(t, os.WriteFile(path+".new", []byte("something else"), 0o666))
	require.NoError(t, os.Rename(path+".new", path))
	u, err := r.Unit(gen.BigPath(99))
	require.NoError(t, err)
	require.NoError(t, u.Load())
}

func TestOpenErrors(t *testing.T) {
	_, err := afdo.Open(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = afdo.Open(t.TempDir())
	require.Error(t, err)
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o666))
	_, err = afdo.Open(empty)
	require.ErrorIs(t, err, afdo.ErrMagic)
	_, err = afdo.OpenBytes(nil)
	require.ErrorIs(t, err, afdo.ErrMagic)
	_, err = afdo.NewReader(bytes.NewReader(nil), -1)
	require.Error(t, err)
	_, err = afdo.NewReader(bytes.NewReader(nil), 100)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestVersions(t *testing.T) {
	for head, want := range map[string]afdo.VersionError{
		"adcg\x02\x00\x00\x00": {Kind: "adcg", Version: 2},
		"adcg\x03\x00\x00\x00": {Kind: "adcg", Version: 3},
		"gcda\x00\x00\x00\x03": {Kind: "gcda", Version: 3},
		"gcov\x00\x00\x00\x05": {Kind: "gcov", Version: 5},
	} {
		_, err := afdo.OpenBytes([]byte(head + "\x00\x00\x00\x00"))
		var version *afdo.VersionError
		require.ErrorAs(t, err, &version)
		require.Equal(t, want, afdo.VersionError{Kind: version.Kind, Version: version.Version})
		require.ErrorIs(t, err, afdo.ErrVersion)
		require.NotErrorIs(t, err, afdo.ErrMalformed)
		require.ErrorContains(t, err, "version "+string(rune('0'+int(want.Version))))
	}
	_, err := afdo.OpenBytes([]byte("\x7fELF\x02\x01\x01\x00"))
	require.ErrorIs(t, err, afdo.ErrMagic)
	require.ErrorIs(t, err, afdo.ErrMalformed)
}

// The error of an invalid header says that the file may be in another dialect of version 4.
func TestDialect(t *testing.T) {
	_, err := afdo.OpenBytes(append([]byte("gcov\x00\x00\x00\x04"), bytes.Repeat([]byte{0x01}, 200)...))
	require.ErrorIs(t, err, afdo.ErrHeader)
	require.ErrorContains(t, err, "another dialect of version 4")
}

// A failingReaderAt fails for each read that includes a given offset or what follows.
type failingReaderAt struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("disk on fire")

func (f failingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

// An error of the io.ReaderAt is returned with the offset of the read.
func TestReadErrors(t *testing.T) {
	data := gen.Big(20, true)
	walked := false
	for from := range int64(len(data)) + 1 {
		r, err := afdo.NewReader(failingReaderAt{bytes.NewReader(data), from}, int64(len(data)))
		if err == nil {
			_, err = readertest.File(r)
		}
		if from == int64(len(data)) {
			require.NoError(t, err)
			walked = true
			continue
		}
		var failed *afdo.ReadError
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, errDisk)
		require.Greater(t, failed.Offset+int64(failed.Size), from)
	}
	require.True(t, walked)
}

// After a failed read, the same call can succeed later: the Reader does not keep the error.
func TestReadErrorsDoNotStick(t *testing.T) {
	data := gen.Big(2_000, false) // so large that it is not read whole
	source := &failingReaderAt{bytes.NewReader(data), int64(len(data))}
	r, err := afdo.NewReader(source, int64(len(data)))
	require.NoError(t, err)
	source.from = 0
	_, err = r.NumUnits()
	require.ErrorIs(t, err, errDisk)
	source.from = int64(len(data))
	u, err := r.Unit(gen.BigPath(3))
	require.NoError(t, err)
	source.from = 0
	require.ErrorIs(t, u.Load(), errDisk)
	source.from = int64(len(data))
	require.NoError(t, u.Load())
}

func TestClosed(t *testing.T) {
	for name, r := range readertest.Sources(t, gen.Big(10, true)) {
		u, err := r.Unit(gen.BigPath(1))
		require.NoError(t, err)
		s, err := u.Symbol(gen.BigName(1, 0))
		require.NoError(t, err)
		require.NoError(t, r.Close(), name)
		require.ErrorIs(t, r.Close(), afdo.ErrClosed)
		for what, err := range map[string]error{
			"summary":      second(r.Summary()),
			"section":      second(r.Section(0)),
			"units":        second(r.NumUnits()),
			"unit":         second(r.Unit(gen.BigPath(1))),
			"suffix":       second(r.UnitBySuffix("x")),
			"unit of":      second(r.UnitOf(1)),
			"symbol":       second(r.SymbolByID(1)),
			"unit symbol":  second(u.Symbol("x")),
			"unit symbols": second(u.NumSymbols()),
			"by id":        second(u.SymbolByID(1)),
			"load":         u.Load(),
			"info":         second(s.Info()),
		} {
			require.ErrorIs(t, err, afdo.ErrClosed, "%s of %s", what, name)
		}
		for _, err := range r.Units() {
			require.ErrorIs(t, err, afdo.ErrClosed)
		}
		for _, err := range r.Sections() {
			require.ErrorIs(t, err, afdo.ErrClosed)
		}
		_, err = r.SymbolsByID([]afdo.SymbolID{1})
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = r.Data(0)
		require.ErrorIs(t, err, afdo.ErrClosed)
		for _, err := range u.Clones("x") {
			require.ErrorIs(t, err, afdo.ErrClosed)
		}
		_, err = index.Read(r)
		require.ErrorIs(t, err, afdo.ErrClosed)
		for _, err := range index.NewProgram(r).Named("x") {
			require.ErrorIs(t, err, afdo.ErrClosed)
		}
		require.Equal(t, gen.BigName(1, 0), s.Name(), "what was handed out stays valid")
	}
}

func second[T any](_ T, err error) error { return err }

// Many goroutines use one Reader and its Units while it is closed. Each call returns the right
// result or ErrClosed. The race detector finds unsynchronised accesses.
func TestConcurrentClose(t *testing.T) {
	data := gen.Big(200, true)
	for range 10 {
		for name, r := range readertest.Sources(t, data) {
			shared, err := r.Unit(gen.BigPath(0))
			require.NoError(t, err)
			var wg sync.WaitGroup
			for g := range 8 {
				wg.Go(func() {
					for i := range 200 {
						u, err := r.Unit(gen.BigPath((i*7 + g) % 200))
						if err == nil {
							err = walkUnit(u)
						}
						if err == nil {
							err = walkUnit(shared)
						}
						if err != nil && !errors.Is(err, afdo.ErrClosed) {
							t.Errorf("%s: %v", name, err)
						}
					}
				})
			}
			wg.Go(func() { _ = r.Close() })
			wg.Wait()
		}
	}
}

func walkUnit(u *afdo.Unit) error {
	if err := u.Load(); err != nil {
		return err
	}
	_, err := readertest.Unit(u)
	return err
}
