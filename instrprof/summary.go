package instrprof

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo"
)

// A Summary is what compilers take for hot: how the counters of a profile are distributed. Functions
// with a pseudo count are left out.
type Summary struct {
	NumFunctions     uint64
	NumCounts        uint64
	MaxFunctionCount uint64 // the largest first counter
	MaxCount         uint64
	MaxInternalCount uint64 // the largest of the other counters
	TotalCount       uint64
	Entries          []SummaryEntry
}

// A SummaryEntry says that the NumCounts largest counters, those of at least MinCount, make up a
// part of the total count.
type SummaryEntry struct {
	Cutoff    uint64 // parts per million
	MinCount  uint64
	NumCounts uint64
}

const (
	summaryFields    = 6
	summaryEntrySize = 24
	million          = 1_000_000
)

// cutoffs are those LLVM writes.
var cutoffs = [...]uint64{
	10_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 950_000,
	990_000, 999_000, 999_900, 999_990, 999_999,
}

// fieldList returns the fields in the order of the file.
func (s *Summary) fieldList() [summaryFields]*uint64 {
	return [...]*uint64{
		&s.NumFunctions, &s.NumCounts, &s.MaxFunctionCount, &s.MaxCount, &s.MaxInternalCount, &s.TotalCount,
	}
}

// summary reads a summary: the number of fields and of entries, the fields, the entries. There may
// be more fields than are known.
func (f *fields) summary() *Summary {
	s := &Summary{}
	pos := f.pos
	numFields, numEntries := f.u64("the number of summary fields"), f.u64("the number of summary entries")
	if f.err == nil && (numFields < summaryFields || numFields > uint64(f.rest()/8)) {
		f.fail(pos, afdo.ErrCount, "%d fields, there are %d", numFields, summaryFields)
	}
	if f.err == nil && numEntries > (uint64(f.rest())-8*numFields)/summaryEntrySize {
		f.fail(pos+8, afdo.ErrCount, "%d entries in %d bytes", numEntries, f.rest())
	}
	if f.err != nil {
		return nil
	}
	for _, v := range s.fieldList() {
		*v = f.u64("a field")
	}
	f.take(8*(numFields-summaryFields), "further fields")
	s.Entries = make([]SummaryEntry, numEntries)
	for i := range s.Entries {
		s.Entries[i] = SummaryEntry{f.u64("a cutoff"), f.u64("a count"), f.u64("a number of counts")}
	}
	return s
}

// append is the mirror image of fields.summary.
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

// A tally counts counters for a summary.
type tally struct {
	s     Summary
	small [1 << 12]uint64   // how often counts below that occur
	large map[uint64]uint64 // and the others
}

// add counts a record. One without counters has no entry to count.
func (t *tally) add(c Counters) {
	if c.pseudo() != 0 || c.Len() == 0 {
		return
	}
	t.s.NumFunctions++
	t.s.NumCounts += uint64(c.Len())
	first := c.At(0)
	t.s.MaxFunctionCount = max(t.s.MaxFunctionCount, first)
	t.count(first)
	for i := 1; i < c.Len(); i++ {
		n := c.At(i)
		if n == PseudoHot { // LLVM's mark of a counter that says nothing
			t.s.NumCounts--
			continue
		}
		t.s.MaxInternalCount = max(t.s.MaxInternalCount, n)
		t.count(n)
	}
}

func (t *tally) count(n uint64) {
	t.s.TotalCount += n
	if n < uint64(len(t.small)) {
		t.small[n]++
		return
	}
	if t.large == nil {
		t.large = map[uint64]uint64{}
	}
	t.large[n]++
}

// summary returns the summary of what was counted.
func (t *tally) summary() *Summary {
	s := t.s
	s.MaxCount = max(s.MaxFunctionCount, s.MaxInternalCount)
	distinct := slices.SortedFunc(maps.Keys(t.large), func(a, b uint64) int { return cmp.Compare(b, a) })
	for n := len(t.small) - 1; n >= 0; n-- {
		if t.small[n] > 0 {
			distinct = append(distinct, uint64(n))
		}
	}
	var sum, seen, least uint64
	for _, cutoff := range cutoffs {
		high, low := bits.Mul64(s.TotalCount, cutoff)
		wanted, _ := bits.Div64(high, low, million)
		for sum < wanted && len(distinct) > 0 {
			least = distinct[0]
			times := t.times(least)
			sum += least * times
			seen += times
			distinct = distinct[1:]
		}
		s.Entries = append(s.Entries, SummaryEntry{cutoff, least, seen})
	}
	return &s
}

func (t *tally) times(n uint64) uint64 {
	if n < uint64(len(t.small)) {
		return t.small[n]
	}
	return t.large[n]
}
