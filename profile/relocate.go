package profile

import "github.com/go-afdo/afdo/internal/stack"

// A Relocation describes where the records of a symbol move.
type Relocation struct {
	Path, Name string // new path and name of the symbol
	Drop       bool   // drop the symbol's function, and its inlined bodies in other functions

	// Line returns the new line for the records at a line, or false to drop them. It must map
	// different lines to different lines. A nil Line keeps all lines.
	Line func(line uint32) (uint32, bool)

	// CallLine replaces Line for calls and inlined bodies of a callee at a line. A nil CallLine
	// means that Line applies to these, too.
	CallLine func(line uint32, callee SymbolRef) (uint32, bool)
}

// Relocate returns a profile with records moved to other lines, and with symbols renamed. It calls
// where once for each symbol. An inlined body moves with the line of its call. Its records move by
// the Relocation of the inlined function. Head counts, timestamps, and the order of units and
// symbols stay. Unused units and symbols are dropped. The result has no summary, no marks and no
// hashes of files. p is not changed. Relocate takes O(n log n).
func (p *Profile) Relocate(where func(SymbolRef) Relocation) *Profile {
	r := relocator{from: p, to: New(), symbols: make([]SymbolRef, p.NumSymbols()), where: make([]Relocation, p.NumSymbols())}
	for f := range p.NumUnits() {
		r.to.AddUnit(p.UnitPath(UnitRef(f)))
	}
	for s := range r.where {
		r.where[s] = where(SymbolRef(s))
		r.symbols[s] = r.to.AddSymbol(r.to.AddUnit(r.where[s].Path), r.where[s].Name)
	}
	for s, f := range p.Functions() {
		if !r.where[s].Drop {
			r.to.AddFunction(r.symbols[s], Function{f.HeadCount, f.Timestamp, r.records(s, f.Records)})
		}
	}
	return r.to.pruned()
}

// A relocator moves the records of one profile into another.
type relocator struct {
	from, to *Profile
	symbols  []SymbolRef
	where    []Relocation
	body     Body
	open     stack.Stack[openBody]
}

// An openBody is an inlined body whose records are being moved.
type openBody struct {
	end    int
	symbol SymbolRef // the function that contains the inlined body
}

func (r *relocator) records(s SymbolRef, records []Record) []Record {
	r.body.Reset()
	for i := 0; i < len(records); i++ {
		for !r.open.Empty() && r.open.Top().end == i {
			s = r.leave()
		}
		record := &records[i]
		at, ok := r.where[s].line(record)
		switch {
		case record.Kind == KindInlined && (!ok || r.where[record.Callee].Drop):
			i += int(record.Count)
		case !ok:
		case record.Kind == KindCount:
			r.body.Count(at, record.Discriminator, record.Count)
		case record.Kind == KindCall:
			r.body.Call(at, record.Discriminator, r.symbols[record.Callee], record.Count)
		default:
			r.body.Enter(at, record.Discriminator, r.symbols[record.Callee])
			r.open.Push(openBody{i + 1 + int(record.Count), s})
			s = record.Callee
		}
	}
	for !r.open.Empty() {
		r.leave()
	}
	return r.body.Records()
}

// line returns the new line of a record.
func (w *Relocation) line(record *Record) (uint32, bool) {
	switch {
	case record.Kind != KindCount && w.CallLine != nil:
		return w.CallLine(record.Line, record.Callee)
	case w.Line != nil:
		return w.Line(record.Line)
	}
	return record.Line, true
}

// leave ends the innermost body, and returns the function that contains it.
func (r *relocator) leave() SymbolRef {
	r.body.Leave()
	return r.open.Pop().symbol
}
