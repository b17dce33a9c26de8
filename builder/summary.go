package builder

import "github.com/go-afdo/afdo"

// summary puts the summary section (RFC 4.4).
func (e *encoder) summary() {
	s := e.profile.Summary
	if s == nil {
		s = e.profile.Summarize()
	}
	e.begin(afdo.SectionSummary)
	e.out.PutUint64(s.TotalCount)
	e.out.PutUint64(s.MaxCount)
	e.out.PutUint64(s.MaxFunctionCount)
	e.out.PutUint64(s.NumCounts)
	e.out.PutUint64(s.NumFunctions)
	e.out.PutUint64(uint64(len(s.Entries)))
	for _, entry := range s.Entries {
		e.out.PutUint32(entry.Cutoff)
		e.out.PutUint64(entry.MinCount)
		e.out.PutUint64(entry.NumCounts)
	}
}
