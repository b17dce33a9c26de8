package profile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Tally gathers what the summary of a profile tells, where the profile is in several places:
// each of its functions in one of them, as [Profile.Split] has it. The zero Tally is of an empty
// profile. It takes 16 bytes, and up to 16 more, for each value that a count has.
type Tally struct {
	facts   afdo.Summary // without entries
	counts  []counted
	compact int // how many of counts ascend and have values of their own
}

// A counted is a value that n counts have.
type counted struct{ count, n uint64 }

// Add adds the functions of a profile.
func (t *Tally) Add(p *Profile) {
	for _, f := range p.Functions() {
		t.facts.NumFunctions++
		t.facts.MaxFunctionCount = max(t.facts.MaxFunctionCount, f.HeadCount)
		for i := range f.Records {
			if r := &f.Records[i]; r.Kind == KindCount {
				t.facts.NumCounts++
				t.facts.TotalCount = saturating.Add(t.facts.TotalCount, r.Count)
				t.facts.MaxCount = max(t.facts.MaxCount, r.Count)
				t.add(counted{r.Count, 1})
			}
		}
	}
}

// AddTally adds what another Tally has gathered of other functions.
func (t *Tally) AddTally(o *Tally) {
	t.facts.NumFunctions += o.facts.NumFunctions
	t.facts.MaxFunctionCount = max(t.facts.MaxFunctionCount, o.facts.MaxFunctionCount)
	t.facts.NumCounts += o.facts.NumCounts
	t.facts.TotalCount = saturating.Add(t.facts.TotalCount, o.facts.TotalCount)
	t.facts.MaxCount = max(t.facts.MaxCount, o.facts.MaxCount)
	for _, c := range o.counts {
		t.add(c)
	}
}

// add adds counts of one value, but zeros, which bring no share any nearer.
func (t *Tally) add(c counted) {
	const least = 1 << 10
	if c.count == 0 {
		return
	}
	if len(t.counts) >= max(2*t.compact, least) {
		t.settle()
	}
	t.counts = append(t.counts, c)
}

// settle sorts the counts and makes one of those that have one value.
func (t *Tally) settle() {
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

// Summary returns what [Profile.Summarize] returns for a profile that has all these functions.
func (t *Tally) Summary() *afdo.Summary {
	t.settle()
	s := t.facts
	left := t.counts
	s.Entries = histogram(s.TotalCount, func() (count, n uint64) {
		c := left[len(left)-1]
		left = left[:len(left)-1]
		return c.count, c.n
	})
	return &s
}

// MarshalBinary encodes a Tally, to send it to another machine.
func (t *Tally) MarshalBinary() ([]byte, error) {
	t.settle()
	var data []byte
	for _, v := range []uint64{t.facts.NumFunctions, t.facts.MaxFunctionCount, t.facts.NumCounts, t.facts.TotalCount, t.facts.MaxCount} {
		data = binary.AppendUvarint(data, v)
	}
	last := uint64(0)
	for _, c := range t.counts {
		data = binary.AppendUvarint(data, c.count-last)
		data = binary.AppendUvarint(data, c.n)
		last = c.count
	}
	return data, nil
}

var errTally = errors.New("profile: not a tally")

// UnmarshalBinary decodes what [Tally.MarshalBinary] returns. It fails for anything else that does
// not look like it.
func (t *Tally) UnmarshalBinary(data []byte) error {
	*t = Tally{}
	next := func() (v uint64) {
		var n int
		if v, n = binary.Uvarint(data); n <= 0 {
			data = nil
			return 0
		}
		data = data[n:]
		return v
	}
	f := &t.facts
	f.NumFunctions, f.MaxFunctionCount, f.NumCounts, f.TotalCount, f.MaxCount = next(), next(), next(), next(), next()
	if data == nil {
		return errTally
	}
	for count := uint64(0); len(data) > 0; {
		step := next()
		n := next()
		if step == 0 || n == 0 || count+step < count {
			return errTally
		}
		count += step
		t.counts = append(t.counts, counted{count, n})
	}
	t.compact = len(t.counts)
	return nil
}
