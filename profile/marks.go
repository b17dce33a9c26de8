package profile

import "bytes"

// Marks are what a profile remembers of the lines of a function, a byte for each from that of the
// declaration on, so that its samples can be moved to where the lines are after an edit. Package
// rebase makes and uses them; docs/extensions.md says what is in them.
type Marks []byte

// marks are those of a profile.
type marks struct {
	functions map[SymbolRef]Marks
	sums      map[UnitRef]uint32
}

// SetMarks remembers the lines of a symbol's function. The profile keeps the marks. Empty ones say
// that the samples are of several states of the sources; nil forgets the lines.
func (p *Profile) SetMarks(s SymbolRef, m Marks) {
	_ = p.SymbolName(s)
	if m == nil {
		delete(p.marks.functions, s)
		return
	}
	if p.marks.functions == nil {
		p.marks.functions = make(map[SymbolRef]Marks)
	}
	p.marks.functions[s] = m
}

// Marks returns what is remembered of the lines of a symbol's function, nil if nothing is, and no
// lines if its samples are of several states of the sources.
func (p *Profile) Marks(s SymbolRef) Marks { return p.marks.functions[s] }

// HasMarks reports whether anything is remembered of the sources.
func (p *Profile) HasMarks() bool { return len(p.marks.functions) > 0 }

// SetUnitSum remembers the file of a unit by the lower half of its hash, by which it is seen that
// nothing in it has changed. 0 forgets it.
func (p *Profile) SetUnitSum(f UnitRef, sum uint32) {
	_ = p.paths[f]
	if p.marks.sums == nil {
		p.marks.sums = make(map[UnitRef]uint32)
	}
	p.marks.sums[f] = sum
}

// UnitSum returns what is remembered of the file of a unit, 0 if nothing is.
func (p *Profile) UnitSum(f UnitRef) uint32 { return p.marks.sums[f] }

// adoptMarks adds the marks of q, whose symbols and units are those of p by these references. What
// the two remember differently is of several states from then on.
func (p *Profile) adoptMarks(q *Profile, symbols []SymbolRef, units []UnitRef) {
	for s, m := range q.marks.functions {
		to := symbols[s]
		if have := p.marks.functions[to]; have != nil && !bytes.Equal(have, m) {
			m = Marks{}
		}
		p.SetMarks(to, m)
	}
	for f, sum := range q.marks.sums {
		to := units[f]
		if have, ok := p.marks.sums[to]; ok && have != sum {
			sum = 0
		}
		p.SetUnitSum(to, sum)
	}
}
