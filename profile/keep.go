package profile

import "slices"

// Removed describes what [Profile.KeepFunctions], [Profile.KeepHot] or [Profile.KeepHottest] left
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
	q.evidence = p.evidence.keep(q.functionNames())
	return q.pruned(), removed
}

// functionNames reports whether a name is that of a function of p.
func (p *Profile) functionNames() func(string) bool {
	names := make(map[string]bool)
	for s := range p.Functions() {
		names[p.SymbolName(s)] = true
	}
	return func(name string) bool { return names[name] }
}

// KeepHottest keeps the hottest functions that together have the given share of all samples, as by
// [Profile.KeepFunctions]. It keeps as few functions as reach the share, and all functions with as
// many samples as the last of these. The samples of a function include those of its inlined bodies.
// Sums and shares are computed exactly.
//
// Functions without samples are always left out. The share must be above 0. A share above 1 keeps
// all functions with samples.
func (p *Profile) KeepHottest(share Ratio) (*Profile, Removed) {
	return p.KeepHot(LeastHot(p.Heats(), share))
}

// A Heat is the number of samples of a function in 128 bits, upper word first.
type Heat [2]uint64

// Heats returns the samples of all functions, in the order of [Profile.Functions].
func (p *Profile) Heats() []Heat {
	heats := make([]Heat, 0, p.NumFunctions())
	for _, f := range p.Functions() {
		samples := samplesOf(f.Records)
		heats = append(heats, Heat{samples.hi, samples.lo})
	}
	return heats
}

// LeastHot returns the samples of the least hot function that [Profile.KeepHottest] would keep, at
// least 1. It sorts functions in place.
func LeastHot(functions []Heat, share Ratio) Heat {
	slices.SortFunc(functions, func(a, b Heat) int { return b.total().compare(a.total()) })
	var all, sum total
	for _, h := range functions {
		all.add(h.total())
	}
	least := Heat{0, 1}
	for _, h := range functions {
		if h == (Heat{}) || compareShares(sum, all, total{lo: share.Num}, total{lo: share.Den}) >= 0 {
			break
		}
		sum.add(h.total())
		least = h
	}
	return least
}

func (h Heat) total() total { return total{h[0], h[1]} }

// KeepHot keeps the functions with at least the given number of samples, as by
// [Profile.KeepFunctions]. Use it with [Profile.Heats] and [LeastHot] for a profile that is divided
// among several Profiles, as by [Profile.Split].
func (p *Profile) KeepHot(least Heat) (*Profile, Removed) {
	return p.KeepFunctions(func(s SymbolRef) bool {
		return samplesOf(p.Function(s).Records).compare(least.total()) >= 0
	})
}
