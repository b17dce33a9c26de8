package wire

// A Summary is a summary section (RFC 4.4).
type Summary struct {
	TotalCount, MaxCount, MaxFunctionCount, NumCounts, NumFunctions uint64
	Entries                                                         []SummaryEntry
}

// A SummaryEntry is a detailed entry of a summary.
type SummaryEntry struct {
	Cutoff              uint32
	MinCount, NumCounts uint64
}

// Summary decodes a summary.
func (f *Fields) Summary() *Summary {
	s := &Summary{f.Uint64(), f.Uint64(), f.Uint64(), f.Uint64(), f.Uint64(), nil}
	n := f.Count(f.Uint64(), 4+8+8, 3, "detailed entries")
	if n > 0 {
		s.Entries = make([]SummaryEntry, n)
	}
	for i := range s.Entries {
		s.Entries[i] = SummaryEntry{f.Uint32(), f.Uint64(), f.Uint64()}
	}
	return s
}

// Summary encodes a summary.
func (e *Encoder) Summary(s *Summary) {
	for _, v := range []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions, uint64(len(s.Entries))} {
		e.Uint64(v)
	}
	for _, entry := range s.Entries {
		e.Uint32(entry.Cutoff)
		e.Uint64(entry.MinCount)
		e.Uint64(entry.NumCounts)
	}
}
