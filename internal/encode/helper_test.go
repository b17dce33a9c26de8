package encode

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/format/check"
	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// bothModes runs a test in normal and in compact mode.
func bothModes(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("normal", func(t *testing.T) { test(t, Options{}) })
	t.Run("compact", func(t *testing.T) { test(t, Options{Compact: true}) })
}

func write(t testing.TB, p *profile.Profile, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, p, o))
	return b.Bytes()
}

// decode decodes a file with the naive decoder, and checks the order of its parts, see checkShape.
func decode(t testing.TB, data []byte, o Options) *naive.File {
	t.Helper()
	f, err := naive.Decode(data)
	require.NoError(t, err)
	checkShape(t, f, len(data), o)
	return f
}

// open opens a file, and checks that package check finds nothing to report in it.
func open(t testing.TB, data []byte) *afdo.Reader {
	t.Helper()
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	for problem := range check.V4(data, check.Options{}) {
		require.Fail(t, "a check finds a problem", "%v", problem.Err)
	}
	return r
}

// draw returns a random profile in the model of package naive. One in four is so large that symbol
// IDs take two bytes.
func draw(t testing.TB, r *rand.Rand) *naive.Profile {
	o := gen.All()
	if r.IntN(4) == 0 {
		o.Units, o.Symbols = 12, 60
		o.Depth, o.LongNames, o.Deep = 2, false, false
	}
	return drawWith(t, r, o)
}

func drawWith(t testing.TB, r *rand.Rand, o gen.Options) *naive.Profile {
	_, f := gen.Random(r, o)
	truth, err := f.Canonical()
	require.NoError(t, err)
	return truth
}

// model converts a naive profile to a profile.Profile. It adds units, symbols and functions in a
// random order.
func model(r *rand.Rand, truth *naive.Profile) *profile.Profile {
	m := modeller{r: r, p: profile.New()}
	if r.IntN(2) == 0 { // else the functions bring the first symbols
		m.symbols(truth)
	}
	functions := slices.SortedFunc(maps.Keys(truth.Functions), compareKeys)
	m.shuffle(len(functions), func(i, j int) { functions[i], functions[j] = functions[j], functions[i] })
	for _, k := range functions {
		f := truth.Functions[k]
		m.body.Reset()
		m.records(f.Body)
		m.p.AddFunction(m.ref(k), profile.Function{HeadCount: f.Head, Timestamp: f.Timestamp, Records: m.body.Records()})
	}
	m.symbols(truth)
	return m.p
}

type modeller struct {
	r    *rand.Rand
	p    *profile.Profile
	body profile.Body
}

func (m *modeller) shuffle(n int, swap func(i, j int)) { m.r.Shuffle(n, swap) }

func (m *modeller) ref(k naive.Key) profile.SymbolRef {
	return m.p.AddSymbol(m.p.AddUnit(k.Path), k.Name)
}

func (m *modeller) symbols(truth *naive.Profile) {
	keys := slices.SortedFunc(maps.Keys(truth.Symbols), compareKeys)
	m.shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, k := range keys {
		m.ref(k)
	}
}

func (m *modeller) records(b *naive.Body) {
	var steps []func()
	for at, n := range sorted(b.Counts, comparePlaces) {
		steps = append(steps, func() { m.body.Count(at.Line, at.Disc, n) })
	}
	for at, targets := range sorted(b.Calls, comparePlaces) {
		for callee, n := range sorted(targets, compareKeys) {
			steps = append(steps, func() { m.body.Call(at.Line, at.Disc, m.ref(callee), n) })
		}
	}
	for at, callees := range sorted(b.Inlined, comparePlaces) {
		for callee, nested := range sorted(callees, compareKeys) {
			steps = append(steps, func() {
				m.body.Enter(at.Line, at.Disc, m.ref(callee))
				m.records(nested)
				m.body.Leave()
			})
		}
	}
	m.shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	for _, step := range steps {
		step()
	}
}

// sorted iterates over a map in the order of its keys, so that a test with a given seed always does
// the same.
func sorted[K comparable, V any](m map[K]V, compare func(K, K) int) func(yield func(K, V) bool) {
	return func(yield func(K, V) bool) {
		for _, k := range slices.SortedFunc(maps.Keys(m), compare) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func compareKeys(a, b naive.Key) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Name, b.Name))
}

func comparePlaces(a, b naive.Place) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Disc, b.Disc))
}

// checkShape checks what the builder promises about the order of sections, units, symbols and
// records.
func checkShape(t testing.TB, f *naive.File, size int, o Options) {
	t.Helper()
	require.Equal(t, o.Compact, f.Compact)
	end := f.Sections[0].Offset
	for i, s := range f.Sections {
		require.Equal(t, o.Compact, s.Compact, "section %d", i)
		require.Equal(t, end, s.Offset, "section %d leaves no gap", i)
		require.Zero(t, s.Trailing, "section %d", i)
		end += s.Size
	}
	require.EqualValues(t, size, end)

	n := len(f.Sections)
	require.EqualValues(t, naive.FileNames, f.Sections[n-2].Type)
	require.EqualValues(t, naive.SummaryInfo, f.Sections[n-1].Type)
	require.Empty(t, f.Units[0].Path, "the unknown-file unit comes first")
	require.True(t, slices.IsSortedFunc(f.Units, func(a, b naive.Unit) int { return strings.Compare(a.Path, b.Path) }))

	sections, symbols := 2, uint32(0)
	for _, u := range f.Units {
		sections += checkUnit(t, u)
		symbols += u.End - u.Start
	}
	require.Len(t, f.Sections, sections, "every section belongs to something")
	checkIDs(t, f.Units, symbols)
}

// checkUnit checks the order of a unit's symbols and strings. It returns the number of the unit's
// sections.
func checkUnit(t testing.TB, u naive.Unit) int {
	require.Equal(t, u.StringTableSection+1, u.SymbolNamesSection, "sections stand together")
	require.Len(t, u.Strings, len(u.Symbols))
	require.True(t, slices.IsSorted(u.Strings), "strings are numbered in the order of the trie")
	require.EqualValues(t, len(u.Symbols), u.End-u.Start)
	next := u.SymbolNamesSection + 1
	for i, s := range u.Symbols {
		require.Equal(t, u.Start+uint32(i), s.ID)
		if s.HasInfo {
			require.Equal(t, next, s.InfoSection, "sections stand together")
			next++
			checkLocations(t, s.Locations)
		}
	}
	return int(next - u.StringTableSection)
}

// checkIDs checks that the units use all symbol IDs from 0, and that units without symbols have
// ranges after them.
func checkIDs(t testing.TB, units []naive.Unit, symbols uint32) {
	t.Helper()
	units = slices.Clone(units)
	slices.SortFunc(units, func(a, b naive.Unit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	next := uint32(0)
	for _, u := range units {
		if u.Start == u.End {
			require.Equal(t, symbols, u.Start)
			continue
		}
		require.Equal(t, next, u.Start)
		next = u.End
	}
	require.Equal(t, symbols, next)
}

// checkLocations checks the order and the types of the locations in a body (format note 15).
func checkLocations(t testing.TB, ls []naive.Location) {
	for i, l := range ls {
		if i > 0 {
			require.Negative(t, slices.Compare(locationKey(ls[i-1]), locationKey(l)), "%v before %v", ls[i-1], l)
		}
		switch l.Type {
		case naive.Zero, naive.InlinedFn:
		case naive.Normal:
			require.NotZero(t, l.Count)
		case naive.Wide:
			require.Greater(t, l.Count, uint64(math.MaxUint32))
		case naive.CalledFn:
			require.Len(t, l.Targets, 1)
		case naive.CalledFns:
			require.Greater(t, len(l.Targets), 1)
			for j := 1; j < len(l.Targets); j++ {
				require.Less(t, l.Targets[j-1].Callee, l.Targets[j].Callee)
			}
		}
		checkLocations(t, l.Locations)
	}
}

// locationKey returns the key by which the locations of a body are sorted. No two locations of a
// body have the same key.
func locationKey(l naive.Location) []uint32 {
	kinds := map[uint8]uint32{naive.Zero: 0, naive.Normal: 0, naive.Wide: 0, naive.CalledFn: 1, naive.CalledFns: 1, naive.InlinedFn: 2}
	return []uint32{l.Line, l.Disc, kinds[l.Type], l.Callee}
}

// corpus returns a real profile. The files are not part of the repository.
func corpus(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Corpus(t, name))
	require.NoError(t, err)
	return data
}

func modelSummary(s naive.Summary) *afdo.Summary {
	m := &afdo.Summary{
		TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFunctionCount: s.MaxFnCount,
		NumCounts: s.NumCounts, NumFunctions: s.NumFunctions,
	}
	for _, e := range s.Entries {
		m.Entries = append(m.Entries, afdo.SummaryEntry{Cutoff: e.Cutoff, MinCount: e.MinCount, NumCounts: e.NumCounts})
	}
	return m
}
