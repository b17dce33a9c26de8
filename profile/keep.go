package profile

import (
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// Removed says how many functions and samples [Profile.KeepFunctions] or [Profile.KeepHottest] left
// out.
type Removed struct {
	Functions int
	Samples   uint64  // sum of the counts of these functions, saturating
	Share     float64 // share of all samples
}

// KeepFunctions returns a profile with the functions of p for which keep returns true, including
// their inlined bodies and calls. Symbols without function and reference, and units without
// symbols, are left out. The result has no summary. p is not changed.
//
// KeepFunctions takes time and memory proportional to the size of the profile.
func (p *Profile) KeepFunctions(keep func(SymbolRef) bool) (*Profile, Removed) {
	q := p.like()
	var removed Removed
	all := uint64(0)
	for s, f := range p.Functions() {
		samples := samplesOf(f.Records)
		all = saturating.Add(all, samples)
		if keep(s) {
			q.AddFunction(s, *f)
			continue
		}
		removed.Functions++
		removed.Samples = saturating.Add(removed.Samples, samples)
	}
	removed.Share = shareOf(removed.Samples, all)
	kept := map[string]bool{LeftOut: true}
	for s := range q.Functions() {
		kept[q.SymbolName(s)] = true
	}
	q.evidence = p.evidence.keep(kept)
	return q.pruned(), removed
}

// LeaveOut returns a profile without the functions for which leave returns true. It is the opposite
// of [Profile.KeepFunctions]. If the profile has evidence, the evidence of the result lists the
// dropped functions, see [LeftOut].
func (p *Profile) LeaveOut(leave func(SymbolRef) bool) (*Profile, Removed) {
	q, removed := p.KeepFunctions(func(s SymbolRef) bool { return !leave(s) })
	names := make(map[string]bool)
	for s := range SymbolRef(p.NumSymbols()) {
		names[p.SymbolName(s)] = leave(s)
	}
	if q.evidence != nil {
		q.evidence.Copies = append(q.evidence.Copies, p.evidence.leftOut(names))
	}
	return q, removed
}

// KeepHottest keeps the hottest functions that together have the given share of all samples, as by
// [Profile.KeepFunctions]. It keeps as few functions as reach the share, and all functions with as
// many samples as the last of these. The samples of a function include those of its inlined bodies.
// Shares are compared exactly.
//
// Functions without samples are always left out. The share must be above 0. A share above 1 keeps
// all functions with samples.
func (p *Profile) KeepHottest(share Ratio) (*Profile, Removed) {
	samples := make([]uint64, 0, p.NumFunctions())
	for _, f := range p.Functions() {
		samples = append(samples, samplesOf(f.Records))
	}
	least := leastHot(samples, share)
	return p.KeepFunctions(func(s SymbolRef) bool { return samplesOf(p.Function(s).Records) >= least })
}

// leastHot returns how many samples a function must have for [Profile.KeepHottest] to keep it: as
// many as the least hot function that is needed to reach the share, and at least 1. samples has the
// samples of each function; leastHot sorts it.
func leastHot(samples []uint64, share Ratio) uint64 {
	slices.Sort(samples)
	all, sum := uint64(0), uint64(0)
	for _, n := range samples {
		all = saturating.Add(all, n)
	}
	least := uint64(1)
	for _, n := range slices.Backward(samples) {
		if n == 0 || compareShares(sum, all, share.Num, share.Den) >= 0 {
			break
		}
		sum = saturating.Add(sum, n)
		least = n
	}
	return least
}
