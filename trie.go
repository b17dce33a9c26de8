package afdo

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The names of a unit form a trie (RFC 4.3). Finding one name, the clones of one function, or a few
// names in the encoded trie costs a fraction of decoding all names.

// encodedTable holds the string table and the symbol names of a unit, not decoded.
type encodedTable struct {
	unit             *wire.Unit
	strings, symbols v4.Fields
}

// find returns the row of the symbol with the given name.
func (t *encodedTable) find(name string) (row wire.Row, ok bool, err error) {
	names := make(map[uint32]string, 1)
	f := t.strings
	f.SomeStrings(func(n int, label []byte) bool {
		return n+len(label) <= len(name) && name[n:n+len(label)] == string(label)
	},
		func(index uint32, found []byte) bool {
			if len(found) == len(name) {
				names[index] = name
			}
			return true
		})
	if f.Err != nil || len(names) == 0 {
		return wire.Row{}, false, f.Fault()
	}
	rows, err := t.rowsNamed(names)
	if err != nil || len(rows) == 0 {
		return wire.Row{}, false, err
	}
	return rows[0], true, nil
}

// rowsNamed returns the rows of the symbols with the given names, by ascending symbol ID. The keys
// of names are string indexes. It is an error if two rows have the same name.
func (t *encodedTable) rowsNamed(names map[uint32]string) ([]wire.Row, error) {
	var rows []wire.Row
	there := make(map[string]bool, len(names))
	f := t.symbols
	for range f.RowCount() {
		pos := f.Pos
		row := f.Row()
		checkRow(&f, pos, row, t.unit)
		if name, ok := names[row.String]; ok && f.Err == nil {
			if there[name] {
				f.Fail(0, ErrSymbol, twoOfOneName, row.String)
			}
			there[name] = true
			rows = append(rows, row)
		}
		if f.Err != nil {
			return nil, f.Fault()
		}
	}
	slices.SortFunc(rows, func(a, b wire.Row) int { return cmp.Compare(a.ID, b.ID) })
	return rows, f.Fault()
}

// clones returns the names in the string table whose canonical name is canonicalName. The keys are
// string indexes.
func (t *encodedTable) clones(canonicalName string) (map[uint32]string, error) {
	names := make(map[uint32]string)
	f := t.strings
	f.SomeStrings(func(n int, label []byte) bool { return mayBeClone(canonicalName, n, label) },
		func(index uint32, found []byte) bool {
			if name := string(found); symname.Canonical(name) == canonicalName {
				names[index] = name
			}
			return true
		})
	return names, f.Fault()
}

// mayBeClone reports whether a string can be name itself or name followed by '.' and more. The
// first n bytes of the string are known to match; label is how the string continues.
func mayBeClone(name string, n int, label []byte) bool {
	if n > len(name) {
		return true
	}
	rest := name[n:]
	if len(label) <= len(rest) {
		return rest[:len(label)] == string(label)
	}
	return string(label[:len(rest)]) == rest && label[len(rest)] == '.'
}

// rowsInOrder returns the rows of the wanted symbol IDs, which must be in ascending order. It works
// for a table that has one row for each ID of the unit's range, in order, as the builder writes it:
// then the ID gives the position of the row, and no other rows are decoded. It returns false if a
// row at such a position has another ID.
func (t *encodedTable) rowsInOrder(wanted []wantedID) (rows []wire.Row, ok bool) {
	f := t.symbols
	count, next := f.RowCount(), 0
	for i, w := range wanted {
		if i > 0 && w.id == wanted[i-1].id {
			continue
		}
		distance := uint32(w.id) - t.unit.Start
		if uint64(distance) >= uint64(count) {
			return nil, false
		}
		place := int(distance)
		f.SkipRows(place - next)
		row := f.Row()
		if f.Err != nil || row.ID != uint32(w.id) {
			return nil, false
		}
		rows, next = append(rows, row), place+1
	}
	return rows, true
}

// someNames returns the names of the given rows by string index. It returns false if they are
// longer than limit bytes in total.
func (t *encodedTable) someNames(rows []wire.Row, limit int) (names map[uint32]string, ok bool) {
	f := t.strings
	count := f.StringCount()
	missing := 0
	wanted := wire.NewBitSet(count)
	for _, row := range rows {
		if uint64(row.String) >= uint64(count) {
			return nil, false
		}
		if !wanted.Has(row.String) {
			wanted.Add(row.String)
			missing++
		}
	}
	names = make(map[uint32]string, missing)
	f = t.strings
	f.PickStrings(wanted, func(index uint32, name []byte) bool {
		names[index] = string(name)
		limit -= len(name)
		return len(names) < missing && limit >= 0
	})
	return names, len(names) == missing && limit >= 0
}
