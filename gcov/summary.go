package gcov

import "github.com/go-afdo/afdo"

// summaryEntrySize is the size of an entry in bytes: cutoff, minimum count, number of counts.
const summaryEntrySize = wordSize + 2*counterSize

func (d *decoder) summary() {
	d.tag(tagSummary, "the summary")
	s := &afdo.Summary{
		TotalCount:       d.counter("the total count"),
		MaxCount:         d.counter("the largest count"),
		MaxFunctionCount: d.counter("the largest head count"),
		NumCounts:        d.counter("the number of counts"),
		NumFunctions:     d.counter("the number of functions"),
	}
	pos := d.Pos
	n := d.Count(pos, d.counter("the number of summary entries"), summaryEntrySize, "summary entries")
	if n > 0 {
		s.Entries = make([]afdo.SummaryEntry, n)
	}
	for i := range s.Entries {
		s.Entries[i] = afdo.SummaryEntry{
			Cutoff:    d.Uint32("a cutoff"),
			MinCount:  d.counter("a minimum count"),
			NumCounts: d.counter("a number of counts"),
		}
	}
	d.p.Summary = s
}

func (e *encoder) summary() {
	s := e.p.Summary
	if s == nil {
		s = e.p.Summarize()
	}
	e.word(tagSummary)
	e.counter(s.TotalCount)
	e.counter(s.MaxCount)
	e.counter(s.MaxFunctionCount)
	e.counter(s.NumCounts)
	e.counter(s.NumFunctions)
	e.counter(uint64(len(s.Entries)))
	for _, entry := range s.Entries {
		e.word(entry.Cutoff)
		e.counter(entry.MinCount)
		e.counter(entry.NumCounts)
	}
}
