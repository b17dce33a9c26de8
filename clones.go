package afdo

import (
	"cmp"
	"iter"
	"slices"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Clones iterates, by ascending ID, over the symbols of the unit that have a canonical name: the
// name itself and those that continue it with a '.', such as f, f.part.0 and f.constprop.1 for "f".
// A name with a '.' in it has none. It costs what [Unit.Symbol] costs. An error ends the iteration.
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
	if u.r.closed() {
		return nil, ErrClosed
	}
	enc, err := u.encodedNames()
	if err != nil {
		return nil, err
	}
	names := make(map[uint32]string)
	f := enc.strings
	f.findClones(canonicalName, func(index uint32, name []byte) {
		if n := string(name); canonical.Name(n) == canonicalName {
			names[index] = n
		}
	})
	if f.Err != nil || len(names) == 0 {
		return nil, f.err()
	}
	rows, err := enc.someRows(&u.entry, func(row wire.Row) bool {
		_, ok := names[row.String]
		return ok
	})
	found := make([]Symbol, len(rows))
	for i, row := range rows {
		found[i] = Symbol{unit: u, name: names[row.String], id: SymbolID(row.ID), info: row.Info}
	}
	return found, err
}

// encodedNames returns the unit's tables as they are in the file.
func (u *Unit) encodedNames() (*encodedTable, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.encodedTable()
}

// someRows returns the rows that are wanted, by ascending symbol ID.
func (enc *encodedTable) someRows(e *unitEntry, wanted func(wire.Row) bool) ([]wire.Row, error) {
	var rows []wire.Row
	f := enc.symbols
	for range f.RowCount() {
		pos := f.Pos
		row := f.Row()
		if f.checkRow(pos, row, e); f.Err != nil {
			return nil, f.err()
		}
		if wanted(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b wire.Row) int { return cmp.Compare(a.ID, b.ID) })
	return rows, f.err()
}

// findClones calls yield for each string of a string table that is name or goes on with a '.' after
// it.
func (f *fields) findClones(name string, yield func(index uint32, name []byte)) {
	f.someStrings(func(n int, label []byte) bool { return mayBeClone(name, n, label) }, func(index uint32, found []byte) bool {
		if len(found) >= len(name) {
			yield(index, found)
		}
		return true
	})
}

// mayBeClone reports whether a string may be name or go on with a '.' after it: one whose first n
// bytes are so, and which goes on with label.
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
