package afdo

import (
	"cmp"
	"slices"
	"sort"

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
	for i := range t.rows {
		pos := f.Pos
		row := f.Row()
		checkRow(&f, pos, row, u)
		if f.Err == nil && uint64(row.String) >= uint64(len(t.names)) {
			f.Fail(pos, ErrSymbol, "string index %d, the unit has %d strings", row.String, len(t.names))
		}
		if f.Err != nil {
			return public(f.Fault())
		}
		t.rows[i] = row
	}
	return public(f.Fault())
}

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
			return public(t.section.FaultAt(0, ErrSymbol, "duplicate symbol ID %d", id))
		}
	}
	return nil
}

// ranked returns the number of the row with the i-th smallest symbol ID.
func (t *symbolTable) ranked(i int) int {
	if t.order != nil {
		return int(t.order[i])
	}
	return i
}

// byID returns the number of the row with the given symbol ID.
func (t *symbolTable) byID(id SymbolID) (row int, ok bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return SymbolID(t.rows[t.ranked(i)].ID) >= id })
	if i == len(t.rows) {
		return 0, false
	}
	row = t.ranked(i)
	return row, SymbolID(t.rows[row].ID) == id
}

// find returns the row with the given name.
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
