package afdo

import (
	"errors"
	"iter"
	"math/bits"
	"slices"
)

// A Problem is something that [Reader.Check] finds.
type Problem struct {
	*FormatError

	// Remark tells what is odd, but legal, from what is a fault.
	Remark bool
}

// Check reads the whole file and yields every problem of it, not just the
// first: each with its section, byte offset, what was expected and what was found.
//
// Faults are whatever makes another method fail, and what they tolerate or never see: bytes between sections and behind a section's data,
// sections that nothing or several things refer to, references to symbols that do not exist, units of one
// name, a missing unknown-file unit, a string table that holds a string twice. Remarks are over-long varints, one a section, and a
// summary that does not agree with the data, as that of a slice of a profile does not.
// Where a section cannot be decoded any further, its first fault is the last.
//
// A file without faults can be walked without error. For a file whose section table has faults, open it with [Lenient].
//
// An error that is not the file's ends the iteration. Check takes about as
// long as walking all records does, and keeps some bytes a symbol and a section in memory.
func (r *Reader) Check() iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		k := checker{r: r, yield: yield, users: make([]uint8, r.table.len())}
		k.run()
	}
}

// checker is one run of Check.
type checker struct {
	r       *Reader
	yield   func(Problem, error) bool
	stopped bool // by an error or by the caller
	users   []uint8
	ids     symbolIDs
	infos   []unitInfos
	tally   tally
}

// unitInfos is the info sections that the symbols of one unit refer to.
type unitInfos struct {
	from Section // symbol names
	refs []sectionRef
}

// fault yields a fault, or the error of a read.
func (k *checker) fault(err error) {
	var e *FormatError
	switch {
	case k.stopped || err == nil:
	case errors.As(err, &e):
		k.stopped = !k.yield(Problem{FormatError: e}, nil)
	default:
		k.yield(Problem{}, err)
		k.stopped = true
	}
}

func (k *checker) remark(s Section, pos int, class error, format string, args ...any) {
	if !k.stopped {
		e := s.errorAt(pos, class, format, args...).(*FormatError)
		k.stopped = !k.yield(Problem{FormatError: e, Remark: true}, nil)
	}
}

func (k *checker) run() {
	for _, err := range k.r.table.faults {
		k.fault(err)
	}
	k.gaps()
	summary := k.summary()
	k.units()
	k.ids.sort(k)
	k.allInfos()
	k.unused()
	if summary != nil {
		k.tally.compare(k, summary)
	}
}

// gaps reports bytes of the file that are in no section.
func (k *checker) gaps() {
	end := k.r.table.end
	for i := range k.r.table.len() {
		e := k.r.table.extent(i)
		if e.size == 0 {
			continue
		}
		k.gap(i, end, e.off)
		end = max(end, e.off+e.size)
	}
	k.gap(HeaderSection, end, k.r.src.size)
}

// gap reports the bytes from one offset to another, before section index.
func (k *checker) gap(index int, from, to int64) {
	if from < to {
		k.fault(Section{Index: index, Offset: from}.errorAt(0, ErrUnused, "%d bytes from offset %d to %d are in no section", to-from, from, to))
	}
}

// section opens a section for a reference to it.
func (k *checker) section(index int, want SectionType) (fields, bool) {
	if k.stopped {
		return fields{}, false
	}
	f, err := k.r.open(index, want)
	k.use(index)
	k.fault(err)
	return f, err == nil && !k.stopped
}

// use counts a reference to a section.
func (k *checker) use(index int) {
	if k.users[index] < 2 {
		k.users[index]++
	}
}

// ref is section for an index that a field at pos of from holds.
func (k *checker) ref(from Section, pos int, ref sectionRef) (fields, bool) {
	if uint64(ref.index) >= uint64(k.r.table.len()) {
		k.fault(k.r.badIndex(from, pos, ref))
		return fields{}, false
	}
	return k.section(int(ref.index), ref.want)
}

// end reports what a section has behind its data, or why it could not be read so far.
func (k *checker) end(f *fields) {
	if f.err != nil {
		k.fault(f.err)
	} else if f.rest() > 0 {
		k.fault(f.sec.errorAt(f.pos, ErrUnused, "%d bytes behind the data of the section", f.rest()))
	}
}

// overlong looks for varints that are longer than they need be. It goes by
// what was read from pos on: the sizes that the values would have had.
func (k *checker) overlong(f *fields, pos, least int, found *bool) {
	if f.sec.Compact && f.err == nil && f.pos-pos > least && !*found {
		*found = true
		k.remark(f.sec, pos, ErrOverlong, "%d bytes hold what fits %d", f.pos-pos, least)
	}
}

// varintLen is the length of the shortest varint of a value.
func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func (k *checker) summary() *Summary {
	f, ok := k.section(k.r.table.fixedSection(SectionSummary).index, SectionSummary)
	if !ok {
		return nil
	}
	s := f.summary()
	k.end(&f)
	if f.err != nil {
		return nil
	}
	twin := NewWriter(true)
	twin.Begin(SectionSummary, true)
	twin.PutSummary(s)
	var found bool
	k.overlong(&f, 1, twin.Len()-1, &found)
	k.tally.prepare(s)
	return s
}

// units checks the file names section and the tables of each unit.
func (k *checker) units() {
	f, ok := k.section(k.r.table.fixedSection(SectionFileNames).index, SectionFileNames)
	if !ok {
		return
	}
	n := f.count(uint64(f.uint32()), 4+1+16, 1+1+4, "units")
	var overlong bool
	k.overlong(&f, 1, varintLen(uint64(n)), &overlong)
	d := &directory{sec: f.sec, data: f.data}
	for range n {
		var e unitEntry
		pos := f.pos
		if f.unitEntry(&e); f.err != nil {
			break
		}
		k.overlong(&f, pos, e.compactLen(), &overlong)
		d.entries = append(d.entries, e)
	}
	k.end(&f)
	k.directory(d)
	for i := range d.entries {
		if k.stopped {
			return
		}
		k.unit(d, &d.entries[i])
	}
}

// compactLen is the least that the entry takes in compact mode.
func (e *unitEntry) compactLen() int {
	return varintLen(uint64(e.nameLen)+1) + int(e.nameLen) + 1 +
		varintLen(uint64(e.strings)) + varintLen(uint64(e.symbols)) +
		varintLen(uint64(e.start)) + varintLen(uint64(e.end))
}

// directory checks names and symbol ID ranges of the units.
func (k *checker) directory(d *directory) {
	seen := make(map[string]bool, len(d.entries))
	for i := range d.entries {
		e := &d.entries[i]
		path := string(d.path(e))
		if seen[path] {
			k.fault(d.sec.errorAt(e.name, ErrName, "unit %q stands twice", path))
		}
		seen[path] = true
	}
	if !seen[""] {
		k.fault(d.sec.errorAt(1, ErrMissing, "there is no unit for symbols with unknown file"))
	}
	d.rank()
	for i := 1; i < d.numRanked(); i++ {
		a, b := &d.entries[d.ranked(i-1)], &d.entries[d.ranked(i)]
		if b.start < a.end {
			k.fault(d.overlap(b))
		}
	}
}

// unit checks string table and symbol names of one unit.
func (k *checker) unit(d *directory, e *unitEntry) {
	strings := k.strings(d, e)
	f, ok := k.ref(d.sec, e.name, sectionRef{e.symbols, SectionSymbolNames})
	if !ok {
		return
	}
	infos := unitInfos{from: f.sec}
	n := f.rowCount()
	var overlong bool
	k.overlong(&f, 1, varintLen(uint64(n)), &overlong)
	for range n {
		pos := f.pos
		row := f.symbolRow()
		if f.err != nil || k.stopped {
			break
		}
		k.overlong(&f, pos, varintLen(uint64(row.str))+varintLen(uint64(row.id))+varintLen(uint64(row.info)), &overlong)
		k.row(&f, pos, row, e, strings)
		if row.info != noInfo {
			infos.refs = append(infos.refs, sectionRef{row.info, SectionSymbolInfo})
		}
	}
	k.end(&f)
	k.infos = append(k.infos, infos)
}

// row checks one row of a symbol names section; unknown as strings is -1.
func (k *checker) row(f *fields, pos int, row symbolRow, e *unitEntry, strings int) {
	if !e.has(row.id) {
		k.fault(f.sec.errorAt(pos, ErrSymbol, "symbol ID %d, the unit has %d to %d", row.id, e.start, e.end))
	}
	if strings >= 0 && uint64(row.str) >= uint64(strings) {
		k.fault(f.sec.errorAt(pos, ErrSymbol, "string index %d, the unit has %d strings", row.str, strings))
	}
	k.ids.add(f.sec, row.id)
}

// strings checks the string table of a unit and returns how many strings it has, -1 if that is not known.
func (k *checker) strings(d *directory, e *unitEntry) int {
	f, ok := k.ref(d.sec, e.name, sectionRef{e.strings, SectionStringTable})
	if !ok {
		return -1
	}
	names, err := f.names(k.r.opts.maxNameBytes)
	if err != nil {
		k.fault(err)
		return -1
	}
	k.end(&f)
	seen := make(map[string]bool, len(names.index))
	for i := range names.index {
		name := names.name(uint32(i))
		if seen[name] {
			k.fault(f.sec.errorAt(1, ErrTrie, "string %q stands twice", clip(name)))
		}
		seen[name] = true
	}
	k.trie(f)
	return len(names.index)
}

// clip shortens a name for a message.
func clip(name string) string {
	const most = 100
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}

// trie looks for over-long varints and for leaves at which no string ends, in a trie that can be decoded.
func (k *checker) trie(f fields) {
	f.pos = 1
	var overlong bool
	pos := f.pos
	k.overlong(&f, pos, varintLen(uint64(f.uint32())), &overlong)
	root := f.pos
	for pending := 1; pending > 0 && !k.stopped; pending-- {
		pos = f.pos
		children, terminal, id := f.node()
		least := 1
		if terminal {
			least += varintLen(uint64(id))
		} else if children == 0 && pos != root {
			k.fault(f.sec.errorAt(pos, ErrTrie, "a leaf at which no string ends"))
		}
		k.overlong(&f, pos, least, &overlong)
		pending += children
		if pending > 1 {
			pos = f.pos
			n := len(f.label())
			k.overlong(&f, pos, varintLen(uint64(n))+n, &overlong)
		}
	}
}

// allInfos checks the symbol infos, those of a unit with as few reads as their places allow.
func (k *checker) allInfos() {
	c := new(Cursor)
	for _, infos := range k.infos {
		refs := infos.refs
		slices.SortFunc(refs, func(a, b sectionRef) int { return int(int64(a.index) - int64(b.index)) })
		if sections, err := k.r.openAll(infos.from, 0, refs); err == nil {
			for i, f := range sections {
				k.use(int(refs[i].index))
				k.info(c, f)
			}
			continue
		}
		for _, ref := range refs {
			if f, ok := k.ref(infos.from, 0, ref); ok {
				k.info(c, f)
			}
		}
	}
}

// info checks one symbol info section.
func (k *checker) info(c *Cursor, f fields) {
	if k.stopped {
		return
	}
	pos := f.pos
	i := Info{HeadCount: f.uint64(), Timestamp: f.uint64()}
	i.locations = uint32(f.locationCount())
	i.f = f
	var overlong bool
	k.overlong(&f, pos, varintLen(i.HeadCount)+varintLen(i.Timestamp)+varintLen(uint64(i.locations)), &overlong)
	k.tally.function(i.HeadCount)
	c.Reset(i)
	for pos = c.f.pos; c.Next() && !k.stopped; pos = c.f.pos {
		k.location(c, pos, &overlong)
	}
	k.end(&c.f)
}

// location checks the record at pos, at which the cursor has arrived.
func (k *checker) location(c *Cursor, pos int, overlong *bool) {
	l, mask := c.Location(), c.f.data[pos]
	least := 1 + varintLen(uint64(l.Line))
	if mask&discriminatorFlag != 0 {
		least += varintLen(uint64(l.Discriminator))
	}
	switch {
	case l.Type.isCount():
		k.tally.count(l.Count)
		if l.Type != LocationZero {
			least += varintLen(l.Count)
		}
	case l.Type == LocationInlinedFn:
		k.defined(c, pos, l.Callee)
		least += varintLen(uint64(l.Callee)) + varintLen(uint64(l.NumLocations))
	default:
		if l.Type == LocationCalledFns {
			least += varintLen(uint64(l.NumTargets))
		}
		for t, ok := c.NextTarget(); ok; t, ok = c.NextTarget() {
			k.defined(c, pos, t.Callee)
			least += varintLen(uint64(t.Callee)) + varintLen(t.Count)
		}
	}
	// Records of unknown types that were passed over on the way are not looked into.
	if LocationType(mask&locationTypeMask) == l.Type {
		k.overlong(&c.f, pos, least, overlong)
	}
}

// defined checks that a symbol ID in the record at pos leads to a symbol.
func (k *checker) defined(c *Cursor, pos int, id SymbolID) {
	if !k.ids.has(id) {
		k.fault(c.f.sec.errorAt(pos, ErrSymbol, "symbol ID %d, the file has no such symbol", id))
	}
}

// unused reports sections of the RFC's types that not exactly one thing refers to.
func (k *checker) unused() {
	for i, users := range k.users {
		if users == 1 || k.stopped {
			continue
		}
		s, err := k.r.Section(i)
		if err != nil {
			k.fault(err)
			continue
		}
		if int(s.Type) >= len(sectionTypeNames) || sectionTypeNames[s.Type] == "" {
			continue
		}
		if users == 0 {
			k.fault(s.errorAt(0, ErrUnused, "nothing refers to the section"))
		} else {
			k.fault(s.errorAt(0, ErrUnused, "more than one reference to the section"))
		}
	}
}
