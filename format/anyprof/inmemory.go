package anyprof

import (
	"iter"
	"sync"

	"github.com/go-afdo/afdo/profile"
)

// An inMemory implements reader for a GCOV profile that was read whole.
type inMemory struct {
	p     *profile.Profile
	files func() [][]profile.SymbolRef // returns the functions of each unit
}

func newInMemory(p *profile.Profile) *inMemory {
	return &inMemory{p, sync.OnceValue(func() [][]profile.SymbolRef {
		files := make([][]profile.SymbolRef, p.NumUnits())
		for s := range p.Functions() {
			files[p.SymbolUnit(s)] = append(files[p.SymbolUnit(s)], s)
		}
		return files
	})}
}

func (m *inMemory) units() iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		for i := range m.p.NumUnits() {
			if !yield(m.unitOf(profile.UnitRef(i)), nil) {
				return
			}
		}
	}
}

func (m *inMemory) unit(path string) (Unit, error) {
	f, err := m.p.UnitBySuffix(path)
	if err != nil {
		return Unit{}, err
	}
	return m.unitOf(f), nil
}

func (m *inMemory) unitOf(f profile.UnitRef) Unit {
	return Unit{Path: m.p.UnitPath(f), functions: func(yield func(*Function, error) bool) {
		for _, s := range m.files()[f] {
			if !yield(m.function(s), nil) {
				return
			}
		}
	}}
}

func (m *inMemory) function(s profile.SymbolRef) *Function {
	f := m.p.Function(s)
	return &Function{
		Name: Name{Text: m.p.SymbolName(s)}, Unit: m.p.UnitPath(m.p.SymbolUnit(s)), HeadCount: f.HeadCount,
		records: func(yield func(Record, error) bool) { m.walk(f.Records, yield) },
	}
}

func (m *inMemory) walk(records []profile.Record, yield func(Record, error) bool) {
	for w := profile.Walk(records); ; {
		have, depth, ok := w.Next()
		if !ok {
			return
		}
		r := Record{Depth: depth, Line: have.Line, Discriminator: have.Discriminator}
		switch have.Kind {
		case profile.KindCount:
			r.Kind, r.Count = Samples, have.Count
		case profile.KindCall:
			r.Kind, r.Name.Text, r.Count = Call, m.p.SymbolName(have.Callee), have.Count
		case profile.KindInlined:
			r.Kind, r.Name.Text = Inlined, m.p.SymbolName(have.Callee)
		}
		if !yield(r, nil) {
			return
		}
	}
}
