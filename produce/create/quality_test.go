package create_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/create"
)

// naiveQuality computes the quality of samples byte by byte.
func naiveQuality(t *testing.T, f *symbolize.File, set *samples.Set) create.Quality {
	counts := make(map[uint64]uint64) // by address
	isRange := set.Ranges.Len() > 0
	for r, n := range set.Ranges.All() {
		first, ok := f.Address(r.Begin)
		require.True(t, ok)
		s, ok, err := f.Symbol(first)
		require.NoError(t, err)
		for o := r.Begin; ok && o <= r.End && first+o-r.Begin < s.High; o++ {
			counts[first+o-r.Begin] += n
		}
	}
	for o, n := range set.Addresses.All() {
		if addr, ok := f.Address(o); ok && !isRange {
			counts[addr] += n
		}
	}
	type sum struct{ weight, size, few uint64 }
	var functions []sum
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		x := sum{size: s.High - s.Low}
		for a := s.Low; a < s.High; a++ {
			x.weight += counts[a]
			if counts[a] < 10 {
				x.few += counts[a]
			}
		}
		functions = append(functions, x)
	}
	slices.SortStableFunc(functions, func(a, b sum) int { return int(b.weight) - int(a.weight) })
	var all, few, hot, size uint64
	for _, x := range functions {
		all += x.weight
		few += x.few
	}
	for _, x := range functions {
		if hot*10 >= all*9 {
			break
		}
		hot += x.weight
		size += x.size
	}
	q := create.Quality{Density: float64(hot) / float64(size), Uncertain: float64(few) / float64(all)}
	if !isRange {
		q.Density *= 4
	}
	return q
}

// The quality in the report equals the quality that naiveQuality computes, for ranges and for
// addresses.
func TestQuality(t *testing.T) {
	f, err := symbolize.Open(testenv.Corpus(t, "create", "vec", "vec12d5"))
	require.NoError(t, err)
	defer f.Close()
	var symbols []symbolize.Symbol
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.High > s.Low && !slices.Contains(s.Names, "_init") && !slices.Contains(s.Names, "_fini") {
			symbols = append(symbols, s)
		}
	}
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		set := new(samples.Set)
		for range 1 + random.IntN(300) {
			s := symbols[int(float64(len(symbols))*random.Float64()*random.Float64())]
			low := s.Low + random.Uint64N(s.High-s.Low)
			begin, ok := layout.Offset(low)
			require.True(t, ok)
			if seed%2 == 0 {
				set.Addresses.Add(begin, 1+random.Uint64N(6))
			} else if size := random.Uint64N(s.High - low); create.Straight(f, low, low+size) {
				set.Ranges.Add(samples.Range{Begin: begin, End: begin + size}, 1+random.Uint64N(6))
			}
		}
		_, report, err := create.Profile(context.Background(), f, set, create.Options{MinSamples: 20, Suffixes: create.NoSuffixes})
		if err != nil {
			require.ErrorIs(t, err, create.ErrThreshold)
			continue
		}
		want := naiveQuality(t, f, set)
		got := report.Quality
		assert.InEpsilon(t, want.Density, got.Density, 1e-9, seed)
		assert.InDelta(t, want.Uncertain, got.Uncertain, 1e-9, seed)
		assert.InDelta(t, float64(report.Below)/float64(report.Weight-report.NoSymbol), got.LeftOut, 1e-9, seed)
	}
}

// Ranges that contradict the program are counted.
func TestContradictions(t *testing.T) {
	f, err := symbolize.Open(testenv.Corpus(t, "create", "vec", "vec12d5"))
	require.NoError(t, err)
	defer f.Close()
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		if s.Names[0] != "main" {
			continue
		}
		begin, ok := layout.Offset(s.Low)
		require.True(t, ok)
		set := new(samples.Set)
		set.Ranges.Add(samples.Range{Begin: begin, End: begin + 8}, 100)
		set.Ranges.Add(samples.Range{Begin: begin, End: begin + s.High - s.Low}, 20)
		set.Ranges.Add(samples.Range{Begin: begin + 8, End: begin}, 3)
		_, report, err := create.Profile(context.Background(), f, set, create.Options{})
		require.NoError(t, err)
		assert.Equal(t, []uint64{123, 20, 0, 3}, []uint64{report.RangeRuns, report.CrossingRanges, report.Overruns, report.BackwardRanges})
		return
	}
	t.Fatal("no main")
}
