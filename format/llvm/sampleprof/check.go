package sampleprof

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
)

// Check yields the first error in the file. If there is none, it yields a remark if the summary is
// missing or disagrees with the counts. Check reads the file as [Read] does. It also checks that
// the function offsets lead to all functions: tools that read whole files ignore these offsets, but
// a compiler reads only the functions to which they lead.
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

// disagreement describes the first difference between the summary found in the file and the summary
// computed from the data.
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

// checkAllOffsets checks that the function offsets list exactly the functions in the file, each at
// its position. It returns the first error.
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

// called returns the text of the name with index ref or, in a context-sensitive profile, of the
// context with that index.
func (r *Reader) called(ref uint32) string {
	if r.contexts == nil {
		return r.Name(NameRef(ref)).String()
	}
	return string(appendContext(nil, r.contexts.at(ref), r.Name))
}
