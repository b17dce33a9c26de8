package create

import "errors"

// Errors for samples that do not make a profile.
var (
	// ErrBuild: the recording is of another build of the binary.
	ErrBuild = errors.New("the recording is of another build of the binary")

	// ErrNoCode: no sample lies in a function of the binary.
	ErrNoCode = errors.New("no sample lies in a function of the binary")

	// ErrNoBranches: branches were asked for, and there are none.
	ErrNoBranches = errors.New("the samples have no branches")

	// ErrThreshold: no function has more samples than the threshold.
	ErrThreshold = errors.New("no function is over the threshold")

	// ErrNoDeclarations: debug info lacks the lines of declarations, from which a profile counts
	// its lines. Clang omits them with -g1.
	ErrNoDeclarations = errors.New("debug info has no lines of declarations")

	// ErrNoProbes: no function that was sampled has pseudo probes.
	ErrNoProbes = errors.New("no function that was sampled has pseudo probes")

	// ErrNoContexts: no sample has both a call stack and a branch stack, or the machine's code is
	// not known.
	ErrNoContexts = errors.New("no sample has both a call stack and a branch stack of code that is known")

	// ErrNoLines: debug info has no lines for the code that was sampled.
	ErrNoLines = errors.New("debug info says nothing of the code that was sampled")
)

// A Report contains statistics about the samples and the profile made from them.
//
// Samples count by weight. The weight of a range is its count times the bytes that it covers, and
// the weight of an address is its count. All weights of a report are of the same kind.
type Report struct {
	Weight   uint64 // of all samples
	Placed   uint64 // those that made it to a location
	NoSymbol uint64 // outside of the functions of the symbol table
	NoLines  uint64 // in code of which debug info knows no function or no line
	Below    uint64 // in functions that are not over the threshold

	// Unplaced is the weight of lines that a profile cannot hold: a caller has no declaration, a
	// call has no line, or the line is too far from the declaration.
	Unplaced uint64

	Functions int  // written
	Dropped   int  // sampled, and not written, for want of samples or of debug info
	Ranges    bool // ranges were counted, not addresses
	Estimated bool // there are no branches, so head counts are estimates
	Stacks    bool // calls are of call stacks, and their counts are estimates

	RangeRuns      uint64 // executions of ranges
	BackwardRanges uint64 // those of ranges that end before they begin
	Overruns       uint64 // those of ranges that go on behind the end of their function
	CrossingRanges uint64 // those of ranges that run across an unconditional jump or a return
	Discriminators uint64 // weight of locations whose discriminator does not fit 16 bits; it is part of Unplaced
	Undeclared     uint64 // weight in functions whose declaration has no line; it is part of Unplaced
	LineTables     bool   // some of Undeclared is of Clang, which leaves declarations out with -g1

	// NoDiscriminators is set if no line of clang's code in the profile has a discriminator,
	// because it was compiled without -fdebug-info-for-profiling. The blocks of a line cannot be
	// distinguished then, and clang finds no counts for most of them.
	NoDiscriminators bool

	Quality Quality // of the samples

	// FlowSensitive is set if the discriminators belong to clang's flow-sensitive profiles.
	FlowSensitive bool

	// Missing are the files of split debug info that are not there, in the order of their paths,
	// and Hottest is the sampled function without debug info that has the most weight, "" if there
	// is none.
	Missing []string
	Hottest string
}

// PlacedShare returns the share of the samples in the binary's functions that found a location,
// from 0 to 1. Functions below the threshold do not count.
func (r *Report) PlacedShare() float64 {
	all := float64(r.Weight) - float64(r.Below)
	if all <= 0 {
		return 0
	}
	return float64(r.Placed) / all
}
