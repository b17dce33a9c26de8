package slice_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/profile"
)

func entries(counts ...uint64) (list []afdo.SummaryEntry) {
	for i, cutoff := range []uint32{900_000, 990_000, 999_999}[:len(counts)] {
		list = append(list, afdo.SummaryEntry{Cutoff: cutoff, MinCount: counts[i]})
	}
	return list
}

func TestSteady(t *testing.T) {
	for _, c := range []struct{ max, hot, wantMax, wantHot uint64 }{
		{0, 0, 0, 0},
		{1, 1, 1, 1},
		{3, 2, 4, 2},
		{1000, 5, 1024, 4},
		{1024, 6, 1024, 8},
		{1025, 11, 2048, 8},
		{1025, 12, 2048, 16},
		{1 << 63, 1 << 63, 1 << 63, 1 << 63},
		{math.MaxUint64, math.MaxUint64, 1 << 63, 1 << 63},
	} {
		s := &afdo.Summary{TotalCount: 9, MaxCount: c.max, MaxFunctionCount: 8, NumCounts: 7, NumFunctions: 6, Entries: entries(c.hot+1, c.hot, 0)}
		want := &afdo.Summary{MaxCount: c.wantMax, Entries: entries(c.wantHot, c.wantHot, c.wantHot)}
		assert.Equal(t, want, slice.Steady(s), "%d %d", c.max, c.hot)
		assert.Equal(t, want, slice.Steady(want), "again")
	}
	assert.Equal(t, entries(16), slice.Steady(&afdo.Summary{Entries: entries(15)}).Entries, "no cutoff is that high")
	assert.Equal(t, &afdo.Summary{}, slice.Steady(&afdo.Summary{}))
}

// TestWithSummary replaces the summary of a program, and checks the summaries of slices and whole
// profiles, and the keys.
func TestWithSummary(t *testing.T) {
	p := synth.Profile(synth.Options{Seed: 1, Units: 3, Functions: 30})
	p.Summary = nil
	program := slice.FromProfile(p)
	own, err := program.Summary()
	require.NoError(t, err)
	assert.Equal(t, p.Summarize(), own)
	pinned := &afdo.Summary{MaxCount: 1 << 40, Entries: own.Entries}
	other := program.WithSummary(pinned)
	q := slice.Request{Units: []string{p.UnitPath(1)}, Target: slice.Version3}
	for program, want := range map[*slice.Program]*afdo.Summary{program: own, other: pinned} {
		part, err := program.Select(q)
		require.NoError(t, err)
		assert.Equal(t, want, part.Summary)
		whole, err := program.Whole(0)
		require.NoError(t, err)
		assert.Equal(t, want, whole.Summary)
		whole.Summary = nil
		assert.NoError(t, profile.Compare(p, whole))
	}
	a, err := program.Fingerprint(q)
	require.NoError(t, err)
	b, err := other.Fingerprint(q)
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
}

func TestSteadyForClang(t *testing.T) {
	of := func(hot, cold, counts uint64) *afdo.Summary {
		return &afdo.Summary{Entries: []afdo.SummaryEntry{
			{Cutoff: 900_000, MinCount: 2 * hot, NumCounts: 5},
			{Cutoff: 990_000, MinCount: hot, NumCounts: counts},
			{Cutoff: 999_999, MinCount: cold, NumCounts: counts + 1},
		}}
	}
	for _, c := range []struct{ hot, cold, counts, wantHot, wantCold, wantCounts uint64 }{
		{0, 0, 0, 0, 0, 0},
		{1, 1, 1, 1, 0, 1},
		{5, 4, 12_499, 4, 2, 8192},
		{7, 4, 12_501, 8, 4, 15_000},
		{1000, 999, 15_001, 1024, 512, 16_384},
		{1000, 3, 1 << 20, 1024, 2, 1 << 20},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, 1 << 63, 1 << 62, 1 << 63},
	} {
		s := of(c.hot, c.cold, c.counts)
		s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions = 1, 2, 3, 4, 5
		got := slice.SteadyForClang(s)
		assert.Equal(t, afdo.SummaryEntry{Cutoff: 990_000, MinCount: c.wantHot, NumCounts: c.wantCounts}, got.Entries[1], "%v", c)
		assert.Equal(t, c.wantCold, got.Entries[2].MinCount, "%v", c)
		got.Entries = nil
		assert.Equal(t, new(afdo.Summary), got)
	}
}
