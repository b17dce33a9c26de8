// Package summary compares the summary that a profile has with the one that its data make.
package summary

import (
	"fmt"

	"github.com/go-afdo/afdo"
)

// Figures is how many figures come before the entries.
const Figures = 5

// Compare reports where a summary does not agree with the data: which says the figure, in the order
// of [afdo.Summary], or [Figures] and the index of an entry. Where the data have been merged, a
// count may have become larger and the number of counts smaller.
func Compare(found, data *afdo.Summary, merged bool, report func(which int, detail string)) {
	agree := true
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
			report(i, fmt.Sprintf("%s is %d, the data make it %d", f.what, f.found, f.data))
		}
	}
	if agree { // the entries are shares of the total
		compareEntries(found.Entries, data.Entries, report)
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
