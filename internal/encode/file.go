package encode

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// A fileLayout holds a profile that is being written, and where its parts will be in the file: the
// ID of each symbol, and the [Plan], which has the place of each unit's sections.
type fileLayout struct {
	profile *profile.Profile
	units   []symbols // by UnitRef, which is also the number of the unit in the plan
	ids     []uint32  // symbol IDs by SymbolRef
	plan    *Plan
}

// newFile returns the layout of a file for a profile: it sorts the symbols of each unit by name and
// plans how many IDs and sections each unit needs. fileLayout.number gives the symbols their IDs.
func newFile(p *profile.Profile) (_ *fileLayout, err error) {
	if err := checkTotals(uint64(p.NumUnits()), uint64(p.NumSymbols()), uint64(p.NumFunctions())); err != nil {
		return nil, err
	}
	f := &fileLayout{profile: p, ids: make([]uint32, p.NumSymbols())}
	f.collectUnits()
	f.plan, err = newPlan(f.rankUnits())
	return f, err
}

// number gives each symbol the ID that the plan determines.
func (f *fileLayout) number() {
	for i := range f.units {
		for place, s := range f.units[i].byID {
			f.ids[s] = f.plan.starts[i] + uint32(place)
		}
	}
}

// write encodes the whole file and writes it to w.
func (f *fileLayout) write(w io.Writer, o Options) error {
	stretches, err := f.stretches(o)
	if err != nil {
		return err
	}
	if o.Index != nil {
		err = writeIndexed(w, slices.Concat(stretches...), o.Index)
	} else {
		for i := 0; i < len(stretches) && err == nil; i++ {
			_, err = w.Write(stretches[i])
		}
	}
	if err != nil {
		return fmt.Errorf("builder: %w", err)
	}
	return nil
}

// writeIndexed writes a file with an index. data is the file without the index, from which the
// index is computed.
func writeIndexed(w io.Writer, data []byte, o *index.Options) error {
	r, err := afdo.OpenBytes(data)
	if err != nil {
		return err
	}
	return index.Write(w, r, o)
}

// encode encodes the sections of all units, which it divides among all processors. It returns the
// encoded sections in several parts, which the caller has to concatenate.
func (f *fileLayout) encode(compact bool) ([]Sections, error) {
	units := f.plan.parts()
	parts, errs := make([]Sections, len(units)), make([]error, len(units))
	inParallel(len(units), func(numbers iter.Seq[int]) {
		e := newEncoder(f.profile, f.ids, compact)
		for i := range numbers {
			e.data, e.sizes = f.plan.room(units[i])
			for _, u := range units[i] {
				if errs[i] == nil {
					errs[i] = e.unit(&f.units[u.Unit], u.Section)
				}
			}
			parts[i] = e.take()
		}
	})
	return parts, cmp.Or(errs...)
}

// An encoder encodes the sections of a file, one after another. Its methods for string tables are
// in trie.go, those for symbols in unit.go, those for records in location.go, and those for the
// summary and the file names in plan.go.
type encoder struct {
	profile *profile.Profile
	ids     []uint32 // symbol IDs by SymbolRef
	data    []byte   // all sections so far
	sizes   []uint64 // size of each section
	section wire.Encoder
	trie    trie
	strings []uint32 // scratch of symbolNames: string indexes by position among a unit's IDs
	nest    nest
}

func newEncoder(p *profile.Profile, ids []uint32, compact bool) *encoder {
	return &encoder{profile: p, ids: ids, section: wire.Encoder{Compact: compact}}
}

// add completes the current section, as one of type t, and begins the next one.
func (e *encoder) add(t afdo.SectionType) {
	e.data = append(e.data, wire.SectionBitmask(byte(t), e.section.Compact))
	e.data = append(e.data, e.section.Data...)
	e.sizes = append(e.sizes, uint64(1+len(e.section.Data)))
	e.section.Data = e.section.Data[:0]
}

// take returns the completed sections and removes them from the encoder.
func (e *encoder) take() Sections {
	s := Sections{e.data, e.sizes}
	e.data, e.sizes = nil, nil
	e.section.Data = e.section.Data[:0] // discard a section that was not completed
	return s
}

// Sections holds the encoded bytes of sections that are adjacent in a file, and the size of each.
type Sections struct {
	Data  []byte
	Sizes []uint64 // size of each section
}

// UnitSections encodes the sections of one unit, for a writer that does not have the whole profile
// in one place. The result is the same as what [Write] writes for this unit. p has to contain the
// symbols and functions of the unit, and the symbols of other units to which its records refer:
// [profile.Profile.Split] yields such profiles. ids are the IDs of all symbols of p, by SymbolRef,
// and section is the index of the first section of the unit. Both come from a [Plan] of the whole
// file.
//
// An error names the symbol that cannot be written. It matches [afdo.ErrUnrepresentable] unless
// records are not canonical.
func UnitSections(p *profile.Profile, unit profile.UnitRef, ids []uint32, section uint32, compact bool) (Sections, error) {
	var u symbols
	for s := range p.NumSymbols() {
		if ref := profile.SymbolRef(s); p.SymbolUnit(ref) == unit {
			u.byName = append(u.byName, ref)
		}
	}
	sortByName(p, u.byName)
	u.byID = slices.SortedFunc(slices.Values(u.byName), func(a, b profile.SymbolRef) int { return cmp.Compare(ids[a], ids[b]) })
	e := newEncoder(p, ids, compact)
	if err := e.unit(&u, section); err != nil {
		return Sections{}, err
	}
	return e.take(), nil
}

// sources returns the section with the line fingerprints of the source files. It returns nil if the
// profile has none or the options leave them out.
func (f *fileLayout) sources(o Options) *sourcefmt.Section {
	if o.NoSources || !f.profile.HasMarks() {
		return nil
	}
	s := &sourcefmt.Section{Units: make([]sourcefmt.Unit, len(f.units))}
	for rank, unit := range f.plan.byPath {
		u := &s.Units[rank]
		u.Sum = f.profile.UnitSum(profile.UnitRef(unit))
		for place, symbol := range f.units[unit].byID {
			if m := f.profile.Marks(symbol); m != nil {
				u.Functions = append(u.Functions, sourcefmt.Function{ID: uint32(place), Marks: m})
			}
		}
	}
	return s
}

// stretches returns the whole encoded file as a list of byte slices, which the caller has to
// concatenate. The first is the header and the section table, the last the sections after those of
// the units.
func (f *fileLayout) stretches(o Options) ([][]byte, error) {
	parts, err := f.encode(o.Compact)
	if err != nil {
		return nil, err
	}
	s := f.profile.Summary
	if s == nil {
		s = f.profile.Summarize()
	}
	var sizes []uint64
	data := [][]byte{nil}
	for _, part := range parts {
		sizes, data = append(sizes, part.Sizes...), append(data, part.Data)
	}
	evidence := f.profile.Evidence()
	if o.NoEvidence {
		evidence = nil
	}
	head, tail, err := f.plan.frame(sizes, s, evidence, f.sources(o), o.Compact)
	data[0] = head
	return append(data, tail), err
}
