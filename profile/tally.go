package profile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
)

// A Tally computes the summary of a profile whose functions are divided among several Profiles, as
// by [Profile.Split]. The zero Tally describes an empty profile. A Tally takes 16 to 32 bytes per
// distinct count. It is not safe for concurrent use.
type Tally struct {
	facts   afdo.Summary // without entries
	counts  []counted
	compact int // the number of leading counts that are sorted and distinct
}

// A counted is a count and the number of its occurrences.
type counted struct{ count, n uint64 }

// Add adds the functions of a profile. Each function must be added only once.
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

// AddTally adds another Tally. No function may be in both.
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

// add adds counts of one value. It ignores zeros, which do not contribute to any share.
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

// settle sorts the counts and combines equal ones.
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

// Summary returns the result of [Profile.Summarize] for a profile with all functions that were
// added.
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

// MarshalBinary encodes a Tally, so that it can be sent to another machine. The error is always
// nil.
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

// UnmarshalBinary replaces t by the Tally that [Tally.MarshalBinary] encoded. After an error t must
// not be used.
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

// A total is a sum of counts. It is exact, because a profile has far fewer than 2^64 records.
type total struct{ hi, lo uint64 }

func (t *total) add(u total) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, u.lo, 0)
	t.hi += u.hi + carry
}

// saturated returns the sum as a count.
func (t total) saturated() uint64 {
	if t.hi > 0 {
		return math.MaxUint64
	}
	return t.lo
}

func (t total) float() float64 { return float64(t.hi)*(1<<64) + float64(t.lo) }

// shareOf returns the sum's share of whole: exactly 1 if they are equal, and 0 if whole is 0.
func (t total) shareOf(whole total) float64 {
	if whole == (total{}) {
		return 0
	}
	return t.float() / whole.float()
}

// compareShares compares part/whole with otherPart/otherWhole, exactly.
func compareShares(part, whole, otherPart, otherWhole total) int {
	return compareProducts(part, otherWhole, otherPart, whole)
}

// compareProducts compares a*b with c*d.
func compareProducts(a, b, c, d total) int {
	if a.hi|b.hi|c.hi|d.hi == 0 {
		hi, lo := bits.Mul64(a.lo, b.lo)
		otherHi, otherLo := bits.Mul64(c.lo, d.lo)
		return total{hi, lo}.compare(total{otherHi, otherLo})
	}
	upper, lower := a.times(b)
	otherUpper, otherLower := c.times(d)
	if order := upper.compare(otherUpper); order != 0 {
		return order
	}
	return lower.compare(otherLower)
}

func (t total) compare(u total) int {
	if t.hi != u.hi {
		return cmp.Compare(t.hi, u.hi)
	}
	return cmp.Compare(t.lo, u.lo)
}

// times returns the product in 256 bits.
func (t total) times(u total) (upper, lower total) {
	lower.hi, lower.lo = bits.Mul64(t.lo, u.lo)
	upper.hi, upper.lo = bits.Mul64(t.hi, u.hi)
	for _, cross := range [2]total{product(t.hi, u.lo), product(t.lo, u.hi)} {
		var carry uint64
		lower.hi, carry = bits.Add64(lower.hi, cross.lo, 0)
		upper.lo, carry = bits.Add64(upper.lo, cross.hi, carry)
		upper.hi += carry
	}
	return upper, lower
}

func product(x, y uint64) total {
	hi, lo := bits.Mul64(x, y)
	return total{hi, lo}
}

// samplesOf returns the sum of all counts in a body, including inlined bodies.
func samplesOf(records []Record) total {
	var sum total
	for i := range records {
		if r := &records[i]; r.Kind == KindCount {
			sum.add(total{lo: r.Count})
		}
	}
	return sum
}

// LimitTargets returns a profile in which each location of a body has at most n call targets. It
// keeps the targets with the most calls; among targets with equal calls, the first by unit and
// name. Samples and inlined bodies do not change.
//
// removed is the number of removed targets, and calls the sum of their calls, saturating. Unused
// symbols are dropped. The result has no summary. p is not changed. LimitTargets takes O(n log n).
func (p *Profile) LimitTargets(n int) (q *Profile, removed int, calls uint64) {
	q = p.like()
	l := targetLimiter{profile: p, n: n}
	for s, f := range p.Functions() {
		q.AddFunction(s, Function{f.HeadCount, f.Timestamp, l.limit(f.Records)})
	}
	return q.pruned(), l.removed, l.calls
}

type targetLimiter struct {
	profile *Profile
	n       int
	removed int
	calls   uint64
	body    Body
	targets []Record // targets of the current location
}

// limit returns the records without the removed targets. They are valid until the next call.
func (l *targetLimiter) limit(records []Record) []Record {
	l.body.Reset()
	open := 0
	w := Walk(records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		if r.Kind == KindCall && depth == open && l.sameLocation(r) {
			l.targets = append(l.targets, *r)
			continue
		}
		l.flush()
		for ; open > depth; open-- {
			l.body.Leave()
		}
		switch r.Kind {
		case KindCount:
			l.body.Count(r.Line, r.Discriminator, r.Count)
		case KindCall:
			l.targets = append(l.targets, *r)
		case KindInlined:
			l.body.Enter(r.Line, r.Discriminator, r.Callee)
			open++
		}
	}
	l.flush()
	for ; open > 0; open-- {
		l.body.Leave()
	}
	return l.body.Records()
}

func (l *targetLimiter) sameLocation(r *Record) bool {
	return len(l.targets) > 0 && l.targets[0].place().where == r.place().where
}

// flush adds the hottest targets of the current location to the body.
func (l *targetLimiter) flush() {
	if len(l.targets) > l.n {
		slices.SortFunc(l.targets, l.hotter)
		for _, r := range l.targets[l.n:] {
			l.removed++
			l.calls = saturating.Add(l.calls, r.Count)
		}
		l.targets = l.targets[:l.n]
		slices.SortFunc(l.targets, func(a, b Record) int { return a.place().compare(b.place()) })
	}
	for _, r := range l.targets {
		l.body.Call(r.Line, r.Discriminator, r.Callee, r.Count)
	}
	l.targets = l.targets[:0]
}

// hotter orders targets by descending calls.
func (l *targetLimiter) hotter(a, b Record) int {
	p := l.profile
	return cmp.Or(
		cmp.Compare(b.Count, a.Count),
		strings.Compare(p.UnitPath(p.SymbolUnit(a.Callee)), p.UnitPath(p.SymbolUnit(b.Callee))),
		strings.Compare(p.SymbolName(a.Callee), p.SymbolName(b.Callee)),
	)
}
