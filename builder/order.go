package builder

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/go-afdo/afdo/profile"
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
func (f *file) orderSymbols() {
	rest := f.rank()
	next := uint64(0)
	for _, bound := range varintBounds {
		if next >= bound || rest.size() <= bound-next {
			continue
		}
		next = f.number(rest.take(bound-next), next)
	}
	next = f.number(rest.units, next)
	for i := range f.units {
		if u := &f.units[i]; len(u.byID) == 0 {
			u.start = uint32(next)
		}
	}
}

// number gives the units consecutive IDs from next on and returns the one after them.
func (f *file) number(units []rankedUnit, next uint64) uint64 {
	for _, r := range units {
		u := &f.units[r.ref]
		u.start = uint32(next)
		for i, s := range u.byID {
			f.ids[s] = u.start + uint32(i)
		}
		next += uint64(len(u.byID))
	}
	return next
}

// A ranking holds the units that have no IDs yet, those with the most uses a symbol first.
type ranking struct {
	units []rankedUnit
	uses  []uint32 // how often records refer to a symbol, by SymbolRef
}

type rankedUnit struct {
	ref     profile.FileRef
	symbols []profile.SymbolRef // most used first
	uses    uint64              // of all of them
}

func (u *rankedUnit) size() uint64     { return uint64(len(u.symbols)) }
func (u *rankedUnit) density() float64 { return float64(u.uses) / float64(len(u.symbols)) }

// rank sorts the symbols of each unit, and the units that have any, by use. Names and paths break
// ties.
func (f *file) rank() ranking {
	r := ranking{uses: f.countUses()}
	var keys []uint64
	for _, ref := range f.byPath {
		u := &f.units[ref]
		if len(u.byName) == 0 {
			continue
		}
		unit := rankedUnit{ref: ref, symbols: u.byID}
		keys = keys[:0]
		for i, s := range u.byName {
			unit.uses += uint64(r.uses[s])
			keys = append(keys, uint64(math.MaxUint32-r.uses[s])<<32|uint64(i))
		}
		slices.Sort(keys)
		for i, key := range keys {
			u.byID[i] = u.byName[uint32(key)]
		}
		r.units = append(r.units, unit)
	}
	slices.SortStableFunc(r.units, func(a, b rankedUnit) int { return cmp.Compare(b.density(), a.density()) })
	return r
}

// countUses counts the references to each symbol from location records.
func (f *file) countUses() []uint32 {
	uses := make([]uint32, len(f.ids))
	for _, fn := range f.profile.Functions() {
		for i := range fn.Records {
			if r := &fn.Records[i]; r.Kind != profile.KindCount {
				uses[r.Callee]++
			}
		}
	}
	return uses
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
	for _, s := range u.symbols {
		sum += uint64(r.uses[s])
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
