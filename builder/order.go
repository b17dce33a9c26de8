package builder

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// varintBounds are the values at which a varint grows to two, three, four and five bytes.
var varintBounds = [...]uint64{1 << 7, 1 << 14, 1 << 21, 1 << 28}

// orderSymbols assigns the symbol IDs.
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

// number assigns consecutive IDs, starting with next, to the units. It returns the next free ID.
func (p *Plan) number(units []rankedUnit, next uint64) uint64 {
	for _, r := range units {
		p.starts[r.unit] = uint32(next)
		next += r.size()
	}
	return next
}

// A ranking holds the units without IDs, ordered by descending references per symbol.
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

// rank orders the units with symbols by references per symbol. Ties are broken by path.
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

// size returns the number of symbols.
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

// A total is the number of symbols and references of some units.
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

// sums appends the references to the first i symbols of a unit, for each i.
func (r *ranking) sums(sums []uint64, u *rankedUnit) []uint64 {
	sum := uint64(0)
	sums = append(sums, 0)
	for _, n := range u.counts {
		sum += uint64(n)
		sums = append(sums, sum)
	}
	return sums
}

// remove removes and returns the first whole units and unit last, which may be one of them.
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
