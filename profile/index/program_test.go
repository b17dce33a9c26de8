package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/readertest"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile/index"
)

func testFingerprint(u *afdo.Unit) (uint64, error) { return uint64(len(u.Path())) << 40, nil }

func fullIndex() *index.Options {
	return &index.Options{
		Producer: "a test", BuildID: []byte{1, 2, 3},
		Unqualified:       readertest.Scheme,
		FingerprintScheme: "length", Fingerprint: testFingerprint,
	}
}

// randomIndexed returns a random valid file, with and without an index.
func randomIndexed(t testing.TB, seed uint64) (plain, indexed []byte, truth *naive.File) {
	r := rand.New(rand.NewPCG(seed, 0x1d))
	o := gen.All()
	o.LongNames, o.Deep = false, false
	if seed%4 == 0 {
		o.Units, o.Symbols = 30, 30
	}
	plain, truth = gen.Random(r, o)
	return plain, readertest.Reindex(t, plain, fullIndex()), truth
}

// found returns the symbols that a lookup yields, in a form in which two Readers can be compared.
func found(symbols func(func(afdo.Symbol, error) bool)) ([]string, error) {
	var list []string
	for s, err := range symbols {
		if err != nil {
			return list, err
		}
		list = append(list, readertest.Describe(s))
	}
	return list, nil
}

// A questions value contains all questions that an index can answer, with the answers of the naive
// decoder.
type questions struct {
	units                    map[string]bool // by path
	owners                   map[uint32]string
	named, cut, unqualified  map[string][]string
	inlined                  map[string][]string // by the unit's path
	callees                  []calleeQuestion
	together                 []togetherQuestion
	scheme                   index.Scheme
	namesakes, clones, cross int // how many answers there are of more than one symbol, and of other units
}

func newQuestions(f *naive.File) *questions {
	q := &questions{
		scheme: readertest.Scheme,
		units:  map[string]bool{}, owners: map[uint32]string{}, inlined: map[string][]string{},
		named: map[string][]string{}, cut: map[string][]string{}, unqualified: map[string][]string{},
	}
	type symbol struct {
		unit int
		naive.Symbol
	}
	var symbols []symbol
	for i, u := range f.Units {
		q.units[u.Path] = true
		for _, s := range u.Symbols {
			symbols = append(symbols, symbol{i, s})
		}
	}
	sort.Slice(symbols, func(i, j int) bool { return symbols[i].ID < symbols[j].ID })
	for _, s := range symbols {
		text := fmt.Sprintf("%d %q %v unit %d %q", s.ID, s.Name, s.HasInfo, s.unit, f.Units[s.unit].Path)
		cut, _, _ := strings.Cut(s.Name, ".")
		q.owners[s.ID] = f.Units[s.unit].Path
		q.named[s.Name] = append(q.named[s.Name], text)
		q.cut[cut] = append(q.cut[cut], text)
		if name := readertest.Unqualified(s.Name); name != "" {
			q.unqualified[name] = append(q.unqualified[name], text)
		}
		for i, u := range f.Units {
			if i != s.unit && slices.ContainsFunc(u.Symbols, func(callee naive.Symbol) bool { return inlinesID(s.Locations, callee.ID) }) {
				q.inlined[u.Path] = append(q.inlined[u.Path], text)
				q.cross++
			}
		}
	}
	for i := range 8 { // every other symbol, every fourth and so on, in any order, with some that are not there
		c := calleeQuestion{ids: []afdo.SymbolID{afdo.SymbolID(^uint32(0)), 5}}
		for j, s := range symbols {
			if j>>(i/2)&1 == i%2 {
				c.ids = append([]afdo.SymbolID{afdo.SymbolID(s.ID)}, c.ids...)
			}
		}
		for _, s := range symbols {
			if !slices.Contains(c.ids, afdo.SymbolID(s.ID)) && slices.ContainsFunc(c.ids, func(id afdo.SymbolID) bool {
				return inlinesID(s.Locations, uint32(id))
			}) {
				c.into = append(c.into, fmt.Sprintf("%d %q %v unit %d %q", s.ID, s.Name, s.HasInfo, s.unit, f.Units[s.unit].Path))
			}
		}
		q.callees = append(q.callees, c)
	}
	for _, wanted := range []func(name string) bool{nil, func(name string) bool { return len(name)%2 == 0 }} {
		for third := range 3 {
			together := togetherQuestion{names: []string{"no such name", ""}, wanted: wanted}
			for _, s := range symbols {
				if name := readertest.Unqualified(s.Name); name != "" && len(name)%3 != third {
					together.names = append(together.names, name) // some of them again and again
					if wanted == nil || wanted(s.Name) {
						together.found = append(together.found, fmt.Sprintf("%d %q %v unit %d %q", s.ID, s.Name, s.HasInfo, s.unit, f.Units[s.unit].Path))
					}
				}
			}
			q.together = append(q.together, together)
		}
	}
	for _, list := range q.named {
		q.namesakes += len(list) - 1
	}
	for _, list := range q.cut {
		q.clones += len(list) - 1
	}
	q.clones -= q.namesakes
	return q
}

// A togetherQuestion asks for the symbols that have one of several unqualified names and are
// wanted.
type togetherQuestion struct {
	names  []string
	wanted func(name string) bool
	found  []string
}

// A calleeQuestion asks for the functions into which some symbols were inlined.
type calleeQuestion struct {
	ids  []afdo.SymbolID
	into []string
}

func inlinesID(body []naive.Location, callee uint32) bool {
	for _, l := range body {
		if l.Type == naive.InlinedFn && (l.Callee == callee || inlinesID(l.Locations, callee)) {
			return true
		}
	}
	return false
}

// all returns the keys of m, and some names that are not in the file.
func (q *questions) all(m map[string][]string) []string {
	names := []string{"", ".", "f", "no such name"}
	for name := range m {
		names = append(names, name, name+"x", "x"+name)
	}
	sort.Strings(names)
	return slices.Compact(names)
}

// ask asks a Reader all questions. Answers must be correct. Errors must be of the given class, and
// ask returns their number.
func (q *questions) ask(t testing.TB, r *indexedReader, class error) (failed int) {
	t.Helper()
	ok := func(err error) bool {
		if err != nil && class != nil && errors.Is(err, class) {
			failed++
			return false
		}
		if err != nil {
			require.NoError(t, err)
		}
		return true
	}
	for id, path := range q.owners {
		u, err := r.UnitOf(afdo.SymbolID(id))
		if ok(err) && path != u.Path() {
			require.Equal(t, path, u.Path())
		}
	}
	for _, m := range []struct {
		answers map[string][]string
		search  func(string) func(func(afdo.Symbol, error) bool)
	}{
		{q.named, func(s string) func(func(afdo.Symbol, error) bool) { return r.program.Named(s) }},
		{q.cut, func(s string) func(func(afdo.Symbol, error) bool) { return r.program.Clones(s) }},
		{q.unqualified, func(s string) func(func(afdo.Symbol, error) bool) {
			return r.program.Unqualified([]string{s}, q.scheme, nil)
		}},
	} {
		for _, name := range q.all(m.answers) {
			got, err := found(m.search(name))
			if ok(err) && !slices.Equal(m.answers[name], got) {
				require.Equal(t, m.answers[name], got, "%q", name)
			}
		}
	}
	for path := range q.units {
		u, err := r.Unit(path)
		if !ok(err) {
			continue
		}
		require.Equal(t, path, u.Path())
		got, err := found(r.elsewhere(u))
		if ok(err) {
			require.Equal(t, q.inlined[path], got, "%q", path)
		}
	}
	for _, together := range q.together {
		got, err := found(r.program.Unqualified(together.names, q.scheme, together.wanted))
		if ok(err) {
			require.Equal(t, together.found, got, "%q", together.names)
		}
	}
	for _, callees := range q.callees {
		got, err := found(r.program.InlinedInto(callees.ids))
		if ok(err) {
			require.Equal(t, callees.into, got, "%v", callees.ids)
		}
	}
	return failed
}

// A Reader that does not trust the index reads the file as if it had none.
func TestIndexIsSkipped(t *testing.T) {
	for seed := range uint64(testenv.Rounds(25, 500)) {
		_, indexed, truth := randomIndexed(t, seed)
		got, err := naive.Decode(indexed)
		require.NoError(t, err, "seed %d", seed)
		last := len(got.Sections) - 1
		require.EqualValues(t, afdo.SectionIndex, got.Sections[last].Type)
		require.Equal(t, truth.Compact, got.Sections[last].Compact)
		require.Len(t, truth.Sections, last)
		for i, s := range truth.Sections {
			s.Offset = got.Sections[i].Offset
			require.Equal(t, s, got.Sections[i], "seed %d", seed)
		}
		got.Sections, truth.Sections = nil, nil
		require.Equal(t, truth, got, "seed %d", seed)
	}
}

// Lookups have the same results with an index, without one, and with one that is not trusted.
func TestIndexAgrees(t *testing.T) {
	var namesakes, clones, cross int
	for seed := range uint64(testenv.Rounds(16, 1000)) {
		plain, indexed, truth := randomIndexed(t, seed)
		q := newQuestions(truth)
		namesakes, clones, cross = namesakes+q.namesakes, clones+q.clones, cross+q.cross
		for name, c := range map[string]struct {
			data   []byte
			option afdo.Option
			scheme string
		}{
			"indexed":        {indexed, afdo.RequireChecksums(), readertest.Scheme.Name},
			"another scheme": {indexed, afdo.SkipChecksums(), "another"},
			"ignored":        {indexed, plainReader, readertest.Scheme.Name},
			"plain":          {plain, afdo.SkipChecksums(), readertest.Scheme.Name},
		} {
			r, err := openIndexed(c.data, c.option)
			require.NoError(t, err)
			q.scheme.Name = c.scheme
			require.Zero(t, q.ask(t, r, nil), "seed %d, %s", seed, name)
		}
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
	require.NotZero(t, namesakes)
	require.NotZero(t, clones)
	require.NotZero(t, cross)
}

// Lookups use the index however the file was opened, but not after the Reader was closed.
func TestIndexSources(t *testing.T) {
	_, indexed, truth := randomIndexed(t, 4)
	q := newQuestions(truth)
	for name, r := range indexedSources(t, indexed, afdo.RequireChecksums()) {
		require.Zero(t, q.ask(t, r, nil), name)
		u, err := r.Unit(truth.Units[0].Path)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		_, err = r.info()
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = r.fingerprint(u)
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = r.Unit(truth.Units[0].Path)
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = r.UnitOf(1)
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = found(r.program.Named("f"))
		require.ErrorIs(t, err, afdo.ErrClosed)
		_, err = found(r.elsewhere(u))
		require.ErrorIs(t, err, afdo.ErrClosed)
	}
}

func TestIndexInfo(t *testing.T) {
	for _, compact := range []bool{false, true} {
		plain := gen.Big(40, compact)
		r, err := openIndexed(plain)
		require.NoError(t, err)
		_, err = r.info()
		require.ErrorIs(t, err, afdo.ErrNotFound)
		u, err := r.Unit(gen.BigPath(3))
		require.NoError(t, err)
		_, err = r.fingerprint(u)
		require.ErrorIs(t, err, afdo.ErrNotFound)

		r, err = openIndexed(readertest.Reindex(t, plain, fullIndex()))
		require.NoError(t, err)
		info, err := r.info()
		require.NoError(t, err)
		require.Equal(t, "a test", info.Producer)
		require.Equal(t, []byte{1, 2, 3}, info.BuildID)
		require.Equal(t, readertest.Scheme.Name, info.Unqualified)
		require.Equal(t, "length", info.Fingerprints)
		require.Equal(t, r.NumSections()-1, info.Section.Index)
		require.Equal(t, afdo.SectionIndex, info.Section.Type)
		require.Equal(t, compact, info.Section.Compact)
		require.Equal(t, "index", info.Section.Type.String())
		var kinds []string
		size := int64(0)
		for _, b := range info.Blocks {
			kinds = append(kinds, b.Kind)
			size += b.Size
		}
		require.Equal(t, []string{"names", "unqualified names", "callers", "fingerprints", "checksums", "sections", "filter", "runs", "units", "paths", "groups of callers", "producer", "build ID", "copies", "end"}, kinds)
		require.Less(t, size, info.Section.Size)
		u, err = r.Unit(gen.BigPath(3))
		require.NoError(t, err)
		got, err := r.fingerprint(u)
		require.NoError(t, err)
		want, _ := testFingerprint(u)
		require.Equal(t, want, got)
		faults, remarks := readertest.CheckFile(r.data)
		require.Empty(t, faults)
		require.Empty(t, remarks)
	}
}

// Write can leave out parts of an index, renew an index and remove it.
func TestReindex(t *testing.T) {
	for seed := range uint64(testenv.Rounds(4, 100)) {
		_, indexed, truth := randomIndexed(t, seed)
		require.Equal(t, indexed, readertest.Reindex(t, indexed, fullIndex()), "an index in place of the same")
		bare := readertest.Reindex(t, indexed, nil)
		f, err := naive.Decode(bare)
		require.NoError(t, err)
		require.Len(t, f.Sections, len(truth.Sections))
		require.Equal(t, bare, readertest.Reindex(t, bare, nil))
		require.Equal(t, indexed, readertest.Reindex(t, bare, fullIndex()))

		q := newQuestions(truth)
		for _, o := range []*index.Options{{}, {NoLookups: true}, {NoInlining: true}, {NoChecksums: true}, {NoLookups: true, NoInlining: true, NoChecksums: true}} {
			part := readertest.Reindex(t, indexed, o)
			r, err := openIndexed(part)
			require.NoError(t, err)
			require.Zero(t, q.ask(t, r, nil))
			_, err = openIndexed(part, afdo.RequireChecksums())
			if o.NoChecksums {
				require.ErrorIs(t, err, afdo.ErrChecksum)
			} else {
				require.NoError(t, err)
			}
			info, err := r.info()
			require.NoError(t, err)
			require.Empty(t, info.Producer)
			require.Nil(t, info.BuildID)
			require.Empty(t, info.Unqualified)
			faults, _ := readertest.CheckFile(r.data)
			require.False(t, readertest.Has(faults, afdo.ErrIndex) || readertest.Has(faults, afdo.ErrChecksum))
		}
	}
}

// The name of a scheme must fit a length of one byte.
func TestIndexSchemeTooLong(t *testing.T) {
	r, err := openIndexed(gen.Big(2, true))
	require.NoError(t, err)
	long := strings.Repeat("x", 256)
	for _, o := range []*index.Options{
		{Unqualified: index.Scheme{Name: long, Unqualified: readertest.Unqualified}},
		{FingerprintScheme: long, Fingerprint: testFingerprint},
	} {
		var b bytes.Buffer
		require.ErrorIs(t, r.reindex(&b, o), afdo.ErrLimit)
		require.Zero(t, b.Len())
	}
}
