package profile

import (
	"hash/maphash"

	"github.com/go-afdo/afdo/internal/arena"
)

// A SymbolRef identifies a symbol within one [Profile]. Symbols are numbered from 0.
type SymbolRef uint32

// AddSymbol returns the symbol with the given name in a unit, and adds it if it is new. A symbol
// without a function is only referred to by records. AddSymbol copies the name, so it does not
// retain a buffer that contains name.
func (p *Profile) AddSymbol(f UnitRef, name string) SymbolRef {
	_ = p.paths[f]
	return p.symbols.add(f, name)
}

// FindSymbol returns the symbol with the given name in a unit, if it exists.
func (p *Profile) FindSymbol(f UnitRef, name string) (SymbolRef, bool) {
	return p.symbols.find(f, name)
}

// NumSymbols returns the number of symbols in the profile, including those without a function.
func (p *Profile) NumSymbols() int { return p.symbols.rows.len }

// SymbolName returns the name of a symbol.
func (p *Profile) SymbolName(s SymbolRef) string { return p.symbols.rows.at(int(s)).name }

// SymbolUnit returns the unit of a symbol.
func (p *Profile) SymbolUnit(s SymbolRef) UnitRef { return p.symbols.rows.at(int(s)).file }

// A symbol is a row of a [symbolTable], with the unit and the name of one symbol.
type symbol struct {
	name     string
	file     UnitRef
	function uint32 // number of its function, from 1; 0 if it has none
}

// A symbolTable numbers symbols and finds them by unit and name. It uses an open-addressing hash
// table of symbol numbers, because a Go map keyed by unit and name takes four times the memory and
// has a second pointer to each name.
type symbolTable struct {
	rows  table[symbol]
	names arena.Names
	seed  maphash.Seed // random, so that a file cannot choose colliding names
	slots []slot       // their number is a power of two; at most 3/4 are in use
}

// A slot is an entry of the hash table in a [symbolTable]. It is empty if row is 0.
type slot struct {
	hash uint32
	row  uint32 // SymbolRef + 1
}

const firstSlots = 16

func newSymbolTable() symbolTable {
	return symbolTable{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots)}
}

// hash returns the hash of a symbol. It combines the hashes of unit and name. The factor is odd, so
// symbols with the same name in different units never have the same hash. Functions in headers make
// this case common.
func (t *symbolTable) hash(f UnitRef, name string) uint32 {
	return uint32(maphash.String(t.seed, name)) ^ uint32(f)*0x9E3779B1
}

// lookup returns the slot of the symbol with the given unit and name. If the table does not have
// the symbol, it returns the empty slot where it belongs.
func (t *symbolTable) lookup(f UnitRef, name string, hash uint32) *slot {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.row == 0 {
			return s
		}
		if s.hash == hash {
			if row := t.rows.at(int(s.row - 1)); row.file == f && row.name == name {
				return s
			}
		}
	}
}

func (t *symbolTable) find(f UnitRef, name string) (SymbolRef, bool) {
	s := t.lookup(f, name, t.hash(f, name))
	if s.row == 0 {
		return 0, false
	}
	return SymbolRef(s.row - 1), true
}

func (t *symbolTable) add(f UnitRef, name string) SymbolRef {
	hash := t.hash(f, name)
	s := t.lookup(f, name, hash)
	if s.row == 0 {
		t.rows.append(symbol{name: t.names.Clone(name), file: f})
		*s = slot{hash: hash, row: uint32(t.rows.len)}
		row := s.row
		if 4*t.rows.len > 3*len(t.slots) {
			t.grow()
		}
		return SymbolRef(row - 1)
	}
	return SymbolRef(s.row - 1)
}

func (t *symbolTable) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.row == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].row != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}
