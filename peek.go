package afdo

import (
	"fmt"
	"sync/atomic"
)

// Who asks for a symbol by ID often wants one name of a unit, as for the callees of a
// function in a dozen units. Such a symbol is looked up in the encoded tables.

// peekings is how many symbols of a unit are looked up so before its tables are
// decoded after all.
const peekings = 8

// peeks are the units that have been looked into so. Their encoded tables are kept, so that they are read once.
type peeks struct {
	units map[int]*peekedUnit
	bytes int64 // of the tables of all of them

	latest atomic.Pointer[Unit] // in which a symbol was looked up by ID
}

type peekedUnit struct {
	times   int
	encoded *encodedTable // nil until they have been read
}

// ownerAgain is owner, without a search if the symbol before was of the same unit:
// who asks for many does so in order, to gain from what has been read.
func (r *Reader) ownerAgain(id SymbolID) (*Unit, error) {
	if u := r.peeks.latest.Load(); u != nil && u.entry.has(id) && !r.src.closed.Load() {
		return u, nil
	}
	u, err := r.owner(id)
	if u != nil {
		r.peeks.latest.Store(u)
	}
	return u, err
}

// mayPeek reports whether one more symbol of a unit is to be looked up in its encoded tables.
//
// It is not once the units come to more bytes than the file has, which they do if
// they share tables: what such a file costs is then limited by the tableCache.
func (r *Reader) mayPeek(u *Unit) bool {
	if t, _ := r.cached(u.index); t != nil {
		return false
	}
	strings, err := r.sectionSize(u.entry.strings)
	if err != nil {
		return false // the tables cannot be read either
	}
	symbols, err := r.sectionSize(u.entry.symbols)
	if err != nil {
		return false
	}
	size := strings + symbols
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peeks.units[u.index]
	if p == nil {
		if size > r.src.size-r.peeks.bytes {
			return false
		}
		p = r.peeks.add(u.index, size)
	}
	p.times++
	return p.times <= peekings
}

func (p *peeks) add(index int, size int64) *peekedUnit {
	if p.units == nil {
		p.units = make(map[int]*peekedUnit)
	}
	unit := new(peekedUnit)
	p.units[index] = unit
	p.bytes += size
	return unit
}

// peeked returns the encoded tables of a unit if they are there.
func (r *Reader) peeked(index int) *encodedTable {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.peeks.units[index]; p != nil {
		return p.encoded
	}
	return nil
}

// keepPeeked keeps the encoded tables of a unit as long as they have not been decoded.
func (r *Reader) keepPeeked(index int, enc *encodedTable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.peeks.units[index]; p != nil && r.tables.tables[index] == nil {
		p.encoded = enc
	}
}

// drop lets go of the encoded tables of a unit.
func (p *peeks) drop(index int) {
	if unit := p.units[index]; unit != nil {
		unit.encoded = nil
	}
}

// peek is SymbolByID by the encoded tables. It checks no more of them than it passes.
func (u *Unit) peek(id SymbolID) (Symbol, error) {
	enc, err := u.encodedNames()
	if err != nil {
		return Symbol{}, err
	}
	u.r.keepPeeked(u.index, enc)
	row, ok, err := enc.row(id, &u.entry)
	if err != nil {
		return Symbol{}, err
	}
	if !ok {
		return Symbol{}, u.noID(id)
	}
	name, err := enc.name(row, u.r.opts.maxNameBytes)
	if err != nil {
		return Symbol{}, err
	}
	return Symbol{unit: u, name: name, id: id, info: row.info}, nil
}

// noID is the error of a symbol ID that no symbol of the unit has.
func (u *Unit) noID(id SymbolID) error {
	return fmt.Errorf("afdo: symbol ID %d in unit %q: %w", id, u.path, ErrNotFound)
}

// row returns the row of a symbol ID.
func (enc *encodedTable) row(id SymbolID, e *unitEntry) (row symbolRow, ok bool, err error) {
	if row, ok := enc.rowAt(uint32(id)-e.start, id); ok {
		return row, true, nil
	}
	f := enc.symbols
	for range f.rowCount() {
		pos := f.pos
		row := f.symbolRow()
		f.checkRow(pos, row, e)
		if f.err != nil || row.id == id {
			return row, true, f.err
		}
	}
	return symbolRow{}, false, f.err
}

// name returns the name that a row refers to.
func (enc *encodedTable) name(row symbolRow, maxNameBytes int) (string, error) {
	f := enc.strings
	if n := f.stringCount(); f.err == nil && uint64(row.str) >= uint64(n) {
		return "", enc.symbols.sec.errorAt(0, ErrSymbol, noString, row.str, n)
	}
	return f.name(row.str, maxNameBytes)
}

// rowAt returns the i-th row if it is that of a symbol ID: where IDs have no gaps
// and the rows are in their order, it can be found without a look at those before.
func (enc *encodedTable) rowAt(i uint32, id SymbolID) (row symbolRow, ok bool) {
	f := enc.symbols
	if uint64(i) >= uint64(f.rowCount()) || !f.skipRows(int(i)) {
		return symbolRow{}, false
	}
	row = f.symbolRow()
	return row, f.err == nil && row.id == id
}

// skipRows passes over rows of a symbol names section. It is false if there are not so many.
func (f *fields) skipRows(n int) bool {
	size := 12 * n
	if f.sec.Compact {
		size = skipVarints(f.data[f.pos:], 3*uint64(n))
	}
	if size < 0 || size > f.rest() {
		return false
	}
	f.pos += size
	return true
}
