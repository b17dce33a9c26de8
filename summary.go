package afdo

import "github.com/go-afdo/afdo/internal/v4/wire"

// A Summary is the aggregate statistics of a whole profile (RFC 4.4).
type Summary struct {
	TotalCount       uint64 // sum of all counts
	MaxCount         uint64 // largest count of a location
	MaxFunctionCount uint64 // largest head count of a function
	NumCounts        uint64 // number of counts, zeros included
	NumFunctions     uint64 // number of functions with samples of their own

	// Entries is the detailed histogram, by ascending cutoff.
	Entries []SummaryEntry
}

// A SummaryEntry says how many of the largest counts make up a share of the total count.
type SummaryEntry struct {
	Cutoff    uint32 // share of the total count, in parts per million
	MinCount  uint64 // smallest of those counts
	NumCounts uint64 // number of counts that are at least MinCount
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
