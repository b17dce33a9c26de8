package index_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-afdo/afdo/profile/index"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// openDistant opens data through an io.ReaderAt, as a remote file, and trusts its index.
func openDistant(data []byte, o ...afdo.Option) (*indexedReader, error) {
	r, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)), append(o, afdo.TrustIndex())...)
	return newIndexedReader(r, data), err
}

// unitsOneByOne returns the units with the given paths, each read by a lookup of its own.
func unitsOneByOne(r *afdo.Reader, paths []naive.Unit) (units []naive.Unit, err error) {
	for _, want := range paths {
		u, err := r.Unit(want.Path)
		if err != nil {
			return nil, err
		}
		unit, err := readertest.Unit(u)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}

// A file that is read through an io.ReaderAt from its end has the same units as one in memory, and
// gives the same answers to all questions.
func TestDistant(t *testing.T) {
	for _, compact := range []bool{false, true} {
		small, _ := smallIndexed(t, compact)
		for _, data := range [][]byte{small, readertest.Reindex(t, gen.Big(testenv.Rounds(100, 300), compact), fullIndex())} {
			truth, err := naive.Decode(data)
			require.NoError(t, err)
			r, err := openDistant(data)
			require.NoError(t, err)
			got, err := unitsOneByOne(r.Reader, readertest.Comparable(truth).Units)
			require.NoError(t, err)
			require.Equal(t, readertest.Comparable(truth).Units, got)
			all, err := readertest.File(r.Reader)
			require.NoError(t, err)
			require.Equal(t, readertest.Comparable(truth), all)
			require.Zero(t, newQuestions(truth).ask(t, r, nil))
		}
	}
}

// In a file that is read from its end, flipping any bit leads to an error or to the same answers.
func TestDistantBitFlips(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		want := readertest.Comparable(truth).Units
		noticed := 0
		for i := range data {
			for bit := range 8 {
				if bit != i%8 && !testenv.Sweep() { // one of the bits, else
					continue
				}
				bad := slices.Clone(data)
				bad[i] ^= 1 << bit
				r, err := openDistant(bad)
				var got []naive.Unit
				if err == nil {
					got, err = unitsOneByOne(r.Reader, want)
				}
				if err != nil {
					noticed++
					continue
				}
				require.Equal(t, want, got, "byte %d bit %d", i, bit)
			}
		}
		require.Greater(t, noticed, len(data)*testenv.Rounds(1, 8)/8)
	}
}

// Wrong data in the end block and the runs of an index, with correct page checksums, cause no panic
// and no endless lookup.
func TestDistantLies(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		from, to := indexSection(truth)
		for i := from; i < to-4; i++ {
			for bit := range 8 {
				if bit != i%8 && !testenv.Sweep() { // one of the bits, else
					continue
				}
				bad := slices.Clone(data)
				bad[i] ^= 1 << bit
				fixPages(bad[from:to])
				r, err := openDistant(bad)
				if err != nil {
					continue
				}
				for _, u := range truth.Units {
					_, _ = unitsOneByOne(r.Reader, []naive.Unit{u})
				}
				_, _ = readertest.File(r.Reader)
			}
		}
	}
}

// An index that was copied from another file leads to an error where the data that was read does
// not match it.
func TestDistantStale(t *testing.T) {
	data, truth := smallIndexed(t, true)
	last := len(truth.Sections) - 1
	for name, edit := range map[string]func(l *gen.Layout){
		"a section is longer": func(l *gen.Layout) { l.Sections[2].Data = append(l.Sections[2].Data, 0) },
		"a section came":      func(l *gen.Layout) { l.Sections = slices.Insert(l.Sections, last, gen.Section{Type: 0x33}) },
		"a section came last": func(l *gen.Layout) { l.Add(gen.Section{Type: 0x33}) },
	} {
		l := layoutOf(truth, data)
		edit(l)
		changed := l.Bytes()
		now, err := naive.Decode(changed)
		require.NoError(t, err, name)
		r, err := openDistant(changed)
		require.NoError(t, err, name)
		got, err := unitsOneByOne(r.Reader, readertest.Comparable(now).Units)
		if err != nil {
			require.True(t, errors.Is(err, afdo.ErrChecksum) || errors.Is(err, afdo.ErrHeader), "%s: %v", name, err)
			continue
		}
		require.Equal(t, readertest.Comparable(now).Units, got, name)
	}
}

// If another file of the same size is written over a mapped file, lookups that only read the index
// notice it, although all pages have correct checksums.
func TestOverwrittenIndexUnderMap(t *testing.T) {
	write := func(fingerprint uint64) []byte {
		return readertest.Reindex(t, gen.Big(300, true), &index.Options{
			FingerprintScheme: "x", Fingerprint: func(*afdo.Unit) (uint64, error) { return fingerprint, nil },
		})
	}
	before, after := write(1), write(2)
	require.Len(t, after, len(before))
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, before, 0o666))
	mapped, err := afdo.Open(path, afdo.TrustIndex())
	require.NoError(t, err)
	defer mapped.Close()
	r := newIndexedReader(mapped, nil)
	u, err := r.Unit(gen.BigPath(200))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, after, 0o666))
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
	_, err = r.fingerprint(u)
	require.ErrorIs(t, err, afdo.ErrChanged)
	_, err = r.info()
	require.ErrorIs(t, err, afdo.ErrChanged)
	_, err = found(r.program.Named("nobody"))
	require.ErrorIs(t, err, afdo.ErrChanged)
}
