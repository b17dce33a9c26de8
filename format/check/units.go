package check

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// unitEntry is an entry of the file names section.
type unitEntry struct {
	wire.Unit
	pos  int // position of the path
	path []byte
}

// units checks the file names section and the tables of each unit.
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

// entries reads the file names section. It reports whether it reached the end.
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

// stringTable is the result of checking a string table.
type stringTable struct {
	count int // number of strings, -1 if unknown
	names int // total length of the strings
}

// stringTable checks a string table, unless it has been checked before.
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

// spell adds a string table to the memory that a Reader needs for decoded tables. It reports a
// table that a Reader would refuse to decode because of the units before it.
func (k *checker) spell(table afdo.Section, strings stringTable) {
	limit := v4.MaxTableBytes(k.maxNameBytes(), int64(len(k.data)))
	if k.tables >= limit && !k.tablesOver {
		k.tablesOver = true
		k.fault(faultAt(table, 0, afdo.ErrLimit, "the names of the units exceed %d bytes, see afdo.MaxNameBytes", limit))
	}
	k.tables += max(table.Size, 16*int64(strings.count)+int64(strings.names))
}

// rows checks a symbol names section. It reports whether it reached the end. n is the number of
// strings, -1 if unknown.
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

// row checks a row of a symbol names section, except its name.
func (k *checker) row(s afdo.Section, pos int, row wire.Row, u *unitEntry) {
	if u.Start <= u.End && !u.Has(row.ID) {
		k.fault(faultAt(s, pos, afdo.ErrSymbol, "symbol ID %d, the unit has %d to %d", row.ID, u.Start, u.End))
	}
	k.ids.add(row.ID, s, pos)
	if row.Info != wire.NoInfo && k.inRange(s, pos, ref{row.Info, afdo.SectionSymbolInfo}) {
		k.use(int(row.Info), afdo.SectionSymbolInfo)
	}
}

// trieChecker checks a string table without expanding its strings, which may be a thousand times as
// long as the table.
type trieChecker struct {
	wire.Trie
	sec      afdo.Section
	k        *checker
	root     int
	found    wire.IndexSet // string indexes found so far
	missing  int           // number of string indexes not found yet
	names    int           // total length of the strings
	limited  bool          // exceeding the limit on names has been reported
	overlong bool
	firsts   []wire.BitSet // by frame: the first bytes of the labels so far
	odd      bool          // two paths may spell the same string
}

// trie checks a string table.
func (k *checker) trie(f fields) stringTable {
	start := f
	n := f.StringCount()
	if f.Err != nil {
		k.fault(f.err())
		return stringTable{count: -1}
	}
	k.overlong(&f, 1, wire.VarintLen(uint64(n)), new(bool))
	c := trieChecker{Trie: wire.Trie{Fields: &f.Fields}, sec: f.sec, k: k, root: f.Pos, found: wire.NewIndexSet(n, n), missing: n}
	c.run(n)
	if k.end(&f) && c.missing > 0 {
		k.fault(faultAt(f.sec, f.Pos, afdo.ErrTrie, "%d of %d strings are missing", c.missing, n))
	}
	if c.odd && f.Err == nil {
		k.duplicates(start)
	}
	return stringTable{n, c.names}
}

func (c *trieChecker) run(n int) {
	for ok := true; ok && c.Err == nil && !c.k.stopped; ok = c.child() {
		pos := c.Pos
		children, terminal, id := c.Node()
		if c.Err != nil {
			return
		}
		least := 1
		if terminal {
			least += wire.VarintLen(id)
			c.terminal(pos, id, n)
		} else if children == 0 && pos != c.root {
			c.k.fault(faultAt(c.sec, pos, afdo.ErrTrie, "a leaf at which no string ends"))
		}
		c.k.overlong(&fields{c.sec, *c.Fields}, pos, least, &c.overlong)
		c.descend(children)
	}
}

// terminal checks the string index of a terminal at pos.
func (c *trieChecker) terminal(pos int, id uint32, n int) {
	switch {
	case uint64(id) >= uint64(n):
		c.k.fault(faultAt(c.sec, pos, afdo.ErrTrie, "string index %d, but the table has %d strings", id, n))
	case c.found.Add(id):
		c.k.fault(faultAt(c.sec, pos, afdo.ErrTrie, "duplicate string index %d", id))
	default:
		c.missing--
	}
	limit := c.k.maxNameBytes()
	if c.Prefix > limit-c.names && !c.limited {
		c.limited = true
		c.k.fault(faultAt(c.sec, pos, afdo.ErrLimit, "the names of the unit exceed %d bytes, see afdo.MaxNameBytes", limit))
	}
	if !c.limited {
		c.names += c.Prefix
	}
}

func (c *trieChecker) descend(children int) {
	c.Trie.Descend(children)
	switch depth := len(c.Frames); {
	case depth > len(c.firsts):
		c.firsts = append(c.firsts, wire.NewBitSet(256))
	case children > 0:
		clear(c.firsts[depth-1])
	}
}

// child moves to the next child.
func (c *trieChecker) child() bool {
	pos, depth := c.Pos, len(c.Frames)
	_, label, ok := c.Trie.Child()
	if !ok {
		return false
	}
	if len(label) == 0 || c.firsts[depth-1].Has(uint32(label[0])) {
		c.odd = true
	} else {
		c.firsts[depth-1].Add(uint32(label[0]))
	}
	c.k.overlong(&fields{c.sec, *c.Fields}, pos, wire.VarintLen(uint64(len(label)))+len(label), &c.overlong)
	return true
}

// duplicates searches for a string that two paths of a trie spell. It merges all paths byte by byte
// into a trie of states, each of which is reached in only one way.
func (k *checker) duplicates(f fields) {
	f.StringCount()
	t := wire.Trie{Fields: &f.Fields}
	next := map[uint64]uint64{} // by state and byte
	ends := map[uint64]bool{}   // states at which a string ends
	var states []uint64         // state of the parent, by frame
	var name []byte
	state := uint64(0)
	for ok := true; ok && !k.stopped; {
		pos := f.Pos
		children, terminal, _ := f.Node()
		if terminal && ends[state] {
			k.fault(faultAt(f.sec, pos, afdo.ErrTrie, "duplicate string %.100q", name))
		} else if terminal {
			ends[state] = true
		}
		if t.Descend(children); children > 0 {
			states = append(states[:len(t.Frames)-1], state)
		}
		depth := len(t.Frames)
		var parent int
		var label []byte
		if parent, label, ok = t.Child(); !ok {
			return
		}
		name = append(name[:parent], label...)
		state = states[depth-1]
		for _, b := range label {
			step := state<<8 | uint64(b)
			if state = next[step]; state == 0 {
				state = uint64(len(next)) + 1
				next[step] = state
			}
		}
	}
}
