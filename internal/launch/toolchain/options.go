package toolchain

import "github.com/go-afdo/afdo/internal/command"

// earlyInliner is a parameter that GCC 12 and 13 need. Before these versions read the counts of
// inlined functions, they inline the functions, but only one call deep. Functions that were inlined
// deeper lose their counts. With more rounds, as GCC before 12 had, they keep them.
const earlyInliner = "max-early-inliner-iterations"

// noUnrolling is the option that GCC 12 needs. With a profile by samples, it unrolls all hot loops
// eight times, without looking at how often they repeat: a loop that repeats three times gets
// slower, and code grows. GCC 13 and later unroll none because of such a profile.
const noUnrolling = "-fno-unroll-loops"

// ifConversion is the parameter that limits the cost of a conditional move in place of a branch
// that GCC can predict.
const ifConversion = "max-rtl-if-conversion-predictable-cost"

// Options returns the options that the compiler needs to make good use of counts by lines. It
// leaves out those that the command already sets.
func (c *Compiler) Options(command *command.Line) (options []string) {
	if (c.IsGCC(12) || c.IsGCC(13)) && !command.Mentions(earlyInliner) {
		options = append(options, "--param="+earlyInliner+"=10")
	}
	if c.IsGCC(12) && !command.Mentions("unroll-") {
		options = append(options, noUnrolling)
	}
	if !c.Clang {
		options = append(options, branchOptions("-fno-tracer", command.Mentions)...)
	}
	return options
}

// ArcOptions returns the options that GCC needs to make good use of counts of arcs. It leaves out
// those for which mentions reports that the command sets them. With such counts, the tracer may
// copy a block if the other ways into the block were never taken.
func ArcOptions(mentions func(option string) bool) []string {
	return branchOptions("--param=tracer-min-branch-ratio=100", mentions)
}

// branchOptions returns an option for GCC's tracer and one for [ifConversion], unless the command
// mentions them. They make GCC generate fewer branches that a processor cannot predict. If the
// profiled program had a conditional move, no samples show which way the condition went, and GCC
// assumes that it always goes one way. Then the tracer copies the code of that way, and GCC
// replaces no branch that it can predict by a conditional move. The limit for the cost of such a
// move is the one that GCC documents for branches that cannot be predicted.
func branchOptions(tracer string, mentions func(option string) bool) (options []string) {
	if !mentions("tracer") {
		options = append(options, tracer)
	}
	if !mentions(ifConversion) {
		options = append(options, "--param="+ifConversion+"=40")
	}
	return options
}
