package check

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/summary"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// symbolIDs is the set of symbol IDs that a file defines.
type symbolIDs struct {
	all  []definedID
	bits wire.BitSet // set of IDs relative to the first one, if they are dense enough
	lost []idRange   // ranges of IDs of which some symbols could not be read
}

type definedID struct {
	id      uint32
	section uint32 // index of the symbol names section
	pos     int    // position of the row in the section
}

type idRange struct{ start, last uint32 }

func (s *symbolIDs) grow(n int) { s.all = slices.Grow(s.all, n) }

func (s *symbolIDs) add(id uint32, names afdo.Section, pos int) {
	s.all = append(s.all, definedID{id, uint32(names.Index), pos})
}

// lose records that symbols with IDs from start to end-1 could not be read. For these IDs, mayHave
// then returns true.
func (s *symbolIDs) lose(start, end uint32) {
	if start < end {
		s.lost = append(s.lost, idRange{start, end - 1})
	}
}

// sort is called when all symbols were added. It reports duplicate IDs, and prepares the set for
// lookups.
func (s *symbolIDs) sort(k *checker) {
	slices.SortFunc(s.all, func(a, b definedID) int {
		if a.id == b.id {
			return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.pos, b.pos))
		}
		return cmp.Compare(a.id, b.id)
	})
	for i := 1; i < len(s.all); i++ {
		if d := s.all[i]; d.id == s.all[i-1].id {
			k.fault(faultAt(k.sectionAt(int(d.section)), d.pos, afdo.ErrSymbol, "duplicate symbol ID %d", d.id))
		}
	}
	s.makeBits()
	slices.SortFunc(s.lost, func(a, b idRange) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(s.lost); i++ { // ranges may overlap, so extend each to the end of those before it
		s.lost[i].last = max(s.lost[i].last, s.lost[i-1].last)
	}
}

func (s *symbolIDs) makeBits() {
	if len(s.all) == 0 {
		return
	}
	first := s.all[0].id
	if span := uint64(s.all[len(s.all)-1].id-first) + 1; span <= 64*uint64(len(s.all)) {
		s.bits = wire.NewBitSet(int(span))
		for _, d := range s.all {
			s.bits.Add(d.id - first)
		}
	}
}

func (s *symbolIDs) has(id uint32) bool {
	if s.bits != nil {
		return s.bits.Has(id - s.all[0].id) // which wraps around for smaller IDs, to more than any span
	}
	i := sort.Search(len(s.all), func(i int) bool { return s.all[i].id >= id })
	return i < len(s.all) && s.all[i].id == id
}

// mayHave reports whether the ID may belong to a symbol that could not be read, see
// [symbolIDs.lose].
func (s *symbolIDs) mayHave(id uint32) bool {
	i := sort.Search(len(s.lost), func(i int) bool { return s.lost[i].start > id })
	return i > 0 && id <= s.lost[i-1].last
}

// A tally computes the summary of the functions in a file, to compare it with the summary that the
// file stores. It does not keep all counts. For each minimum count in the stored summary, it keeps
// how many counts are at least as large.
type tally struct {
	wire.Summary
	counted, found bool        // the stored summary counts samples; a function has data
	mins           []uint64    // distinct minimum counts, ascending
	steps          []tallyStep // counts from mins[i] up to, but excluding, mins[i+1]
}

type tallyStep struct {
	num, equal uint64 // number of counts, and number of those equal to the minimum
	sum        uint64 // sum of the counts, saturating
}

func (t *tally) prepare(s *wire.Summary) {
	t.counted = summary.Lost(&afdo.Summary{TotalCount: s.TotalCount, NumCounts: s.NumCounts, MaxFunctionCount: s.MaxFunctionCount})
	for _, e := range s.Entries {
		t.mins = append(t.mins, e.MinCount)
	}
	slices.Sort(t.mins)
	t.mins = slices.Compact(t.mins)
	t.steps = make([]tallyStep, len(t.mins))
}

func (t *tally) function(head, timestamp uint64) {
	t.NumFunctions++
	t.found = t.found || head|timestamp != 0
	t.MaxFunctionCount = max(t.MaxFunctionCount, head)
}

func (t *tally) count(n uint64) {
	t.NumCounts++
	t.TotalCount = saturating.Add(t.TotalCount, n)
	t.MaxCount = max(t.MaxCount, n)
	i, equal := slices.BinarySearch(t.mins, n)
	if !equal {
		i--
	}
	if i < 0 {
		return
	}
	step := &t.steps[i]
	step.num++
	step.sum = saturating.Add(step.sum, n)
	if equal {
		step.equal++
	}
}

// compareSummary compares the summary that the file stores with the one that its functions have. It
// reports the differences as remarks. If the stored summary has samples but the file has no
// function, it reports an error. f are the fields of the stored summary.
func (k *checker) compareSummary(f fields) {
	t := &k.tally
	if t.counted && !t.found {
		k.fault(faultAt(f.sec, f.Pos, afdo.ErrSummary, summary.LostDetail))
		return
	}
	agrees := true
	for _, figure := range []struct {
		what string
		want uint64
	}{
		{"total count", t.TotalCount},
		{"maximum count", t.MaxCount},
		{"maximum function count", t.MaxFunctionCount},
		{"number of counts", t.NumCounts},
		{"number of functions", t.NumFunctions},
	} {
		pos := f.Pos
		if found := f.Uint64(); found != figure.want {
			agrees = false
			k.remark(f.sec, pos, afdo.ErrSummary, "%s is %d, the data make it %d", figure.what, found, figure.want)
		}
	}
	// Entries are shares of the total. They cannot be checked if the total overflowed.
	if agrees && t.TotalCount < math.MaxUint64 {
		k.compareEntries(f)
	}
}

func (k *checker) compareEntries(f fields) {
	reach := k.tally.reach()
	for range f.Uint64() {
		pos := f.Pos
		e := wire.SummaryEntry{Cutoff: f.Uint32(), MinCount: f.Uint64(), NumCounts: f.Uint64()}
		i, _ := slices.BinarySearch(k.tally.mins, e.MinCount)
		if !reach[i].settles(k.tally.TotalCount, e) {
			k.remark(f.sec, pos, afdo.ErrSummary, "cutoff %d has %d counts of at least %d, which disagrees with the data", e.Cutoff, e.NumCounts, e.MinCount)
		}
	}
}

// reach returns, for each minimum count in the stored summary, the number and the sum of all counts
// that are at least as large.
func (t *tally) reach() []tallyStep {
	out := slices.Clone(t.steps)
	for i := len(out) - 2; i >= 0; i-- {
		out[i].num += out[i+1].num
		out[i].sum = saturating.Add(out[i].sum, out[i+1].sum)
	}
	return out
}

// settles reports whether an entry of the stored summary is correct. s has the counts that are at
// least as large as the entry's minimum, and total is the sum of all counts. Three things must
// hold. The number of counts in s is that of the entry. Their sum reaches the entry's share of the
// total. And without the counts that equal the minimum, the sum would not reach the share (format
// note 19). An entry for a share of 0 is always correct.
func (s tallyStep) settles(total uint64, e wire.SummaryEntry) bool {
	hi, lo := bits.Mul64(total, uint64(e.Cutoff))
	if hi >= 1e6 {
		return false
	}
	need, _ := bits.Div64(hi, lo, 1e6)
	above := s.sum - s.equal*e.MinCount
	return need == 0 || s.num == e.NumCounts && s.sum >= need && above < need
}
