// Package arcs infers, from how often machine code ran in a recording, how often each arc of GCC's
// control flow graphs was taken. The result is what an instrumented run would have counted, in a
// .gcda file for -fprofile-use.
//
// The input is the evidence of a profile ([profile.Evidence]): how often each block of machine code
// ran, and the source positions of its instructions. In this package, a block of a graph is one of
// GCC's basic blocks, and a block of machine code is one of the recorded program.
package arcs

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// errDump is returned if GCC's dump has no function that matches the .gcno file.
var errDump = errors.New("the dump does not match the notes")

// Options says for which source file [Infer] infers counters, and how large the counters of the
// program are.
type Options struct {
	// Source is the path of the source file, of which only the base name matters. Evidence is used
	// only if the debug info says that the machine code was compiled from a file of this name. This
	// leaves out the copies of an inline function that other units made. If Source is empty, the
	// evidence of all functions in the .gcno file is used.
	Source string
	// Largest is the largest counter of the whole program, see the function [Largest]. GCC computes
	// the threshold for hot code from it. If it is 0, the largest count of this unit is used.
	Largest uint64
}

// A Report counts what [Infer] could infer for a unit, and how well it agrees with the evidence.
type Report struct {
	Counted    uint64 `json:"counts"`     // sum of the counts of machine code blocks, once for each of their source positions
	Owned      uint64 `json:"owned"`      // the part of Counted whose source position is in a control flow graph
	Functions  int    `json:"functions"`  // number of functions in the .gcno file
	Inferred   int    `json:"inferred"`   // functions with evidence, whose counters were inferred
	Mismatched int    `json:"mismatched"` // functions whose graphs differ in the .gcno file and the dump

	// The following are sums over the functions that Inferred counts.
	Blocks   int    `json:"blocks"`   // number of blocks
	Guessed  int    `json:"guessed"`  // blocks without evidence, whose counts follow from others and from GCC's guesses
	Evidence uint64 `json:"evidence"` // sum of the lower bounds of the evidence
	Moved    uint64 `json:"moved"`    // by how much inferred counts are outside of the bounds of the evidence, in all
}

// Add adds the numbers in the report of another unit to those in r.
func (r *Report) Add(other *Report) {
	r.Counted += other.Counted
	r.Owned += other.Owned
	r.Functions += other.Functions
	r.Inferred += other.Inferred
	r.Mismatched += other.Mismatched
	r.Blocks += other.Blocks
	r.Guessed += other.Guessed
	r.Evidence += other.Evidence
	r.Moved += other.Moved
}

// Infer computes the counters of a unit from the evidence of a profile. If the profile has no
// evidence, Infer uses its counts of lines. notes is the unit's .gcno file. dump is the output of
// GCC's option -fdump-ipa-profile-lineno-blocks-details from the compile that wrote the .gcno file.
//
// If the evidence consists of samples, a function without samples may still have run, so it gets
// the counts that GCC guesses for one execution. If the evidence consists of counted executions, a
// function without any has not run, and its counters are zero.
//
// It fails if no function of the notes is in the dump.
func Infer(notes *gcda.Notes, dump io.Reader, p *profile.Profile, o Options) (*gcda.Counters, *Report, error) {
	u, report, err := newUnit(notes, dump)
	if err != nil {
		return nil, nil, err
	}
	evidence := p.Evidence()
	u.sampled = evidence == nil || evidence.Fraction > 0
	if evidence == nil {
		evidence = lineEvidence(p, notes)
	}
	u.addTargets(p, notes)
	if o.Source != "" {
		u.source = baseName(o.Source)
	}
	u.scale = newScale(cmp.Or(o.Largest, Largest(evidence)))
	for i := range evidence.Copies {
		u.add(u.scale.lessen(&evidence.Copies[i]))
	}
	report.Counted, report.Owned = u.counted, u.owned
	return u.counters(notes, report), report, nil
}

// newUnit reads GCC's dump of a unit, and matches the functions in the dump with those of the .gcno
// file. It adds the number of functions that do not match to the report.
func newUnit(notes *gcda.Notes, in io.Reader) (*unit, *Report, error) {
	blocks := make(map[string]uint32)
	for i := range notes.Functions {
		blocks[notes.Functions[i].Name] = notes.Functions[i].Blocks
	}
	d, err := readDump(in, blocks)
	if err != nil {
		return nil, nil, err
	}
	u := &unit{
		files: d.files, names: d.names, paths: make(map[string]uint32),
		functions: make(map[string]*function), copies: make(map[copyOf]int32),
	}
	report := &Report{Functions: len(notes.Functions)}
	for i := range notes.Functions {
		n := &notes.Functions[i]
		if f := newFunction(n, d.functions[n.Name]); f != nil {
			u.functions[n.Name] = f
		} else {
			report.Mismatched++
		}
	}
	u.addNames()
	if len(u.functions) == 0 && len(notes.Functions) > 0 {
		return nil, nil, errDump
	}
	return u, report, nil
}

// counters infers the counters of all functions of the unit. It adds to the report how many
// functions it could infer, and how well.
func (u *unit) counters(notes *gcda.Notes, report *Report) *gcda.Counters {
	c := &gcda.Counters{
		Header: notes.Header, Ended: true,
		Summaries: []gcda.Summary{{Runs: 1, SumMax: u.scale.most >> u.scale.shift * uint64(u.scale.factor)}},
	}
	var problems []*problem
	for i := range notes.Functions {
		f := u.functions[notes.Functions[i].Name]
		if f == nil || f.Function != &notes.Functions[i] {
			continue
		}
		p := newProblem(f)
		problems = append(problems, p)
		if f.heat > 0 && !f.called {
			p.result = p.guessedUpTo(count(f.heat))
		} else if len(p.items) > 0 {
			p.result = p.infer()
			p.describe(p.result, report)
			report.Inferred++
		}
	}
	u.addMerged(problems)
	for _, p := range problems {
		if p.result == nil {
			p.result = make([]int64, len(p.Arcs))
		}
		p.addFloor(p.result, u.scale.factor, u.sampled)
		addCounters(c, p.function, p.result)
	}
	return c
}

// addCounters appends the counters of a function to c, the content of a .gcda file. flows are the
// counts of all arcs of the function's control flow graph. The file has only some of them, from
// which GCC computes the others.
func addCounters(c *gcda.Counters, f *function, flows []int64) {
	values := f.Reduce(flows)
	counters := []gcda.Counter{{Zeros: uint32(len(values))}}
	if slices.Max(append(values, 0)) > 0 {
		counters = append([]gcda.Counter{{Values: values}}, f.valueCounters(f.BlockCounts(flows))...)
	}
	c.Functions = append(c.Functions, gcda.FunctionCounters{ID: f.ID, Counters: counters})
}

// Largest returns the largest count of a block of machine code in the evidence. The counters of the
// program are not expected to be larger.
func Largest(e *profile.Evidence) uint64 {
	largest := uint64(0)
	for i := range e.Copies {
		for _, b := range e.Copies[i].Blocks {
			largest = max(largest, b.Count)
		}
	}
	return largest
}
