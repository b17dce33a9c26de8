package profile

import "slices"

// Removed says what [Profile.KeepFunctions] or [Profile.KeepHottest] left out.
type Removed struct {
	Functions int
	Samples   uint64  // the sum of their counts, saturating
	Share     float64 // of all samples
}

// KeepFunctions returns a profile with those functions of p that keep says yes
// to, whole: with all that is inlined in them and all their calls. Symbols that
// have no function and that nothing refers to any more, and units without symbols,
// are left out as well. It has no summary. p is not changed.
//
// It takes time and memory by the size of the profile.
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
	return q.pruned(), removed
}

// KeepHottest returns what [Profile.KeepFunctions] returns for the hottest
// functions that together have a share of all samples: the smallest set of
// functions with the most samples whose sum reaches the share, and all
// functions that have as many samples as the last of them. The samples of a
// function are the sum of its counts and of those of what is inlined in it.
// Sums and shares are exact, however large the counts are.
//
// A function without samples is not needed for any share and is left out.
// A share of more than the whole is reached by all functions that have samples.
func (p *Profile) KeepHottest(share Ratio) (*Profile, Removed) {
	samples := make([]total, p.NumSymbols())
	for s, f := range p.Functions() {
		samples[s] = samplesOf(f.Records)
	}
	least := leastHot(samples, share)
	return p.KeepFunctions(func(s SymbolRef) bool { return samples[s].compare(least) >= 0 })
}

// leastHot returns the smallest number of samples that a function must have to
// be among the hottest that reach a share of all. It is never 0.
func leastHot(samples []total, share Ratio) total {
	hottest := slices.DeleteFunc(slices.Clone(samples), func(t total) bool { return t == total{} })
	slices.SortFunc(hottest, func(t, u total) int { return u.compare(t) })
	var all, sum total
	for _, t := range hottest {
		all.add(t)
	}
	least := total{lo: 1}
	for _, t := range hottest {
		if compareShares(sum, all, total{lo: share.Num}, total{lo: share.Den}) >= 0 {
			break
		}
		sum.add(t)
		least = t
	}
	return least
}
