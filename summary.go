package afdo

import "math"

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

// Summary returns the summary section (RFC 4.4) as it stands in the file: a
// reader that wants it to agree with the data computes it. It reads that
// section each time it is called.
func (r *Reader) Summary() (*Summary, error) {
	if r.src.closed.Load() {
		return nil, ErrClosed
	}
	f, err := r.openFixed(SectionSummary)
	if err != nil {
		return nil, err
	}
	s := f.summary()
	return s, f.err
}

func (f *fields) summary() *Summary {
	s := &Summary{
		TotalCount:       f.uint64(),
		MaxCount:         f.uint64(),
		MaxFunctionCount: f.uint64(),
		NumCounts:        f.uint64(),
		NumFunctions:     f.uint64(),
	}
	n := f.count(f.uint64(), 4+8+8, 3, "detailed entries")
	if n > 0 {
		s.Entries = make([]SummaryEntry, n)
	}
	for i := range s.Entries {
		s.Entries[i] = SummaryEntry{Cutoff: f.uint32(), MinCount: f.uint64(), NumCounts: f.uint64()}
	}
	return s
}

// PutSummary appends the fields of a summary section.
func (w *Writer) PutSummary(s *Summary) {
	w.PutUint64(s.TotalCount)
	w.PutUint64(s.MaxCount)
	w.PutUint64(s.MaxFunctionCount)
	w.PutUint64(s.NumCounts)
	w.PutUint64(s.NumFunctions)
	w.PutUint64(uint64(len(s.Entries)))
	for _, e := range s.Entries {
		w.PutUint32(e.Cutoff)
		w.PutUint64(e.MinCount)
		w.PutUint64(e.NumCounts)
	}
}

// count checks a count that has just been read against the bytes left, of
// which each item takes at least normal in normal mode and compact in compact mode. Nothing is
// ever allocated or looped for by a count that has not passed here.
func (f *fields) count(n uint64, normal, compact int, what string) int {
	least := normal
	if f.sec.Compact {
		least = compact
	}
	if f.err == nil && n > uint64(f.rest()/least) {
		f.fail(f.pos, ErrCount, "%d %s, the %d bytes left hold at most %d", n, what, f.rest(), f.rest()/least)
	}
	if f.err != nil || n > math.MaxInt {
		return 0
	}
	return int(n)
}
