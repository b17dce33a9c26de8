package sampleprof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"reflect"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
)

// readSummary decodes a summary.
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

// putSummary appends a summary.
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
	s.Entries = histogram(s.TotalCount, counts)
	return s
}

// histogram returns the entries of a summary. counts must be in ascending order.
func histogram(total uint64, counts []uint64) []afdo.SummaryEntry {
	entries := make([]afdo.SummaryEntry, len(summary.Cutoffs))
	e := afdo.SummaryEntry{}
	sum := uint64(0)
	for i, cutoff := range summary.Cutoffs {
		hi, lo := bits.Mul64(total, uint64(cutoff))
		share, _ := bits.Div64(hi, lo, 1_000_000)
		for e.Cutoff = cutoff; sum < share && len(counts) > 0; {
			e.MinCount = counts[len(counts)-1]
			for len(counts) > 0 && counts[len(counts)-1] == e.MinCount {
				sum += e.MinCount
				counts = counts[:len(counts)-1]
				e.NumCounts++
			}
		}
		entries[i] = e
	}
	return entries
}

// Check yields the first error in the file. If there is none, it yields a remark if the summary is
// missing or disagrees with the data. Check reads the file as [Read] does, and also compares the
// function offsets with the bodies: tools that read whole files ignore these offsets, but a
// compiler reads only the functions to which they lead.
func (r *Reader) Check() iter.Seq[afdo.Problem] {
	return func(yield func(fault.Problem) bool) {
		p, err := Read(r)
		if err == nil {
			err = r.checkAllOffsets()
		}
		if err != nil {
			yield(fault.Problem{Err: err})
			return
		}
		found, err := r.Summary()
		switch data := p.Summarize(); {
		case errors.Is(err, fault.ErrNotFound):
			yield(summaryProblem("there is none"))
		case err != nil:
			yield(fault.Problem{Err: err})
		case !reflect.DeepEqual(found, data):
			yield(summaryProblem(disagreement(found, data)))
		}
	}
}

func summaryProblem(detail string) fault.Problem {
	return fault.Problem{Remark: true, Err: &fault.FormatError{
		Format: "sampleprof", Section: fault.HeaderSection, Offset: -1, Err: fault.ErrSummary, Detail: detail,
	}}
}

// disagreement describes the differences between two summaries.
func disagreement(found, data *afdo.Summary) string {
	for _, f := range []struct {
		what        string
		found, data uint64
	}{
		{"total count", found.TotalCount, data.TotalCount},
		{"maximum count", found.MaxCount, data.MaxCount},
		{"maximum head count", found.MaxFunctionCount, data.MaxFunctionCount},
		{"number of counts", found.NumCounts, data.NumCounts},
		{"number of functions", found.NumFunctions, data.NumFunctions},
	} {
		if f.found != f.data {
			return fmt.Sprintf("%s is %d, the data make it %d", f.what, f.found, f.data)
		}
	}
	return "the detailed entries are not those of the data"
}

// checkAllOffsets compares the function offsets with the bodies. It returns the first error.
func (r *Reader) checkAllOffsets() error {
	if err := r.all(); err != nil {
		return err
	}
	for _, g := range r.groups {
		if g.offsets == nil {
			continue
		}
		if err := r.loadOffsets(g); err != nil {
			return err
		}
		if err := r.checkOffsets(g); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) checkOffsets(g *bodies) error {
	raw, err := r.openBodies(g)
	if err != nil {
		return err
	}
	b := r.reader(*raw)
	found := make([]functionAt, 0, len(g.table))
	for b.Rest() > 0 {
		at := uint64(b.Pos)
		b.function()
		if b.Err != nil {
			return b.err()
		}
		found = append(found, functionAt{b.ref, at})
	}
	slices.SortFunc(found, compareFunctionAt)
	table := slices.SortedFunc(slices.Values(g.table), compareFunctionAt)
	for i := range max(len(found), len(table)) {
		switch {
		case i >= len(found) || i < len(table) && compareFunctionAt(table[i], found[i]) < 0:
			return g.offsets.fault(g.offsets.Offset, fault.ErrSection, "no function %q begins at %d of the bodies", r.called(table[i].ref), table[i].offset)
		case i >= len(table) || compareFunctionAt(found[i], table[i]) < 0:
			return g.offsets.fault(g.offsets.Offset, fault.ErrSection, "function %q, at %d of the bodies, is missing", r.called(found[i].ref), found[i].offset)
		}
	}
	return nil
}

// called returns the name or context with the given number as text.
func (r *Reader) called(ref uint32) string {
	if r.contexts == nil {
		return r.Name(NameRef(ref)).String()
	}
	return string(appendContext(nil, r.contexts.at(ref), r.Name))
}
