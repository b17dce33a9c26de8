package arcs

import (
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// lineEvidence converts a profile's counts of lines to evidence, for a profile that has no evidence
// of its own. Each location of the profile becomes a block of machine code whose source position
// has no column, which matches all code of the line.
//
// The line of a count is relative to the declaration of its function. The line of the declaration
// is in the .gcno file, but not for a function that GCC inlined everywhere. The counts of such a
// function are left out.
func lineEvidence(p *profile.Profile, notes *gcda.Notes) *profile.Evidence {
	l := newLineReader(p, notes)
	e := &profile.Evidence{}
	for s, f := range p.Functions() {
		if c := l.read(s, f); len(c.Blocks) > 0 {
			e.Copies = append(e.Copies, c)
		}
	}
	return e
}

// A lineReader converts the counts of lines in a profile to evidence, for the functions of a unit.
type lineReader struct {
	profile   *profile.Profile
	functions map[string]*gcda.Function // functions of the .gcno file, by linkage name
	copy      profile.CodeCopy
}

// newLineReader returns a lineReader for a profile and the .gcno file of a unit.
func newLineReader(p *profile.Profile, notes *gcda.Notes) *lineReader {
	l := &lineReader{profile: p, functions: make(map[string]*gcda.Function, len(notes.Functions))}
	for i := range notes.Functions {
		l.functions[notes.Functions[i].Name] = &notes.Functions[i]
	}
	return l
}

// read converts the counts of lines that the profile has for one function to evidence.
func (l *lineReader) read(s profile.SymbolRef, f *profile.Function) profile.CodeCopy {
	name := l.profile.SymbolName(s)
	l.copy = profile.CodeCopy{Symbol: name, Frames: []profile.InlineFrame{{Parent: -1, Function: name}}}
	symbols := []profile.SymbolRef{s} // the symbol of each frame
	if l.find(s) != nil {
		l.copy.Blocks = []profile.CodeBlock{{Count: f.HeadCount, Size: 1}}
	}
	open := []int32{0} // the frame of each inlined body that contains the record, the outermost first
	w := profile.Walk(f.Records)
	for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
		open = open[:depth+1]
		frame := open[depth]
		at, known := l.position(symbols[frame], r)
		switch {
		case r.Kind == profile.KindInlined:
			l.copy.Frames = append(l.copy.Frames, profile.InlineFrame{Parent: frame, Function: l.profile.SymbolName(r.Callee), Call: at})
			symbols = append(symbols, r.Callee)
			open = append(open, int32(len(l.copy.Frames)-1))
		case r.Kind == profile.KindCount && known:
			l.copy.Blocks = append(l.copy.Blocks, profile.CodeBlock{
				Count: r.Count, Size: 1, Places: []profile.Place{{Frame: frame, Position: at, Factor: 1}},
			})
		}
	}
	return l.copy
}

// find returns the function of the .gcno file for a symbol of the profile, or nil if there is none.
func (l *lineReader) find(s profile.SymbolRef) *gcda.Function {
	f := l.functions[l.profile.SymbolName(s)]
	if unit := l.profile.UnitPath(l.profile.SymbolUnit(s)); f == nil || unit != "" && baseName(unit) != baseName(f.Source) {
		return nil
	}
	return f
}

// position returns the source position of a record of function s. known is false if the .gcno file
// does not have the function.
func (l *lineReader) position(s profile.SymbolRef, r *profile.Record) (at profile.Position, known bool) {
	f := l.find(s)
	if f == nil {
		return at, false
	}
	offset := int64(r.Line)
	if offset >= 1<<15 && offset < 1<<16 { // before the declaration
		offset -= 1 << 16
	}
	line := int64(f.Start.Line) + offset
	return profile.Position{File: f.Source, Line: uint32(max(line, 0)), Discriminator: r.Discriminator}, line > 0
}

// addLines adds each statement and call of the graph to the table of positions once more,
// without its column. A profile that has counts of lines, and no columns, finds them there.
func (f *function) addLines() {
	for n := range f.body.blocks {
		for _, p := range f.body.blocks[n].places {
			p.column = 0
			if at := f.where[p.key]; len(at) == 0 || at[len(at)-1] != uint32(n) {
				f.where[p.key] = append(at, uint32(n))
			}
		}
	}
	for k := range f.body.calls {
		k.column = 0
		f.body.calls[k] = true
	}
}
