package sampleprof

import (
	"encoding/binary"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/summary"
)

// readSummary decodes a summary section.
func (f *fields) readSummary() *afdo.Summary {
	s := &afdo.Summary{
		TotalCount:       f.uint64(),
		MaxCount:         f.uint64(),
		MaxFunctionCount: f.uint64(),
		NumCounts:        f.uint64(),
		NumFunctions:     f.uint64(),
	}
	for range f.count(3, "entries") {
		s.Entries = append(s.Entries, afdo.SummaryEntry{Cutoff: f.uint32("cutoff"), MinCount: f.uint64(), NumCounts: f.uint64()})
	}
	return s
}

// putSummary appends a summary section to b.
func putSummary(b []byte, s *afdo.Summary) []byte {
	for _, x := range []uint64{s.TotalCount, s.MaxCount, s.MaxFunctionCount, s.NumCounts, s.NumFunctions, uint64(len(s.Entries))} {
		b = binary.AppendUvarint(b, x)
	}
	for _, e := range s.Entries {
		for _, x := range []uint64{uint64(e.Cutoff), e.MinCount, e.NumCounts} {
			b = binary.AppendUvarint(b, x)
		}
	}
	return b
}

// Summarize computes the summary in the same way as LLVM. It includes every count of a function and
// its inlined bodies, except for inlined bodies that are also in the function's base profile. In a
// context-sensitive profile, it first merges the contexts of each function. Like LLVM's, the total
// wraps around on overflow.
//
// Summarize takes O(n log n) time and 8 bytes for each of the n counts. For a context-sensitive
// profile, it also takes memory for a copy.
func (p *Profile) Summarize() *afdo.Summary {
	if p.ContextSensitive {
		p = p.withoutContexts()
	}
	s := new(afdo.Summary)
	var counts []uint64
	for _, f := range p.functions {
		s.NumFunctions++
		s.MaxFunctionCount = max(s.MaxFunctionCount, f.HeadCount)
		for i := 0; i < len(f.Records); i++ {
			switch r := &f.Records[i]; r.Kind {
			case KindCount:
				s.TotalCount += r.Count
				counts = append(counts, r.Count)
			case KindInlined:
				if find(f.Records[i+1:i+1+int(r.Span)], KindAttributes)&AttributeDuplicatedInBase != 0 {
					i += int(r.Span)
				}
			}
		}
	}
	slices.Sort(counts)
	if len(counts) > 0 {
		s.MaxCount = counts[len(counts)-1]
	}
	s.NumCounts = uint64(len(counts))
	s.Entries = summary.EntriesOf(s.TotalCount, counts)
	return s
}
