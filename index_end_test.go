package afdo_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// openDistant opens a file through an io.ReaderAt and trusts its index.
func openDistant(data []byte, o ...afdo.Option) (*indexedReader, error) {
	r, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)), append(o, afdo.TrustIndex())...)
	return newIndexedReader(r, data), err
}

// unitsOneByOne reads the units of some paths.
func unitsOneByOne(r *afdo.Reader, paths []naive.Unit) (units []naive.Unit, err error) {
	for _, want := range paths {
		u, err := r.Unit(want.Path)
		if err != nil {
			return nil, err
		}
		unit, err := readUnit(u)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}

// A file that is read from its end has the same units as one in memory, and a Reader that is asked
// for all of it the same answers.
func TestDistant(t *testing.T) {
	for _, compact := range []bool{false, true} {
		small, _ := smallIndexed(t, compact)
		for _, data := range [][]byte{small, reindex(t, gen.Big(300, compact), fullIndex())} {
			truth, err := naive.Decode(data)
			require.NoError(t, err)
			r, err := openDistant(data)
			require.NoError(t, err)
			got, err := unitsOneByOne(r.Reader, comparable(truth).Units)
			require.NoError(t, err)
			require.Equal(t, comparable(truth).Units, got)
			all, err := read(r.Reader)
			require.NoError(t, err)
			require.Equal(t, comparable(truth), all)
			require.Zero(t, newQuestions(truth).ask(t, r, nil))
		}
	}
}

// A flipped bit of a file that is read from its end is an error, or changes nothing that is read.
func TestDistantBitFlips(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		want := comparable(truth).Units
		noticed := 0
		for i := range data {
			for bit := range 8 {
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
		require.Greater(t, noticed, len(data))
	}
}

// Lies in the end of an index and in its runs, with all checksums of pages right, do no more than
// that: nothing panics, and lookups come back.
func TestDistantLies(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		from, to := indexSection(truth)
		for i := from; i < to-4; i++ {
			for bit := range 8 {
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
				_, _ = read(r.Reader)
			}
		}
	}
}

// An index that was carried over into another file is found out where what was read is not what it
// is of.
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
		got, err := unitsOneByOne(r.Reader, comparable(now).Units)
		if err != nil {
			require.True(t, errors.Is(err, afdo.ErrChecksum) || errors.Is(err, afdo.ErrHeader), "%s: %v", name, err)
			continue
		}
		require.Equal(t, comparable(now).Units, got, name)
	}
}
