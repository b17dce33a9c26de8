package rebase

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// An Outcome describes what happened to a function's records when they were moved.
type Outcome uint8

// Outcomes, from nothing known to nothing left.
const (
	Unknown   Outcome = iota // the old sources lack the function, or the new sources lack its file; its records stay the same
	Unchanged                // all its lines are the same
	Moved                    // all its counts have a line, some of them another one
	Partly                   // some of its counts have no line any more and are dropped
	Renamed                  // it has another name, and all or some of its counts still have a line
	Lost                     // the new sources do not have the function; its records are dropped
)

var outcomeNames = [...]string{"unknown", "unchanged", "moved", "mapped in part", "renamed", "lost"}

// String returns the outcome in words.
func (o Outcome) String() string { return outcomeNames[o] }

// ErrNothing is the error of a rebase if no function of the profile is in both the old and the new
// sources. Probably these are the sources of another program than the profiled one.
var ErrNothing = errors.New("rebase: no function of the profile is in both sources")

// A Report describes how the functions of a profile were moved.
type Report struct {
	Functions     []Function // functions with records, by descending samples
	Samples, Kept uint64     // samples of all functions, and those that still have a line; both saturate
}

// A Function describes how one function was moved, including its inlined copies.
type Function struct {
	Unit, Symbol       string
	Outcome            Outcome
	NewUnit, NewSymbol string // the same as Unit and Symbol unless the function was renamed or moved to another file
	Samples            uint64 // the sum of its counts, saturating
	Kept               uint64 // samples that still have a line, including those in inlined copies
}

// report returns a report about how the functions of a profile were moved. places are the records
// of the profile.
func (p *plan) report(places iter.Seq[place]) (*Report, error) {
	all := make([]Function, len(p.changes))
	for at := range places {
		f, c := &all[at.symbol], p.changes[at.symbol]
		f.Samples = saturating.Add(f.Samples, at.count)
		if _, ok := c.line(at.line); ok && c.outcome != Lost {
			f.Kept = saturating.Add(f.Kept, at.count)
		}
	}
	r, none := &Report{}, true
	for s, c := range p.changes {
		if len(c.lines) == 0 {
			continue
		}
		f := all[s]
		f.Unit, f.Symbol, f.Outcome, f.NewUnit, f.NewSymbol = c.file, c.symbol, c.outcome, c.path, c.name
		if c.name != c.symbol && c.outcome != Lost {
			f.Outcome = Renamed
		}
		none = none && (f.Outcome == Unknown || f.Outcome == Lost)
		r.Functions = append(r.Functions, f)
		r.Samples = saturating.Add(r.Samples, f.Samples)
		r.Kept = saturating.Add(r.Kept, f.Kept)
	}
	slices.SortStableFunc(r.Functions, func(f, g Function) int { return cmp.Compare(g.Samples, f.Samples) })
	if none {
		return r, ErrNothing
	}
	return r, nil
}
