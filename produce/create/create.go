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
	"context"

	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/profile"
)

// DefaultMinSamples is the value of Options.MinSamples with which google/autofdo's threshold
// applies.
const DefaultMinSamples = 10

// Options say how samples become a profile. The zero value counts every function, by ranges if
// there are any.
type Options struct {
	// MinSamples is the threshold: functions are left out unless their weight is greater. [Report]
	// says what a weight is.
	MinSamples uint64

	// Ranges selects whether ranges or single addresses are counted.
	Ranges Ranges

	// Combine is the rule by which the counts of a location's addresses become one count.
	Combine Combine

	// Suffixes selects the compiler suffixes that are cut from the names of functions.
	Suffixes Suffixes

	// RawDiscriminators uses discriminators as they are in the debug info. By default they are
	// decoded: GCC 16 and Clang pack several numbers into one discriminator.
	RawDiscriminators bool

	// WideDiscriminators keeps discriminators of more than 16 bits. LLVM's formats can hold them,
	// and GCC's formats cannot.
	WideDiscriminators bool

	// ObservedHeads leaves the head count of a function at 0 if no sample shows an entry of it, as
	// google/autofdo and llvm-profgen do. By default such a function has a head count of at least
	// 1, because a function with samples was entered. GCC 12 concludes from a head count of 0 that
	// no part of the function ever ran.
	ObservedHeads bool

	// Evidence adds the counts of basic blocks of machine code to the profile, for code of GCC
	// ([profile.Profile.Evidence]). Open the file with [symbolize.Columns] for it.
	Evidence bool

	// Path returns the path of a source file in the profile, given its path in debug info. If it is
	// nil, paths stay the same.
	Path func(string) string

	// Declared is called with the declaration of each function in the profile, inlined functions
	// included. A function with several declarations causes several calls. It may be nil.
	Declared func(Declaration)

	// Progress is called from time to time, from one goroutine, with the number of completed
	// functions and the number of all functions. It may be nil.
	Progress func(done, all int)
}

// A Declaration is the place at which debug info declares a function of the profile.
type Declaration struct {
	Unit, Symbol string // unit and symbol in the profile
	File         string // path of the source file in debug info
	Line         uint32
	Source       string // main source file of a unit with the function, "" if unknown
}

// Ranges selects what is counted: ranges, which are the code between two branches, or addresses.
// Calls and head counts come from branches in both cases.
type Ranges int

const (
	// AutoRanges counts ranges if the recording has any, and otherwise addresses.
	AutoRanges Ranges = iota
	// NeedRanges counts ranges. If the recording has none, it fails with [ErrNoBranches].
	NeedRanges
	// IgnoreRanges counts addresses, even if the recording has ranges.
	IgnoreRanges
)

// Combine is the rule by which the counts of a location's addresses become one count.
type Combine int

const (
	// CombineMax takes the largest count. All instructions of a line in one block run equally
	// often, so it does no harm if one of them has too few samples.
	CombineMax Combine = iota
	// CombineSum adds up the counts.
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
	c := &creation{file: f, options: o, report: &Report{}, unified: make(map[string]string), declared: make(map[Declaration]bool)}
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

// A creation is the state of a call that makes a profile: the options, the functions with samples,
// and the report.
type creation struct {
	file    *symbolize.File
	options Options
	report  *Report

	// sameUnit is set if counts of code and counts of branches have the same unit: executions, or
	// samples of branch stacks.
	sameUnit bool

	functions []*function // sampled functions, and others that the profile needs, sorted by address
	jumps     bool        // the recording shows jumps within functions
	exact     bool        // counts are numbers of executions
	code      *decoder    // nil if instructions of the machine cannot be decoded
	declared  map[Declaration]bool

	// rests has the symbols such as f.part.0, by address. Such a symbol contains the rest of a
	// function f of which GCC inlined only the beginning. The beginning calls the rest.
	rests   map[uint64]*function
	hasRest map[string]bool // names of functions that have a symbol in rests

	unified map[string]string // results of unify by the name of the abstract function

	clangSpans    int  // number of spans of clang's code
	discriminated bool // at least one of these spans has a discriminator
}

// choose adds the samples to the functions that contain them. It also marks the functions whose
// weight exceeds the threshold, which the profile will contain.
func (c *creation) choose(set *samples.Set) error {
	if err := c.attribute(set); err != nil {
		return err
	}
	return c.applyThreshold()
}

// attribute adds the samples to the functions that contain their addresses. Before that, it refuses
// samples of another build of the program, and sets the end of ranges that have only a beginning.
func (c *creation) attribute(set *samples.Set) error {
	if err := CheckBuild(c.file, set); err != nil {
		return err
	}
	if err := EndRanges(c.file, set); err != nil {
		return err
	}
	return c.tally(set)
}
