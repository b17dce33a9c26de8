package afdo

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// decodeShare: if more than 1/decodeShare of a unit's symbols are wanted, decoding all of them is
// cheaper than picking the wanted ones. Measured: picking one costs 1/6 to 1/3 of decoding the
// unit. Decoded symbols are also kept for later lookups.
const decodeShare = 8

// sieveBits is the size in bits of the filter that rejects most unwanted symbol IDs before the
// exact lookup.
const sieveBits = 1 << 13

// SymbolsByID returns the symbols with the given IDs, in the order of ids. It returns [ErrNotFound]
// if any of them does not exist. It reads the string table and the symbol names of each unit
// involved once. If only a few symbols of a unit are wanted and none were wanted before, it decodes
// just these, checks only the bytes it passes, and keeps nothing.
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
	var buf []byte // reused for the tables of one unit after another
	for i := range file.InBatches(units, cached) {
		u := r.unit(units[i])
		if err := u.symbolsByID(ofUnit[i], symbols, &buf); err != nil {
			return nil, err
		}
		u.encoded = nil // the next unit overwrites buf
	}
	return symbols, nil
}

// owners returns the units that own the wanted symbol IDs, and the IDs grouped by unit. wanted must
// be sorted by ID.
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

// wantedID is a requested symbol ID and its position in the request.
type wantedID struct {
	id    SymbolID
	place int
}

// symbolsByID looks up the unit's symbols with the given IDs and stores them at their places in
// symbols. wanted must be sorted by ID. It reads the unit's tables into buf.
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

// pick is symbolsByID on the encoded tables. It returns done == false if decoding the tables is
// cheaper, or if something is wrong with the tables: decoding them then finds the exact error.
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
