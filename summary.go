package afdo

import "github.com/go-afdo/afdo/internal/v4/wire"

// A Summary holds aggregate statistics of the whole profile (RFC 4.4).
type Summary struct {
	TotalCount       uint64 // sum of all counts
	MaxCount         uint64 // largest count of a single location
	MaxFunctionCount uint64 // largest head count of a single function
	NumCounts        uint64 // number of counts, including zeros
	NumFunctions     uint64 // number of functions with samples of their own

	// Entries is the detailed histogram, in ascending order of Cutoff.
	Entries []SummaryEntry
}

// A SummaryEntry describes the hottest counts that together make up a given share of the total
// count.
type SummaryEntry struct {
	Cutoff    uint32 // share of the total count, in parts per million
	MinCount  uint64 // smallest of these counts
	NumCounts uint64 // number of counts of at least MinCount
}

func newSummary(w *wire.Summary) *Summary {
	s := &Summary{w.TotalCount, w.MaxCount, w.MaxFunctionCount, w.NumCounts, w.NumFunctions, nil}
	if len(w.Entries) > 0 {
		s.Entries = make([]SummaryEntry, len(w.Entries))
	}
	for i, e := range w.Entries {
		s.Entries[i] = SummaryEntry(e)
	}
	return s
}
