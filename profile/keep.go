package profile

import "slices"

// Removed describes what [Profile.KeepFunctions] or [Profile.KeepHottest] left out.
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
	var lost, all total
	for s, f := range p.Functions() {
		samples := samplesOf(f.Records)
		all.add(samples)
		if keep(s) {
			q.AddFunction(s, *f)
			continue
		}
		removed.Functions++
		lost.add(samples)
	}
	removed.Samples, removed.Share = lost.saturated(), lost.shareOf(all)
	kept := map[string]bool{LeftOut: true}
	for s := range q.Functions() {
		kept[q.SymbolName(s)] = true
	}
	q.evidence = p.evidence.keep(kept)
	return q.pruned(), removed
}

// LeaveOut returns a profile without the functions for which leave returns true, as
// [Profile.KeepFunctions] does. If the profile has evidence, it lists these functions, see
// [LeftOut].
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
// Sums and shares are computed exactly.
//
// Functions without samples are always left out. The share must be above 0. A share above 1 keeps
// all functions with samples.
func (p *Profile) KeepHottest(share Ratio) (*Profile, Removed) {
	heats := make([]total, 0, p.NumFunctions())
	for _, f := range p.Functions() {
		heats = append(heats, samplesOf(f.Records))
	}
	least := leastHot(heats, share)
	return p.KeepFunctions(func(s SymbolRef) bool { return samplesOf(p.Function(s).Records).compare(least) >= 0 })
}

// leastHot returns how many samples a function must have for [Profile.KeepHottest] to keep it: as
// many as the least hot function that is needed to reach the share, and at least 1. heats are the
// samples of all functions; leastHot sorts them.
func leastHot(heats []total, share Ratio) total {
	slices.SortFunc(heats, func(a, b total) int { return b.compare(a) })
	var all, sum total
	for _, h := range heats {
		all.add(h)
	}
	least := total{lo: 1}
	for _, h := range heats {
		if h == (total{}) || compareShares(sum, all, total{lo: share.Num}, total{lo: share.Den}) >= 0 {
			break
		}
		sum.add(h)
		least = h
	}
	return least
}
