package builder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Unit is what a [Plan] has to know of a unit of the profile.
type Unit struct {
	Path string
	// Uses is how often records of the whole profile refer to each of its symbols, in the order of
	// [Rank]: descending.
	Uses      []uint32
	NameBytes uint64 // of the names of its symbols
	Functions uint64
	Records   uint64 // of all functions
}

// A Plan says where everything goes in the file of a profile, for a writer that has not the whole
// profile in one place: it needs of a unit little more than 4 bytes a symbol. Units are encoded by
// [EncodeUnit], anywhere and in any order, and put one after another in the order of the plan,
// between what [Plan.Frame] returns. That makes the same bytes as [Write].
type Plan struct {
	// Units are all units in the order in which their sections are in the file.
	Units []Placed

	units  []Unit
	byPath []int    // their numbers by ascending path
	starts []uint32 // the first ID of each
}

// A Placed says where a unit goes.
type Placed struct {
	Unit    int    // its number: its place among those that NewPlan was given
	Start   uint32 // the ID of its first symbol; those after it, by [Rank], have the IDs after that
	Section uint32 // the index of its first section
}

const (
	fixedSections = 2 // summary and file names
	unitSections  = 2 // string table and symbol names of each unit
)

// NewPlan returns the plan of a file of these units, in any order. It keeps them. [Write] puts the
// unknown-file unit, of the empty path, into every file, and so one of them has to be that for the
// same bytes. An error is about the units; it matches [afdo.ErrUnrepresentable] unless one is there
// twice.
func NewPlan(units []Unit) (*Plan, error) {
	p, err := newPlan(units)
	if err != nil {
		return nil, err
	}
	p.orderSymbols()
	p.orderUnits()
	return p, nil
}

// newPlan checks the units. What stands where is still to be decided.
func newPlan(units []Unit) (*Plan, error) {
	p := &Plan{units: units, starts: make([]uint32, len(units)), byPath: make([]int, len(units))}
	symbols, functions := uint64(0), uint64(0)
	for i := range units {
		p.byPath[i] = i
		if err := checkPath(units[i].Path); err != nil {
			return nil, err
		}
		symbols += uint64(len(units[i].Uses))
		functions += units[i].Functions
	}
	if err := checkTotals(uint64(len(units)), symbols, functions); err != nil {
		return nil, err
	}
	slices.SortFunc(p.byPath, func(a, b int) int { return strings.Compare(units[a].Path, units[b].Path) })
	for i := 1; i < len(units); i++ {
		if path := units[p.byPath[i]].Path; path == units[p.byPath[i-1]].Path {
			return nil, fmt.Errorf("builder: duplicate unit %q", path)
		}
	}
	return p, nil
}

// checkTotals refuses what 32 bits cannot number: the end of the symbol IDs, and the sections, of
// which none may have the index that says no info (format note 12).
func checkTotals(units, symbols, functions uint64) error {
	if symbols > math.MaxUint32 {
		return fmt.Errorf("builder: %w: the IDs of %d symbols do not fit 32 bits", afdo.ErrUnrepresentable, symbols)
	}
	if n := fixedSections + unitSections*units + functions; n > wire.NoInfo {
		return fmt.Errorf("builder: %w: the indices of %d sections do not fit 32 bits", afdo.ErrUnrepresentable, n)
	}
	return nil
}

// orderUnits decides the order of the sections: units with small sections first. Only the offsets
// in a compact section table depend on it: the more sections begin before a varint of their offset
// needs another byte, the smaller the table.
func (p *Plan) orderUnits() {
	order := slices.Clone(p.byPath)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(p.units[a].sectionSize(), p.units[b].sectionSize())
	})
	p.place(order)
}

// sectionSize estimates how many tenths of a byte the sections of a unit take on average.
func (u *Unit) sectionSize() float64 { return float64(u.size()) / float64(unitSections+u.Functions) }

// size estimates how many tenths of a byte they take together.
func (u *Unit) size() uint64 {
	const nameByte, row, record = 4, 120, 50
	return nameByte*u.NameBytes + row*uint64(len(u.Uses)) + record*u.Records
}

// place puts the units in an order.
func (p *Plan) place(order []int) {
	p.Units = make([]Placed, len(order))
	section := uint32(0)
	for i, unit := range order {
		p.Units[i] = Placed{unit, p.starts[unit], section}
		section += unitSections + uint32(p.units[unit].Functions)
	}
}

// Frame returns what comes before the sections of the units and what comes behind them. sizes are
// those of all sections of all units, in the order of the plan, see [Sections].
//
// Header and section table come first, and the two sections about all units last, because only the
// header refers to them: the indices and offsets before them stay smaller, which counts in a
// compact file. A sources section is not among them.
func (p *Plan) Frame(sizes []uint64, s *afdo.Summary, compact bool) (head, tail []byte, err error) {
	return p.frame(sizes, s, nil, compact)
}

// frame is Frame with a sources section, unless that is nil.
func (p *Plan) frame(sizes []uint64, s *afdo.Summary, sources *sourcefmt.Section, compact bool) (head, tail []byte, err error) {
	want := uint64(0)
	for i := range p.units {
		want += unitSections + p.units[i].Functions
	}
	if uint64(len(sizes)) != want {
		return nil, nil, fmt.Errorf("builder: sizes of %d sections, want %d", len(sizes), want)
	}
	e := newEncoder(nil, nil, compact)
	e.fileNames(p)
	e.summary(s)
	if sources != nil {
		sources.Names = indexfmt.Sum(e.data[:e.sizes[0]])
		e.section.Data = sourcefmt.Append(e.section.Data, compact, sources, func(rank int) uint32 { return uint32(len(p.units[p.byPath[rank]].Uses)) })
		e.add(afdo.SectionSources)
	}
	names := len(sizes)
	head = wire.Head(compact, append(sizes[:names:names], e.sizes...), names+1, names)
	return head, e.data, nil
}

// fileNames puts the file names section (RFC 4.5).
func (e *encoder) fileNames(p *Plan) {
	sections := make([]uint32, len(p.units))
	for _, u := range p.Units {
		sections[u.Unit] = u.Section
	}
	e.section.Uint32(uint32(len(p.byPath)))
	for _, i := range p.byPath {
		start := p.starts[i]
		e.section.Unit(p.units[i].Path, &wire.Unit{
			Strings: sections[i], Symbols: sections[i] + 1, Start: start, End: start + uint32(len(p.units[i].Uses)),
		})
	}
	e.add(afdo.SectionFileNames)
}

// summary puts the summary section.
func (e *encoder) summary(s *afdo.Summary) {
	w := wire.Summary{
		TotalCount: s.TotalCount, MaxCount: s.MaxCount, MaxFunctionCount: s.MaxFunctionCount,
		NumCounts: s.NumCounts, NumFunctions: s.NumFunctions,
	}
	for _, entry := range s.Entries {
		w.Entries = append(w.Entries, wire.SummaryEntry(entry))
	}
	e.section.Summary(&w)
	e.add(afdo.SectionSummary)
}
