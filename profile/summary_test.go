package profile

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// rfcExample is the profile of RFC 5.3.
func rfcExample() *Profile {
	p := New()
	test := p.AddUnit("/home/user/test.c")
	stdio := p.AddUnit("/usr/include/bits/stdio2.h")
	bubble := p.AddSymbol(test, "bubble_sort")
	printf := p.AddSymbol(stdio, "printf")
	sort := p.AddSymbol(test, "sort_array")

	var b Body
	b.Count(0, 0, 0)
	b.Count(1, 0, 0)
	b.Count(2, 0, 34)
	b.Count(3, 0, 31)
	b.Count(4, 1, 659399)
	b.Count(4, 2, 659399)
	b.Count(5, 0, 23)
	for line := uint32(6); line <= 9; line++ {
		b.Count(line, 0, 218844)
	}
	b.Count(13, 0, 31)
	p.AddFunction(bubble, Function{Records: b.Records()})

	b.Reset()
	b.Count(0, 0, 0)
	b.Count(2, 0, 0)
	b.Count(3, 0, 0)
	b.Count(3, 1, 29)
	b.Count(3, 3, 29)
	b.Count(4, 0, 29)
	b.Count(4, 1, 29)
	b.Count(6, 0, 29)
	b.Count(7, 0, 29)
	b.Enter(1, 0, printf)
	b.Count(0, 0, 0)
	b.Count(2, 0, 0)
	b.Leave()
	p.AddFunction(sort, Function{Records: b.Records()})
	return p
}

func TestSummarizeExample(t *testing.T) {
	want := &afdo.Summary{
		TotalCount:       2194467,
		MaxCount:         659399,
		MaxFunctionCount: 0,
		NumCounts:        23,
		NumFunctions:     2,
		Entries: []afdo.SummaryEntry{
			{Cutoff: 10000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 100000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 200000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 300000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 400000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 500000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 600000, MinCount: 659399, NumCounts: 2},
			{Cutoff: 700000, MinCount: 218844, NumCounts: 6},
			{Cutoff: 800000, MinCount: 218844, NumCounts: 6},
			{Cutoff: 900000, MinCount: 218844, NumCounts: 6},
			{Cutoff: 950000, MinCount: 218844, NumCounts: 6},
			{Cutoff: 990000, MinCount: 218844, NumCounts: 6},
			{Cutoff: 999000, MinCount: 218844, NumCounts: 6},
			{Cutoff: 999900, MinCount: 31, NumCounts: 9},
			{Cutoff: 999990, MinCount: 23, NumCounts: 16},
			{Cutoff: 999999, MinCount: 23, NumCounts: 16},
		},
	}
	p := rfcExample()
	assert.Equal(t, want, p.Summarize())
	assert.Nil(t, p.Summary)
}

// naiveSummary computes a summary with integers of any size, trying every count as the minimum
// count of each entry.
func naiveSummary(p *Profile) *afdo.Summary {
	s := &afdo.Summary{NumFunctions: uint64(p.NumFunctions())}
	total := new(big.Int)
	distinct := map[uint64]bool{}
	var counts []uint64
	for _, f := range p.Functions() {
		s.MaxFunctionCount = max(s.MaxFunctionCount, f.HeadCount)
		for _, r := range f.Records {
			if r.Kind == KindCount {
				counts = append(counts, r.Count)
				distinct[r.Count] = true
				total.Add(total, new(big.Int).SetUint64(r.Count))
				s.MaxCount = max(s.MaxCount, r.Count)
			}
		}
	}
	s.NumCounts = uint64(len(counts))
	s.TotalCount = saturated(total)
	for _, cutoff := range []uint32{10000, 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999} {
		share := new(big.Int).SetUint64(s.TotalCount)
		share.Mul(share, big.NewInt(int64(cutoff)))
		share.Div(share, big.NewInt(1000000))
		best := afdo.SummaryEntry{Cutoff: cutoff}
		for smallest := range distinct {
			e := afdo.SummaryEntry{Cutoff: cutoff, MinCount: smallest}
			sum := new(big.Int)
			for _, c := range counts {
				if c >= smallest {
					e.NumCounts++
					sum.Add(sum, new(big.Int).SetUint64(c))
				}
			}
			if new(big.Int).SetUint64(saturated(sum)).Cmp(share) >= 0 && (best.NumCounts == 0 || e.NumCounts < best.NumCounts) && share.Sign() > 0 {
				best = e
			}
		}
		s.Entries = append(s.Entries, best)
	}
	return s
}

func TestSummarizeAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	// How counts are drawn: all zero, a few values, tiny totals, any, so large that the total
	// saturates.
	draws := []func() uint64{
		func() uint64 { return 0 },
		func() uint64 { return rng.Uint64N(4) },
		func() uint64 { return 1 << rng.Uint64N(30) },
		func() uint64 { return rng.Uint64N(1_000_000) },
		rng.Uint64,
		func() uint64 { return math.MaxUint64 - rng.Uint64N(2) },
		func() uint64 { return rng.Uint64N(2) * (math.MaxUint64 - rng.Uint64N(2)) },
	}
	for i, draw := range draws {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for range 40 {
				p := New()
				var b Body
				for f := range rng.IntN(4) {
					b.Reset()
					for line := range rng.Uint32N(12) {
						b.Count(line, 0, draw())
						b.Call(line, 0, 0, math.MaxUint64)
						b.Enter(line, 0, 0)
						b.Count(line, 0, draw())
						b.Leave()
					}
					p.AddFunction(p.AddSymbol(UnknownUnit, fmt.Sprint(f)), Function{HeadCount: draw(), Records: b.Records()})
				}
				require.Equal(t, naiveSummary(p), p.Summarize())
			}
		})
	}
}

// TestSummarizeSmallTotals checks the entries whose share of the total rounds to 0.
func TestSummarizeSmallTotals(t *testing.T) {
	tests := []struct {
		name   string
		counts []uint64
		want   afdo.SummaryEntry // the first
	}{
		{"no counts", nil, afdo.SummaryEntry{Cutoff: 10000}},
		{"only zeros", []uint64{0, 0, 0}, afdo.SummaryEntry{Cutoff: 10000}},
		{"a share below 1", []uint64{0, 33, 33, 33}, afdo.SummaryEntry{Cutoff: 10000}},
		{"a share of 1", []uint64{0, 34, 33, 33}, afdo.SummaryEntry{Cutoff: 10000, MinCount: 34, NumCounts: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := New()
			var b Body
			for line, c := range test.counts {
				b.Count(uint32(line), 0, c)
			}
			p.AddFunction(p.AddSymbol(UnknownUnit, "f"), Function{HeadCount: 1, Records: b.Records()})
			s := p.Summarize()
			assert.Equal(t, test.want, s.Entries[0])
			assert.Len(t, s.Entries, 16)
		})
	}
}
