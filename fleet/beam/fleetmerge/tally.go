package fleetmerge

import (
	"maps"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/profile"
)

// A tally collects the statistics for the summary of a profile whose units are in several Profiles,
// as [profile.Profile.Split] returns them. The zero tally describes an empty profile. A tally takes
// about 40 bytes per distinct count.
type tally struct {
	facts  afdo.Summary      // without entries
	counts map[uint64]uint64 // number of records by count; without 0, which adds nothing to any share of the samples
}

// add adds the functions of a profile to the statistics of the tally. Each function must be added
// only once.
func (t *tally) add(p *profile.Profile) {
	for _, f := range p.Functions() {
		t.facts.NumFunctions++
		t.facts.MaxFunctionCount = max(t.facts.MaxFunctionCount, f.HeadCount)
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == profile.KindCount {
				t.facts.NumCounts++
				t.facts.TotalCount = saturating.Add(t.facts.TotalCount, r.Count)
				t.facts.MaxCount = max(t.facts.MaxCount, r.Count)
				t.count(r.Count, 1)
			}
		}
	}
}

// merge adds the statistics of the tally o to t. No function may be in both.
func (t *tally) merge(o *tally) {
	t.facts.NumFunctions += o.facts.NumFunctions
	t.facts.MaxFunctionCount = max(t.facts.MaxFunctionCount, o.facts.MaxFunctionCount)
	t.facts.NumCounts += o.facts.NumCounts
	t.facts.TotalCount = saturating.Add(t.facts.TotalCount, o.facts.TotalCount)
	t.facts.MaxCount = max(t.facts.MaxCount, o.facts.MaxCount)
	for count, n := range o.counts {
		t.count(count, n)
	}
}

// count adds n records that all have the given count to the statistics.
func (t *tally) count(count, n uint64) {
	if t.counts == nil {
		t.counts = make(map[uint64]uint64)
	}
	if count > 0 {
		t.counts[count] += n
	}
}

// summarize returns the result of [profile.Profile.Summarize] for a profile with all functions that
// were added.
func (t *tally) summarize() *afdo.Summary {
	s := t.facts
	left := slices.Sorted(maps.Keys(t.counts))
	s.Entries = summary.Entries(s.TotalCount, func() (count, n uint64) {
		count = left[len(left)-1]
		left = left[:len(left)-1]
		return count, t.counts[count]
	})
	return &s
}

// encode returns the tally as a message, which decode reads on another machine.
func (t *tally) encode() []byte {
	var m message
	m.uint(t.facts.NumFunctions, t.facts.MaxFunctionCount, t.facts.NumCounts, t.facts.TotalCount, t.facts.MaxCount)
	last := uint64(0)
	for _, count := range slices.Sorted(maps.Keys(t.counts)) {
		m.uint(count-last, t.counts[count])
		last = count
	}
	return m
}

// decode makes t the tally that another machine has encoded in data. If data is malformed, decode
// returns an error, and t must not be used.
func (t *tally) decode(data []byte) error {
	*t = tally{}
	f, facts := fieldsOf(data), &t.facts
	facts.NumFunctions, facts.MaxFunctionCount, facts.NumCounts, facts.TotalCount, facts.MaxCount = f.uint(), f.uint(), f.uint(), f.uint(), f.uint()
	for count := uint64(0); f.Rest() > 0; {
		step, n := f.uint(), f.uint()
		if step == 0 || n == 0 || count+step < count {
			return errMessage
		}
		count += step
		t.count(count, n)
	}
	return f.err()
}
