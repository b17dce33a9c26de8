package rebase

import (
	"cmp"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/rebase/internal/outline"
)

// A use is a symbol that a profile has counts of.
type use struct {
	symbol, file string
	lines        []int32  // offsets that have records, ascending
	callees      []callee // by offset
}

// A callee is an unqualified name that is called at a line, or inlined there.
type callee struct {
	line int32
	word uint32
}

// A place is a record of a profile of any kind, in the function that has its line.
type place struct {
	symbol int
	line   int32
	callee int    // symbol that is called or inlined there, or none
	count  uint64 // of samples
}

// gather fills in where symbols are used.
func gather(uses []use, places iter.Seq[place]) {
	words := make([]uint32, len(uses)) // 0 is one that nobody has asked for
	for p := range places {
		u := &uses[p.symbol]
		u.lines = append(u.lines, p.line)
		if p.callee != none {
			if words[p.callee] == 0 {
				words[p.callee] = outline.Word(spell(uses[p.callee].symbol).name)
			}
			u.callees = append(u.callees, callee{p.line, words[p.callee]})
		}
	}
	for i := range uses {
		u := &uses[i]
		slices.Sort(u.lines)
		u.lines = slices.Compact(u.lines)
		slices.SortFunc(u.callees, func(a, b callee) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.word, b.word)) })
		u.callees = slices.Compact(u.callees)
	}
}

// tally adds up the samples of each symbol, and the samples among them that have a line.
func (p *plan) tally(places iter.Seq[place]) (samples, kept []uint64) {
	samples, kept = make([]uint64, len(p.changes)), make([]uint64, len(p.changes))
	for at := range places {
		samples[at.symbol] = saturating.Add(samples[at.symbol], at.count)
		if c := p.changes[at.symbol]; c.outcome != Lost {
			if _, ok := c.line(at.line); ok {
				kept[at.symbol] = saturating.Add(kept[at.symbol], at.count)
			}
		}
	}
	return samples, kept
}
