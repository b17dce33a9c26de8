package check

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A unitEntry is an entry of the file names section: a unit's path and the indexes of its sections.
type unitEntry struct {
	wire.Unit
	pos  int // position of the path
	path []byte
}

// units checks the file names section, and the string table and symbol names of each unit.
func (k *checker) units() {
	k.use(k.t.names, afdo.SectionFileNames)
	f, ok := k.section(k.t.names, afdo.SectionFileNames)
	var units []unitEntry
	complete := false
	if ok {
		units, complete = k.entries(&f)
		k.paths(f.sec, units, complete)
		k.ranges(f.sec, units)
	}
	if !complete {
		k.loseAll()
	}
	for i := range units {
		if k.stopped {
			return
		}
		k.unit(f.sec, &units[i])
	}
}

// entries reads the entries of the file names section. complete reports whether it could read all
// of them.
func (k *checker) entries(f *fields) (units []unitEntry, complete bool) {
	n := f.UnitCount()
	var overlong bool
	k.overlong(f, 1, wire.VarintLen(uint64(n)), &overlong)
	for range n {
		var u unitEntry
		pos := f.Pos
		var path []byte
		u.pos, path = f.Unit(&u.Unit)
		if f.Err != nil {
			break
		}
		if i := bytes.IndexByte(path, 0); i < 0 || i != len(path)-1 {
			k.fault(faultAt(f.sec, u.pos, afdo.ErrName, "%.200q is not a string that ends at its only NUL", path))
		}
		if u.Start > u.End {
			k.fault(faultAt(f.sec, u.pos, afdo.ErrSymbol, "symbol IDs from %d to %d", u.Start, u.End))
		}
		least := wire.VarintLen(uint64(len(path))) + len(path) +
			wire.VarintLen(u.Strings) + wire.VarintLen(u.Symbols) + wire.VarintLen(u.Start) + wire.VarintLen(u.End)
		k.overlong(f, pos, least, &overlong)
		u.path = path[:max(len(path), 1)-1]
		units = append(units, u)
	}
	return units, k.end(f)
}

// paths checks that there are no duplicate paths and that the empty path exists.
func (k *checker) paths(names afdo.Section, units []unitEntry, complete bool) {
	seen := make(map[string]bool, len(units))
	for _, u := range units {
		if seen[string(u.path)] {
			k.fault(faultAt(names, u.pos, afdo.ErrName, "duplicate unit %.200q", u.path))
			continue
		}
		seen[string(u.path)] = true
	}
	if !seen[""] && complete {
		k.fault(faultAt(names, 1, afdo.ErrMissing, "there is no unit for symbols with unknown file"))
	}
}

// ranges checks that no symbol ID belongs to two units.
func (k *checker) ranges(names afdo.Section, units []unitEntry) {
	order := make([]uint32, 0, len(units))
	for i := range units {
		if u := &units[i]; u.Start < u.End {
			order = append(order, uint32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(units[a].Start, units[b].Start) })
	end := uint32(0)
	for _, i := range order {
		u := &units[i]
		if u.Start < end {
			k.fault(faultAt(names, u.pos, afdo.ErrSymbol, "symbol IDs from %d to %d of unit %.200q overlap those of another unit", u.Start, u.End, u.path))
		}
		end = max(end, u.End)
	}
}

// unit checks the string table and the symbol names of a unit.
func (k *checker) unit(names afdo.Section, u *unitEntry) {
	strings := stringTable{count: -1}
	if k.inRange(names, u.pos, ref{u.Strings, afdo.SectionStringTable}) {
		strings = k.stringTable(u.Strings)
	}
	complete := false
	if k.inRange(names, u.pos, ref{u.Symbols, afdo.SectionSymbolNames}) {
		if !k.use(int(u.Symbols), afdo.SectionSymbolNames) {
			k.ids.lose(u.Start, u.End) // the rows belong to another unit, which has been checked
			return
		}
		if f, ok := k.section(int(u.Symbols), afdo.SectionSymbolNames); ok {
			rows := f
			k.tables += max(int64(len(f.Data)), 16*int64(rows.RowCount()))
			complete = k.rows(&f, u, strings.count)
		}
	}
	if !complete {
		k.lose(u.Start, u.End)
	}
}

// A stringTable is what the checker has found out about a string table, such as the number of
// strings.
type stringTable struct {
	count int // number of strings, -1 if unknown
	names int // total length of the strings
}

// stringTable checks the string table in the section with the given number, unless it was checked
// before. It returns the result of the check.
func (k *checker) stringTable(index uint32) stringTable {
	if k.use(int(index), afdo.SectionStringTable) {
		k.strings[index] = stringTable{count: -1}
		if f, ok := k.section(int(index), afdo.SectionStringTable); ok {
			k.strings[index] = k.trie(f)
			k.spell(f.sec, k.strings[index])
		}
	}
	return k.strings[index]
}

// spell adds the strings of a unit's string table to the memory that a Reader needs for decoded
// tables. It reports the table if a Reader would refuse to decode it, because together with the
// tables of earlier units it exceeds the limit.
func (k *checker) spell(table afdo.Section, strings stringTable) {
	limit := v4.MaxTableBytes(k.maxNameBytes(), int64(len(k.data)))
	if k.tables >= limit && !k.tablesOver {
		k.tablesOver = true
		k.fault(faultAt(table, 0, afdo.ErrLimit, "the names of the units exceed %d bytes, see afdo.MaxNameBytes", limit))
	}
	k.tables += max(table.Size, 16*int64(strings.count)+int64(strings.names))
}

// rows checks a symbol names section, which has a row for each symbol. It reports whether it could
// read all rows. n is the number of strings in the unit's string table, or -1 if that is unknown.
func (k *checker) rows(f *fields, u *unitEntry, n int) bool {
	count := f.RowCount()
	var overlong bool
	k.overlong(f, 1, wire.VarintLen(uint64(count)), &overlong)
	names := wire.NewIndexSet(n, count)
	k.ids.grow(count)
	for range count {
		pos := f.Pos
		row := f.Row()
		if f.Err != nil || k.stopped {
			break
		}
		k.row(f.sec, pos, row, u)
		switch {
		case n < 0:
		case uint64(row.String) >= uint64(n):
			k.fault(faultAt(f.sec, pos, afdo.ErrSymbol, "string index %d, but the unit has %d strings", row.String, n))
		case names.Add(row.String):
			k.fault(faultAt(f.sec, pos, afdo.ErrSymbol, "duplicate string index %d: two symbols of one name", row.String))
		}
		if f.Compact {
			k.overlong(f, pos, wire.VarintLen(row.String)+wire.VarintLen(row.ID)+wire.VarintLen(row.Info), &overlong)
		}
	}
	return k.end(f)
}

// row checks the fields of a row in a symbol names section: the symbol's ID and its section of
// samples. The name is checked elsewhere.
func (k *checker) row(s afdo.Section, pos int, row wire.Row, u *unitEntry) {
	if u.Start <= u.End && !u.Has(row.ID) {
		k.fault(faultAt(s, pos, afdo.ErrSymbol, "symbol ID %d, the unit has %d to %d", row.ID, u.Start, u.End))
	}
	k.ids.add(row.ID, s, pos)
	if row.Info != wire.NoInfo && k.inRange(s, pos, ref{row.Info, afdo.SectionSymbolInfo}) {
		k.use(int(row.Info), afdo.SectionSymbolInfo)
	}
}
