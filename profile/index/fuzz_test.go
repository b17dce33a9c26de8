package index_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
)

// FuzzIndex replaces the contents of an index by any bytes, with correct checksums. Answers contain
// no wrong symbols, and if symbols are missing, Check reports the index.
func FuzzIndex(f *testing.F) {
	type file struct {
		data  []byte
		truth *naive.File
		q     *questions
	}
	var files []file
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(f, compact)
		files = append(files, file{data, truth, newQuestions(truth)})
		last := layoutOf(truth, data).Sections[len(truth.Sections)-1]
		f.Add(last.Data, compact)
	}
	f.Fuzz(func(t *testing.T, content []byte, compact bool) {
		if len(content) < 5 {
			return
		}
		of := files[0]
		if compact {
			of = files[1]
		}
		l := layoutOf(of.truth, of.data)
		last := &l.Sections[len(l.Sections)-1]
		last.Data = bytes.Clone(content)
		of.q.askLying(t, l)
	})
}

// askLying asks questions about a file whose index may have any contents with correct checksums. It
// reports whether symbols are missing in answers.
func (q *questions) askLying(t *testing.T, l *gen.Layout) (leavesOut bool) {
	t.Helper()
	fixSection(&l.Sections[len(l.Sections)-1])
	data := l.Bytes()
	for _, o := range []afdo.Option{afdo.MaxNameBytes(afdo.DefaultMaxNameBytes), afdo.SkipChecksums()} {
		r, err := openIndexed(data, o)
		require.NoError(t, err)
		if q.subset(t, r) > 0 {
			faults, _ := readertest.CheckFile(r.data)
			require.NotEmpty(t, faults)
			leavesOut = true
		}
	}
	return leavesOut
}

// FuzzSectionTable replaces the header and the section table of a file with an index, which finds
// sections without reading the whole table. If reading succeeds, the result is that of the original
// file or, if the index is not found any more, that of the changed file.
func FuzzSectionTable(f *testing.F) {
	type file struct {
		head, rest []byte
		units      []naive.Unit
	}
	var files []file
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(f, compact)
		first := truth.Sections[0].Offset
		files = append(files, file{data[:first], data[first:], readertest.Comparable(truth).Units})
		f.Add(data[:first], compact)
	}
	f.Fuzz(func(t *testing.T, head []byte, compact bool) {
		of := files[0]
		if compact {
			of = files[1]
		}
		data := append(bytes.Clone(head), of.rest...)
		for _, o := range []afdo.Option{afdo.RequireChecksums(), afdo.MaxNameBytes(afdo.DefaultMaxNameBytes)} {
			r, err := openIndexed(data, o)
			if err != nil {
				continue
			}
			got, err := readertest.Units(r.Reader)
			if err != nil || reflect.DeepEqual(of.units, got) {
				continue
			}
			_, err = r.info()
			require.Error(t, err)
			all, err := readertest.File(r.Reader)
			if err != nil { // of what is not a unit
				continue
			}
			now, err := naive.Decode(data)
			require.NoError(t, err)
			require.Equal(t, readertest.Comparable(now), all)
			require.Equal(t, all.Units, got)
		}
	})
}

// FuzzReindex adds an index to any file without errors. Answers are the same with and without it.
func FuzzReindex(f *testing.F) {
	for _, compact := range []bool{false, true} {
		data, _ := smallIndexed(f, compact)
		f.Add(data)
		f.Add(gen.RFCExample(compact))
		f.Add(gen.Big(3, compact))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, err := openIndexed(data, afdo.SkipChecksums(), plainReader)
		if err != nil {
			return
		}
		if faults, _ := readertest.CheckFile(plain.data); len(faults) > 0 {
			return
		}
		var b bytes.Buffer
		require.NoError(t, plain.reindex(&b, fullIndex()))
		indexed, err := openIndexed(b.Bytes(), afdo.RequireChecksums())
		require.NoError(t, err)
		faults, _ := readertest.CheckFile(indexed.data)
		require.Empty(t, faults)
		for u, err := range plain.Units() {
			require.NoError(t, err)
			v, err := indexed.Unit(u.Path())
			require.NoError(t, err)
			require.Equal(t, u.Index(), v.Index())
			same(t, plain.elsewhere(u), indexed.elsewhere(v))
			for s, err := range u.Symbols() {
				require.NoError(t, err)
				same(t, plain.program.Named(s.Name()), indexed.program.Named(s.Name()))
				same(t, plain.program.Clones(s.Name()), indexed.program.Clones(s.Name()))
				same(t, plain.program.Unqualified([]string{readertest.Unqualified(s.Name())}, readertest.Scheme, nil), indexed.program.Unqualified([]string{readertest.Unqualified(s.Name())}, readertest.Scheme, nil))
			}
		}
	})
}

// same checks that two iterations yield the same symbols and no error.
func same(t *testing.T, a, b func(func(afdo.Symbol, error) bool)) {
	t.Helper()
	want, err := found(a)
	require.NoError(t, err)
	got, err := found(b)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
