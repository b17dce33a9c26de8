package sampleprof

import (
	"errors"
	"iter"
	"reflect"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/summary"
)

// Check yields the first error in the file. If there is none, it yields a remark if the summary is
// missing or disagrees with the counts. Check reads the file as [Read] does. It also checks that
// the function offsets lead to all functions. Tools that read whole files ignore these offsets, but
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
		switch {
		case errors.Is(err, fault.ErrNotFound):
			yield(summaryProblem("there is none"))
		case err != nil:
			yield(fault.Problem{Err: err})
		default:
			checkSummary(found, p.Summarize(), yield)
		}
	}
}

// checkSummary yields the first difference between the summary in a file and the one computed from
// the data of the file.
func checkSummary(found, data *afdo.Summary, yield func(fault.Problem) bool) {
	first := true
	summary.Compare(found, data, false, func(_ int, detail string, _ bool) {
		if first {
			yield(summaryProblem(detail))
		}
		first = false
	})
	if first && !reflect.DeepEqual(found, data) {
		yield(summaryProblem("the detailed entries are not those of the data"))
	}
}

func summaryProblem(detail string) fault.Problem {
	return fault.Problem{Remark: true, Err: &fault.FormatError{
		Format: "sampleprof", Section: fault.HeaderSection, Offset: -1, Err: fault.ErrSummary, Detail: detail,
	}}
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
		if err := r.checkOffsets(g); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) checkOffsets(g *bodies) error {
	if err := r.loadOffsets(g); err != nil {
		return err
	}
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

// called returns the name with index ref as text. In a context-sensitive profile, it returns the
// context with that index.
func (r *Reader) called(ref uint32) string {
	if r.contexts == nil {
		return r.Name(NameRef(ref)).String()
	}
	return string(appendContext(nil, r.contexts.at(ref), r.Name))
}
