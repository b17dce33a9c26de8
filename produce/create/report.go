package create

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/internal/saturating"
)

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

	// Stubs are the functions of which only the beginning was inlined at some place that ran. GCC
	// does that, and the rest is the symbol f.part.0. Such places are calls in the profile.
	Stubs []string
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

// A Quality is measurements of how far samples can be trusted. Package verdict judges by them.
type Quality struct {
	Exact bool // they are counts of executions, such as callgrind's, of which nothing below is told

	// Branches reports that the samples have branch stacks. Samples without them show well which
	// functions are hot, and poorly which way branches go, however many they are:
	// docs/guide/create.md has measurements.
	Branches bool

	// Density is the number of samples for each instruction of the hot functions. Hot are the
	// hottest functions that together have nine of ten samples. A sample with a branch stack counts
	// for each instruction that ran between its branches. An instruction is taken to be 4 bytes
	// long.
	Density float64

	// Uncertain is the share of the weight that lies where there are fewer samples than 10, so that
	// counts are mere estimates: chance makes them a third larger or smaller.
	Uncertain float64

	// LeftOut is the share of the weight in functions that are not over the threshold. Compilers
	// take a function without a profile for one that hardly runs.
	LeftOut float64
}

const (
	hotShare         = 0.9
	instructionBytes = 4 // of Arm; x86's are as long on average
	certain          = 10
)

// judge finds out how good the samples of the profile are.
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

// uncertain returns the weight of the function where there are few samples.
func (f *function) uncertain() float64 {
	few := uint64(0)
	for _, s := range f.stretches() {
		if s.count < certain {
			few = saturating.Add(few, saturating.Mul(s.count, s.high-s.low))
		}
	}
	return float64(few)
}
