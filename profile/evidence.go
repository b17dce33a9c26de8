package profile

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// Evidence contains counts of a program's machine code: of its basic blocks and of the jumps
// between them. Each block has the source positions of its instructions. Package create makes an
// Evidence from a recording.
type Evidence struct {
	// Fraction is the number of bits after the binary point of all counts: a Count of 5 with a
	// Fraction of 2 means 5/4. It is 0 if the counts are numbers of executions. It is above 0 if
	// they are means of samples, because most instructions have less than one sample.
	Fraction uint8
	Copies   []CodeCopy // in no particular order
}

// LeftOut is the symbol of a [CodeCopy] that lists the functions that [Profile.LeaveOut] has
// dropped. Frame 0 is LeftOut itself. Each other frame is a dropped function, with a single block
// that has the largest count of the function's blocks.
const LeftOut = "(left out)"

// A CodeCopy describes the machine code of one symbol. A function has several of them if the
// compiler has split or cloned it: f, f.part.0, f.cold and f.constprop.1 have a CodeCopy each.
type CodeCopy struct {
	Symbol string // with all suffixes
	Unit   string // path of the source file of the compilation, "" if unknown

	// Frames contains frame 0 for the function of the symbol itself, and a frame for each inlined
	// call. A caller comes before its callees.
	Frames []InlineFrame

	Blocks []CodeBlock // by address; the first one is the entry
	Jumps  []CodeJump  // by From, then To
	Sizes  []CallSize  // by Place, then Bytes
}

// An InlineFrame is a function that is inlined at one call, or the function of the symbol itself.
type InlineFrame struct {
	Parent   int32    // number of the caller's frame, -1 for frame 0
	Function string   // linkage name without suffixes, or the plain name if there is none
	Declared uint32   // line of its declaration, 0 if unknown
	Call     Position // source position of the call; empty for frame 0
}

// A Position is a place in a source file, as debug info names it: by line, column and
// discriminator.
type Position struct {
	File          string // path
	Line          uint32
	Column        uint32 // 0 if unknown
	Discriminator uint32 // number of the basic block on the line; other numbers that compilers pack into discriminators are removed
}

// A CodeBlock is a basic block of machine code.
type CodeBlock struct {
	Count  uint64  // the mean of its instructions' executions or samples
	Size   uint32  // number of instructions
	Places []Place // the distinct positions of its instructions, in order
}

// A Place is a source position that some instructions of a block of machine code have. Frame is
// the number of the frame in the Frames of the CodeCopy: the function, perhaps inlined, in whose
// source the position is.
type Place struct {
	Frame int32
	Position
	// Factor is the number of executions of the source for each execution of the code, at least 1.
	// GCC 16 and clang record it for vectorised and unrolled loops.
	Factor uint32
}

// A CodeJump is a step from the end of a basic block to the beginning of another. It is a taken
// jump. After a conditional jump, it is also the fall-through to the next block. If a block has any
// CodeJump, it has all that were recorded.
type CodeJump struct {
	From, To int32 // numbers of blocks
	Count    uint64
}

// A CallSize counts the calls of memcpy, memmove, mempcpy or memset at one Place that handled a
// certain number of Bytes. Only recordings by steps show it.
type CallSize struct {
	Place
	Bytes uint64 // OtherSizes for all sizes without a CallSize of their own
	Count uint64
}

// OtherSizes is the number of Bytes of a [CallSize] that counts calls of any other size.
const OtherSizes = math.MaxUint64

func (s CallSize) compare(t CallSize) int {
	return cmp.Or(s.Place.Compare(t.Place), cmp.Compare(s.Bytes, t.Bytes))
}

// AddSize adds the calls in s to the sizes of c.
func (c *CodeCopy) AddSize(s CallSize) {
	at, found := slices.BinarySearchFunc(c.Sizes, s, CallSize.compare)
	if !found {
		c.Sizes = slices.Insert(c.Sizes, at, s)
		return
	}
	c.Sizes[at].Count = saturating.Add(c.Sizes[at].Count, s.Count)
}

// Compare orders places by the number of their frame, then by source position (file, line,
// column, discriminator), then by Factor. Like cmp.Compare, it returns a negative number, 0 or a
// positive number.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Frame, q.Frame), cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column), cmp.Compare(p.Discriminator, q.Discriminator), cmp.Compare(p.Factor, q.Factor))
}

// Of returns the evidence about the given functions: each CodeCopy of e in which at least one of
// these functions has a frame. The result shares its CodeCopies with e.
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

// SetEvidence stores the counts of machine code from which the profile was made, or removes them if
// e is nil. The profile keeps a reference to e.
func (p *Profile) SetEvidence(e *Evidence) { p.evidence, p.sum = e, nil }

// Evidence returns the counts of machine code from which the profile was made. It returns nil if
// the profile has none.
func (p *Profile) Evidence() *Evidence { return p.evidence }
