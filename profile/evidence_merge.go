package profile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
)

// An evidenceSum is the sum of the [Evidence] of several profiles, while they are merged.
type evidenceSum struct {
	*Evidence
	bySymbol map[string][]int // numbers of the copies of each symbol
}

// mergeEvidence multiplies the counts in the evidence of q by weight, and adds them to the evidence
// of p. The counts of a symbol are summed if p and q have the same machine code for it. If the code
// differs, the result has the CodeCopy of p and that of q, because different builds of the program
// have run.
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

// add adds the evidence of one profile to the sum, with all counts multiplied by weight.
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
		c.Blocks, c.Jumps, c.Sizes = slices.Clone(c.Blocks), slices.Clone(c.Jumps), slices.Clone(c.Sizes)
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

// scale replaces each count of a CodeCopy by to(count).
func (c *CodeCopy) scale(to func(count uint64) uint64) {
	for i := range c.Blocks {
		c.Blocks[i].Count = to(c.Blocks[i].Count)
	}
	for i := range c.Jumps {
		c.Jumps[i].Count = to(c.Jumps[i].Count)
	}
	for i := range c.Sizes {
		c.Sizes[i].Count = to(c.Sizes[i].Count)
	}
}

// sameCode reports whether two CodeCopies are equal except for their counts.
func (c *CodeCopy) sameCode(d *CodeCopy) bool {
	return c.Symbol == d.Symbol && c.Unit == d.Unit && slices.Equal(c.Frames, d.Frames) &&
		slices.EqualFunc(c.Blocks, d.Blocks, func(a, b CodeBlock) bool {
			return a.Size == b.Size && slices.Equal(a.Places, b.Places)
		})
}

// addCounts adds the counts of d to those of c. Both must describe the same code, see
// [CodeCopy.sameCode].
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
	for _, s := range d.Sizes {
		c.AddSize(s)
	}
}

// keep returns the evidence of the functions whose names are in wanted. It drops the evidence of
// other functions, even if a wanted function is inlined into them. It returns nil if no evidence is
// left.
func (e *Evidence) keep(wanted map[string]bool) *Evidence {
	if e == nil {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(e.Copies), func(c CodeCopy) bool { return !wanted[c.Frames[0].Function] })
	if len(kept) == 0 {
		return nil
	}
	return &Evidence{e.Fraction, kept}
}

// leftOut returns the CodeCopy that lists dropped functions, see [LeftOut]. names has the names of
// the functions.
func (e *Evidence) leftOut(names map[string]bool) CodeCopy {
	largest := make(map[string]uint64)
	for _, c := range e.Copies {
		for _, b := range c.Blocks {
			for _, p := range b.Places {
				if name := c.Frames[p.Frame].Function; names[name] {
					largest[name] = max(largest[name], b.Count)
				}
			}
		}
	}
	list := CodeCopy{Symbol: LeftOut, Frames: []InlineFrame{{Parent: -1, Function: LeftOut}}}
	for i, name := range slices.Sorted(maps.Keys(largest)) {
		list.Frames = append(list.Frames, InlineFrame{Function: name})
		list.Blocks = append(list.Blocks, CodeBlock{Count: largest[name], Size: 1, Places: []Place{{Frame: int32(i) + 1, Factor: 1}}})
	}
	return list
}
