package profile

import "bytes"

// Marks is a fingerprint of a function's source lines: one byte per line, starting at the
// declaration. It allows samples to be moved when the source has been edited. Package rebase
// creates and uses marks; docs/extensions.md describes their contents.
type Marks []byte

// marks holds the marks of a profile and the hashes of its units.
type marks struct {
	functions map[SymbolRef]Marks
	sums      map[UnitRef]uint32
}

// SetMarks stores the fingerprint of a symbol's source lines. The profile keeps a reference to m.
// Empty marks mean that the samples come from several versions of the source; nil removes the
// marks.
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

// Marks returns the fingerprint of a symbol's source lines. It is nil if none is stored, and empty
// if the samples come from several versions of the source.
func (p *Profile) Marks(s SymbolRef) Marks { return p.marks.functions[s] }

// HasMarks reports whether any function has marks.
func (p *Profile) HasMarks() bool { return len(p.marks.functions) > 0 }

// SetUnitSum stores the lower half of the hash of a unit's file, which shows whether the file has
// changed. 0 removes it.
func (p *Profile) SetUnitSum(f UnitRef, sum uint32) {
	_ = p.paths[f]
	if p.marks.sums == nil {
		p.marks.sums = make(map[UnitRef]uint32)
	}
	p.marks.sums[f] = sum
}

// UnitSum returns the lower half of the hash of a unit's file, 0 if none is stored.
func (p *Profile) UnitSum(f UnitRef) uint32 { return p.marks.sums[f] }

// adoptMarks adds the marks and hashes of q. symbols and units convert references of q to those of
// p. Where p and q differ, the samples come from several versions.
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
