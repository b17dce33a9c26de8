// Package create makes an AutoFDO profile from address samples and the debug info of the binary
// that ran.
//
//	f, err := symbolize.Open("prog")
//	set, _, err := samples.Read(in, binary, samples.Options{})
//	p, report, err := create.Profile(ctx, f, set, create.Options{})
//
// docs/guide/create.md has the rules that turn counts of addresses into counts of lines, and the
// differences from google/autofdo's create_gcov.
package create

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// DefaultMinSamples is the threshold of google/autofdo.
const DefaultMinSamples = 10

// Options say how samples become a profile. The zero value counts every function, by ranges if
// there are any.
type Options struct {
	// MinSamples leaves out functions whose weight is not greater. [Report] says what a weight is.
	MinSamples uint64

	// Ranges says whether ranges or addresses are counted.
	Ranges Ranges

	// Combine says how the counts of the addresses of a location become one.
	Combine Combine

	// Suffixes says which suffixes of names are cut.
	Suffixes Suffixes

	// RawDiscriminators uses discriminators as they are in the debug info. GCC 16 and Clang pack
	// several numbers into one, which are decoded by default.
	RawDiscriminators bool

	// WideDiscriminators keeps discriminators of more than 16 bits. LLVM's formats can hold them,
	// and GCC's formats cannot.
	WideDiscriminators bool

	// ObservedHeads leaves the head count of a function at 0 if no sample shows an entry of it, as
	// google/autofdo and llvm-profgen do. By default such a function has a head count of at least
	// 1, because a function with samples was entered. GCC 12 concludes from a head count of 0 that
	// no part of the function ever ran.
	ObservedHeads bool

	// Evidence adds the blocks of machine code that were recorded to the profile, for code of GCC
	// ([profile.Profile.Evidence]). Open the file with [symbolize.Columns] for it.
	Evidence bool

	// Path changes the paths of source files, nil to leave them.
	Path func(string) string

	// Declared is called for the functions of the profile, those that are inlined included, with
	// where debug info says that they are declared; once for each that is elsewhere. It may be nil.
	Declared func(Declaration)

	// Progress is called from time to time with the number of functions done and of all, from one
	// goroutine. It may be nil.
	Progress func(done, all int)
}

// A Declaration says where a function of the profile is declared.
type Declaration struct {
	Unit, Symbol string // in the profile
	File         string // as debug info has it
	Line         uint32
	Source       string // main source file of a unit with the function, "" if unknown
}

// Ranges selects what is counted: ranges, which are the code between two branches, or addresses.
// Calls and head counts come from branches in both cases.
type Ranges int

const (
	// AutoRanges counts ranges if there are any, else addresses.
	AutoRanges Ranges = iota
	// NeedRanges counts ranges, and fails with [ErrNoBranches] if there are none.
	NeedRanges
	// IgnoreRanges counts addresses.
	IgnoreRanges
)

// Combine says how the counts of several addresses of one location become the location's.
type Combine int

const (
	// CombineMax takes the largest: all instructions of a line in one block run equally often, so
	// one that has too few samples does no harm.
	CombineMax Combine = iota
	// CombineSum adds them up.
	CombineSum
)

// Profile makes a profile from the samples of a binary.
//
// It reads the debug info of the functions with samples, see [symbolize.File.Code], and holds their
// records in memory, some hundred bytes each. The same input always gives the same profile.
//
// Its errors are those of package symbolize, such as [symbolize.ErrNoDebugInfo], [ErrBuild] of
// [CheckBuild], and [ErrNoCode], [ErrNoBranches], [ErrThreshold], [ErrNoDeclarations] and
// [ErrNoLines]. The report is returned with these six as well.
func Profile(ctx context.Context, f *symbolize.File, set *samples.Set, o Options) (*profile.Profile, *Report, error) {
	c := &creation{file: f, options: o, report: &Report{}}
	if err := c.choose(set); err != nil {
		return nil, c.report, err
	}
	if err := c.place(ctx); err != nil {
		return nil, c.report, err
	}
	p, err := c.assemble()
	if err == nil {
		c.report.Quality = c.judge(set)
		if o.Evidence {
			p.SetEvidence(c.evidence())
		}
	}
	return p, c.report, err
}

// A creation is one profile in the making.
type creation struct {
	file    *symbolize.File
	options Options
	report  *Report

	// sameUnit is set if counts of code and counts of branches have the same unit: executions, or
	// samples of branch stacks.
	sameUnit bool

	functions []*function // by address
	jumps     bool        // jumps within functions are known
	exact     bool        // counts are numbers of executions
	code      *decoder    // nil for machines that it does not know
	declared  map[Declaration]bool

	rests   map[uint64]*function // symbols that are the rest of a function of which a part is inlined, by address
	hasRest map[string]bool      // functions that have one

	clangSpans    int  // stretches of clang's code
	discriminated bool // some of them have discriminators
}

// choose gives the samples to functions, and finds those that are over the threshold.
func (c *creation) choose(set *samples.Set) error {
	for _, step := range []func() error{
		func() error { return CheckBuild(c.file, set) },
		func() error { return EndRanges(c.file, set) },
		func() error { return c.tally(set) },
		c.applyThreshold,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

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
	Stubs     int  // beginnings of functions that were inlined and became calls
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
