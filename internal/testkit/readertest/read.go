package readertest

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/testkit/naive"
)

// File converts everything that a Reader returns to the form of the naive decoder. It leaves out
// what a Reader does not return (unused strings, trailing bytes, the stored numbers of locations),
// see [Comparable].
func File(r *afdo.Reader) (*naive.File, error) {
	f := &naive.File{Version: r.Header().Version, Compact: r.Header().Compact}
	for s, err := range r.Sections() {
		if err != nil {
			return nil, err
		}
		f.Sections = append(f.Sections, naive.Section{Type: uint8(s.Type), Compact: s.Compact, Offset: s.Offset, Size: s.Size})
	}
	summary, err := r.Summary()
	if err != nil {
		return nil, err
	}
	f.Summary = naive.Summary{
		TotalCount: summary.TotalCount, MaxCount: summary.MaxCount, MaxFnCount: summary.MaxFunctionCount,
		NumCounts: summary.NumCounts, NumFunctions: summary.NumFunctions,
	}
	for _, e := range summary.Entries {
		f.Summary.Entries = append(f.Summary.Entries, naive.Entry(e))
	}
	f.Units, err = Units(r)
	return f, err
}

// Units is like File for the units only.
func Units(r *afdo.Reader) (units []naive.Unit, err error) {
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		unit, err := Unit(u)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}

// Unit is like File for one unit.
func Unit(u *afdo.Unit) (naive.Unit, error) {
	start, end := u.IDs()
	unit := naive.Unit{Path: u.Path(), Start: uint32(start), End: uint32(end)}
	for s, err := range u.Symbols() {
		if err != nil {
			return unit, err
		}
		symbol, err := readSymbol(s)
		if err != nil {
			return unit, err
		}
		unit.Symbols = append(unit.Symbols, symbol)
	}
	return unit, nil
}

func readSymbol(s afdo.Symbol) (naive.Symbol, error) {
	symbol := naive.Symbol{ID: uint32(s.ID()), Name: s.Name(), HasInfo: s.HasInfo()}
	if !s.HasInfo() {
		return symbol, nil
	}
	info, err := s.Info()
	if err != nil {
		return symbol, err
	}
	symbol.Head, symbol.Timestamp = info.HeadCount, info.Timestamp
	c := info.Cursor()
	more := c.Next()
	symbol.Locations, more = readBody(c, more)
	if more {
		return symbol, fmt.Errorf("records left at depth %d", c.Depth())
	}
	symbol.Skipped = int(c.Unknown())
	return symbol, c.Err()
}

// readBody reads the records at the depth of the cursor's current record.
func readBody(c *afdo.Cursor, more bool) ([]naive.Location, bool) {
	var body []naive.Location
	for depth := c.Depth(); more && c.Depth() == depth; {
		l := *c.Location()
		record := naive.Location{
			Type: uint8(l.Type), Line: l.Line, Disc: l.Discriminator, Count: l.Count,
			Callee: uint32(l.Callee), NumLocations: l.NumLocations,
		}
		for target := range c.Targets() {
			record.Targets = append(record.Targets, naive.Target{Callee: uint32(target.Callee), Count: target.Count})
		}
		if more = c.Next(); more && c.Depth() > depth {
			record.Locations, more = readBody(c, more)
		}
		body = append(body, record)
	}
	return body, more
}

// Comparable removes what a Reader does not return.
func Comparable(f *naive.File) *naive.File {
	c := *f
	c.Sections = append([]naive.Section(nil), f.Sections...)
	for i := range c.Sections {
		c.Sections[i].Trailing = 0
	}
	c.Units = nil
	for _, u := range f.Units {
		u.Strings, u.StringTableSection, u.SymbolNamesSection = nil, 0, 0
		u.Symbols = append([]naive.Symbol(nil), u.Symbols...)
		for i := range u.Symbols {
			u.Symbols[i].StringIndex, u.Symbols[i].InfoSection, u.Symbols[i].NumLocations = 0, 0, 0
		}
		c.Units = append(c.Units, u)
	}
	return &c
}

func Describe(s afdo.Symbol) string {
	return fmt.Sprintf("%d %q %v unit %d %q", s.ID(), s.Name(), s.HasInfo(), s.Unit().Index(), s.Unit().Path())
}
