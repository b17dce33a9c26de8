package builder

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// varintBounds are the values below which a varint takes one byte, two, three and four.
var varintBounds = [...]uint64{1 << 7, 1 << 14, 1 << 21, 1 << 28}

// orderSymbols assigns the symbol IDs.
//
// Nearly all bytes that a compact file spends on numbers of the builder's choice are symbol IDs in
// location records. So the symbols that records refer to most often get the low IDs. But the IDs of
// a unit are contiguous: below each bound at which a varint grows there is room for some units as a
// whole and for the most used symbols of one more, which reaches across the bound. Units without
// symbols get an empty range behind all others.
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

// number gives the units consecutive IDs from next on and returns the one after them.
func (p *Plan) number(units []rankedUnit, next uint64) uint64 {
	for _, r := range units {
		p.starts[r.unit] = uint32(next)
		next += r.size()
	}
	return next
}

// A ranking holds the units that have no IDs yet, those with the most uses a symbol first.
type ranking struct {
	units []rankedUnit
}

type rankedUnit struct {
	unit   int      // its number
	counts []uint32 // how often records refer to each of its symbols, most used first
	uses   uint64   // of all of them
}

func (u *rankedUnit) size() uint64     { return uint64(len(u.counts)) }
func (u *rankedUnit) density() float64 { return float64(u.uses) / float64(len(u.counts)) }

// rank sorts the units that have any symbols by use. Paths break ties.
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

// Rank returns in which order the symbols of a unit get their IDs: those first that records of the
// whole profile refer to most often. uses says how often that is, by ascending name of the symbol,
// and names break ties. The result holds places in uses: the symbol of the first one gets the first
// ID of the unit, and so on.
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

// size returns the number of symbols.
func (r *ranking) size() uint64 {
	n := uint64(0)
	for i := range r.units {
		n += r.units[i].size()
	}
	return n
}

// take removes and returns the units that make the most of room for so many symbols, which is less
// than there are: whole units by rank, and a last one that fills up what they leave.
//
// Which one is the last decides more than the rank does: a large unit may have few uses a symbol
// and yet a hundred symbols with more uses than all small units together. So every unit is tried as
// the last, with every number of whole ones before it that leaves just enough room for it or for a
// part of it. That takes time in proportion to the symbols.
func (r *ranking) take(room uint64) []rankedUnit {
	totals := r.totals()
	last, whole, most := -1, 0, uint64(0)
	var sums []uint64
	for i := range r.units {
		u := &r.units[i]
		before := func(n int) total { // of the first n units without unit i
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

// A total is the number of symbols of some units and that of their uses.
type total struct{ symbols, uses uint64 }

// totals returns the totals of the first i units, for each i.
func (r *ranking) totals() []total {
	totals := make([]total, 1, len(r.units)+1)
	for i := range r.units {
		t := totals[i]
		totals = append(totals, total{t.symbols + r.units[i].size(), t.uses + r.units[i].uses})
	}
	return totals
}

// sums appends the uses of the first i symbols of a unit, for each i.
func (r *ranking) sums(sums []uint64, u *rankedUnit) []uint64 {
	sum := uint64(0)
	sums = append(sums, 0)
	for _, n := range u.counts {
		sum += uint64(n)
		sums = append(sums, sum)
	}
	return sums
}

// remove takes the first whole units and then unit last, which may be one of them, out of the
// ranking.
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
