package afdo

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/v4"
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
	file := r.file()
	if file.Closed() {
		return nil, ErrClosed
	}
	wanted := make([]wantedID, len(ids))
	for i, id := range ids {
		wanted[i] = wantedID{id, i}
	}
	slices.SortFunc(wanted, func(a, b wantedID) int { return cmp.Compare(a.id, b.id) })
	file.UnitsAhead(len(ids))
	units, ofUnit, err := r.owners(wanted)
	if err != nil {
		return nil, err
	}
	symbols := make([]Symbol, len(ids))
	cached := func(u *v4.Unit) bool { return r.tables.table(u.Rank) != nil }
	var buf []byte // of the tables of one unit after the other
	for i := range file.InBatches(units, cached) {
		u := r.unit(units[i])
		if err := u.symbolsByID(ofUnit[i], symbols, &buf); err != nil {
			return nil, err
		}
		u.encoded = nil // which the next unit is read over
	}
	return symbols, nil
}

// owners returns the units of symbol IDs, which ascend, and the IDs by unit.
func (r *Reader) owners(wanted []wantedID) (units []v4.Unit, ofUnit [][]wantedID, err error) {
	for len(wanted) > 0 {
		u, ok, err := r.file().Owner(uint32(wanted[0].id))
		if err != nil {
			return nil, nil, public(err)
		}
		if !ok {
			return nil, nil, noSymbolID(wanted[0].id)
		}
		n := 1
		for n < len(wanted) && u.Has(uint32(wanted[n].id)) {
			n++
		}
		units, ofUnit = append(units, u), append(ofUnit, wanted[:n])
		wanted = wanted[n:]
	}
	return units, ofUnit, nil
}

// wantedID is a symbol ID and its place among those that were asked for.
type wantedID struct {
	id    SymbolID
	place int
}

// symbolsByID puts the unit's symbols of some IDs, which ascend, in their places. It reads the
// unit's tables into buf.
func (u *Unit) symbolsByID(wanted []wantedID, symbols []Symbol, buf *[]byte) error {
	if few, err := u.pick(wanted, symbols, buf); few || err != nil {
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
func (u *Unit) pick(wanted []wantedID, symbols []Symbol, buf *[]byte) (done bool, err error) {
	if u.r.tables.table(u.Index()) != nil || !u.r.tables.firstPick(u.entry.Strings) {
		return false, nil
	}
	t, err := u.encodedNames(buf)
	if err != nil {
		return false, err
	}
	f := t.symbols
	if n := f.RowCount(); len(wanted) > n/decodeShare {
		return false, nil
	}
	likely := wire.NewBitSet(sieveBits)
	for _, w := range wanted {
		likely.Add(uint32(w.id) % sieveBits)
	}
	rows, err := t.someRows(func(row wire.Row) bool {
		if !likely.Has(row.ID % sieveBits) {
			return false
		}
		_, ok := slices.BinarySearchFunc(wanted, SymbolID(row.ID), func(w wantedID, id SymbolID) int { return cmp.Compare(w.id, id) })
		return ok
	})
	if err != nil {
		return false, nil
	}
	names, ok := t.someNames(rows, u.r.maxNameBytes)
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
