package afdo

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/go-afdo/afdo/internal/v4/door"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A SymbolID identifies a symbol within a file (RFC 4.6). It has no meaning in another file.
type SymbolID uint32

// A Symbol is a function of a unit: one that has samples of its own, is called or is inlined. It is
// a small value, and valid after [Reader.Close].
type Symbol struct {
	unit *Unit
	name string
	id   SymbolID
	info uint32 // section index
}

// ID returns the symbol's ID in the file.
func (s Symbol) ID() SymbolID { return s.id }

// Name returns the name of the function, usually its assembler name. It need not be UTF-8.
func (s Symbol) Name() string { return s.name }

// Unit returns the unit that the symbol belongs to.
func (s Symbol) Unit() *Unit { return s.unit }

// HasInfo reports whether the function has samples of its own (RFC 4.6).
func (s Symbol) HasInfo() bool { return s.unit != nil && s.info != wire.NoInfo }

// symbolTable is the string table and the symbol names of a unit, decoded.
type symbolTable struct {
	sec   Section  // of the symbol names
	names []string // by string index
	rows  []wire.Row
	order []uint32 // of the rows by symbol ID; nil if they are so ordered
}

// encodedTable is the string table and the symbol names of a unit as they are in the file.
type encodedTable struct{ strings, symbols fields }

// encodedTable reads the two sections that name the symbols of a unit. Where they are adjacent in
// the file, that is one read.
func (r *Reader) encodedTable(names Section, e *unitEntry) (*encodedTable, error) {
	sections, err := r.openAll(names, e.name, []sectionRef{
		{e.Strings, SectionStringTable}, {e.Symbols, SectionSymbolNames},
	})
	if err != nil {
		return nil, err
	}
	return &encodedTable{sections[0], sections[1]}, nil
}

// newSymbolTable decodes the symbol names of a unit, given its strings.
func newSymbolTable(symbols fields, names []string, e *unitEntry) (*symbolTable, error) {
	t := &symbolTable{sec: symbols.sec, names: names}
	if err := t.decode(symbols, e); err != nil {
		return nil, err
	}
	return t, t.orderByID()
}

func (t *symbolTable) decode(f fields, e *unitEntry) error {
	t.rows = make([]wire.Row, f.RowCount())
	for i := range t.rows {
		pos := f.Pos
		row := f.Row()
		f.checkRow(pos, row, e)
		if f.Err == nil && uint64(row.String) >= uint64(len(t.names)) {
			f.Fail(pos, ErrSymbol, "string index %d, the unit has %d strings", row.String, len(t.names))
		}
		if f.Err != nil {
			return f.err()
		}
		t.rows[i] = row
	}
	return f.err()
}

func (f *fields) checkRow(pos int, row wire.Row, e *unitEntry) {
	if f.Err == nil && !e.has(SymbolID(row.ID)) {
		f.Fail(pos, ErrSymbol, "symbol ID %d, the unit has %d to %d", SymbolID(row.ID), e.Start, e.End)
	}
}

// orderByID orders the rows by symbol ID, no two of which may be the same.
func (t *symbolTable) orderByID() error {
	byID := func(a, b wire.Row) int { return cmp.Compare(a.ID, b.ID) }
	if !slices.IsSortedFunc(t.rows, byID) {
		t.order = make([]uint32, len(t.rows))
		for i := range t.order {
			t.order[i] = uint32(i)
		}
		slices.SortFunc(t.order, func(a, b uint32) int { return byID(t.rows[a], t.rows[b]) })
	}
	for i := 1; i < len(t.rows); i++ {
		if id := t.rows[t.ranked(i)].ID; id == t.rows[t.ranked(i-1)].ID {
			return t.sec.errorAt(0, ErrSymbol, "duplicate symbol ID %d", id)
		}
	}
	return nil
}

// ranked returns the row of the i-th symbol by ID.
func (t *symbolTable) ranked(i int) int {
	if t.order != nil {
		return int(t.order[i])
	}
	return i
}

// byID returns the row of a symbol ID.
func (t *symbolTable) byID(id SymbolID) (row int, ok bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return SymbolID(t.rows[t.ranked(i)].ID) >= id })
	if i == len(t.rows) {
		return 0, false
	}
	row = t.ranked(i)
	return row, SymbolID(t.rows[row].ID) == id
}

// size is roughly the memory of the table without its strings.
func (t *symbolTable) size() int { return 12*len(t.rows) + 4*len(t.order) }

// stringSize is roughly the memory of decoded strings.
func stringSize(names []string) int {
	n := 16 * len(names)
	for _, name := range names {
		n += len(name)
	}
	return n
}

// tableCache keeps the symbol tables of all units that were asked for, so that each is decoded once
// however callees and inlined functions go back and forth. A string table that units share is kept
// and counted once. Tables of real files are a few times as large as their sections. What a hostile
// file makes of strings that share prefixes is limited.
type tableCache struct {
	tables  map[int]*symbolTable // by unit
	strings map[uint32][]string  // by section
	picked  map[uint32]bool      // string tables out of which some names have been picked
	bytes   int64                // of tables and strings, or of their sections where these are larger
}

func (r *Reader) maxTableBytes() int64 { return door.MaxTableBytes(r.opts.maxNameBytes, r.src.size) }

func tableLimit(limit int64) string {
	return fmt.Sprintf("the names of the units exceed %d bytes, see MaxNameBytes", limit)
}

// cached returns the symbol table of a unit, nil if it is not in the cache.
func (r *Reader) cached(index int) *symbolTable {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tables.tables[index]
}

// cachedStrings returns the strings of a section if they are in the cache, and whether there is
// room for more.
func (r *Reader) cachedStrings(section uint32) (names []string, ok, room bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names, ok = r.tables.strings[section]
	return names, ok, r.tables.bytes < r.maxTableBytes()
}

// firstPick reports whether names are picked out of a string table for the first time.
func (r *Reader) firstPick(section uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.tables
	if _, decoded := c.strings[section]; decoded || c.picked[section] {
		return false
	}
	if c.picked == nil {
		c.picked = make(map[uint32]bool)
	}
	c.picked[section] = true
	return true
}

// cacheStrings keeps the strings of a section of some bytes and returns them, or those that are
// there already.
func (r *Reader) cacheStrings(section uint32, names []string, size int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.tables
	if there, ok := c.strings[section]; ok {
		return there
	}
	if c.strings == nil {
		c.strings = make(map[uint32][]string)
	}
	c.strings[section] = names
	c.bytes += int64(max(size, stringSize(names)))
	return names
}

// cache keeps the symbol table of a unit and returns it, or the one that is there already. Its
// symbol names have some bytes.
func (r *Reader) cache(index int, t *symbolTable, size int) *symbolTable {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.tables
	if there := c.tables[index]; there != nil {
		return there
	}
	if c.tables == nil {
		c.tables = make(map[int]*symbolTable)
	}
	c.tables[index] = t
	c.bytes += int64(max(size, t.size()))
	return t
}

// encodedTable returns the unit's tables as they are in the file. The caller holds u.mu.
func (u *Unit) encodedTable() (*encodedTable, error) {
	if u.encoded == nil {
		u.namesAhead()
		enc, err := u.r.encodedTable(u.names, &u.entry)
		if err != nil {
			return nil, err
		}
		u.encoded = enc
	}
	return u.encoded, nil
}

// symbols returns the symbol table of the unit, reading it if need be.
func (u *Unit) symbols() (*symbolTable, error) {
	if u.r.closed() {
		return nil, ErrClosed
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.table != nil {
		return u.table, nil
	}
	t := u.r.cached(u.index)
	if t == nil {
		var err error
		if t, err = u.decode(); err != nil {
			return nil, err
		}
	}
	u.table, u.encoded = t, nil
	return t, nil
}

// decode decodes the unit's tables and keeps them. The caller holds u.mu.
func (u *Unit) decode() (*symbolTable, error) {
	names, symbols, err := u.strings()
	if err != nil {
		return nil, err
	}
	t, err := newSymbolTable(symbols, names, &u.entry)
	if err != nil {
		return nil, err
	}
	return u.r.cache(u.index, t, len(symbols.Data)), nil
}

// strings returns the unit's strings, and the symbol names as they are in the file. Where another
// unit's strings are the same, they are not read again. The caller holds u.mu.
func (u *Unit) strings() (names []string, symbols fields, err error) {
	section := u.entry.Strings
	names, ok, room := u.r.cachedStrings(section)
	if ok && u.encoded == nil {
		rows, err := u.r.openAll(u.names, u.entry.name, []sectionRef{{u.entry.Symbols, SectionSymbolNames}})
		if err != nil {
			return nil, fields{}, err
		}
		return names, rows[0], nil
	}
	enc, err := u.encodedTable()
	if err != nil {
		return nil, fields{}, err
	}
	if ok {
		return names, enc.symbols, nil
	}
	f := enc.strings
	if !room {
		return nil, fields{}, f.sec.errorAt(0, ErrLimit, "%s", tableLimit(u.r.maxTableBytes()))
	}
	if names, err = f.names(u.r.opts.maxNameBytes); err != nil {
		return nil, fields{}, err
	}
	return u.r.cacheStrings(section, names, len(f.Data)), enc.symbols, nil
}

func (u *Unit) symbol(t *symbolTable, row int) Symbol {
	r := t.rows[row]
	return Symbol{unit: u, name: t.names[r.String], id: SymbolID(r.ID), info: r.Info}
}

// NumSymbols returns the number of symbols. It costs what starting [Unit.Symbols] costs.
func (u *Unit) NumSymbols() (int, error) {
	t, err := u.symbols()
	if err != nil {
		return 0, err
	}
	return len(t.rows), nil
}

// Symbols iterates over the symbols of the unit in the order of the symbol names section (RFC 4.6).
// It first reads and decodes the string table and the symbol names of the unit. An error ends the
// iteration.
func (u *Unit) Symbols() iter.Seq2[Symbol, error] {
	return func(yield func(Symbol, error) bool) {
		u.ahead(maxRun)
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

// SymbolByID returns the symbol of an ID, [ErrNotFound] if the unit has none. It decodes the
// symbols of the unit once; then it costs a binary search.
func (u *Unit) SymbolByID(id SymbolID) (Symbol, error) {
	t, err := u.symbols()
	if err != nil {
		return Symbol{}, err
	}
	row, ok := t.byID(id)
	if !ok {
		return Symbol{}, fmt.Errorf("afdo: symbol ID %d in unit %q: %w", id, u.path, ErrNotFound)
	}
	return u.symbol(t, row), nil
}

// Symbol returns the symbol of a name, [ErrNotFound] if the unit has none. Before the symbols of
// the unit have been decoded it follows the name through the encoded trie, which costs a fraction
// of decoding, and checks only what it passes.
func (u *Unit) Symbol(name string) (Symbol, error) {
	if u.r.closed() {
		return Symbol{}, ErrClosed
	}
	row, r, err := u.find(name)
	if err != nil {
		return Symbol{}, err
	}
	if row < 0 {
		return Symbol{}, fmt.Errorf("afdo: symbol %q in unit %q: %w", name, u.path, ErrNotFound)
	}
	return Symbol{unit: u, name: name, id: SymbolID(r.ID), info: r.Info}, nil
}

// find returns the row of a name, -1 if there is none.
func (u *Unit) find(name string) (int, wire.Row, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.table != nil {
		return u.table.find(name)
	}
	enc, err := u.encodedTable()
	if err != nil {
		return -1, wire.Row{}, err
	}
	return enc.find(name, &u.entry)
}

func (t *symbolTable) find(name string) (int, wire.Row, error) {
	for i, r := range t.rows {
		if t.names[r.String] == name {
			return i, r, nil
		}
	}
	return -1, wire.Row{}, nil
}

func (enc *encodedTable) find(name string, e *unitEntry) (int, wire.Row, error) {
	f := enc.strings
	str, ok := f.find(name)
	if !ok {
		return -1, wire.Row{}, f.err()
	}
	f = enc.symbols
	for i := range f.RowCount() {
		pos := f.Pos
		row := f.Row()
		f.checkRow(pos, row, e)
		if f.Err != nil || row.String == str {
			return i, row, f.err()
		}
	}
	return -1, wire.Row{}, f.err()
}

// Symbol returns the symbol of an ID, that of a call target or an inlined function, in whichever
// unit it is. The error is [ErrNotFound] if the file has none. It decodes the symbols of that unit
// once and keeps them; then it costs two binary searches. For several IDs use [Reader.SymbolsByID].
func (r *Reader) Symbol(id SymbolID) (Symbol, error) {
	u, err := r.owner(id)
	if err != nil {
		return Symbol{}, err
	}
	if u == nil {
		return Symbol{}, noSymbolID(id)
	}
	return u.SymbolByID(id)
}

func noSymbolID(id SymbolID) error { return fmt.Errorf("afdo: symbol ID %d: %w", id, ErrNotFound) }
