package profile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo"
)

// Read loads a whole version 4 file: its summary, its units in their order,
// all symbols, those without samples too, and all functions. It does not close r.
//
// It takes time and memory by the size of the file. A file so made that this
// would not hold, by string tables that spell out a thousandfold or by symbols
// that share the section of their samples, gives [afdo.ErrLimit]. A record that
// names a symbol ID which no unit has is malformed, [afdo.ErrSymbol]. Other
// errors are those of the reader. There is no profile where there is an error.
func Read(r *afdo.Reader) (*Profile, error) {
	summary, err := r.Summary()
	if err != nil {
		return nil, err
	}
	l := newLoader(r.Size())
	l.profile.Summary = summary
	units, err := l.readSymbols(r)
	if err != nil {
		return nil, err
	}
	for i, u := range units {
		if err := l.readFunctions(u); err != nil {
			return nil, err
		}
		units[i] = nil // what it has read is needed no longer
	}
	return l.profile, nil
}

// A loader fills a profile from a file.
type loader struct {
	profile *Profile
	ids     idTable
	cursor  afdo.Cursor
	body    Body
	names   int64 // how many more bytes of names there may be
	samples int64 // and of sections of samples
}

// Every byte of a file belongs to one section and every such section to one
// symbol; the limits leave room for files that are merely odd.
const (
	freeNames      = 64 << 20
	namesPerByte   = 64
	freeSamples    = 1 << 20
	samplesPerByte = 4
)

func newLoader(size int64) *loader {
	return &loader{
		profile: New(),
		names:   freeNames + namesPerByte*size,
		samples: freeSamples + samplesPerByte*size,
	}
}

// readSymbols adds all units and symbols: the records of any unit may name any of them.
func (l *loader) readSymbols(r *afdo.Reader) ([]*afdo.Unit, error) {
	var units []*afdo.Unit
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		units = append(units, u)
		f := l.profile.AddFile(u.Path())
		for s, err := range u.Symbols() {
			if err != nil {
				return nil, err
			}
			if l.names -= int64(len(s.Name())); l.names < 0 {
				return nil, fmt.Errorf("profile: the string tables spell out more than %d times the file: %w", namesPerByte, afdo.ErrLimit)
			}
			l.ids.add(s.ID(), l.profile.AddSymbol(f, s.Name()))
		}
	}
	l.ids.sort()
	return units, nil
}

// readFunctions adds the functions of a unit. It reads their sections one by
// one, for [afdo.Unit.Load] would have read a section that is shared a thousand
// times before anybody could say that this is too often.
func (l *loader) readFunctions(u *afdo.Unit) error {
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
	if l.samples -= info.Section().Size; l.samples < 0 {
		return fmt.Errorf("too many symbols share the sections of their samples: %w", afdo.ErrLimit)
	}
	if err := l.readBody(info); err != nil {
		return err
	}
	ref, _ := l.ids.find(s.ID())
	l.profile.AddFunction(ref, Function{
		HeadCount: info.HeadCount,
		Timestamp: info.Timestamp,
		Records:   l.body.Records(),
	})
	return nil
}

// readBody reads the records of a function into l.body.
func (l *loader) readBody(info afdo.Info) error {
	c := &l.cursor
	c.Reset(info)
	l.body.Reset()
	open := 0
	for offset := c.Offset(); c.Next(); offset = c.Offset() {
		for ; open > c.Depth(); open-- {
			l.body.Leave()
		}
		at := c.Location()
		switch at.Type {
		case afdo.LocationZero, afdo.LocationNormal, afdo.LocationWide:
			l.body.Count(at.Line, at.Discriminator, at.Count)
		case afdo.LocationCalledFn, afdo.LocationCalledFns:
			if err := l.readTargets(info); err != nil {
				return err
			}
		case afdo.LocationInlinedFn:
			callee, ok := l.ids.find(at.Callee)
			if !ok {
				return unknownCallee(info, offset, at.Callee)
			}
			l.body.Enter(at.Line, at.Discriminator, callee)
			open++
		}
	}
	for ; open > 0; open-- {
		l.body.Leave()
	}
	return c.Err()
}

// readTargets reads the targets of the call record at hand.
func (l *loader) readTargets(info afdo.Info) error {
	c := &l.cursor
	at := c.Location()
	offset := c.Offset()
	for t := range c.Targets() { // an error keeps until Next
		callee, ok := l.ids.find(t.Callee)
		if !ok {
			return unknownCallee(info, offset, t.Callee)
		}
		l.body.Call(at.Line, at.Discriminator, callee, t.Count)
		offset = c.Offset()
	}
	return nil
}

func unknownCallee(info afdo.Info, offset int64, id afdo.SymbolID) error {
	return &afdo.FormatError{
		Section: info.Section().Index,
		Type:    info.Section().Type,
		Offset:  offset,
		Err:     afdo.ErrSymbol,
		Detail:  fmt.Sprintf("a callee of symbol ID %d, which no unit has", id),
	}
}

// An idTable translates symbol IDs. These are contiguous by and large, but may
// start anywhere and have gaps (format note 9), so it keeps them by runs.
type idTable struct {
	runs   []idRun // ascending, once sorted
	latest int     // the run found last
}

// An idRun is IDs in a row whose symbols are numbered in a row.
type idRun struct {
	id     uint32
	symbol SymbolRef
	n      uint32
}

func (t *idTable) add(id afdo.SymbolID, s SymbolRef) {
	if len(t.runs) > 0 {
		r := &t.runs[len(t.runs)-1]
		if uint64(id) == uint64(r.id)+uint64(r.n) && s == r.symbol+SymbolRef(r.n) {
			r.n++
			return
		}
	}
	t.runs = append(t.runs, idRun{uint32(id), s, 1})
}

// sort makes the table ready for find. No ID was added twice: the reader has
// seen to that within a unit, and to it that the ranges of units do not overlap.
func (t *idTable) sort() {
	slices.SortFunc(t.runs, func(a, b idRun) int { return cmp.Compare(a.id, b.id) })
}

func (t *idTable) find(id afdo.SymbolID) (SymbolRef, bool) {
	if t.latest < len(t.runs) {
		if s, ok := t.runs[t.latest].find(uint32(id)); ok {
			return s, true
		}
	}
	i, exact := slices.BinarySearchFunc(t.runs, uint32(id), func(r idRun, id uint32) int { return cmp.Compare(r.id, id) })
	if !exact {
		i--
	}
	if i < 0 {
		return 0, false
	}
	t.latest = i
	return t.runs[i].find(uint32(id))
}

func (r idRun) find(id uint32) (SymbolRef, bool) {
	if id < r.id || id-r.id >= r.n {
		return 0, false
	}
	return r.symbol + SymbolRef(id-r.id), true
}
