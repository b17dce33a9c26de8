package instrprof

import (
	"cmp"
	"slices"
	"strings"
)

// An Overlap is the similarity of two profiles, from 0 to 1. It is the sum, over all counters or
// values, of the smaller of their shares of the two totals. It is 1 if the profiles are equal or
// neither has counts. llvm-profdata overlap computes the same.
type Overlap struct {
	Value float64
	Sums  [2]float64 // total of the counts in each profile
}

// A FunctionDelta compares the two records that two profiles have for the same name and hash.
type FunctionDelta struct {
	Name  string
	Hash  uint64
	Sums  [2]float64 // sum of the counters in each profile, without pseudo counts
	Has   [2]bool    // whether each profile has the record
	Alike float64    // contribution to the overlap of the counters
}

// A Comparison describes how two profiles differ.
type Comparison struct {
	Counters   Overlap
	Values     [numValueKinds]Overlap // by ValueKind
	Common     int                    // matching records in both profiles
	Mismatched int                    // records in both profiles with a different number of counters or sites; they add nothing to an overlap
	Functions  []FunctionDelta        // records that differ, largest difference of shares first
	Equal      bool                   // all records are equal; flags, traces and other data are not compared
}

// Compare compares the records of two profiles. It takes time proportional to the number of
// counters, and memory for the records that differ.
func Compare(a, b *Profile) *Comparison {
	c := comparer{Comparison: Comparison{Equal: true}}
	for i, p := range [2]*Profile{a, b} {
		c.sum(i, p)
	}
	for f := range a.all() {
		nameHash := NameHash(f.name)
		c.pair(f, b.shard(nameHash).find(nameHash, []byte(f.name), f.hash))
	}
	for f := range b.all() {
		nameHash := NameHash(f.name)
		if a.shard(nameHash).find(nameHash, []byte(f.name), f.hash) == nil {
			c.pair(nil, f)
		}
	}
	c.finish()
	return &c.Comparison
}

type comparer struct{ Comparison }

// sum adds the counters and values of p to the totals of one of the two profiles: the first if i is
// 0, and the second if i is 1. It leaves out functions with a pseudo count.
func (c *comparer) sum(i int, p *Profile) {
	for f := range p.all() {
		c.Counters.Sums[i] += counterSum(f)
		if f.values == nil {
			continue
		}
		for kind := range numValueKinds {
			for site := range f.values.Sites(kind) {
				for v := range site.All() {
					c.Values[kind].Sums[i] += float64(v.Count)
				}
			}
		}
	}
}

func counterSum(f *profileFunction) (sum float64) {
	counters := f.counters()
	if counters.pseudo() != 0 {
		return 0
	}
	for n := range counters.All() {
		sum += float64(n)
	}
	return sum
}

// pair compares the records a and b, which two profiles have for one name and hash. One of them may
// be nil. It adds a [FunctionDelta] to the comparison if they differ.
func (c *comparer) pair(a, b *profileFunction) {
	d := FunctionDelta{}
	for i, f := range [2]*profileFunction{a, b} {
		if f != nil {
			d.Name, d.Hash, d.Has[i], d.Sums[i] = f.name, f.hash, true, counterSum(f)
		}
	}
	same := false
	if a != nil && b != nil {
		same = c.common(a, b, &d)
	}
	if !same {
		c.Equal = false
		c.Functions = append(c.Functions, d)
	}
}

// common compares the records a and b, which two profiles have for one name and hash. It adds to
// each overlap the smaller of the two shares of each counter and value. It reports whether the
// records are equal. d gets the overlap of their counters.
func (c *comparer) common(a, b *profileFunction, d *FunctionDelta) bool {
	ra, rb := a.record(), b.record()
	if a.numCounters != b.numCounters || !sameSites(ra.values, rb.values) {
		c.Mismatched++
		return false
	}
	c.Common++
	same := slices.Equal(a.body, b.body)
	x, y := a.counters(), b.counters()
	if x.pseudo() == 0 && y.pseudo() == 0 {
		for i := range x.Len() {
			d.Alike += smallerShare(&c.Counters, float64(x.At(i)), float64(y.At(i)))
		}
		c.Counters.Value += d.Alike
	}
	if a.values == nil || b.values == nil {
		return same && a.values == b.values
	}
	mine, other := ra.values.sites(), rb.values.sites()
	for kind := range numValueKinds {
		c.values(kind, mine[kind], other[kind])
	}
	return same && slices.Equal(a.values.data, b.values.data)
}

// sameSites reports whether a and b have the same number of value sites of each kind.
func sameSites(a, b Values) bool {
	for kind := range numValueKinds {
		if a.NumSites(kind) != b.NumSites(kind) {
			return false
		}
	}
	return true
}

// values compares the profiled values of one kind in two records. a and b have the values at each
// site. It adds the smaller of the two shares of each value to the overlap of that kind.
func (c *comparer) values(kind ValueKind, a, b [][]Value) {
	for i := range a {
		counts := make(map[uint64]uint64, len(a[i]))
		for _, v := range a[i] {
			counts[v.Value] += v.Count
		}
		for _, v := range b[i] {
			c.Values[kind].Value += smallerShare(&c.Values[kind], float64(counts[v.Value]), float64(v.Count))
		}
	}
}

func smallerShare(o *Overlap, a, b float64) float64 {
	if o.Sums[0] == 0 || o.Sums[1] == 0 {
		return 0
	}
	return min(a/o.Sums[0], b/o.Sums[1])
}

// finish completes the comparison. It sorts the functions that differ, those with the largest
// difference first. It sets an overlap to 1 if neither profile has counts of its kind, or if all
// records are equal.
func (c *comparer) finish() {
	apart := func(d FunctionDelta) float64 {
		var shares [2]float64
		for i, sum := range d.Sums {
			if c.Counters.Sums[i] > 0 {
				shares[i] = sum / c.Counters.Sums[i]
			}
		}
		return max(shares[0], shares[1]) - d.Alike
	}
	slices.SortFunc(c.Functions, func(x, y FunctionDelta) int {
		return cmp.Or(cmp.Compare(apart(y), apart(x)), strings.Compare(x.Name, y.Name), cmp.Compare(x.Hash, y.Hash))
	})
	overlaps := []*Overlap{&c.Counters}
	for kind := range c.Values {
		overlaps = append(overlaps, &c.Values[kind])
	}
	for _, o := range overlaps {
		if o.Sums[0] == 0 && o.Sums[1] == 0 || c.Equal {
			o.Value = 1
		}
	}
}
