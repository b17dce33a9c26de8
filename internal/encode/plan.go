package encode

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/sourcefmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
	"github.com/go-afdo/afdo/profile"
)

// A Unit holds the properties of a unit that a [Plan] needs.
type Unit struct {
	Path string
	// Uses holds the number of references to each symbol from all records of the profile, in the
	// order of [Rank], which is descending.
	Uses      []uint32
	NameBytes uint64 // total length of the names of its symbols
	Functions uint64
	Records   uint64 // total number of records in its functions
}

// A Plan determines the place of each unit in a version 4 file, and the symbol IDs. It is for a
// writer that does not have the whole profile in one place: per unit, it needs little more than 4
// bytes per symbol. [UnitSections] then encodes the units, on any machine and in any order. Their
// sections have to be concatenated in the order of the plan, between the results of [Plan.Frame].
// The result equals that of [Write].
type Plan struct {
	// Units lists all units in the order of their sections in the file.
	Units []Placed

	units  []Unit
	byPath []int    // unit numbers by ascending path
	starts []uint32 // first symbol ID of each unit
}

// A Placed is the place of a unit in a file: its first symbol ID and its first section.
type Placed struct {
	Unit    int    // number of the unit: its index in the argument of NewPlan
	Start   uint32 // ID of its first symbol; further symbols, in the order of Rank, have the following IDs
	Section uint32 // index of its first section
}

// Numbers of sections, besides the symbol info sections.
const (
	fixedSections = 2 // summary and file names
	unitSections  = 2 // string table and symbol names of each unit
)

// NewPlan returns the plan of a file with the given units, in any order. It keeps a reference to
// them. [Write] always includes the unit of unknown files, which has the empty path, so units must
// include it for the result to be the same. An error matches [afdo.ErrUnrepresentable] unless a
// unit occurs twice.
func NewPlan(units []Unit) (*Plan, error) {
	p, err := newPlan(units)
	if err != nil {
		return nil, err
	}
	p.orderSymbols()
	p.orderUnits()
	return p, nil
}

// newPlan returns a plan in which the units have no order yet. It returns an error if the format
// cannot hold the units.
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

// checkTotals rejects profiles whose numbers exceed 32 bits: the end of the symbol IDs, and section
// indexes, which must be below wire.NoInfo (format note 12).
func checkTotals(units, symbols, functions uint64) error {
	if symbols > math.MaxUint32 {
		return fmt.Errorf("builder: %w: the IDs of %d symbols do not fit 32 bits", afdo.ErrUnrepresentable, symbols)
	}
	if n := fixedSections + unitSections*units + functions; n > wire.NoInfo {
		return fmt.Errorf("builder: %w: the indices of %d sections do not fit 32 bits", afdo.ErrUnrepresentable, n)
	}
	return nil
}

// orderUnits puts units with small sections first. Only the offsets in a compact section table
// depend on this order: the more sections begin before offsets need another byte, the smaller the
// table.
func (p *Plan) orderUnits() {
	order := slices.Clone(p.byPath)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(p.units[a].sectionSize(), p.units[b].sectionSize())
	})
	p.place(order)
}

// sectionSize estimates how many bytes a section of the unit has on average. The result is in
// tenths of a byte.
func (u *Unit) sectionSize() float64 { return float64(u.size()) / float64(unitSections+u.Functions) }

// size estimates how many bytes all sections of the unit have together. The result is in tenths of
// a byte.
func (u *Unit) size() uint64 {
	const nameByte, row, record = 4, 120, 50
	return nameByte*u.NameBytes + row*uint64(len(u.Uses)) + record*u.Records
}

// place sets Plan.Units, the list of units in the order of their sections in the file. order has
// the numbers of the units in that order. place also computes the index of each unit's first
// section.
func (p *Plan) place(order []int) {
	p.Units = make([]Placed, len(order))
	section := uint32(0)
	for i, unit := range order {
		p.Units[i] = Placed{unit, p.starts[unit], section}
		section += unitSections + uint32(p.units[unit].Functions)
	}
}

// Frame returns the parts of the file before and after the sections of the units. sizes are the
// sizes of all sections of all units, in the order of the plan, see [Sections].
//
// The header and the section table come first. The summary and the file names come last, because
// only the header refers to them: so the indexes and offsets of other sections are smaller, which
// saves bytes in a compact file. There is neither an evidence nor a sources section.
func (p *Plan) Frame(sizes []uint64, s *afdo.Summary, compact bool) (head, tail []byte, err error) {
	return p.frame(sizes, s, nil, nil, compact)
}

// frame does the work of [Plan.Frame]. It also adds the evidence and the sources sections, unless
// they are nil.
func (p *Plan) frame(sizes []uint64, s *afdo.Summary, evidence *profile.Evidence, sources *sourcefmt.Section, compact bool) (head, tail []byte, err error) {
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
	if evidence != nil {
		e.section.Compact = true
		e.section.Data = evidence.AppendSection(e.section.Data)
		e.add(afdo.SectionEvidence)
		e.section.Compact = compact
	}
	if sources != nil {
		sources.Names = indexfmt.Sum(e.data[:e.sizes[0]])
		e.section.Data = sourcefmt.Append(e.section.Data, compact, sources, func(rank int) uint32 { return uint32(len(p.units[p.byPath[rank]].Uses)) })
		e.add(afdo.SectionSources)
	}
	names := len(sizes)
	head = wire.Head(compact, append(sizes[:names:names], e.sizes...), names+1, names)
	return head, e.data, nil
}

// fileNames encodes the file names section, which lists the units of the file (RFC 4.5).
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

// summary encodes the summary section of the file.
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

// All processors encode units, one part at a time. Parts are large enough to make the overhead
// negligible, and numerous enough that no processor waits long for the last one.
const (
	partsEach   = 8        // parts per processor
	leastOfPart = 10 << 16 // minimum size of a part, in tenths of a byte
)

// parts divides the units, in the order of the plan, into groups of similar size. The processors
// then encode the groups concurrently.
func (p *Plan) parts() [][]Placed {
	total := uint64(0)
	for i := range p.units {
		total += p.units[i].size()
	}
	least := max(total/uint64(partsEach*runtime.GOMAXPROCS(0)), leastOfPart)
	var parts [][]Placed
	size, start := uint64(0), 0
	for i, u := range p.Units {
		if size += p.units[u.Unit].size(); size >= least || i == len(p.Units)-1 {
			parts = append(parts, p.Units[start:i+1])
			size, start = 0, i+1
		}
	}
	return parts
}

// room returns empty slices with capacity for the estimated size of some units' sections.
func (p *Plan) room(units []Placed) (data []byte, sizes []uint64) {
	size, sections := uint64(0), 0
	for _, u := range units {
		size += p.units[u.Unit].size()
		sections += unitSections + int(p.units[u.Unit].Functions)
	}
	return make([]byte, 0, size/10), make([]uint64, 0, sections)
}

// inParallel distributes the numbers below n to one goroutine per processor. Each goroutine calls
// do once, with the iterator over its numbers.
func inParallel(n int, do func(numbers iter.Seq[int])) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			do(func(yield func(int) bool) {
				for i := int(next.Add(1)) - 1; i < n && yield(i); {
					i = int(next.Add(1)) - 1
				}
			})
		})
	}
	running.Wait()
}

// varintBounds are the lowest values whose varints take two, three, four and five bytes.
var varintBounds = [...]uint64{1 << 7, 1 << 14, 1 << 21, 1 << 28}

// orderSymbols determines the symbol IDs of each unit.
//
// Among the numbers that the builder can choose, nearly all bytes of a compact file are symbol IDs
// in location records. So the symbols with the most references get the lowest IDs. But the IDs of a
// unit are contiguous. Below each bound at which varints grow, there is room for some whole units
// and for the most used symbols of one more unit, which extends beyond the bound. Units without
// symbols get empty ranges after all others.
func (p *Plan) orderSymbols() {
	rest := p.rank()
	next := uint64(0)
	for _, bound := range varintBounds {
		if next >= bound || rest.size() <= bound-next {
			continue
		}
		next = p.number(rest.take(bound-next), next)
	}
	next = p.number(rest.units, next)
	for i := range p.units {
		if len(p.units[i].Uses) == 0 {
			p.starts[i] = uint32(next)
		}
	}
}

// number assigns consecutive symbol IDs, starting with next, to the symbols of the given units. It
// returns the next free ID.
func (p *Plan) number(units []rankedUnit, next uint64) uint64 {
	for _, r := range units {
		p.starts[r.unit] = uint32(next)
		next += r.size()
	}
	return next
}

// A ranking holds the units that have no symbol IDs yet, ordered by descending references per
// symbol.
type ranking struct {
	units []rankedUnit
}

type rankedUnit struct {
	unit   int      // number of the unit
	counts []uint32 // references to each symbol, in descending order
	uses   uint64   // sum of counts
}

func (u *rankedUnit) size() uint64     { return uint64(len(u.counts)) }
func (u *rankedUnit) density() float64 { return float64(u.uses) / float64(len(u.counts)) }

// rank returns the units that have symbols, ordered by references per symbol. Ties are broken by
// path.
func (p *Plan) rank() ranking {
	var r ranking
	for _, i := range p.byPath {
		if len(p.units[i].Uses) == 0 {
			continue
		}
		unit := rankedUnit{unit: i, counts: p.units[i].Uses}
		for _, n := range unit.counts {
			unit.uses += uint64(n)
		}
		r.units = append(r.units, unit)
	}
	slices.SortStableFunc(r.units, func(a, b rankedUnit) int { return cmp.Compare(b.density(), a.density()) })
	return r
}

// Rank returns the order in which the symbols of a unit get their IDs: by descending references in
// the whole profile. uses holds these references by ascending name, and ties are broken by name.
// The result holds indexes in uses: the symbol of the first one gets the first ID of the unit, and
// so on.
func Rank(uses []uint32) []uint32 {
	keys := make([]uint64, len(uses))
	for i, n := range uses {
		keys[i] = uint64(math.MaxUint32-n)<<32 | uint64(i)
	}
	slices.Sort(keys)
	order := make([]uint32, len(keys))
	for i, key := range keys {
		order[i] = uint32(key)
	}
	return order
}

// size returns the number of symbols of all units in the ranking.
func (r *ranking) size() uint64 {
	n := uint64(0)
	for i := range r.units {
		n += r.units[i].size()
	}
	return n
}

// take removes and returns the units that make the best use of room IDs, which must be fewer than
// there are symbols: whole units in order of rank, and a last unit that fills the remaining room.
//
// The choice of the last unit matters most. A large unit may have few references per symbol, and
// yet a hundred symbols with more references than all small units together. So every unit is tried
// as the last one, after as many whole units as leave room for at least a part of it. This takes
// time linear in the number of symbols.
func (r *ranking) take(room uint64) []rankedUnit {
	totals := r.totals()
	last, whole, most := -1, 0, uint64(0)
	var sums []uint64
	for i := range r.units {
		u := &r.units[i]
		before := func(n int) total { // total of the first n units without unit i
			if n <= i {
				return totals[n]
			}
			return total{totals[n].symbols - u.size(), totals[n].uses - u.uses}
		}
		sums = r.sums(sums[:0], u)
		n := sort.Search(len(r.units), func(n int) bool { return before(n).symbols+u.size() >= room })
		for ; n <= len(r.units) && before(n).symbols < room; n++ {
			b := before(n)
			if uses := b.uses + sums[room-b.symbols]; last < 0 || uses > most {
				last, whole, most = i, n, uses
			}
		}
	}
	return r.remove(whole, last)
}

// A total is the number of symbols in some units, and of references to them.
type total struct{ symbols, uses uint64 }

// totals returns, for each i up to the number of units, how many symbols the first i units have
// together, and how many references to these symbols the profile has.
func (r *ranking) totals() []total {
	totals := make([]total, 1, len(r.units)+1)
	for i := range r.units {
		t := totals[i]
		totals = append(totals, total{t.symbols + r.units[i].size(), t.uses + r.units[i].uses})
	}
	return totals
}

// sums appends to sums, for each i up to the number of symbols of a unit, how many references the
// profile has to the first i symbols.
func (r *ranking) sums(sums []uint64, u *rankedUnit) []uint64 {
	sum := uint64(0)
	sums = append(sums, 0)
	for _, n := range u.counts {
		sum += uint64(n)
		sums = append(sums, sum)
	}
	return sums
}

// remove removes units from the ranking and returns them: the first units, as many as whole says,
// and the unit with index last. The unit last comes at the end of the result, even if it is one of
// the first units.
func (r *ranking) remove(whole, last int) []rankedUnit {
	var taken, rest []rankedUnit
	for i, u := range r.units {
		switch {
		case i == last:
		case i < whole:
			taken = append(taken, u)
		default:
			rest = append(rest, u)
		}
	}
	taken = append(taken, r.units[last])
	r.units = rest
	return taken
}
