package builder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/wire"
	"github.com/go-afdo/afdo/profile"
)

// A unit is one entry of the file names section.
type unit struct {
	byName []profile.SymbolRef // its symbols by ascending name
	byID   []profile.SymbolRef // the same by ascending ID; IDs are contiguous
	start  uint32              // the first ID

	// Section indices, known once the sections have been begun.
	stringTable uint32
	symbolNames uint32
}

// end returns the exclusive end of the unit's IDs.
func (u *unit) end() uint32 { return u.start + uint32(len(u.byID)) }

// collectUnits fills in units, but for their IDs, and byPath. The symbols of a unit are stretches
// of two arrays that all units share.
func (f *file) collectUnits() error {
	p := f.profile
	f.units = make([]unit, p.NumFiles())
	f.byPath = make([]profile.FileRef, p.NumFiles())
	for i := range f.byPath {
		f.byPath[i] = profile.FileRef(i)
		if err := checkPath(p.FilePath(profile.FileRef(i))); err != nil {
			return err
		}
	}
	slices.SortFunc(f.byPath, func(a, b profile.FileRef) int {
		return strings.Compare(p.FilePath(a), p.FilePath(b))
	})

	sizes := make([]uint32, p.NumFiles())
	for s := range p.NumSymbols() {
		sizes[p.SymbolFile(profile.SymbolRef(s))]++
	}
	names := make([]profile.SymbolRef, p.NumSymbols())
	ids := make([]profile.SymbolRef, p.NumSymbols())
	for i, n := range sizes {
		f.units[i].byName, names = names[:0:n], names[n:]
		f.units[i].byID, ids = ids[:n:n], ids[n:]
	}
	for s := range p.NumSymbols() {
		u := &f.units[p.SymbolFile(profile.SymbolRef(s))]
		u.byName = append(u.byName, profile.SymbolRef(s))
	}
	for i := range f.units {
		slices.SortFunc(f.units[i].byName, func(a, b profile.SymbolRef) int {
			return strings.Compare(p.SymbolName(a), p.SymbolName(b))
		})
	}
	return nil
}

// checkPath refuses what a file name cannot be (format note 8).
func checkPath(path string) error {
	if strings.IndexByte(path, 0) >= 0 {
		return fmt.Errorf("builder: unit %q: %w: a path cannot hold a NUL", path, ErrUnrepresentable)
	}
	return checkPathLen(uint64(len(path)))
}

// checkPathLen refuses a path that has, with the terminating NUL, a length beyond 32 bits.
func checkPathLen(n uint64) error {
	if n >= math.MaxUint32 {
		return fmt.Errorf("builder: %w: a path of %d bytes", ErrUnrepresentable, n)
	}
	return nil
}

// unit puts the sections of one unit, which stand together.
func (e *encoder) unit(ref profile.FileRef) error {
	u := &e.units[ref]
	e.stringTable(u)
	e.symbolNames(u)
	return e.symbolInfos(u)
}

// fileNames puts the file names section (RFC 4.5).
func (e *encoder) fileNames() {
	e.section.Uint32(uint32(len(e.byPath)))
	for _, ref := range e.byPath {
		u := &e.units[ref]
		e.section.Unit(e.profile.FilePath(ref), &wire.Unit{
			Strings: u.stringTable, Symbols: u.symbolNames, Start: u.start, End: u.end(),
		})
	}
	e.add(afdo.SectionFileNames)
}

// orderUnits decides the layout: units with small sections first. Only the offsets in a compact
// section table depend on it: the more sections begin before a varint of their offset needs another
// byte, the smaller the table.
func (f *file) orderUnits() {
	sizes := make([]float64, len(f.units)) // estimated bytes a section
	for i := range f.units {
		sizes[i] = f.sectionSize(&f.units[i])
	}
	f.layout = slices.Clone(f.byPath)
	slices.SortStableFunc(f.layout, func(a, b profile.FileRef) int { return cmp.Compare(sizes[a], sizes[b]) })
}

// sectionSize estimates how many bytes the sections of a unit take on average.
func (f *file) sectionSize(u *unit) float64 {
	const nameBytes, rowBytes, recordBytes = 0.4, 12, 5 // a name's byte, a symbol, a record

	size, sections := 0.0, float64(unitSections)
	for _, s := range u.byName {
		size += rowBytes + nameBytes*float64(len(f.profile.SymbolName(s)))
		if fn := f.profile.Function(s); fn != nil {
			size += recordBytes * float64(len(fn.Records))
			sections++
		}
	}
	return size / sections
}
