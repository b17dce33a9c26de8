package afdo

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/wire"
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
// name, a missing unknown-file unit, a string table that holds a string twice. Remarks are over-long varints, one a section, a
// summary that does not agree with the data, as that of a slice of a profile does not, and symbols
// of one name in a unit, of which a lookup finds the first.
// Where a section cannot be decoded any further, its first fault is the last, and nothing is said of what
// the rest would have led to.
//
// An index (see [Reader.Index]) and what it says, checksums above all, are compared with the rest of the file. Of
// what it finds units and symbols by, the first fault is reported, and only where all else is
// without fault; of unqualified names only with [CheckUnqualified] of their scheme, and of fingerprints nothing.
//
// A file without faults can be walked without error. For a file whose section table has faults, open it with [Lenient].
//
// An error that is not the file's ends the iteration. Check looks at every byte once, whatever refers to it, and spells
// no names out, unless there is an index: it takes about as long as walking all records does, and keeps some bytes a symbol and a section in
// memory, and for a string table of an odd shape some thirty for each of its bytes. Where sections
// overlap, it gives up with [ErrLimit] once it has read four times the file.
func (r *Reader) Check() iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		k := checker{
			yield:   yield,
			left:    overlapping * min(r.src.size, math.MaxInt64/overlapping),
			strings: make(map[uint32]stringTable),
		}
		t, err := r.scanned()
		if err != nil {
			k.fault(err)
			return
		}
		k.t, k.r, k.uses = t, r.unchecked(t), make([]uses, t.len())
		k.run()
	}
}

// overlapping is how many times its size Check may read of a file. It reads each section once, so
// only sections that overlap, which a lenient Reader lets pass, get there.
const overlapping = 4

// checker is one run of Check.
type checker struct {
	r          *Reader
	t          *sectionTable // of r
	yield      func(Problem, error) bool
	stopped    bool  // by an error or by the caller
	faults     int   // so far
	left       int64 // bytes that may still be read
	uses       []uses
	lost       [SectionSymbolInfo + 1]bool // types of which some reference may not have been seen
	incomplete bool                        // not all samples were seen
	strings    map[uint32]stringTable      // by section
	tables     int64                       // bytes that a Reader needs for the tables of the units so far
	ids        symbolIDs
	tally      tally
}

// stringTable is what is known of a string table.
type stringTable struct {
	count int // of strings, -1 if that is not known
	names int // sum of their lengths
}

// uses is what is known of the references to a section: whether there are
// some, whether there are several, and which types they want.
type uses uint8

const (
	usedOnce  uses = 1 << 0
	usedAgain uses = 1 << 1
)

func usedAs(want SectionType) uses { return 1 << (2 + want) }

// use notes a reference to a section and reports whether it is the first one that wants that type.
func (k *checker) use(index int, want SectionType) bool {
	before := k.uses[index]
	k.uses[index] |= usedOnce | usedAs(want)
	if before != 0 {
		k.uses[index] |= usedAgain
	}
	return before&usedAs(want) == 0
}

// fault yields a fault, or the error of a read.
func (k *checker) fault(err error) {
	var e *FormatError
	switch {
	case k.stopped || err == nil:
	case errors.As(err, &e):
		k.faults++
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
	k.table()
	k.header()
	k.gaps()
	summary := k.summary()
	k.units()
	k.ids.sort(k)
	k.infos()
	k.unused()
	if summary != nil && !k.incomplete {
		k.compareSummary(*summary)
	}
	k.index()
}

// table reports the faults of the section table by reading it again.
func (k *checker) table() {
	if !k.t.faulty {
		return
	}
	again := Reader{src: k.r.src, opts: k.r.opts}
	k.fault(again.readHeader(&sectionTable{onFault: func(fault error) error {
		k.fault(fault)
		return nil
	}}))
}

// header looks for over-long varints in the header and the section table.
func (k *checker) header() {
	f := headerFields(k.t.Data)
	var found bool
	for range 5 + 2*k.t.count {
		if !f.sec.Compact || found {
			return
		}
		pos := f.Pos
		k.overlong(&f, pos, wire.VarintLen(f.Uint64()), &found)
	}
}

// gaps reports bytes of the file that are in no section.
func (k *checker) gaps() {
	end := k.t.end
	for i := range k.t.len() {
		if e := k.t.extent(i); e.size > 0 {
			k.gap(end, e.off)
			end = max(end, e.off+e.size)
		}
	}
	k.gap(end, k.r.src.size)
}

// gap reports the bytes from one offset to another. They are in no section, so it is a fault of the section table.
func (k *checker) gap(from, to int64) {
	if from < to {
		k.fault(Section{Index: HeaderSection, Offset: from}.errorAt(0, ErrUnused, "%d bytes from offset %d to %d are in no section", to-from, from, to))
	}
}

// afford reports whether a section may still be read.
func (k *checker) afford(index int, want SectionType) bool {
	e := k.t.extent(index)
	if k.left -= e.size; k.left < 0 && k.left+e.size >= 0 {
		k.incomplete = true
		k.fault(newSection(index, e, byte(want)).errorAt(0, ErrLimit, "sections overlap so much that not all of them are checked"))
	}
	return k.left >= 0 && !k.stopped
}

// section opens a section that something refers to.
func (k *checker) section(index int, want SectionType) (fields, bool) {
	if !k.afford(index, want) {
		return fields{}, false
	}
	f, err := k.r.open(index, want)
	k.fault(err)
	return f, err == nil && !k.stopped
}

// inRange reports whether the file has the section to which a field at pos of from refers.
func (k *checker) inRange(from Section, pos int, ref sectionRef) bool {
	if uint64(ref.index) < uint64(k.t.len()) {
		return true
	}
	k.incomplete = true
	k.fault(k.r.badIndex(from, pos, ref))
	return false
}

// end reports what a section has behind its data, or why it could not be read
// so far. It reports whether it could be.
func (k *checker) end(f *fields) bool {
	if f.Err == nil && f.Rest() > 0 {
		k.fault(f.sec.errorAt(f.Pos, ErrUnused, "%d bytes behind the data of the section", f.Rest()))
	}
	k.fault(f.err())
	return f.Err == nil
}

// overlong looks for varints that are longer than they need be. It goes by
// what was read from pos on: the sizes that the values would have had.
func (k *checker) overlong(f *fields, pos, least int, found *bool) {
	if f.sec.Compact && f.Err == nil && f.Pos-pos > least && !*found {
		*found = true
		k.remark(f.sec, pos, ErrOverlong, "%d bytes hold what fits %d", f.Pos-pos, least)
	}
}

// varintLen is the length of the shortest varint of a value.
func varintLen[T ~uint32 | ~uint64](v T) int { return (bits.Len64(uint64(v)|1) + 6) / 7 }

// summary checks the summary section and returns its fields.
func (k *checker) summary() *fields {
	index := k.t.fixedSection(SectionSummary).index
	k.use(index, SectionSummary)
	f, ok := k.section(index, SectionSummary)
	if !ok {
		return nil
	}
	start := f
	s := f.summary()
	if !k.end(&f) {
		return nil
	}
	twin, again := wire.Encoder{Compact: true}, start
	twin.Summary(again.Fields.Summary())
	k.overlong(&f, 1, len(twin.Data), new(bool))
	k.tally.prepare(s)
	return &start
}

// units checks the file names section and the tables of each unit.
func (k *checker) units() {
	index := k.t.fixedSection(SectionFileNames).index
	k.use(index, SectionFileNames)
	d := &directory{}
	complete := false
	if f, ok := k.section(index, SectionFileNames); ok {
		complete = k.entries(d, &f)
		k.paths(d, complete)
		k.ranges(d)
	}
	if !complete {
		k.lost[SectionStringTable], k.lost[SectionSymbolNames] = true, true
		k.lose(0, math.MaxUint32)
	}
	for i := range d.entries {
		if k.stopped {
			return
		}
		k.unit(d, &d.entries[i])
	}
}

// entries reads the file names section into d and reports whether it could be read to the end.
func (k *checker) entries(d *directory, f *fields) bool {
	d.sec, d.data = f.sec, f.Data
	n := f.UnitCount()
	var overlong bool
	k.overlong(f, 1, wire.VarintLen(uint64(n)), &overlong)
	for range n {
		var e unitEntry
		pos := f.Pos
		name := f.unitFields(&e)
		if f.Err != nil {
			break
		}
		for _, fault := range []*wire.Fault{e.nameFault(name), e.rangeFault()} {
			if fault != nil {
				k.fault(f.sec.errorOf(fault))
			}
		}
		least := wire.VarintLen(uint64(len(name))) + len(name) +
			wire.VarintLen(e.Strings) + wire.VarintLen(e.Symbols) + wire.VarintLen(e.Start) + wire.VarintLen(e.End)
		k.overlong(f, pos, least, &overlong)
		d.entries = append(d.entries, e)
	}
	return k.end(f)
}

// paths checks that each path stands once and the empty one among them.
func (k *checker) paths(d *directory, complete bool) {
	seen := make(map[string]bool, len(d.entries))
	for i := range d.entries {
		e := &d.entries[i]
		path := d.path(e)
		if seen[string(path)] {
			k.fault(d.sec.errorAt(e.name, ErrName, "unit %.200q stands twice", path))
			continue
		}
		seen[string(path)] = true
	}
	if !seen[""] && complete {
		k.fault(d.sec.errorAt(1, ErrMissing, "there is no unit for symbols with unknown file"))
	}
}

// ranges checks that no symbol ID belongs to two units.
func (k *checker) ranges(d *directory) {
	order := make([]uint32, 0, len(d.entries))
	for i := range d.entries {
		if e := &d.entries[i]; e.Start < e.End {
			order = append(order, uint32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(d.entries[a].Start, d.entries[b].Start) })
	end := uint32(0)
	for _, i := range order {
		e := &d.entries[i]
		if e.Start < end {
			k.fault(d.overlap(e))
		}
		end = max(end, e.End)
	}
}

// unit checks string table and symbol names of one unit.
func (k *checker) unit(d *directory, e *unitEntry) {
	names := stringTable{count: -1}
	if k.inRange(d.sec, e.name, sectionRef{e.Strings, SectionStringTable}) {
		names = k.stringTable(e.Strings)
	}
	complete := false
	if k.inRange(d.sec, e.name, sectionRef{e.Symbols, SectionSymbolNames}) {
		if !k.use(int(e.Symbols), SectionSymbolNames) {
			k.ids.lose(e.Start, e.End) // the rows are another unit's and were checked for that
			return
		}
		if f, ok := k.section(int(e.Symbols), SectionSymbolNames); ok {
			rows := f
			complete = k.rows(&f, e, names.count)
			k.size(e, names, rows)
		}
	}
	if !complete {
		k.lose(e.Start, e.End)
	}
}

// lose notes that there may be symbols, with IDs from start to end, that were not seen.
func (k *checker) lose(start, end uint32) {
	k.lost[SectionSymbolInfo] = true
	k.incomplete = true
	k.ids.lose(start, end)
}

// size reports a unit whose names a Reader would not spell out any more, for all that it
// has of the units before. It counts rather too much than too little.
func (k *checker) size(e *unitEntry, names stringTable, rows fields) {
	if names.count < 0 {
		return
	}
	limit := k.r.maxTableBytes()
	table := k.t.extent(int(e.Strings))
	if k.tables < limit {
		sections := table.size + int64(len(rows.Data))
		k.tables += max(sections, 16*int64(names.count)+16*int64(rows.RowCount())+int64(names.names))
		return
	}
	if k.tables < math.MaxInt64 {
		k.fault(newSection(int(e.Strings), table, byte(SectionStringTable)).errorAt(0, ErrLimit, "%s", tableLimit(limit)))
		k.tables = math.MaxInt64 // said once
	}
}

// stringTable checks a string table unless that has been done.
func (k *checker) stringTable(index uint32) stringTable {
	if k.use(int(index), SectionStringTable) {
		k.strings[index] = stringTable{count: -1}
		if f, ok := k.section(int(index), SectionStringTable); ok {
			k.strings[index] = k.trie(f)
		}
	}
	return k.strings[index]
}

// rows checks a symbol names section and reports whether it could be read to
// the end. n is the number of strings, -1 if that is not known.
func (k *checker) rows(f *fields, e *unitEntry, n int) bool {
	count := f.RowCount()
	var overlong bool
	k.overlong(f, 1, wire.VarintLen(uint64(count)), &overlong)
	names := newIndexSet(n, count)
	k.ids.grow(count)
	for range count {
		pos := f.Pos
		row := f.Row()
		if f.Err != nil || k.stopped {
			break
		}
		k.row(f.sec, pos, row, e)
		switch {
		case n < 0:
		case uint64(row.String) >= uint64(n):
			k.fault(f.sec.errorAt(pos, ErrSymbol, "string index %d, the unit has %d strings", row.String, n))
		case names.add(row.String):
			k.remark(f.sec, pos, ErrSymbol, "string index %d a second time: two symbols of one name", row.String)
		}
		if f.sec.Compact {
			k.overlong(f, pos, wire.VarintLen(row.String)+wire.VarintLen(SymbolID(row.ID))+wire.VarintLen(row.Info), &overlong)
		}
	}
	return k.end(f)
}

// row checks what a row of a symbol names section says apart from the name.
func (k *checker) row(s Section, pos int, row wire.Row, e *unitEntry) {
	if e.Start <= e.End && !e.has(SymbolID(row.ID)) {
		k.fault(s.errorAt(pos, ErrSymbol, "symbol ID %d, the unit has %d to %d", SymbolID(row.ID), e.Start, e.End))
	}
	k.ids.add(SymbolID(row.ID), s, pos)
	if row.Info != wire.NoInfo && k.inRange(s, pos, sectionRef{row.Info, SectionSymbolInfo}) {
		k.use(int(row.Info), SectionSymbolInfo)
	}
}

// unused reports sections of the RFC's types that not exactly one thing refers to.
func (k *checker) unused() {
	for i, uses := range k.uses {
		if uses&(usedOnce|usedAgain) == usedOnce || k.stopped {
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
		if uses&usedAgain != 0 {
			k.fault(s.errorAt(0, ErrUnused, "more than one reference to the section"))
		} else if !k.lost[s.Type] {
			k.fault(s.errorAt(0, ErrUnused, "nothing refers to the section"))
		}
	}
}
