package profile

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Read reads a whole version 4 file: summary, units in file order, all symbols, all functions, the
// evidence, and the sources section. It ignores sections of extensions that have another version or
// do not match the file. It does not close r.
//
// Read takes time and memory proportional to the size of the file. It rejects a malformed file that
// would need far more, because of shared prefixes or shared sections of samples, with
// [afdo.ErrLimit]. A record with a symbol ID that no unit has gives [afdo.ErrSymbol], and samples
// that no symbol has give [afdo.ErrUnused]. Other errors are those of the reader. After an error
// the profile is nil.
func Read(r *afdo.Reader) (*Profile, error) {
	p, _, err := ReadCounting(r)
	return p, err
}

// ReadCounting is like [Read]. It also returns the number of records of unknown types, which the
// profile does not contain.
func ReadCounting(r *afdo.Reader) (p *Profile, unknown uint64, err error) {
	l := newLoader(r.Size())
	if err := l.read(r); err != nil {
		return nil, 0, err
	}
	return l.profile, l.unknown, nil
}

func (l *loader) read(r *afdo.Reader) error {
	summary, err := r.Summary()
	if err != nil {
		return err
	}
	l.profile.Summary = summary
	units, err := l.readSymbols(r)
	if err != nil {
		return err
	}
	for i, u := range units {
		if err := l.readFunctions(u); err != nil {
			return err
		}
		units[i] = nil // free the memory of the unit
	}
	if err := l.budget.End(r); err != nil {
		return err
	}
	if err := l.readMarks(r); err != nil {
		return err
	}
	return l.readEvidence(r)
}

func (l *loader) readEvidence(r *afdo.Reader) error {
	t, err := ReadEvidence(r)
	if errors.Is(err, afdo.ErrNotFound) {
		return nil
	}
	if err == nil {
		l.profile.evidence, err = t.All()
	}
	return err
}

// A loader holds the state of [Read], which makes a profile of a version 4 file.
type loader struct {
	profile *Profile
	ids     wire.IDTable // SymbolRefs by symbol ID of the file
	cursor  afdo.Cursor
	body    Body
	callee  func(afdo.SymbolID) (SymbolRef, bool) // converts a symbol ID of the file
	budget  *budget.Budget
	unknown uint64 // number of records of unknown types
}

func newLoader(size int64) *loader {
	l := &loader{profile: New(), budget: budget.New(size)}
	l.callee = func(id afdo.SymbolID) (SymbolRef, bool) {
		s, ok := l.ids.Find(uint32(id))
		return SymbolRef(s), ok
	}
	return l
}

// readSymbols adds all units and symbols of the file to the profile. It comes before readFunctions,
// because records of any unit may refer to any symbol.
func (l *loader) readSymbols(r *afdo.Reader) ([]*afdo.Unit, error) {
	var units []*afdo.Unit
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		if err := l.budget.Unit(u); err != nil {
			return nil, fmt.Errorf("profile: %w", err)
		}
		units = append(units, u)
		f := l.profile.AddUnit(u.Path())
		for s, err := range u.Symbols() {
			if err != nil {
				return nil, err
			}
			if err := l.budget.Name(s.Name()); err != nil {
				return nil, fmt.Errorf("profile: %w", err)
			}
			l.ids.Add(uint32(s.ID()), uint32(l.profile.AddSymbol(f, s.Name())))
		}
	}
	return units, nil
}

// readFunctions adds the functions of a unit to the profile. It reads the sections of all functions
// of the unit together, which takes few reads. Before the budget is checked, it reads at most as
// many bytes as the file has, see [afdo.Unit.Load].
func (l *loader) readFunctions(u *afdo.Unit) error {
	_ = u.Load() // reading the samples one by one returns the error again, with the symbol
	for s, err := range u.Symbols() {
		if err != nil {
			return err
		}
		if !s.HasInfo() {
			continue
		}
		if err := l.readFunction(s); err != nil {
			return fmt.Errorf("profile: unit %q, symbol %q: %w", u.Path(), s.Name(), err)
		}
	}
	return nil
}

func (l *loader) readFunction(s afdo.Symbol) error {
	info, err := s.Info()
	if err != nil {
		return err
	}
	if err := l.budget.Samples(info); err != nil {
		return err
	}
	if err := l.body.Load(info, &l.cursor, l.callee); err != nil {
		return err
	}
	l.unknown += l.cursor.Unknown()
	ref, _ := l.callee(s.ID())
	l.profile.AddFunction(ref, Function{
		HeadCount: info.HeadCount,
		Timestamp: info.Timestamp,
		Records:   l.body.Records(),
	})
	return nil
}

// Load replaces the records of the body by the records of a function in a version 4 file. Load
// resets c; passing the same Cursor for the next function saves allocations. callee converts the
// symbol IDs of the file. If callee does not know an ID, Load fails with [afdo.ErrSymbol]. Other
// errors are those of the cursor. After an error the body is empty.
func (b *Body) Load(info afdo.Info, c *afdo.Cursor, callee func(afdo.SymbolID) (SymbolRef, bool)) error {
	c.Reset(info)
	b.Reset()
	err := b.load(info, c, callee)
	if err != nil {
		b.Reset()
	}
	return err
}

func (b *Body) load(info afdo.Info, c *afdo.Cursor, callee func(afdo.SymbolID) (SymbolRef, bool)) error {
	for offset := c.Offset(); c.Next(); offset = c.Offset() {
		for b.depth > c.Depth() {
			b.Leave()
		}
		at := c.Location()
		switch at.Type {
		case afdo.LocationZero, afdo.LocationNormal, afdo.LocationWide:
			b.Count(at.Line, at.Discriminator, at.Count)
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			if err := b.loadTargets(info, c, callee); err != nil {
				return err
			}
		case afdo.LocationInlinedFn:
			f, ok := callee(at.Callee)
			if !ok {
				return unknownCallee(info, offset, at.Callee)
			}
			b.Enter(at.Line, at.Discriminator, f)
		}
	}
	for b.depth > 0 {
		b.Leave()
	}
	return c.Err()
}

// loadTargets adds the call targets of the cursor's current location to the body.
func (b *Body) loadTargets(info afdo.Info, c *afdo.Cursor, callee func(afdo.SymbolID) (SymbolRef, bool)) error {
	at := c.Location()
	offset := c.Offset()
	for t := range c.Targets() { // Next returns the error, if there is one
		f, ok := callee(t.Callee)
		if !ok {
			return unknownCallee(info, offset, t.Callee)
		}
		b.Call(at.Line, at.Discriminator, f, t.Count)
		offset = c.Offset()
	}
	return nil
}

func unknownCallee(info afdo.Info, offset int64, id afdo.SymbolID) error {
	return info.Section().ErrorAt(offset, afdo.ErrSymbol, "a callee of symbol ID %d, which no unit has", id)
}
