package check

import (
	"errors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/profile"
)

// sources checks the sources section of a version 4 file, if it has one. It returns the first
// error. The rest of the file must have no errors.
func sources(r *afdo.Reader) error {
	s, err := profile.ReadSources(r)
	if errors.Is(err, afdo.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		var wrong error
		_, err = s.Unit(u, func(id afdo.SymbolID, m profile.Marks) {
			if wrong == nil {
				wrong = marksFault(s.Section, u, id, m)
			}
		})
		if err = errors.Join(wrong, err); err != nil {
			return err
		}
	}
	return nil
}

// evidence checks the section with the counts of machine code, if the file has one: its numbers
// must be consistent with each other.
func evidence(r *afdo.Reader) error {
	t, err := profile.ReadEvidence(r)
	if errors.Is(err, afdo.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.Check()
}

// marksFault returns an error if the marks of a symbol cannot be right. Marks are fingerprints of a
// function's source lines. They are wrong if the unit has no such symbol, or if no sample of the
// symbol is on a line that has a mark.
func marksFault(section afdo.Section, u *afdo.Unit, id afdo.SymbolID, m profile.Marks) error {
	symbol, err := u.SymbolByID(id)
	if errors.Is(err, afdo.ErrNotFound) {
		return section.ErrorAt(section.Offset, afdo.ErrSymbol, "lines of symbol ID %d, which unit %.200q does not have", id, u.Path())
	}
	if err != nil || !symbol.HasInfo() || len(m) == 0 {
		return err
	}
	info, err := symbol.Info()
	if err != nil {
		return err
	}
	records, fit := 0, 0
	c := info.Cursor()
	for c.Next() {
		l := c.Location()
		if c.Depth() > 0 {
			continue
		}
		records++
		if int64(l.Line) < int64(len(m)) && m[l.Line] != sourcefmt.NoTokens {
			fit++
		}
	}
	if c.Err() == nil && records > 0 && fit == 0 {
		return section.ErrorAt(section.Offset, afdo.ErrMalformed, "the lines of symbol %.200q of unit %.200q are not those of its samples", symbol.Name(), u.Path())
	}
	return c.Err()
}
