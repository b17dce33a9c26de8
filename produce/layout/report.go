package layout

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/saturating"
)

// A Report says what became of a recording.
type Report struct {
	// Counted is the kind of the counts.
	Counted Counted

	// Branches is the number of times that branches of the recording were taken. Edges, Calls and
	// Returns are parts of it. Middle is the part that leads into the middle of a block without
	// being a return, and Unmapped the part with an end that is in no block of the map.
	Branches, Edges, Calls, Returns, Middle, Unmapped uint64

	// FallThroughs is the number of times that straight-line ranges of the recording ran. Crossing
	// is the part that cannot have run: a range in several functions, or over a block that code
	// always leaves.
	FallThroughs, Crossing uint64

	Functions int // in the map
	Hot       int // functions that ran
	HotBlocks int // blocks that ran, in functions that are in the layout
	Blocks    int // all blocks of functions that are in the layout

	// Functions that ran but are not in the layout.
	WithoutSymbol int // no symbol has their address
	OtherSection  int // they are in sections other than .text and .text.*, such as .init.text
	Ambiguous     int // their name occurs several times in the program
	Unusable      int // a block ID occurs twice, or the list cannot hold the name
}

// Counted is a kind of counts.
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

// Limits of drift, the same as in llvm-propeller.
const (
	maxMiddle = 0.3    // share of the branches that lead into the middle of blocks
	minEdges  = 0.0005 // share of the branches that became edges or calls
)

// EdgeShare returns the share of the branches that became edges of functions, calls or returns, or
// 0 without branches.
func (r *Report) EdgeShare() float64 {
	used := saturating.Add(saturating.Add(r.Edges, r.Calls), r.Returns)
	return float64(used) / max(float64(r.Branches), 1)
}

// check returns an error if the recording does not fit the map.
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
