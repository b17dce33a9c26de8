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
	return p.KeepHot(LeastHot(p.Heats(), share))
}

// A Heat is how many samples a function has, upper word first.
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

// LeastHot returns the samples that a function must have to be among the hottest that reach a share
// of all, see [Profile.KeepHottest]. It is never 0. It sorts the functions.
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

// KeepHot returns what [Profile.KeepFunctions] returns for the functions that have as many samples
// as that, which [LeastHot] tells. It is for a profile whose functions are in several places.
func (p *Profile) KeepHot(least Heat) (*Profile, Removed) {
	return p.KeepFunctions(func(s SymbolRef) bool {
		return samplesOf(p.Function(s).Records).compare(least.total()) >= 0
	})
}
