package naive_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

func call(line, disc uint32, targets ...naive.Target) naive.Location {
	return naive.Location{Type: naive.CalledFns, Line: line, Disc: disc, Targets: targets}
}

// TestCanonical checks the rules of format notes 12 to 14 for files with the same meaning.
func TestCanonical(t *testing.T) {
	a := []naive.Location{
		gen.Count(1, 0, 5),
		gen.Count(1, 0, math.MaxUint64-6),
		gen.Count(1, 1, 9),
		call(1, 0, naive.Target{Callee: 1, Count: 3}, naive.Target{Callee: 2, Count: 4}, naive.Target{Callee: 1, Count: 5}),
		{Type: naive.CalledFn, Line: 1, Targets: []naive.Target{{Callee: 2, Count: math.MaxUint64}}},
		call(7, 7),
		gen.Inlined(2, 0, 1, gen.Count(0, 0, 1)),
		gen.Inlined(2, 0, 2),
		gen.Inlined(2, 0, 1, gen.Count(0, 0, 2), gen.Inlined(3, 0, 1)),
		gen.Count(1, 0, 0),
	}
	f := &naive.File{Units: []naive.Unit{
		{Path: "a.c", Start: 0, End: 3, Symbols: []naive.Symbol{
			{ID: 0, Name: "a", HasInfo: true, Head: 4, Timestamp: 7, Locations: a},
			{ID: 1, Name: "b", HasInfo: true},
			{ID: 2, Name: "c"},
		}},
		// Two symbols of one name add up.
		{Path: "b.c", Start: 3, End: 5, Symbols: []naive.Symbol{
			{ID: 3, Name: "a", HasInfo: true, Head: math.MaxUint64, Timestamp: 8},
			{ID: 4, Name: "a", HasInfo: true, Head: 1, Timestamp: 6, Locations: []naive.Location{gen.Count(0, 0, 0)}},
		}},
	}}
	p, err := f.Canonical()
	require.NoError(t, err)

	key := func(name string) naive.Key { return naive.Key{Path: "a.c", Name: name} }
	body := func(counts map[naive.Place]uint64) *naive.Body {
		return &naive.Body{
			Counts:  counts,
			Calls:   map[naive.Place]map[naive.Key]uint64{},
			Inlined: map[naive.Place]map[naive.Key]*naive.Body{},
		}
	}
	b := body(map[naive.Place]uint64{{Line: 0}: 3})
	b.Inlined[naive.Place{Line: 3}] = map[naive.Key]*naive.Body{key("b"): body(map[naive.Place]uint64{})}
	other := naive.Key{Path: "b.c", Name: "a"}
	require.Equal(t, &naive.Profile{
		Symbols: map[naive.Key]bool{key("a"): true, key("b"): true, key("c"): true, other: true},
		Functions: map[naive.Key]*naive.Function{
			key("a"): {Head: 4, Timestamp: 7, Body: &naive.Body{
				Counts: map[naive.Place]uint64{{Line: 1}: math.MaxUint64 - 1, {Line: 1, Disc: 1}: 9},
				Calls: map[naive.Place]map[naive.Key]uint64{
					{Line: 1}: {key("b"): 8, key("c"): math.MaxUint64},
				},
				Inlined: map[naive.Place]map[naive.Key]*naive.Body{
					{Line: 2}: {key("b"): b, key("c"): body(map[naive.Place]uint64{})},
				},
			}},
			other: {Head: math.MaxUint64, Timestamp: 6, Body: body(map[naive.Place]uint64{{}: 0})},
		},
	}, p)

	for _, l := range []naive.Location{
		call(1, 0, naive.Target{Callee: 9}),
		gen.Inlined(1, 0, 9),
		gen.Inlined(1, 0, 1, gen.Inlined(1, 0, 9)),
	} {
		f.Units[0].Symbols[1].Locations = []naive.Location{l}
		_, err = f.Canonical()
		require.ErrorContains(t, err, "symbol 1: no symbol 9")
	}
}

// TestCanonicalSilent checks format note 12: a symbol info without any data is not a function.
func TestCanonicalSilent(t *testing.T) {
	f := &naive.File{Units: []naive.Unit{{End: 8, Symbols: []naive.Symbol{
		{ID: 0, Name: "silent", HasInfo: true},
		{ID: 1, Name: "head", HasInfo: true, Head: 1},
		{ID: 2, Name: "timestamp", HasInfo: true, Timestamp: 1},
		{ID: 3, Name: "zero", HasInfo: true, Locations: []naive.Location{gen.Count(0, 0, 0)}},
		{ID: 4, Name: "call", HasInfo: true, Locations: []naive.Location{call(0, 0, naive.Target{})}},
		{ID: 5, Name: "inlined", HasInfo: true, Locations: []naive.Location{gen.Inlined(0, 0, 0)}},
		{ID: 6, Name: "no targets", HasInfo: true, Locations: []naive.Location{call(0, 0)}},
		{ID: 7, Name: "no info"},
	}}}}
	p, err := f.Canonical()
	require.NoError(t, err)
	require.Len(t, p.Symbols, 8)
	var names []string
	for k := range p.Functions {
		names = append(names, k.Name)
	}
	require.ElementsMatch(t, []string{"head", "timestamp", "zero", "call", "inlined"}, names)
}

// TestSummarize checks the summary of format note 19 in cases that the RFC's example does not have.
func TestSummarize(t *testing.T) {
	file := func(counts ...uint64) *naive.File {
		s := naive.Symbol{Name: "f", HasInfo: true, Head: 3}
		for i, n := range counts {
			s.Locations = append(s.Locations, gen.Count(uint32(i), 0, n))
		}
		return &naive.File{Units: []naive.Unit{{End: 1, Symbols: []naive.Symbol{s}}}}
	}
	at := func(s naive.Summary, cutoff uint32) naive.Entry {
		for _, e := range s.Entries {
			if e.Cutoff == cutoff {
				return e
			}
		}
		require.FailNow(t, "no such cutoff")
		return naive.Entry{}
	}

	s := file(1, 5, 3, 0, 3, 5, 3).Summarize() // 20 in all
	require.Equal(t, []uint64{20, 5, 3, 7, 1},
		[]uint64{s.TotalCount, s.MaxCount, s.MaxFnCount, s.NumCounts, s.NumFunctions})
	require.Len(t, s.Entries, 16)
	require.Equal(t, naive.Entry{Cutoff: 10000}, at(s, 10000), "a share that rounds down to 0")
	require.Equal(t, naive.Entry{Cutoff: 100000, MinCount: 5, NumCounts: 2}, at(s, 100000), "equal counts together")
	require.Equal(t, naive.Entry{Cutoff: 500000, MinCount: 5, NumCounts: 2}, at(s, 500000), "reached exactly")
	require.Equal(t, naive.Entry{Cutoff: 600000, MinCount: 3, NumCounts: 5}, at(s, 600000))
	require.Equal(t, naive.Entry{Cutoff: 950000, MinCount: 3, NumCounts: 5}, at(s, 950000), "19 of 20, rounded down")
	require.Equal(t, naive.Entry{Cutoff: 999999, MinCount: 3, NumCounts: 5}, at(s, 999999), "19.99998 rounds down")

	s = file(math.MaxUint64, math.MaxUint64-1, 1).Summarize()
	require.Equal(t, uint64(math.MaxUint64), s.TotalCount, "saturates")
	require.Equal(t, naive.Entry{Cutoff: 999999, MinCount: math.MaxUint64, NumCounts: 1}, at(s, 999999))

	s = file().Summarize()
	require.Equal(t, naive.Entry{Cutoff: 999999}, at(s, 999999))
	require.Equal(t, uint64(1), s.NumFunctions)

	// Records as they stand, and merged.
	f := file(0)
	f.Units[0].Symbols[0].Locations = []naive.Location{gen.Count(1, 1, 2), gen.Count(1, 1, 3)}
	f.Units[0].End = 2
	f.Units[0].Symbols = append(f.Units[0].Symbols, naive.Symbol{ID: 1, Name: "silent", HasInfo: true})
	s = f.Summarize()
	require.Equal(t, []uint64{5, 3, 2, 2}, []uint64{s.TotalCount, s.MaxCount, s.NumCounts, s.NumFunctions})
	p, err := f.Canonical()
	require.NoError(t, err)
	s = p.Summarize()
	require.Equal(t, []uint64{5, 5, 1, 1}, []uint64{s.TotalCount, s.MaxCount, s.NumCounts, s.NumFunctions})
}
