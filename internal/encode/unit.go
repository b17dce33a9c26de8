package encode

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// A symbols holds the symbols of one unit in two orders: by name and by ID.
type symbols struct {
	byName []profile.SymbolRef // by ascending name
	byID   []profile.SymbolRef // by ascending ID; IDs are contiguous
}

// collectUnits collects the symbols of each unit of the profile and sorts them by name. The lists
// of all units are parts of two arrays, to save memory.
func (f *fileLayout) collectUnits() {
	p := f.profile
	f.units = make([]symbols, p.NumUnits())
	sizes := make([]uint32, p.NumUnits())
	for s := range p.NumSymbols() {
		sizes[p.SymbolUnit(profile.SymbolRef(s))]++
	}
	names := make([]profile.SymbolRef, p.NumSymbols())
	ids := make([]profile.SymbolRef, p.NumSymbols())
	for i, n := range sizes {
		f.units[i].byName, names = names[:0:n], names[n:]
		f.units[i].byID, ids = ids[:n:n], ids[n:]
	}
	for s := range p.NumSymbols() {
		u := &f.units[p.SymbolUnit(profile.SymbolRef(s))]
		u.byName = append(u.byName, profile.SymbolRef(s))
	}
	inParallel(len(f.units), func(numbers iter.Seq[int]) {
		for i := range numbers {
			sortByName(p, f.units[i].byName)
		}
	})
}

func sortByName(p *profile.Profile, symbols []profile.SymbolRef) {
	slices.SortFunc(symbols, func(a, b profile.SymbolRef) int {
		return strings.Compare(p.SymbolName(a), p.SymbolName(b))
	})
}

// rankUnits sorts the symbols of each compile unit by their future IDs: those that other functions
// refer to most often come first, see Rank. It returns what NewPlan needs to know of each unit.
func (f *fileLayout) rankUnits() []Unit {
	p, uses := f.profile, f.countUses()
	units := make([]Unit, len(f.units))
	for i := range f.units {
		s, u := &f.units[i], &units[i]
		u.Path = p.UnitPath(profile.UnitRef(i))
		u.Uses = make([]uint32, 0, len(s.byName))
		for _, ref := range s.byName {
			u.Uses = append(u.Uses, uses[ref])
			u.NameBytes += uint64(len(p.SymbolName(ref)))
			if fn := p.Function(ref); fn != nil {
				u.Functions++
				u.Records += uint64(len(fn.Records))
			}
		}
		s.byID = s.byID[:len(s.byName)]
		for place, at := range Rank(u.Uses) {
			s.byID[place] = s.byName[at]
		}
		for place, ref := range s.byID {
			u.Uses[place] = uses[ref]
		}
	}
	return units
}

// countUses counts the references to each symbol in location records.
func (f *fileLayout) countUses() []uint32 {
	uses := make([]uint32, len(f.ids))
	for _, fn := range f.profile.Functions() {
		for i := range fn.Records {
			if r := &fn.Records[i]; r.Kind != profile.KindCount {
				uses[r.Callee]++
			}
		}
	}
	return uses
}

// checkPath returns an error for a path that the format cannot store (format note 8).
func checkPath(path string) error {
	if strings.IndexByte(path, 0) >= 0 {
		return fmt.Errorf("builder: unit %q: %w: a path cannot hold a NUL", path, afdo.ErrUnrepresentable)
	}
	return checkPathLen(uint64(len(path)))
}

// checkPathLen returns an error for a path whose length, including the terminating NUL, exceeds 32
// bits.
func checkPathLen(n uint64) error {
	if n >= math.MaxUint32 {
		return fmt.Errorf("builder: %w: a path of %d bytes", afdo.ErrUnrepresentable, n)
	}
	return nil
}

// unit encodes all sections of a unit. section is the index of the first one in the file.
func (e *encoder) unit(s *symbols, section uint32) error {
	e.stringTable(s)
	e.symbolNames(s, section)
	return e.symbolInfos(s)
}

// symbolNames encodes the symbol names section of a unit (RFC 4.6). Rows are ordered by ID. A
// symbol's row number and its position among the unit's IDs are the same number, so a reader that
// looks at the expected row finds the symbol at once.
func (e *encoder) symbolNames(u *symbols, stringTable uint32) {
	e.section.Uint32(uint32(len(u.byID)))
	info := stringTable + unitSections // the infos directly follow
	e.strings = slices.Grow(e.strings[:0], len(u.byID))[:len(u.byID)]
	for i, s := range u.byName {
		e.strings[e.ids[s]-e.ids[u.byID[0]]] = uint32(i)
	}
	for i, s := range u.byID {
		row := wire.Row{String: e.strings[i], ID: e.ids[s], Info: wire.NoInfo}
		if e.profile.Function(s) != nil {
			row.Info = info
			info++
		}
		e.section.Row(row)
	}
	e.add(afdo.SectionSymbolNames)
}

// symbolInfos encodes a symbol info section (RFC 4.7) for each function of a unit, by ascending ID.
func (e *encoder) symbolInfos(u *symbols) error {
	for _, s := range u.byID {
		fn := e.profile.Function(s)
		if fn == nil {
			continue
		}
		e.section.Info(fn.HeadCount, fn.Timestamp)
		if err := e.records(fn.Records); err != nil {
			return fmt.Errorf("builder: unit %q, symbol %q: %w",
				e.profile.UnitPath(e.profile.SymbolUnit(s)), e.profile.SymbolName(s), err)
		}
		e.add(afdo.SectionSymbolInfo)
	}
	return nil
}
