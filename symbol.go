package afdo

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A SymbolID identifies a symbol within one file (RFC 4.6).
type SymbolID uint32

// A Symbol is a function of a unit that has samples of its own, is called, or is inlined. It is a
// small value and stays valid after [Reader.Close].
type Symbol struct {
	unit *Unit
	name string
	id   SymbolID
	info uint32 // index of the symbol info section, or wire.NoInfo
}

// ID returns the symbol's ID.
func (s Symbol) ID() SymbolID { return s.id }

// Name returns the name of the function, usually its assembler name. It need not be valid UTF-8.
func (s Symbol) Name() string { return s.name }

// Unit returns the unit that the symbol belongs to.
func (s Symbol) Unit() *Unit { return s.unit }

// HasInfo reports whether the function has samples of its own (RFC 4.6).
func (s Symbol) HasInfo() bool { return s.unit != nil && s.info != wire.NoInfo }

// symbolTable holds the decoded string table and symbol names of a unit.
type symbolTable struct {
	section v4.Section // the symbol names section
	names   []string   // by string index
	rows    []wire.Row
	order   []uint32 // row numbers by ascending symbol ID; nil if rows are already in that order
}

// newSymbolTable decodes the symbol names of a unit. names are the unit's strings.
func newSymbolTable(symbols v4.Fields, names []string, u *wire.Unit) (*symbolTable, error) {
	t := &symbolTable{section: symbols.Section, names: names}
	if err := t.decode(symbols, u); err != nil {
		return nil, err
	}
	return t, t.orderByID()
}

func (t *symbolTable) decode(f v4.Fields, u *wire.Unit) error {
	t.rows = make([]wire.Row, f.RowCount())
	named := wire.NewIndexSet(len(t.names), len(t.rows))
	for i := range t.rows {
		pos := f.Pos
		row := f.Row()
		checkRow(&f, pos, row, u)
		if f.Err == nil && uint64(row.String) >= uint64(len(t.names)) {
			f.Fail(pos, ErrSymbol, "string index %d, the unit has %d strings", row.String, len(t.names))
		} else if f.Err == nil && named.Add(row.String) {
			f.Fail(pos, ErrSymbol, twoOfOneName, row.String)
		}
		if f.Err != nil {
			return f.Fault()
		}
		t.rows[i] = row
	}
	return f.Fault()
}

const twoOfOneName = "duplicate string index %d: two symbols of one name"

func checkRow(f *v4.Fields, pos int, row wire.Row, u *wire.Unit) {
	if f.Err == nil && !u.Has(row.ID) {
		f.Fail(pos, ErrSymbol, "symbol ID %d, the unit has %d to %d", row.ID, u.Start, u.End)
	}
}

// orderByID sorts the rows by symbol ID and rejects duplicate IDs.
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
			return t.section.FaultAt(0, ErrSymbol, "duplicate symbol ID %d", id)
		}
	}
	return nil
}

// ranked returns the index in t.rows of the row with the i-th smallest symbol ID. The rows
// themselves are in the order of the file.
func (t *symbolTable) ranked(i int) int {
	if t.order != nil {
		return int(t.order[i])
	}
	return i
}

// byID returns the index in t.rows of the row with the given symbol ID.
func (t *symbolTable) byID(id SymbolID) (row int, ok bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return SymbolID(t.rows[t.ranked(i)].ID) >= id })
	if i == len(t.rows) {
		return 0, false
	}
	row = t.ranked(i)
	return row, SymbolID(t.rows[row].ID) == id
}

// find returns the row of the symbol with the given name.
func (t *symbolTable) find(name string) (row wire.Row, ok bool) {
	for _, r := range t.rows {
		if t.names[r.String] == name {
			return r, true
		}
	}
	return wire.Row{}, false
}

// size returns the approximate size of the table in memory in bytes, without its strings.
func (t *symbolTable) size() int { return 12*len(t.rows) + 4*len(t.order) }

// decodeShare: if more than 1/decodeShare of a unit's symbols are wanted, decoding all of them is
// cheaper than picking the wanted ones. Measured: picking one costs 1/6 to 1/3 of decoding the
// unit. Decoded symbols are also kept for later lookups.
const decodeShare = 8

// SymbolsByID returns the symbols with the given IDs, in the order of ids. It returns [ErrNotFound]
// if any of them does not exist. It reads the string table and the symbol names of each unit
// involved once. The first time that a few symbols of a unit are wanted, it decodes just these
// symbols, if the unit's rows are in the order of their IDs. It then checks only the bytes on the
// way, and keeps nothing. With [TrustIndex] on a local file,
// it then reads only the parts of a large unit's names that hold these symbols.
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

// owners returns the units whose ranges of symbol IDs contain the wanted IDs, and for each of these
// units the wanted IDs in its range. wanted must be sorted by ID. It is an error if no unit has a
// wanted ID.
func (r *Reader) owners(wanted []wantedID) (units []v4.Unit, ofUnit [][]wantedID, err error) {
	for len(wanted) > 0 {
		u, ok, err := r.file().Owner(uint32(wanted[0].id))
		if err != nil {
			return nil, nil, err
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

// pick does the work of symbolsByID without decoding the unit's whole string table and symbol
// names: it decodes only the rows and names of the wanted symbols. It returns done == false if
// decoding the whole tables is cheaper, if the rows are not in the order of their IDs, or if the
// tables have an error. The caller then decodes the tables, which reports the exact error.
func (u *Unit) pick(wanted []wantedID, symbols []Symbol, buf *[]byte) (done bool, err error) {
	if u.r.tables.table(u.Index()) != nil || !u.r.tables.firstPick(u.entry.Strings) {
		return false, nil
	}
	if u.entry.Parted(len(wanted)) {
		if rows, names, ok := u.entry.SomeNames(idsOf(wanted), u.r.maxNameBytes); ok {
			return u.place(wanted, rows, names, symbols), nil
		}
	}
	t, err := u.encodedNames(buf)
	if err != nil {
		return false, err
	}
	f := t.symbols
	if n := f.RowCount(); len(wanted) > n/decodeShare {
		return false, nil
	}
	rows, ok := t.rowsInOrder(wanted)
	if !ok {
		return false, nil
	}
	names, ok := t.someNames(rows, u.r.maxNameBytes)
	return ok && u.place(wanted, rows, names, symbols), nil
}

// idsOf returns the wanted symbol IDs, each once.
func idsOf(wanted []wantedID) []uint32 {
	ids := make([]uint32, len(wanted))
	for i, w := range wanted {
		ids[i] = uint32(w.id)
	}
	return slices.Compact(ids)
}

// place stores the symbols that were found in the caller's slice symbols, at the positions that
// wanted has. rows are the symbols' rows, in the order of wanted. place returns false if a wanted
// ID has no row, or several.
func (u *Unit) place(wanted []wantedID, rows []wire.Row, names map[uint32]string, symbols []Symbol) bool {
	for _, w := range wanted {
		for len(rows) > 0 && SymbolID(rows[0].ID) < w.id {
			rows = rows[1:]
		}
		if len(rows) == 0 || SymbolID(rows[0].ID) != w.id || len(rows) > 1 && SymbolID(rows[1].ID) == w.id {
			return false
		}
		symbols[w.place] = Symbol{unit: u, name: names[rows[0].String], id: w.id, info: rows[0].Info}
	}
	return true
}

// tableCache keeps the decoded symbol tables of all units looked up so far, so that each is decoded
// once no matter how lookups of callees and inlined functions alternate between units. A string
// table shared by several units is kept and counted once. The decoded tables of real files are a
// few times as large as their sections. max limits tables of hostile files, whose strings share
// prefixes to expand to huge sizes.
type tableCache struct {
	max int64 // limit for bytes; set once

	mu     sync.Mutex
	tables map[int]*symbolTable // by unit index
	names  map[uint32][]string  // by section index of the string table
	picked map[uint32]bool      // section indexes of the string tables from which names have been picked
	bytes  int64                // total size of tables and names, or of their sections where these are larger
}

// table returns the symbol table of a unit, or nil if it is not in the cache.
func (c *tableCache) table(unit int) *symbolTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables[unit]
}

// strings returns the cached strings of the string table with the given section index, and whether
// the cache has room for more.
func (c *tableCache) strings(section uint32) (names []string, ok, room bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, ok = c.names[section]
	return names, ok, c.bytes < c.max
}

// firstPick records that names are picked from a string table without decoding it. It reports
// whether this is the first time and the table has not been decoded.
func (c *tableCache) firstPick(section uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, decoded := c.names[section]; decoded || c.picked[section] {
		return false
	}
	if c.picked == nil {
		c.picked = make(map[uint32]bool)
	}
	c.picked[section] = true
	return true
}

// addStrings caches the strings of a section of size bytes. If another goroutine has cached them
// already, it returns those instead.
func (c *tableCache) addStrings(section uint32, names []string, size int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there, ok := c.names[section]; ok {
		return there
	}
	if c.names == nil {
		c.names = make(map[uint32][]string)
	}
	c.names[section] = names
	c.bytes += int64(max(size, stringSize(names)))
	return names
}

// addTable caches the symbol table of a unit, decoded from size bytes of symbol names. If another
// goroutine has cached it already, it returns that one instead.
func (c *tableCache) addTable(unit int, t *symbolTable, size int) *symbolTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	if there := c.tables[unit]; there != nil {
		return there
	}
	if c.tables == nil {
		c.tables = make(map[int]*symbolTable)
	}
	c.tables[unit] = t
	c.bytes += int64(max(size, t.size()))
	return t
}

// stringSize returns the approximate size of the strings in memory, in bytes.
func stringSize(names []string) int {
	n := 16 * len(names)
	for _, name := range names {
		n += len(name)
	}
	return n
}
