package fleetmerge

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/profile"
)

// A tally collects the statistics for the summary of a profile whose units are in several Profiles,
// as [profile.Profile.Split] returns them. The zero tally describes an empty profile. A tally takes
// 16 to 32 bytes per distinct count.
type tally struct {
	facts   afdo.Summary // without entries
	counts  []counted
	compact int // the number of leading counts that are sorted and distinct
}

// A counted is a count and the number of its occurrences.
type counted struct{ count, n uint64 }

// add adds the functions of a profile to the tally. Each function must be added only once.
func (t *tally) add(p *profile.Profile) {
	for _, f := range p.Functions() {
		t.facts.NumFunctions++
		t.facts.MaxFunctionCount = max(t.facts.MaxFunctionCount, f.HeadCount)
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == profile.KindCount {
				t.facts.NumCounts++
				t.facts.TotalCount = saturating.Add(t.facts.TotalCount, r.Count)
				t.facts.MaxCount = max(t.facts.MaxCount, r.Count)
				t.count(counted{r.Count, 1})
			}
		}
	}
}

// merge adds another tally to t. No function may be in both.
func (t *tally) merge(o *tally) {
	t.facts.NumFunctions += o.facts.NumFunctions
	t.facts.MaxFunctionCount = max(t.facts.MaxFunctionCount, o.facts.MaxFunctionCount)
	t.facts.NumCounts += o.facts.NumCounts
	t.facts.TotalCount = saturating.Add(t.facts.TotalCount, o.facts.TotalCount)
	t.facts.MaxCount = max(t.facts.MaxCount, o.facts.MaxCount)
	for _, c := range o.counts {
		t.count(c)
	}
}

// count adds a count that occurs c.n times. It ignores zeros, because they do not contribute to any
// share of the samples.
func (t *tally) count(c counted) {
	const least = 1 << 10
	if c.count == 0 {
		return
	}
	if len(t.counts) >= max(2*t.compact, least) {
		t.settle()
	}
	t.counts = append(t.counts, c)
}

// settle sorts the counts of the tally and combines equal ones.
func (t *tally) settle() {
	slices.SortFunc(t.counts, func(a, b counted) int { return cmp.Compare(a.count, b.count) })
	settled := t.counts[:0]
	for _, c := range t.counts {
		if last := len(settled) - 1; last >= 0 && settled[last].count == c.count {
			settled[last].n += c.n
			continue
		}
		settled = append(settled, c)
	}
	t.counts, t.compact = settled, len(settled)
}

// summarize returns the result of [profile.Profile.Summarize] for a profile with all functions that
// were added.
func (t *tally) summarize() *afdo.Summary {
	t.settle()
	s := t.facts
	left := t.counts
	s.Entries = summary.Entries(s.TotalCount, func() (count, n uint64) {
		c := left[len(left)-1]
		left = left[:len(left)-1]
		return c.count, c.n
	})
	return &s
}

// encode returns the tally as a message, which decode reads on another machine.
func (t *tally) encode() []byte {
	t.settle()
	var m message
	for _, v := range []uint64{t.facts.NumFunctions, t.facts.MaxFunctionCount, t.facts.NumCounts, t.facts.TotalCount, t.facts.MaxCount} {
		m.uint(v)
	}
	last := uint64(0)
	for _, c := range t.counts {
		m.uint(c.count - last)
		m.uint(c.n)
		last = c.count
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
		t.counts = append(t.counts, counted{count, n})
	}
	t.compact = len(t.counts)
	return f.err()
}
