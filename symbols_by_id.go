package afdo

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// decodeShare is the share of a unit's symbols from which on decoding all of them costs less than
// picking out those that are wanted, which allocates nothing for the others: one of so many.
// Picking one out of a unit takes a third to a sixth of decoding it, and what is decoded is kept.
const decodeShare = 8

// sieveBits is how many classes of symbol IDs there are by which most that are not wanted are told
// from those that are.
const sieveBits = 1 << 13

// SymbolsByID returns the symbols of several IDs, in their order. The error is [ErrNotFound] if the
// file has no symbol of one of them. It reads the string table and the symbol names of each unit
// concerned once. Of a unit of which few symbols are wanted for the first time, it decodes only
// these, checks only what it passes, and keeps nothing.
func (r *Reader) SymbolsByID(ids []SymbolID) ([]Symbol, error) {
	if r.closed() {
		return nil, ErrClosed
	}
	order := make([]wantedID, len(ids))
	for i, id := range ids {
		order[i] = wantedID{id, i}
	}
	slices.SortFunc(order, func(a, b wantedID) int { return cmp.Compare(a.id, b.id) })
	r.unitsAhead(len(ids))
	units, err := r.owners(order)
	if err != nil {
		return nil, err
	}
	symbols := make([]Symbol, len(ids))
	for _, b := range r.batches(units) {
		r.src.aheadAll(b.runs)
		for _, u := range b.units {
			if err := u.symbolsByID(u.wanted, symbols); err != nil {
				return nil, err
			}
		}
	}
	return symbols, nil
}

// wantedUnit is a unit and the symbol IDs that are wanted of it.
type wantedUnit struct {
	*Unit
	wanted []wantedID
}

// owners returns the units of symbol IDs, which ascend.
func (r *Reader) owners(order []wantedID) (units []wantedUnit, err error) {
	for len(order) > 0 {
		u, err := r.owner(order[0].id)
		if err != nil {
			return nil, err
		}
		if u == nil {
			return nil, noSymbolID(order[0].id)
		}
		n := 1
		for n < len(order) && u.entry.has(order[n].id) {
			n++
		}
		units = append(units, wantedUnit{u, order[:n]})
		order = order[n:]
	}
	return units, nil
}

// wantedID is a symbol ID and its place among those that were asked for.
type wantedID struct {
	id    SymbolID
	place int
}

// symbolsByID puts the unit's symbols of some IDs, which ascend, in their places.
func (u *Unit) symbolsByID(wanted []wantedID, symbols []Symbol) error {
	if few, err := u.pick(wanted, symbols); few || err != nil {
		return err
	}
	for _, w := range wanted {
		s, err := u.SymbolByID(w.id)
		if err != nil {
			return err
		}
		symbols[w.place] = s
	}
	return nil
}

// pick is symbolsByID by the encoded tables. It reports whether it has been done: not if that is no
// gain, nor where something is amiss, which decoding the tables tells.
func (u *Unit) pick(wanted []wantedID, symbols []Symbol) (done bool, err error) {
	if u.r.cached(u.index) != nil || !u.r.firstPick(u.entry.Strings) {
		return false, nil
	}
	enc, err := u.encodedNames()
	if err != nil {
		return false, err
	}
	f := enc.symbols
	if n := f.RowCount(); len(wanted) > n/decodeShare {
		return false, nil
	}
	likely := newBitSet(sieveBits)
	for _, w := range wanted {
		likely.add(uint32(w.id) % sieveBits)
	}
	rows, err := enc.someRows(&u.entry, func(row wire.Row) bool {
		if !likely.has(row.ID % sieveBits) {
			return false
		}
		_, ok := slices.BinarySearchFunc(wanted, SymbolID(row.ID), func(w wantedID, id SymbolID) int { return cmp.Compare(w.id, id) })
		return ok
	})
	if err != nil {
		return false, nil
	}
	names, ok := enc.someNames(rows, u.r.opts.maxNameBytes)
	if !ok {
		return false, nil
	}
	for _, w := range wanted {
		for len(rows) > 0 && SymbolID(rows[0].ID) < w.id {
			rows = rows[1:]
		}
		if len(rows) == 0 || SymbolID(rows[0].ID) != w.id || len(rows) > 1 && SymbolID(rows[1].ID) == w.id {
			return false, nil
		}
		symbols[w.place] = Symbol{unit: u, name: names[rows[0].String], id: w.id, info: rows[0].Info}
	}
	return true, nil
}

// someNames returns the names of some rows, which come to no more than limit, by string index.
func (enc *encodedTable) someNames(rows []wire.Row, limit int) (names map[uint32]string, ok bool) {
	f := enc.strings
	count := f.StringCount()
	missing := 0
	wanted := newBitSet(count)
	for _, row := range rows {
		if uint64(row.String) >= uint64(count) {
			return nil, false
		}
		if !wanted.has(row.String) {
			wanted.add(row.String)
			missing++
		}
	}
	names = make(map[uint32]string, missing)
	f = enc.strings
	f.pick(wanted, func(index uint32, name []byte) bool {
		names[index] = string(name)
		limit -= len(name)
		return len(names) < missing && limit >= 0
	})
	return names, len(names) == missing && limit >= 0
}
