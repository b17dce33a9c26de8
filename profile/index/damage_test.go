package index_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// smallIndexed returns a small file with an index that has all kinds of blocks. The file has
// symbols of the same name, clones, unqualified names, inlining across units, and an empty unit.
func smallIndexed(t testing.TB, compact bool) (data []byte, truth *naive.File) {
	f := &naive.File{Units: []naive.Unit{
		{Path: "src/a.c", Start: 3, End: 7, Symbols: []naive.Symbol{
			{ID: 3, Name: "f", HasInfo: true, Head: 7, Locations: []naive.Location{
				gen.Count(1, 0, 5), gen.Inlined(2, 1, 1, gen.Count(0, 0, 300), gen.Inlined(1, 0, 2, gen.Count(1, 0, 4))),
			}},
			{ID: 4, Name: "f.part.0", HasInfo: true, Timestamp: 9, Locations: []naive.Location{
				{Type: naive.CalledFn, Line: 4, Targets: []naive.Target{{Callee: 8, Count: 70000}}},
			}},
			{ID: 6, Name: "_Z4_runv"},
		}},
		{Path: "b.h", Start: 1, End: 3, Symbols: []naive.Symbol{
			{ID: 1, Name: "h_1", HasInfo: true, Head: 1, Locations: []naive.Location{gen.Count(0, 0, 1)}},
			{ID: 2, Name: "h_2"},
		}},
		{Path: "c.c", Start: 8, End: 10, Symbols: []naive.Symbol{
			{ID: 8, Name: "f", HasInfo: true, Head: 2, Locations: []naive.Location{gen.Inlined(5, 0, 2, gen.Count(3, 0, 1))}},
			{ID: 9, Name: "f.cold"},
		}},
		{Path: "", Start: 20, End: 20},
	}}
	f.Summary = f.Summarize()
	data = readertest.Reindex(t, gen.Encode(f, compact), fullIndex())
	truth, err := naive.Decode(data)
	require.NoError(t, err)
	return data, truth
}

// indexSection returns the range of the index in the file.
func indexSection(f *naive.File) (from, to int) {
	s := f.Sections[len(f.Sections)-1]
	return int(s.Offset), int(s.Offset + s.Size)
}

// fixPages sets the checksums of the pages of an index to those of their current contents.
func fixPages(section []byte) {
	for i := uint64(0); len(section) > 4; i++ {
		p := section[:min(1024, len(section))]
		d := xxhash.NewWithSeed(i)
		d.Write(p[:len(p)-4])
		binary.BigEndian.PutUint32(p[len(p)-4:], uint32(d.Sum64()))
		section = section[len(p):]
	}
}

// With checksums, damage in an index leads to an error or to correct answers. Without checksums,
// answers stay correct.
func TestIndexDamaged(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		q := newQuestions(truth)
		from, to := indexSection(truth)
		for i := from; i < to; i++ {
			if i > from+8 && i%7 != 0 && !testenv.Sweep() {
				continue
			}
			for _, mask := range []byte{1, 0x10, 0x80, 0xff}[:testenv.Rounds(1, 4)] {
				bad := slices.Clone(data)
				bad[i] ^= mask
				r, err := openIndexed(bad)
				require.NoError(t, err)
				failed := q.ask(t, r, afdo.ErrChecksum)
				gone := i < from+5 // it is no index then
				if gone && i > from || i == from && bad[i]&0x7f != 0x7f {
					require.Zero(t, failed)
				} else {
					require.NotZero(t, failed, "byte %d", i-from)
					faults, _ := readertest.CheckFile(r.data)
					require.True(t, readertest.Has(faults, afdo.ErrChecksum))
				}
				_, err = openIndexed(bad, afdo.RequireChecksums())
				require.ErrorIs(t, err, afdo.ErrChecksum)
				r, err = openIndexed(bad, afdo.SkipChecksums())
				require.NoError(t, err)
				require.Zero(t, q.ask(t, r, nil), "byte %d", i-from)
			}
		}
	}
}

// subset asks a Reader whose index is wrong all questions. It checks that all symbols in answers
// are correct, and returns the number of missing ones.
func (q *questions) subset(t testing.TB, r *indexedReader) (missing int) {
	t.Helper()
	ok := func(err error) bool {
		if err != nil {
			missing++
			require.True(t, errors.Is(err, afdo.ErrNotFound) || errors.Is(err, afdo.ErrChecksum) || errors.Is(err, afdo.ErrIndex), "%v", err)
		}
		return err == nil
	}
	part := func(want []string, symbols func(func(afdo.Symbol, error) bool)) {
		got, err := found(symbols)
		if !ok(err) {
			return
		}
		for _, s := range got {
			if !slices.Contains(want, s) {
				require.Contains(t, want, s)
			}
		}
		if len(got) < len(want) {
			missing++
		}
	}
	for id, path := range q.owners {
		u, err := r.UnitOf(afdo.SymbolID(id))
		if ok(err) {
			if path != u.Path() {
				require.Equal(t, path, u.Path())
			}
		}
	}
	for _, name := range q.all(q.cut) {
		part(q.named[name], r.program.Named(name))
		part(q.cut[name], r.program.Clones(name))
		part(q.unqualified[name], r.program.Unqualified([]string{name}, readertest.Scheme, nil))
	}
	for path := range q.units {
		u, err := r.Unit(path)
		if ok(err) {
			require.Equal(t, path, u.Path())
			part(q.inlined[path], r.elsewhere(u))
		}
	}
	for _, callees := range q.callees {
		part(callees.into, r.program.InlinedInto(callees.ids))
	}
	return missing
}

// A wrong index with correct checksums causes no wrong symbol in an answer. If symbols are missing
// in answers, Check reports the index.
func TestIndexLies(t *testing.T) {
	hidden := 0
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		q := newQuestions(truth)
		from, to := indexSection(truth)
		for i := from; i < to-4; i += testenv.Rounds(11, 1) {
			for bit := range 8 {
				if bit != i%8 && !testenv.Sweep() { // one of the bits, else
					continue
				}
				bad := slices.Clone(data)
				bad[i] ^= 1 << bit
				fixPages(bad[from:to])
				for _, o := range [][]afdo.Option{{}, {afdo.SkipChecksums()}} {
					r, err := openIndexed(bad, o...)
					require.NoError(t, err)
					missing := q.subset(t, r)
					if missing == 0 {
						continue
					}
					hidden++
					faults, _ := readertest.CheckFile(r.data)
					require.True(t, readertest.Has(faults, afdo.ErrIndex) || readertest.Has(faults, afdo.ErrChecksum), "byte %d bit %d: %d missing", i-from, bit, missing)
					r, err = openIndexed(bad, append(o, plainReader)...)
					require.NoError(t, err)
					if !readertest.Has(faults, afdo.ErrChecksum) || len(o) > 1 {
						require.Zero(t, q.ask(t, r, nil), "byte %d bit %d", i-from, bit)
					}
				}
			}
		}
	}
	require.NotZero(t, hidden)
}

// TestIndexLiesAnywhere changes larger indexes, which have many pages, at random positions. Answers
// may lack symbols, but contain no wrong ones.
func TestIndexLiesAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for seed := range uint64(testenv.Rounds(12, 300)) {
		_, data, _ := randomIndexed(t, 4*seed)
		truth, err := naive.Decode(data)
		require.NoError(t, err)
		q := newQuestions(truth)
		from, to := indexSection(truth)
		for range 1 + r.IntN(3) {
			data[from+6+r.IntN(to-from-6)] ^= byte(1 + r.IntN(255))
		}
		fixPages(data[from:to])
		lying, err := openIndexed(data)
		require.NoError(t, err)
		if q.subset(t, lying) > 0 {
			faults, _ := readertest.CheckFile(lying.data)
			require.NotEmpty(t, faults, "seed %d", seed)
		}
	}
}

// In a file with checksums, flipping any bit leads to an error or to the same answers.
func TestBitFlips(t *testing.T) {
	for _, compact := range []bool{false, true} {
		data, truth := smallIndexed(t, compact)
		r, err := openIndexed(data)
		require.NoError(t, err)
		want, err := readertest.File(r.Reader)
		require.NoError(t, err)
		want.Sections = nil
		_, size := indexSection(truth)
		require.Equal(t, len(data), size)
		q := newQuestions(truth)
		noticed := 0
		for i := range data {
			for bit := range 8 {
				if (i%4 != 0 || bit != i/4%8) && !testenv.Sweep() { // one bit of every fourth byte, else
					continue
				}
				bad := slices.Clone(data)
				bad[i] ^= 1 << bit
				for _, o := range [][]afdo.Option{nil, {afdo.RequireChecksums()}} {
					r, err := openIndexed(bad, o...)
					if err != nil {
						noticed++
						continue
					}
					got, err := readertest.File(r.Reader)
					if err != nil {
						noticed++
					} else {
						got.Sections = nil
						require.True(t, reflect.DeepEqual(want, got), "byte %d bit %d", i, bit)
					}
					q.askWhatever(t, r)
				}
			}
		}
		require.Greater(t, noticed, len(data)/4*testenv.Rounds(1, 32))
	}
}

// askWhatever asks a Reader of a damaged file all questions. Each answer must be correct or an
// error.
func (q *questions) askWhatever(t testing.TB, r *indexedReader) {
	for id, path := range q.owners {
		if u, err := r.UnitOf(afdo.SymbolID(id)); err == nil && path != u.Path() {
			require.Equal(t, path, u.Path())
		}
	}
	for _, name := range q.all(q.cut) {
		for _, m := range []struct {
			want    []string
			symbols func(func(afdo.Symbol, error) bool)
		}{
			{q.named[name], r.program.Named(name)}, {q.cut[name], r.program.Clones(name)}, {q.unqualified[name], r.program.Unqualified([]string{name}, readertest.Scheme, nil)},
		} {
			if got, err := found(m.symbols); err == nil && !slices.Equal(m.want, got) {
				require.Equal(t, m.want, got, "%q", name)
			}
		}
	}
	for path := range q.units {
		u, err := r.Unit(path)
		if err != nil {
			continue
		}
		if path != u.Path() {
			require.Equal(t, path, u.Path())
		}
		if got, err := found(r.elsewhere(u)); err == nil {
			require.Equal(t, q.inlined[path], got)
		}
	}
}

// layoutOf splits a file into sections that a test can change.
func layoutOf(f *naive.File, data []byte) *gen.Layout {
	l := &gen.Layout{Compact: f.Compact}
	for i, s := range f.Sections {
		switch s.Type {
		case naive.SummaryInfo:
			l.Summary = i
		case naive.FileNames:
			l.FileNames = i
		}
		l.Add(gen.Section{Type: s.Type, Compact: s.Compact, Data: slices.Clone(data[s.Offset+1 : s.Offset+s.Size])})
	}
	return l
}

// An index that was copied from another file is not used, or leads to an error.
func TestIndexStale(t *testing.T) {
	data, truth := smallIndexed(t, true)
	last := len(truth.Sections) - 1
	for name, edit := range map[string]func(l *gen.Layout){
		"a section is longer": func(l *gen.Layout) { l.Sections[2].Data = append(l.Sections[2].Data, 0) },
		"a section came":      func(l *gen.Layout) { l.Sections = slices.Insert(l.Sections, last, gen.Section{Type: 0x33}) },
		"a section came last": func(l *gen.Layout) { l.Add(gen.Section{Type: 0x33}) },
		"another version":     func(l *gen.Layout) { l.Sections[last].Data[4]++; fixSection(&l.Sections[last]) },
	} {
		l := layoutOf(truth, data)
		edit(l)
		changed := l.Bytes()
		now, err := naive.Decode(changed)
		require.NoError(t, err, name)
		r, err := openIndexed(changed)
		require.NoError(t, err)
		require.Zero(t, newQuestions(now).ask(t, r, nil), name)
		_, err = r.info()
		require.True(t, errors.Is(err, afdo.ErrIndex) || name == "a section came last" && errors.Is(err, afdo.ErrNotFound), "%s: %v", name, err)
		faults, _ := readertest.CheckFile(r.data)
		require.Equal(t, name != "a section came last", readertest.Has(faults, afdo.ErrIndex), name)
		_, err = openIndexed(changed, afdo.RequireChecksums())
		require.ErrorIs(t, err, afdo.ErrChecksum, name)

		var b bytes.Buffer
		require.NoError(t, r.reindex(&b, fullIndex()), name)
		r, err = openIndexed(b.Bytes(), afdo.RequireChecksums())
		require.NoError(t, err)
		require.Zero(t, newQuestions(now).ask(t, r, nil), name)
	}

	// A change of the same length: the checksum of what was changed is wrong.
	renamed := bytes.Replace(data, []byte("src/a.c"), []byte("src/x.c"), 1)
	r, err := openIndexed(renamed)
	require.NoError(t, err)
	_, err = r.NumUnits()
	require.ErrorIs(t, err, afdo.ErrChecksum)
	var b bytes.Buffer
	require.ErrorIs(t, r.reindex(&b, fullIndex()), afdo.ErrChecksum)
	require.Zero(t, b.Len())
	r, err = openIndexed(renamed, afdo.SkipChecksums())
	require.NoError(t, err)
	require.NoError(t, r.reindex(&b, fullIndex()))
	r, err = openIndexed(b.Bytes(), afdo.RequireChecksums())
	require.NoError(t, err)
	_, err = r.Unit("src/x.c")
	require.NoError(t, err)
}

func fixSection(s *gen.Section) {
	whole := append([]byte{s.Type}, s.Data...)
	if s.Compact {
		whole[0] |= 0x80
	}
	fixPages(whole)
	copy(s.Data, whole[1:])
}

// A section of the index's type in another program's format is ignored.
func TestForeignIndex(t *testing.T) {
	for _, content := range []string{"", "a", "afdo", "afd", "afdo!!!!!", "something else entirely", strings.Repeat("x", 5000)} {
		f, _ := gen.Random(rand.New(rand.NewPCG(1, 1)), gen.Options{})
		truth, err := naive.Decode(f)
		require.NoError(t, err)
		l := layoutOf(truth, f)
		l.Add(gen.Section{Type: uint8(afdo.SectionIndex), Data: []byte(content)})
		data := l.Bytes()
		r, err := openIndexed(data)
		require.NoError(t, err)
		ours := strings.HasPrefix(content, "afdo!")
		_, err = r.info()
		_, readErr := readertest.File(r.Reader)
		if ours {
			require.ErrorIs(t, err, afdo.ErrChecksum)
			require.ErrorIs(t, readErr, afdo.ErrChecksum)
			continue
		}
		require.ErrorIs(t, err, afdo.ErrNotFound)
		require.NoError(t, readErr)
		again, err := naive.Decode(readertest.Reindex(t, data, fullIndex()))
		require.NoError(t, err)
		require.Len(t, again.Sections, len(l.Sections)+1, "it is kept")
	}
}
