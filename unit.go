package afdo

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Unit is a source file with the symbols it defines, an entry of the file names section (RFC
// 4.5). It reads each of its sections when first needed and keeps it. Two lookups of the same unit
// return two Units, which share decoded symbols but not samples. All methods may be called
// concurrently.
type Unit struct {
	r     *Reader
	entry v4.Unit

	mu      sync.Mutex
	encoded *encodedTable        // the tables that have been read but not decoded
	table   *symbolTable         // nil until needed
	infos   map[uint32]v4.Fields // symbol info sections read so far, by section index
}

// Path returns the path of the source file, empty if unknown. It need not be valid UTF-8.
func (u *Unit) Path() string { return u.entry.Path }

// Index returns the position of the unit in the file names section.
func (u *Unit) Index() int { return u.entry.Rank }

// SectionIndexes returns the section indexes of the unit's string table and symbol names (RFC 4.5),
// unchecked.
func (u *Unit) SectionIndexes() (stringTable, symbolNames int) {
	return int(u.entry.Strings), int(u.entry.Symbols)
}

// IDs returns the range of the unit's symbol IDs: start <= ID < end.
func (u *Unit) IDs() (start, end SymbolID) {
	return SymbolID(u.entry.Start), SymbolID(u.entry.End)
}

// NumSymbols returns the number of symbols. Like [Unit.Symbols], it decodes the tables of the unit.
func (u *Unit) NumSymbols() (int, error) {
	t, err := u.symbols()
	if err != nil {
		return 0, err
	}
	return len(t.rows), nil
}

// Symbols iterates over the symbols of the unit in the order of the symbol names section (RFC 4.6).
// It first reads and decodes the unit's string table and symbol names. An error ends the iteration.
func (u *Unit) Symbols() iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		u.entry.Ahead()
		t, err := u.symbols()
		if err != nil {
			yield(Symbol{}, err)
			return
		}
		for row := range t.rows {
			if !yield(u.symbol(t, row), nil) {
				return
			}
		}
	}
}

// SymbolByID returns the symbol with the given ID, or [ErrNotFound]. The first call decodes the
// symbols of the unit; later calls do a binary search.
func (u *Unit) SymbolByID(id SymbolID) (Symbol, error) {
	t, err := u.symbols()
	if err != nil {
		return Symbol{}, err
	}
	row, ok := t.byID(id)
	if !ok {
		return Symbol{}, fmt.Errorf("afdo: symbol ID %d in unit %q: %w", id, u.Path(), ErrNotFound)
	}
	return u.symbol(t, row), nil
}

// Symbol returns the symbol with the given name, or [ErrNotFound]. If the symbols of the unit have
// not been decoded, Symbol follows the name through the encoded trie. This costs a fraction of
// decoding. Otherwise Symbol compares the names of the unit. Two symbols of the name give
// [ErrSymbol].
func (u *Unit) Symbol(name string) (Symbol, error) {
	row, ok, err := u.find(name)
	if err != nil {
		return Symbol{}, err
	}
	if !ok {
		return Symbol{}, fmt.Errorf("afdo: symbol %q in unit %q: %w", name, u.Path(), ErrNotFound)
	}
	return Symbol{unit: u, name: name, id: SymbolID(row.ID), info: row.Info}, nil
}

// find returns the row of the symbol with the given name.
func (u *Unit) find(name string) (row wire.Row, ok bool, err error) {
	if u.r.file().Closed() {
		return wire.Row{}, false, ErrClosed
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.table != nil {
		row, ok = u.table.find(name)
		return row, ok, nil
	}
	t, err := u.encodedTable(nil)
	if err != nil {
		return wire.Row{}, false, err
	}
	return t.find(name)
}

// Clones iterates over the symbols of the unit whose canonical name is canonicalName, by ascending
// ID. Such symbols have this name, or this name followed by '.' and more: for "f", these are f,
// f.part.0 and f.constprop.1. There are none if canonicalName contains a '.'. An error ends the
// iteration.
//
// Clones follows the name through the encoded trie, like [Unit.Symbol]. It reads the trie again if
// the symbols of the unit have been decoded.
func (u *Unit) Clones(canonicalName string) iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		found, err := u.clones(canonicalName)
		if err != nil {
			yield(Symbol{}, err)
			return
		}
		for _, s := range found {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (u *Unit) clones(canonicalName string) ([]Symbol, error) {
	t, err := u.encodedNames(nil)
	if err != nil {
		return nil, err
	}
	names, err := t.clones(canonicalName)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	rows, err := t.rowsNamed(names)
	if err != nil {
		return nil, err
	}
	found := make([]Symbol, len(rows))
	for i, row := range rows {
		found[i] = Symbol{unit: u, name: names[row.String], id: SymbolID(row.ID), info: row.Info}
	}
	return found, nil
}

// Load reads all sections of the unit that have not been read, in as few reads as their places in
// the file allow. Afterwards only [Unit.Clones] reads again. If a malformed file has sections that
// overlap so much that the unit's samples exceed the size of the file, they are read when needed.
func (u *Unit) Load() error {
	u.entry.AheadOfAll()
	t, err := u.symbols()
	if err != nil || u.r.file().InMemory() {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	wanted := make([]uint32, 0, len(t.rows))
	for _, r := range t.rows {
		if _, ok := u.infos[r.Info]; !ok && r.Info != wire.NoInfo {
			wanted = append(wanted, r.Info)
		}
	}
	// Section indexes are in file order, so adjacent sections are neighbours after sorting.
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	infos, err := u.entry.Infos(t.section, wanted)
	if err != nil {
		return err
	}
	if u.infos == nil {
		u.infos = make(map[uint32]v4.Fields, len(infos))
	}
	for i := range infos {
		u.infos[wanted[i]] = infos[i]
	}
	return nil
}

// info returns the symbol info section with the given index and keeps it for later calls. It keeps
// it per section rather than per symbol, because thousands of symbols of a malformed file may share
// one section.
func (u *Unit) info(index uint32) (v4.Fields, error) {
	file := u.r.file()
	if file.Closed() {
		return v4.Fields{}, ErrClosed
	}
	if file.InMemory() { // already in memory, so not kept
		f, err := u.entry.Info(index, true)
		return f, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if f, ok := u.infos[index]; ok {
		return f, nil
	}
	f, err := u.entry.Info(index, len(u.infos) == 0)
	if err != nil {
		return v4.Fields{}, err
	}
	if u.infos == nil {
		u.infos = make(map[uint32]v4.Fields)
	}
	u.infos[index] = f
	return f, nil
}

// encodedNames returns the unit's encoded tables. If buf is not nil, it reads them into *buf.
func (u *Unit) encodedNames(buf *[]byte) (*encodedTable, error) {
	if u.r.file().Closed() {
		return nil, ErrClosed
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.encodedTable(buf)
}

// encodedTable does the work of encodedNames. The caller holds u.mu.
func (u *Unit) encodedTable(buf *[]byte) (*encodedTable, error) {
	if u.encoded == nil {
		strings, symbols, err := u.entry.Tables(buf)
		if err != nil {
			return nil, err
		}
		u.encoded = &encodedTable{&u.entry.Unit, strings, symbols}
	}
	return u.encoded, nil
}

// symbols returns the unit's decoded symbol table. The first call decodes it.
func (u *Unit) symbols() (*symbolTable, error) {
	if u.r.file().Closed() {
		return nil, ErrClosed
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.table != nil {
		return u.table, nil
	}
	t := u.r.tables.table(u.Index())
	if t == nil {
		var err error
		if t, err = u.decode(); err != nil {
			return nil, err
		}
	}
	u.table, u.encoded = t, nil
	return t, nil
}

// decode decodes the unit's tables and caches them in the Reader. The caller holds u.mu.
func (u *Unit) decode() (*symbolTable, error) {
	names, symbols, err := u.strings()
	if err != nil {
		return nil, err
	}
	t, err := newSymbolTable(symbols, names, &u.entry.Unit)
	if err != nil {
		return nil, err
	}
	return u.r.tables.addTable(u.Index(), t, len(symbols.Data)), nil
}

// strings returns the unit's decoded strings and its encoded symbol names. It does not read strings
// again that another unit with the same string table has read. The caller holds u.mu.
func (u *Unit) strings() (names []string, symbols v4.Fields, err error) {
	tables := &u.r.tables
	names, ok, room := tables.strings(u.entry.Strings)
	if ok && u.encoded == nil {
		symbols, err := u.entry.SymbolNames()
		return names, symbols, err
	}
	t, err := u.encodedTable(nil)
	if err != nil {
		return nil, v4.Fields{}, err
	}
	if ok {
		return names, t.symbols, nil
	}
	f := t.strings
	if !room {
		f.Fail(0, ErrLimit, "the names of the units exceed %d bytes, see MaxNameBytes", tables.max)
		return nil, v4.Fields{}, f.Fault()
	}
	size := len(f.Data)
	if names = f.Strings(u.r.maxNameBytes); f.Err != nil {
		return nil, v4.Fields{}, f.Fault()
	}
	return tables.addStrings(u.entry.Strings, names, size), t.symbols, nil
}

func (u *Unit) symbol(t *symbolTable, row int) Symbol {
	r := t.rows[row]
	return Symbol{unit: u, name: t.names[r.String], id: SymbolID(r.ID), info: r.Info}
}
