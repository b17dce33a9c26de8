package sampleprof

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
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

// WriteWithSummary writes a copy of an ExtBinary file with another summary. All other sections are
// copied as they are. It takes memory for the whole file. A Binary file or a file without a summary
// gives an error that matches afdo.ErrUnrepresentable. A file of 2 GiB or more gives afdo.ErrLimit.
//
// The new summary is appended, because it may be larger than the old summary, whose bytes stay in
// the copy.
func (r *Reader) WriteWithSummary(w io.Writer, summary *afdo.Summary) error {
	old := r.section(SectionSummary)
	if r.format != ExtBinary || old == nil {
		return fmt.Errorf("sampleprof: replacing the summary of a file without a section for it: %w", fault.ErrUnrepresentable)
	}
	if r.src.Size() > math.MaxInt32 {
		return fmt.Errorf("sampleprof: a file of %d bytes: %w", r.src.Size(), fault.ErrLimit)
	}
	whole, err := r.src.View(0, int(r.src.Size()))
	if err != nil {
		return err
	}
	data := putSummary(nil, summary)
	sections := append([]Section(nil), r.sections...)
	s := &sections[old.Index]
	s.Flags &^= flagCompressed
	s.Offset, s.Size = int64(len(whole)), int64(len(data))
	table := putTable(nil, sections)
	first := int(r.entries) - tableCountSize
	for _, part := range [][]byte{whole[:first], table, whole[first+len(table):], data} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
