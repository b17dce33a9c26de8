package profile

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
	r := relocator{to: New(), symbols: make([]SymbolRef, p.NumSymbols()), where: make([]Relocation, p.NumSymbols())}
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

// A relocator holds the state of [Profile.Relocate], which moves the records of one profile into
// another.
type relocator struct {
	to      *Profile
	symbols []SymbolRef // of the new profile, by symbol of the old one
	where   []Relocation
	body    Body
	within  []SymbolRef // functions that contain the current record: the outermost one, then inlined ones
}

// records returns the records of the function of symbol s, moved to their new lines. They are valid
// until the next call.
func (r *relocator) records(s SymbolRef, records []Record) []Record {
	r.body.Reset()
	r.within = append(r.within[:0], s)
	r.body.addRecords(records, func(record *Record, _, depth int) (ok bool) {
		callee := record.Callee
		record.Line, ok = r.where[r.within[depth]].line(record)
		if record.Kind != KindCount {
			record.Callee = r.symbols[callee]
		}
		if record.Kind == KindInlined {
			r.within = append(r.within[:depth+1], callee)
			return ok && !r.where[callee].Drop
		}
		return ok
	})
	return r.body.Records()
}

// line returns the new line of a record, or false if the relocation drops the record.
func (w *Relocation) line(record *Record) (uint32, bool) {
	switch {
	case record.Kind != KindCount && w.CallLine != nil:
		return w.CallLine(record.Line, record.Callee)
	case w.Line != nil:
		return w.Line(record.Line)
	}
	return record.Line, true
}
