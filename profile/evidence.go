package profile

import (
	"cmp"
	"iter"
	"slices"
)

// Evidence is what a recording shows about the machine code of a program: its control flow by
// blocks, with the source positions of each. Package create makes it.
type Evidence struct {
	// Fraction is the number of bits after the binary point of all counts. It is 0 if the counts
	// are numbers of executions. Samples have some, because most blocks have less than one in each
	// instruction.
	Fraction uint8
	Copies   []CodeCopy // in no particular order
}

// LeftOut is the symbol of a [CodeCopy] that lists the functions that [Profile.LeaveOut] has left
// out. Frame 0 is LeftOut itself. Each other frame is a function, with one block, which has the
// largest count of the function's blocks. So it is known how hot the function is, and nothing else.
const LeftOut = "(left out)"

// A CodeCopy is the machine code of one symbol. The parts and clones of a function, such as
// f.part.0, f.cold and f.constprop.1, are copies of their own.
type CodeCopy struct {
	Symbol string // with all suffixes
	Unit   string // path of the source file of the compilation, "" if unknown

	// Frames are the inlined calls in the code. Frame 0 is the function of the symbol itself. The
	// caller of a frame comes before it.
	Frames []InlineFrame

	Blocks []CodeBlock // by address; the first one is the entry
	Jumps  []CodeJump  // by From, then To
}

// An InlineFrame is a function at one place in the code.
type InlineFrame struct {
	Parent   int32    // number of the caller's frame, -1 for frame 0
	Function string   // linkage name without suffixes, or the plain name if there is none
	Declared uint32   // line of its declaration, 0 if unknown
	Call     Position // of the call in the caller; empty for frame 0
}

// A Position is a place in the source.
type Position struct {
	File          string // path
	Line          uint32
	Column        uint32 // 0 if unknown
	Discriminator uint32 // the block of the line, without what compilers pack beside it
}

// A CodeBlock is instructions that run one after the other.
type CodeBlock struct {
	Count  uint64  // the mean of its instructions' executions or samples
	Size   uint32  // number of instructions
	Places []Place // the distinct positions of its instructions, in order
}

// A Place is a position in the function of a frame.
type Place struct {
	Frame int32
	Position
	// Factor is how many executions of the source one execution of the code stands for, at least
	// 1. GCC 16 and clang state it for vectorised and unrolled loops.
	Factor uint32
}

// A CodeJump is an observed step from the end of a block to the begin of another: a jump that was
// taken, or for a conditional jump also the step to the next block. If a block has any, it has all.
type CodeJump struct {
	From, To int32 // numbers of blocks
	Count    uint64
}

// Compare orders places by frame and position.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Frame, q.Frame), cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column), cmp.Compare(p.Discriminator, q.Discriminator), cmp.Compare(p.Factor, q.Factor))
}

// Of returns the evidence about some functions, which are given by their names in frames: all
// copies of code that contain one of the functions. The result shares the copies with e.
func (e *Evidence) Of(functions iter.Seq[string]) *Evidence {
	wanted := make(map[string]bool)
	for name := range functions {
		wanted[name] = true
	}
	part := &Evidence{Fraction: e.Fraction}
	for _, c := range e.Copies {
		if slices.ContainsFunc(c.Frames, func(f InlineFrame) bool { return wanted[f.Function] }) {
			part.Copies = append(part.Copies, c)
		}
	}
	return part
}

// SetEvidence stores the evidence of the recording in the profile, nil to remove it. The profile
// keeps a reference to it.
func (p *Profile) SetEvidence(e *Evidence) { p.evidence, p.sum = e, nil }

// Evidence returns the evidence of the recording, nil if the profile has none.
func (p *Profile) Evidence() *Evidence { return p.evidence }
