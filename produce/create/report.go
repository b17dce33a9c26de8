package create

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Errors for samples from which no profile can be made.
var (
	// ErrBuild is returned if the recording is of another build of the binary.
	ErrBuild = errors.New("the recording is of another build of the binary")

	// ErrNoCode is returned if no sample is in a function of the binary.
	ErrNoCode = errors.New("no sample lies in a function of the binary")

	// ErrNoBranches is returned with [NeedRanges] if the samples have no branches.
	ErrNoBranches = errors.New("the samples have no branches")

	// ErrThreshold is returned if no function has more samples than the threshold.
	ErrThreshold = errors.New("no function is over the threshold")

	// ErrNoDeclarations is returned if debug info lacks the lines of declarations. A profile counts
	// the lines of a function from its declaration. Clang omits these lines with -g1.
	ErrNoDeclarations = errors.New("debug info has no lines of declarations")

	// ErrNoProbes is returned if no sampled function has pseudo probes.
	ErrNoProbes = errors.New("no function that was sampled has pseudo probes")

	// ErrNoContexts is returned if no sample has both a call stack and a branch stack, or if
	// instructions of the machine cannot be decoded.
	ErrNoContexts = errors.New("no sample has both a call stack and a branch stack of code that is known")

	// ErrNoLines is returned if debug info has no lines for the sampled code.
	ErrNoLines = errors.New("debug info says nothing of the code that was sampled")
)

// A Report contains statistics about the samples and the profile made from them.
//
// Samples count by weight. The weight of a range is its count times the bytes that it covers, and
// the weight of an address is its count. The weights in a report are either all of ranges or all of
// addresses.
type Report struct {
	Weight   uint64 // weight of all samples
	Placed   uint64 // weight of samples that have a location in the profile
	NoSymbol uint64 // weight outside of the functions of the symbol table
	NoLines  uint64 // weight of code for which debug info has no function or no line
	Below    uint64 // weight in functions that are not over the threshold

	// Unplaced is the weight of code that has a line, but no location in the profile: the function
	// or one of its callers has no declaration line, a call has no line, or the line is too far
	// from the declaration.
	Unplaced uint64

	Functions int  // functions in the profile
	Dropped   int  // sampled functions that are not in the profile, for lack of samples or debug info
	Ranges    bool // ranges were counted, not addresses
	Estimated bool // there are no branches, so head counts are estimates
	Stacks    bool // calls come from call stacks, and their counts are estimates

	RangeRuns      uint64 // number of times that ranges ran
	BackwardRanges uint64 // part of RangeRuns: ranges that end before they begin
	Overruns       uint64 // part of RangeRuns: ranges that continue after the end of their function
	CrossingRanges uint64 // part of RangeRuns: ranges that contain an unconditional jump or a return before their end
	Discriminators uint64 // part of Unplaced: the discriminator does not fit 16 bits
	Undeclared     uint64 // part of Unplaced: the declaration of a function has no line
	LineTables     bool   // part of Undeclared is code of clang, which omits declaration lines with -g1

	// NoDiscriminators is set if no line of clang's code in the profile has a discriminator,
	// because it was compiled without -fdebug-info-for-profiling. The blocks of a line cannot be
	// distinguished then, and clang finds no counts for most of them.
	NoDiscriminators bool

	Quality Quality // how far the samples can be trusted

	// FlowSensitive is set if the discriminators belong to clang's flow-sensitive profiles.
	FlowSensitive bool

	// Missing lists the files of split debug info that do not exist, sorted by path. Hottest is the
	// sampled function without debug info that has the most weight, or "" if there is none.
	Missing []string
	Hottest string

	// Stubs lists functions that GCC inlined in part at a place that ran: only the beginning is
	// inlined, and it calls the rest, a symbol such as f.part.0. The profile has a call of the
	// whole function at such a place.
	Stubs []string
}

// PlacedShare returns the share of the samples in the program's functions that have a location in
// the profile, from 0 to 1. Functions below the threshold do not count.
func (r *Report) PlacedShare() float64 {
	all := float64(r.Weight) - float64(r.Below)
	if all <= 0 {
		return 0
	}
	return float64(r.Placed) / all
}

// A Quality describes how far the samples can be trusted. Package verdict computes a level, such as
// good or poor, from it.
type Quality struct {
	Exact bool // the samples are exact counts of executions, such as callgrind's

	// Branches reports that the samples have branch stacks. Samples without them show well which
	// functions are hot, and poorly which way branches go, however many they are:
	// docs/guide/create.md has measurements.
	Branches bool

	// Density is the number of samples per instruction of the hot functions, which are the hottest
	// ones that together have nine tenths of the samples. A sample with a branch stack counts for
	// each instruction that ran between its branches. Instructions are assumed to be 4 bytes long.
	Density float64

	// Uncertain is the share of the weight in code with fewer than 10 samples. Chance makes such
	// counts a third larger or smaller.
	Uncertain float64

	// LeftOut is the share of the weight in functions that are not over the threshold. Compilers
	// assume that a function without a profile hardly runs.
	LeftOut float64
}

const (
	hotShare         = 0.9
	instructionBytes = 4 // on Arm; the average on x86 is the same
	certain          = 10
)

// judge computes the Quality of the samples, which says how far they can be trusted.
func (c *creation) judge(set *samples.Set) Quality {
	q := Quality{Exact: set.Exact, Branches: c.report.Ranges}
	sampled := slices.DeleteFunc(slices.Clone(c.functions), func(f *function) bool { return f.weight == 0 })
	slices.SortFunc(sampled, func(a, b *function) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.symbol.Low, b.symbol.Low))
	})
	var all, uncertain float64
	for _, f := range sampled {
		all += float64(f.weight)
		uncertain += f.uncertain()
	}
	if all == 0 {
		return q
	}
	q.Uncertain, q.LeftOut = uncertain/all, float64(c.report.Below)/all
	var hot, bytes float64
	for _, f := range sampled {
		if hot >= hotShare*all {
			break
		}
		hot += float64(f.weight)
		bytes += float64(f.symbol.High - f.symbol.Low)
	}
	q.Density = hot / bytes
	if !c.report.Ranges {
		q.Density *= instructionBytes // an instruction is sampled at one of its bytes
	}
	return q
}

// uncertain returns the weight of the function's code at which fewer than 10 samples were taken.
func (f *function) uncertain() float64 {
	few := uint64(0)
	for _, s := range f.stretches() {
		if s.count < certain {
			few = saturating.Add(few, saturating.Mul(s.count, s.high-s.low))
		}
	}
	return float64(few)
}
