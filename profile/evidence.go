package profile

import (
	"cmp"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
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

// Of returns the evidence about some functions, given by their names in frames: all copies of code
// that contain one of them. The result shares them with e.
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

// An evidenceSum is evidence that merges have added up.
type evidenceSum struct {
	*Evidence
	bySymbol map[string][]int // numbers of the copies
}

// mergeEvidence adds the evidence of q, scaled, to that of p. The counts of a symbol add up if its
// code has the same blocks in both. Otherwise both copies stay: the code of different builds ran
// separately.
func (p *Profile) mergeEvidence(q *Profile, weight Ratio) {
	if q.evidence == nil {
		return
	}
	if p.sum == nil {
		p.sum = &evidenceSum{&Evidence{Fraction: q.evidence.Fraction}, make(map[string][]int)}
		if p.evidence != nil {
			p.sum.Fraction = p.evidence.Fraction
			p.sum.add(p.evidence, one)
		}
		p.evidence = p.sum.Evidence
	}
	p.sum.add(q.evidence, weight)
}

// add adds scaled copies of e.
func (s *evidenceSum) add(e *Evidence, weight Ratio) {
	if e.Fraction > s.Fraction {
		shift := e.Fraction - s.Fraction
		s.Fraction = e.Fraction
		for i := range s.Copies {
			s.Copies[i].scale(func(count uint64) uint64 { return saturating.Mul(count, 1<<shift) })
		}
	}
	shift := s.Fraction - e.Fraction
	scale := func(count uint64) uint64 { return saturating.Mul(weight.Of(count), 1<<shift) }
	for i := range e.Copies {
		c := e.Copies[i]
		c.Blocks, c.Jumps = slices.Clone(c.Blocks), slices.Clone(c.Jumps)
		c.scale(scale)
		known := s.bySymbol[c.Symbol]
		if same := slices.IndexFunc(known, func(i int) bool { return c.sameCode(&s.Copies[i]) }); same >= 0 {
			s.Copies[known[same]].addCounts(&c)
			continue
		}
		s.bySymbol[c.Symbol] = append(known, len(s.Copies))
		s.Copies = append(s.Copies, c)
	}
}

// scale changes all counts.
func (c *CodeCopy) scale(to func(count uint64) uint64) {
	for i := range c.Blocks {
		c.Blocks[i].Count = to(c.Blocks[i].Count)
	}
	for i := range c.Jumps {
		c.Jumps[i].Count = to(c.Jumps[i].Count)
	}
}

// sameCode reports whether two copies differ in nothing but their counts.
func (c *CodeCopy) sameCode(d *CodeCopy) bool {
	return c.Symbol == d.Symbol && c.Unit == d.Unit && slices.Equal(c.Frames, d.Frames) &&
		slices.EqualFunc(c.Blocks, d.Blocks, func(a, b CodeBlock) bool {
			return a.Size == b.Size && slices.Equal(a.Places, b.Places)
		})
}

// addCounts adds the counts of a copy with the same code.
func (c *CodeCopy) addCounts(d *CodeCopy) {
	for i := range c.Blocks {
		c.Blocks[i].Count = saturating.Add(c.Blocks[i].Count, d.Blocks[i].Count)
	}
	c.Jumps = append(c.Jumps, d.Jumps...)
	slices.SortStableFunc(c.Jumps, func(a, b CodeJump) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	kept := c.Jumps[:0]
	for _, j := range c.Jumps {
		if last := len(kept) - 1; last >= 0 && kept[last].From == j.From && kept[last].To == j.To {
			kept[last].Count = saturating.Add(kept[last].Count, j.Count)
		} else {
			kept = append(kept, j)
		}
	}
	c.Jumps = kept
}

// keep returns the copies of code whose own function is wanted, or nil if there are none.
func (e *Evidence) keep(wanted func(function string) bool) *Evidence {
	if e == nil {
		return nil
	}
	kept := &Evidence{Fraction: e.Fraction}
	for _, c := range e.Copies {
		if wanted(c.Frames[0].Function) {
			kept.Copies = append(kept.Copies, c)
		}
	}
	if len(kept.Copies) == 0 {
		return nil
	}
	return kept
}
