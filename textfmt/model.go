package textfmt

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/profile"
)

// PrintProfile writes a profile in the text form (RFC 5), in the layout of the RFC's example.
// Profiles with the same meaning and summary give the same bytes: units are sorted by path, symbols
// by name, and IDs count from 1 in this order. Units without symbols are left out. The summary is
// computed if the profile has none.
//
// For n symbols, it takes O(n log n) time, 9 bytes per symbol, and memory for a copy of the largest
// function. Before writing anything, it rejects names with a double quote and line
// offsets or discriminators that the format cannot hold (afdo.ErrUnrepresentable). It returns
// errors of w unchanged.
func PrintProfile(w io.Writer, p *profile.Profile) error {
	m := newModel(p)
	if err := m.check(); err != nil {
		return err
	}
	summary := p.Summary
	if summary == nil {
		summary = p.Summarize()
	}
	var body profile.Body
	e := newEmitter(w, m)
	e.filenames(m.paths)
	e.summary(summary)
	for rank, ref := range m.order {
		if e.err != nil {
			break
		}
		if f := p.Function(ref); f != nil {
			ranked := *f
			ranked.Records = body.Renumber(f.Records, m.ranks)
			e.symbol(profile.SymbolRef(rank), ranked)
		} else if !m.inlined[ref] {
			e.symbol(profile.SymbolRef(rank), profile.Function{})
		}
	}
	return e.finish()
}

// A model numbers the symbols of a profile by unit and name. These numbers are called ranks. The
// records that PrintProfile gives to its emitter have ranks as callees.
type model struct {
	profile *profile.Profile
	paths   []string            // by file ID
	files   []int               // file IDs by UnitRef
	order   []profile.SymbolRef // symbols by rank
	ranks   []profile.SymbolRef // ranks by SymbolRef
	inlined []bool              // by SymbolRef: has a header as an inlined function
}

func newModel(p *profile.Profile) *model {
	m := &model{
		profile: p,
		order:   make([]profile.SymbolRef, p.NumSymbols()),
		ranks:   make([]profile.SymbolRef, p.NumSymbols()),
		inlined: make([]bool, p.NumSymbols()),
	}
	m.numberFiles()
	for i := range m.order {
		m.order[i] = profile.SymbolRef(i)
	}
	slices.SortFunc(m.order, func(a, b profile.SymbolRef) int {
		if c := cmp.Compare(m.files[p.SymbolUnit(a)], m.files[p.SymbolUnit(b)]); c != 0 {
			return c
		}
		return strings.Compare(p.SymbolName(a), p.SymbolName(b))
	})
	for rank, ref := range m.order {
		m.ranks[ref] = profile.SymbolRef(rank)
	}
	return m
}

// numberFiles assigns file IDs, by path, to the units that have symbols.
func (m *model) numberFiles() {
	m.files = make([]int, m.profile.NumUnits())
	var used []profile.UnitRef
	for i := range m.order {
		if f := m.profile.SymbolUnit(profile.SymbolRef(i)); m.files[f] == 0 {
			m.files[f] = 1
			used = append(used, f)
		}
	}
	slices.SortFunc(used, func(a, b profile.UnitRef) int {
		return strings.Compare(m.profile.UnitPath(a), m.profile.UnitPath(b))
	})
	m.files[profile.UnknownUnit] = -1
	for _, f := range used {
		if f != profile.UnknownUnit {
			m.files[f] = len(m.paths)
			m.paths = append(m.paths, m.profile.UnitPath(f))
		}
	}
}

// check returns an error for a name, line offset or discriminator that the text cannot hold. It
// also finds the symbols that are inlined anywhere.
func (m *model) check() error {
	for _, path := range m.paths {
		if err := checkName(path); err != nil {
			return err
		}
	}
	for _, ref := range m.order {
		if err := checkName(m.profile.SymbolName(ref)); err != nil {
			return err
		}
	}
	for ref, f := range m.profile.Functions() {
		for i := range f.Records {
			r := &f.Records[i]
			if r.Line >= 1<<widthLine || r.Discriminator >= 1<<widthDiscriminator {
				return fmt.Errorf("textfmt: symbol %.200q: location %d.%d: %w",
					m.profile.SymbolName(ref), r.Line, r.Discriminator, fault.ErrUnrepresentable)
			}
			if r.Kind == profile.KindInlined {
				m.inlined[r.Callee] = true
			}
		}
	}
	return nil
}

func (m *model) id(rank profile.SymbolRef) uint32 { return uint32(rank) + 1 }

func (m *model) header(rank profile.SymbolRef) (name string, file int, err error) {
	ref := m.order[rank]
	return m.profile.SymbolName(ref), m.files[m.profile.SymbolUnit(ref)], nil
}
