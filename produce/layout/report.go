package layout

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A Report contains statistics about a recording and the layout made from it.
type Report struct {
	// Counted is the kind of the recording's counts.
	Counted Counted

	// Branches is the number of taken branches. The other numbers are parts of it. Edges are
	// branches between blocks of one function. Middle is the number of branches, other than
	// returns, into the middle of a block. Unmapped is the number of branches with an end outside
	// of all blocks of the map.
	Branches, Edges, Calls, Returns, Middle, Unmapped uint64

	// FallThroughs is the number of executions of straight-line ranges. Crossing is the part of
	// them that cannot have run: the range is in several functions, or contains a block that does
	// not continue with the next one.
	FallThroughs, Crossing uint64

	Functions int // functions in the block address map
	Hot       int // functions that ran
	HotBlocks int // blocks that ran, in functions that are in the layout
	Blocks    int // all blocks of functions that are in the layout

	// Functions that ran but are not in the layout.
	WithoutSymbol int // functions for which there is no symbol
	OtherSection  int // functions in sections other than .text and .text.*, such as .init.text
	Ambiguous     int // functions whose name occurs several times in the program
	Unusable      int // functions with a duplicate block ID, or with a name that the list cannot hold
}

// Counted is the kind of a recording's counts: branch stacks, exact counts or estimates.
type Counted int

const (
	// CountedStacks are branch stacks: branches and the code between two of them.
	CountedStacks Counted = iota
	// CountedExact counts are callgrind's counts of instructions and jumps.
	CountedExact
	// CountedEstimates are counts of instructions without jumps. Blocks keep their order. Only
	// functions move, and blocks that certainly did not run.
	CountedEstimates
)

// Limits for the branches of a recording. Beyond them, the recording is of another build.
// llvm-propeller has the same ones.
const (
	maxMiddle = 0.3    // share of the branches that lead into the middle of blocks
	minEdges  = 0.0005 // share of the branches that became edges or calls
)

// EdgeShare returns the share of the branches that are edges, calls or returns, or 0 without
// branches.
func (r *Report) EdgeShare() float64 {
	used := saturating.Add(saturating.Add(r.Edges, r.Calls), r.Returns)
	return float64(used) / max(float64(r.Branches), 1)
}

// check returns an error if so few of the recorded branches fit the program's block address map
// that the recording must be of another build.
func (r *Report) check() error {
	branches := float64(r.Branches)
	switch {
	case r.Hot == 0:
		return errNothing
	case float64(r.Middle) > maxMiddle*branches:
		return fmt.Errorf("%w: %.0f%% of the branches lead into the middle of blocks", ErrDrift, 100*float64(r.Middle)/branches)
	case branches > 0 && float64(r.Edges)+float64(r.Calls) < minEdges*branches:
		return fmt.Errorf("%w: %.2f%% of the branches lead from block to block", ErrDrift, 100*(float64(r.Edges)+float64(r.Calls))/branches)
	}
	return nil
}
