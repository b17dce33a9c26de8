package toolchain

import "github.com/go-afdo/afdo/internal/command"

// earlyInliner is the parameter that GCC 12 and 13 need: before they read the counts of inlined
// functions, they inline these, and only one call deep. Functions that were inlined deeper lose
// their counts. GCC before 12 used 10 rounds with a profile.
const earlyInliner = "max-early-inliner-iterations"

// noUnrolling is the option that GCC 12 needs. With a profile by samples, it unrolls all hot loops
// eight times, without looking at how often they repeat: a loop that repeats three times gets
// slower, and code grows. GCC 13 and later unroll none because of such a profile.
const noUnrolling = "-fno-unroll-loops"

// These options have GCC make fewer branches that a processor cannot predict. Where the profiled
// program had a conditional move, no samples show which way the condition went, and GCC takes one
// way for certain. The tracer copies the code of this way. And GCC makes no conditional move of a
// branch that it can predict. The limit for its cost is the one that GCC documents for branches
// that cannot be predicted.
const (
	noTracer      = "-fno-tracer"
	ifConversion  = "max-rtl-if-conversion-predictable-cost"
	unpredictable = "40"
)

// Options returns the options that the compiler needs to make good use of counts by lines, except
// those that the command already sets.
func (c *Compiler) Options(command *command.Line) (options []string) {
	if (c.IsGCC(12) || c.IsGCC(13)) && !command.Mentions(earlyInliner) {
		options = append(options, "--param="+earlyInliner+"=10")
	}
	if c.IsGCC(12) && !command.Mentions("unroll-") {
		options = append(options, noUnrolling)
	}
	if !c.Clang {
		options = append(options, BranchOptions(command.Mentions)...)
	}
	return options
}

// BranchOptions returns the options that keep GCC from making more branches that a processor cannot
// predict, except those that a command mentions. Counts of arcs need them as well.
func BranchOptions(mentions func(option string) bool) (options []string) {
	if !mentions("tracer") {
		options = append(options, noTracer)
	}
	if !mentions(ifConversion) {
		options = append(options, "--param="+ifConversion+"="+unpredictable)
	}
	return options
}
