package instrprof

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
)

// A Summary describes the distribution of a profile's counters. Compilers compute thresholds for
// hot code from a Summary. It leaves out functions with a pseudo count.
type Summary struct {
	NumFunctions     uint64 // number of records with counters
	NumCounts        uint64 // number of counters, including zeros
	MaxFunctionCount uint64 // the largest first counter of a function
	MaxCount         uint64 // the largest counter
	MaxInternalCount uint64 // the largest counter that is not the first of a function
	TotalCount       uint64 // sum of all counters; it wraps around on overflow
	Entries          []SummaryEntry
}

// A SummaryEntry states that the NumCounts largest counters, each at least MinCount, make up the
// share Cutoff of the total count.
type SummaryEntry struct {
	Cutoff    uint64 // the share, in parts per million
	MinCount  uint64
	NumCounts uint64
}

const (
	summaryFields    = 6
	summaryEntrySize = 24
)

// fieldList returns the fields of the summary in the order of the file.
func (s *Summary) fieldList() [summaryFields]*uint64 {
	return [...]*uint64{
		&s.NumFunctions, &s.NumCounts, &s.MaxFunctionCount, &s.MaxCount, &s.MaxInternalCount, &s.TotalCount,
	}
}

// summary reads a summary: the number of fields, the number of entries, the fields, and the
// entries. It skips unknown fields.
func (f *fields) summary() *Summary {
	s := &Summary{}
	pos := f.Pos
	numFields, numEntries := f.Uint64("the number of summary fields"), f.Uint64("the number of summary entries")
	if f.Err == nil && (numFields < summaryFields || numFields > uint64(f.Rest()/8)) {
		f.Fail(pos, fault.ErrCount, "%d fields, there are %d", numFields, summaryFields)
	}
	if f.Err == nil && numEntries > (uint64(f.Rest())-8*numFields)/summaryEntrySize {
		f.Fail(pos+8, fault.ErrCount, "%d entries in %d bytes", numEntries, f.Rest())
	}
	if f.Err != nil {
		return nil
	}
	for _, v := range s.fieldList() {
		*v = f.Uint64("a field")
	}
	f.Take(8*(numFields-summaryFields), "further fields")
	s.Entries = make([]SummaryEntry, numEntries)
	for i := range s.Entries {
		s.Entries[i] = SummaryEntry{f.Uint64("a cutoff"), f.Uint64("a count"), f.Uint64("a number of counts")}
	}
	return s
}

// append appends the summary to p in the form that [fields.summary] reads.
func (s *Summary) append(p []byte) []byte {
	p = append64(p, summaryFields, uint64(len(s.Entries)))
	for _, v := range s.fieldList() {
		p = append64(p, *v)
	}
	for _, e := range s.Entries {
		p = append64(p, e.Cutoff, e.MinCount, e.NumCounts)
	}
	return p
}

// summarize returns the summary of all counters of a profile. It calls each twice. each calls count
// with the counters of every function.
func summarize(each func(count func(Counters))) *Summary {
	t := &tally{buckets: make([]bucket, numBuckets), opened: map[int][]uint64{}}
	each(t.add)
	t.openBuckets()
	each(t.addAgain)
	return t.summary()
}

// A tally computes a summary from the counters of a profile in two passes. The first pass counts
// how many counters fall into each range of values, called a bucket. The second pass collects the
// exact values only in those buckets in which a cutoff of the summary falls, so that only these
// take memory.
type tally struct {
	s       Summary
	buckets []bucket         // by size of the count
	opened  map[int][]uint64 // second pass: the counts of each bucket that contains a cutoff
}

type bucket struct{ n, sum uint64 }

// Sizes of the buckets of a [tally]. Each count below exactCounts has a bucket of its own. Larger
// counts share a bucket if their binary forms have the same length and the same first eleven bits.
const (
	exactBits   = 11
	exactCounts = 1 << exactBits
	numBuckets  = exactCounts + (64-exactBits)*(exactCounts/2)
)

func bucketOf(n uint64) int {
	if n < exactCounts {
		return int(n)
	}
	shift := bits.Len64(n) - exactBits
	return exactCounts + (shift-1)*(exactCounts/2) + int(n>>shift) - exactCounts/2
}

// add counts the counters of one function in the first pass. It ignores a function without counters
// or with a pseudo count.
func (t *tally) add(c Counters) {
	if c.pseudo() != 0 || c.Len() == 0 {
		return
	}
	t.s.NumFunctions++
	t.s.MaxFunctionCount = max(t.s.MaxFunctionCount, c.At(0))
	for i := range c.Len() {
		n := c.At(i)
		if n == PseudoHot { // LLVM's mark for an unknown counter
			continue
		}
		if i > 0 {
			t.s.MaxInternalCount = max(t.s.MaxInternalCount, n)
		}
		t.s.NumCounts++
		t.s.TotalCount += n
		b := &t.buckets[bucketOf(n)]
		b.n++
		b.sum += n
	}
}

// openBuckets ends the first pass. It finds the buckets in which a cutoff of the summary falls.
func (t *tally) openBuckets() {
	i, sum := len(t.buckets), uint64(0)
	for _, cutoff := range summary.Cutoffs {
		for wanted := summary.Share(t.s.TotalCount, cutoff); sum < wanted && i > 0; {
			if i--; t.buckets[i].n > 0 && sum+t.buckets[i].sum >= wanted && i >= exactCounts {
				t.opened[i] = []uint64{}
			}
			sum += t.buckets[i].sum
		}
	}
}

// addAgain collects, in the second pass, those counters of one function whose buckets openBuckets
// has found.
func (t *tally) addAgain(c Counters) {
	if c.pseudo() != 0 {
		return
	}
	for i := range c.Len() {
		n := c.At(i)
		if n < exactCounts || n == PseudoHot {
			continue
		}
		b := bucketOf(n)
		if list, ok := t.opened[b]; ok {
			t.opened[b] = append(list, n)
		}
	}
}

// groups yields the distinct counter values, the largest first, with how often each occurs and the
// sum of these counters. For a bucket in which no cutoff falls, it yields one value that stands for
// the whole bucket.
func (t *tally) groups() iter.Seq2[uint64, bucket] {
	return func(yield func(uint64, bucket) bool) {
		for i, b := range slices.Backward(t.buckets) {
			if list, ok := t.opened[i]; ok {
				if !eachGroup(list, yield) {
					return
				}
			} else if b.n > 0 && !yield(uint64(i), b) {
				return
			}
		}
	}
}

// eachGroup sorts counter values and calls yield for each distinct one, largest first, with how
// often it occurs.
func eachGroup(counts []uint64, yield func(uint64, bucket) bool) bool {
	slices.Sort(counts)
	for end := len(counts); end > 0; {
		n, start := counts[end-1], end-1
		for start > 0 && counts[start-1] == n {
			start--
		}
		times := uint64(end - start)
		if !yield(n, bucket{times, n * times}) {
			return false
		}
		end = start
	}
	return true
}

// summary returns the summary of the counters after the second pass.
func (t *tally) summary() *Summary {
	s := t.s
	s.MaxCount = max(s.MaxFunctionCount, s.MaxInternalCount)
	s.Entries = make([]SummaryEntry, 0, len(summary.Cutoffs))
	next, stop := iter.Pull2(t.groups())
	defer stop()
	var sum, seen, least uint64
	for _, cutoff := range summary.Cutoffs {
		for wanted := summary.Share(s.TotalCount, cutoff); sum < wanted; {
			n, group, ok := next()
			if !ok {
				break
			}
			least = n
			sum += group.sum
			seen += group.n
		}
		s.Entries = append(s.Entries, SummaryEntry{uint64(cutoff), least, seen})
	}
	return &s
}
