package profile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo"
	v4 "github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Sources is the sources section of a version 4 file, which holds the marks of functions and the
// hashes of source files. All methods may be called concurrently.
type Sources struct {
	Section afdo.Section // the section, with its position in the file
	table   *sourcefmt.Table
}

// ErrOtherSources matches the error for a sources section that does not match the units of its
// file, because a program that does not know the section has changed the units.
var ErrOtherSources = errors.New("sources of other units")

var errNoSources = fmt.Errorf("profile: sources section: %w", afdo.ErrNotFound)

// ReadSources opens the sources section of a file, which is the last section, or the last but one
// if the file ends in an index. The error matches [afdo.ErrNotFound] if the file has no sources
// section or one of another version, and [ErrOtherSources] if the section is not about the units of
// this file. Other errors say that the file cannot be read or that the section is malformed.
func ReadSources(r *afdo.Reader) (*Sources, error) {
	section, err := findExtension(r, afdo.SectionSources, errNoSources, afdo.SectionIndex)
	if err != nil {
		return nil, err
	}
	data, err := r.Data(section.Index)
	if err != nil {
		return nil, err
	}
	if !sourcefmt.Is(data) {
		return nil, errNoSources
	}
	table, fault := sourcefmt.NewTable(data)
	s := &Sources{section, table}
	switch {
	case fault != nil:
		return nil, s.fault(fault)
	case table == nil:
		return nil, errNoSources
	}
	d, err := v4.FileOf(r).Directory()
	if err != nil {
		return nil, err
	}
	if table.Names != indexfmt.Sum(d.Data()) || table.NumUnits() != d.Len() {
		return nil, s.Section.ErrorAt(s.Section.Offset, ErrOtherSources, "the file has %d", d.Len())
	}
	return s, nil
}

// findExtension returns the section of an extension at the end of a file. One section of each type
// in after may follow it. If there is no such section, findExtension returns the error none.
func findExtension(r *afdo.Reader, typ afdo.SectionType, none error, after ...afdo.SectionType) (afdo.Section, error) {
	last := r.NumSections() - 1
	for i := last; i >= max(0, last-len(after)); i-- {
		section, err := r.Section(i)
		if err != nil || section.Type == typ {
			return section, err
		}
		if !slices.Contains(after, section.Type) {
			break
		}
	}
	return afdo.Section{}, none
}

func (s *Sources) fault(f *wire.Fault) error {
	return s.Section.ErrorAt(s.Section.Offset+int64(f.Pos), f.Class, "%s", f.Detail)
}

// Sum returns the lower 32 bits of the hash of a unit's source file, or 0 if unknown. ok reports
// whether any function of the unit has marks. u must be a unit of the same file.
func (s *Sources) Sum(u *afdo.Unit) (sum uint32, ok bool) { return s.table.Sum(u.Index()) }

// Unit calls yield for each function of a unit that has marks, with its symbol ID. It returns the
// same sum as [Sources.Sum]. u must be a unit of the same file. Errors are of type
// *[afdo.FormatError].
func (s *Sources) Unit(u *afdo.Unit, yield func(id afdo.SymbolID, m Marks)) (sum uint32, err error) {
	start, end := u.IDs()
	sum, fault := s.table.Unit(u.Index(), uint32(end-start), func(f sourcefmt.Function) {
		yield(start+afdo.SymbolID(f.ID), f.Marks)
	})
	if fault != nil {
		return 0, s.fault(fault)
	}
	return sum, nil
}

// readMarks reads the marks of functions and the hashes of source files from the sources section
// into the profile. It ignores a section that does not match the file or has another version.
func (l *loader) readMarks(r *afdo.Reader) error {
	s, err := ReadSources(r)
	if errors.Is(err, afdo.ErrNotFound) || errors.Is(err, ErrOtherSources) {
		return nil
	}
	if err != nil {
		return err
	}
	for u, err := range r.Units() {
		if err != nil {
			return err
		}
		sum, err := s.Unit(u, func(id afdo.SymbolID, m Marks) {
			if ref, ok := l.callee(id); ok {
				l.profile.SetMarks(ref, m)
			}
		})
		if err != nil {
			return err
		}
		if sum != 0 {
			l.profile.SetUnitSum(l.profile.AddUnit(u.Path()), sum)
		}
	}
	return nil
}

// Marks is a fingerprint of a function's source lines: one byte per line, starting at the
// declaration. It allows samples to be moved when the source has been edited. Package rebase
// creates and uses marks; docs/reference/extensions.md describes their contents.
type Marks []byte

// marks holds the [Marks] of all functions of a profile, and the hashes of the source files of its
// units.
type marks struct {
	functions map[SymbolRef]Marks
	sums      map[UnitRef]uint32
}

// SetMarks stores the marks of a symbol, which are a fingerprint of its source lines. The profile
// keeps a reference to m. Empty marks mean that the samples come from several versions of the
// source. A nil m removes the marks.
func (p *Profile) SetMarks(s SymbolRef, m Marks) {
	_ = p.SymbolName(s)
	if m == nil {
		delete(p.marks.functions, s)
		return
	}
	if p.marks.functions == nil {
		p.marks.functions = make(map[SymbolRef]Marks)
	}
	p.marks.functions[s] = m
}

// Marks returns the fingerprint of a symbol's source lines. It is nil if none is stored, and empty
// if the samples come from several versions of the source.
func (p *Profile) Marks(s SymbolRef) Marks { return p.marks.functions[s] }

// HasMarks reports whether any function has marks.
func (p *Profile) HasMarks() bool { return len(p.marks.functions) > 0 }

// SetUnitSum stores the lower 32 bits of the hash of a unit's source file. A later comparison shows
// whether the file has changed. 0 means that the hash is unknown, or that the samples come from
// several versions of the file.
func (p *Profile) SetUnitSum(f UnitRef, sum uint32) {
	_ = p.paths[f]
	if p.marks.sums == nil {
		p.marks.sums = make(map[UnitRef]uint32)
	}
	p.marks.sums[f] = sum
}

// UnitSum returns the lower 32 bits of the hash of a unit's source file, as stored by
// [Profile.SetUnitSum]. It returns 0 if there is none.
func (p *Profile) UnitSum(f UnitRef) uint32 { return p.marks.sums[f] }

// adoptMarks adds the marks and file hashes of q to p when q is merged into p. symbols and units
// have the numbers in p of the symbols and units of q. If p and q have different values, the
// samples come from several versions of the source. Then the marks become empty and the hash 0.
func (p *Profile) adoptMarks(q *Profile, symbols []SymbolRef, units []UnitRef) {
	for s, m := range q.marks.functions {
		to := symbols[s]
		if have := p.marks.functions[to]; have != nil && !bytes.Equal(have, m) {
			m = Marks{}
		}
		p.SetMarks(to, m)
	}
	for f, sum := range q.marks.sums {
		to := units[f]
		if have, ok := p.marks.sums[to]; ok && have != sum {
			sum = 0
		}
		p.SetUnitSum(to, sum)
	}
}
