// Package summary computes the entries of summaries, and compares the summary in a profile with the
// one computed from its data.
package summary

import (
	"fmt"
	"math/bits"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Cutoffs are the shares of the total count for which a summary has entries, in parts per million
// (format note 19). GCOV's version 4 and LLVM's sample profiles have the same.
var Cutoffs = [...]uint32{
	10000, 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000,
	900000, 950000, 990000, 999000, 999900, 999990, 999999,
}

// Entries returns the entries of a summary for a profile whose counts have the given total. It
// calls next to get the counts above 0 in descending order, each with the number of its
// occurrences. Counts of 0 do not contribute to any entry.
func Entries(total uint64, next func() (count, n uint64)) []afdo.SummaryEntry {
	entries := make([]afdo.SummaryEntry, len(Cutoffs))
	e := afdo.SummaryEntry{}
	sum := uint64(0) // saturates like the total, so that all counts together reach any share
	for i, cutoff := range Cutoffs {
		e.Cutoff = cutoff
		for share := Share(total, cutoff); sum < share; {
			count, n := next()
			e.MinCount = count
			e.NumCounts += n
			sum = saturating.Add(sum, saturating.Mul(count, n))
		}
		entries[i] = e
	}
	return entries
}

// EntriesOf returns the entries of a summary for a profile whose counts have the given total.
// counts are all counts of the profile in ascending order. Counts of 0 may be left out.
func EntriesOf(total uint64, counts []uint64) []afdo.SummaryEntry {
	return Entries(total, func() (count, n uint64) {
		for count = counts[len(counts)-1]; len(counts) > 0 && counts[len(counts)-1] == count; n++ {
			counts = counts[:len(counts)-1]
		}
		return count, n
	})
}

// Share returns total*cutoff/1000000, rounded down.
func Share(total uint64, cutoff uint32) uint64 {
	hi, lo := bits.Mul64(total, uint64(cutoff))
	share, _ := bits.Div64(hi, lo, 1000000)
	return share
}

// Lost reports whether a file that has no functions must have lost them: its summary has totals
// above 0, and only functions with samples or a head count contribute to these.
func Lost(s *afdo.Summary) bool {
	return s != nil && (s.TotalCount > 0 || s.NumCounts > 0 || s.MaxFunctionCount > 0)
}

// LostDetail is the text of the error about a file that has lost its functions, see [Lost].
const LostDetail = "samples are counted, but the file has no function"

// OfSlice returns the summary for a slice, a part of a profile. s is the summary of the whole
// profile, and functions is the number of functions in the slice. The result is s, so that
// compilers have the same thresholds as with the whole profile. For a slice without functions, the
// totals are 0, because [Lost] would otherwise take the slice for a damaged file.
func OfSlice(s *afdo.Summary, functions int) *afdo.Summary {
	if s == nil || functions > 0 {
		return s
	}
	return &afdo.Summary{MaxCount: s.MaxCount, Entries: s.Entries}
}

// Figures is the number of fields of a summary before its entries.
const Figures = 5

// Compare calls report for each field in which a summary disagrees with the data. which is the
// index of the field in [afdo.Summary], or [Figures] plus the index of an entry. If functions of
// the file were merged when it was read, a count may be larger and the number of counts smaller;
// Compare then accepts that. A difference is a remark unless the file has lost its functions.
func Compare(found, data *afdo.Summary, merged bool, report func(which int, detail string, remark bool)) {
	agree, remark := true, data.NumFunctions > 0 || !Lost(found)
	for i, f := range []struct {
		what        string
		found, data uint64
		tolerable   bool
	}{
		{"total count", found.TotalCount, data.TotalCount, false},
		{"maximum count", found.MaxCount, data.MaxCount, found.MaxCount < data.MaxCount},
		{"maximum function count", found.MaxFunctionCount, data.MaxFunctionCount, found.MaxFunctionCount < data.MaxFunctionCount},
		{"number of counts", found.NumCounts, data.NumCounts, found.NumCounts > data.NumCounts},
		{"number of functions", found.NumFunctions, data.NumFunctions, found.NumFunctions > data.NumFunctions},
	} {
		if f.found == f.data {
			continue
		}
		agree = false
		if !merged || !f.tolerable {
			report(i, fmt.Sprintf("%s is %d, the data make it %d", f.what, f.found, f.data), remark)
		}
	}
	if agree { // the entries are shares of the total
		compareEntries(found.Entries, data.Entries, func(which int, detail string) { report(which, detail, true) })
	}
}

func compareEntries(found, data []afdo.SummaryEntry, report func(which int, detail string)) {
	cutoffs := make(map[uint32]afdo.SummaryEntry)
	for _, e := range data {
		cutoffs[e.Cutoff] = e
	}
	for i, e := range found {
		if d, ok := cutoffs[e.Cutoff]; ok && d != e {
			report(Figures+i, fmt.Sprintf("cutoff %d has %d counts from %d up, the data make it %d from %d up",
				e.Cutoff, e.NumCounts, e.MinCount, d.NumCounts, d.MinCount))
		}
	}
}
