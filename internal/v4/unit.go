package v4

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Unit is an entry of the file names section, with the positions of its sections. A Reader embeds
// it by value in its own type. All methods may be called concurrently.
type Unit struct {
	wire.Unit
	Path string
	Rank int // position in the file names section

	file  *File
	names *Section // the file names section, in which pos counts
	pos   int      // position of the path

	run   *unitRun      // positions of its sections, if the index has them
	asked *atomic.Int64 // remote files: number of bytes that have been read ahead
}

func (v *File) newUnit(names *Section, rank int, e *unitEntry, path []byte) Unit {
	u := Unit{Unit: e.Unit, Path: string(path), Rank: rank, file: v, names: names, pos: e.name}
	if v.src.remote() {
		u.asked = new(atomic.Int64)
	}
	return u
}

// soleUnit decodes a unit whose entry was read alone. It returns false if the entry is invalid.
func (v *File) soleUnit(names Section, rank int, data []byte) (u Unit, ok bool) {
	f := names.fieldsAt(data, 0)
	var e unitEntry
	if f.entry(&e); f.Err != nil || f.Rest() > 0 {
		return Unit{}, false
	}
	return v.newUnit(&names, rank, &e, data[e.name:e.name+int(e.nameLen)]), true
}

// Tables reads the string table and the symbol names. If they are adjacent in the file, this takes
// one read. If buf is not nil, it reads them into *buf, which may be replaced by a larger slice.
func (u *Unit) Tables(buf *[]byte) (strings, symbols Fields, err error) {
	u.namesAhead()
	tables, err := u.file.openAll(buf, *u.names, u.pos, []Ref{{u.Strings, wire.StringTable}, {u.Symbols, wire.SymbolNames}}, math.MaxInt64)
	if err != nil {
		return Fields{}, Fields{}, err
	}
	return tables[0], tables[1], nil
}

// SymbolNames reads the symbol names.
func (u *Unit) SymbolNames() (Fields, error) {
	tables, err := u.file.openAll(nil, *u.names, u.pos, []Ref{{u.Symbols, wire.SymbolNames}}, math.MaxInt64)
	if err != nil {
		return Fields{}, err
	}
	return tables[0], nil
}

// Parted reports whether some names of the unit can be found with less work than all of them,
// because the index divides the unit's names into parts. wanted is the number of symbols whose
// names are needed. It must be at most one for each part: then a third of the parts or more need
// not be read. Parted reads nothing.
func (u *Unit) Parted(wanted int) bool {
	v := u.file
	if v.opts.SkipChecksums || v.src.remote() || uint64(wanted)*indexfmt.PartSize > uint64(u.End)-uint64(u.Start) {
		return false
	}
	x, err := v.Trusted()
	return err == nil && x != nil && x.Has(indexfmt.NameParts)
}

// Info reads a section of samples. Unless it is the first one read in the unit, which may remain
// the only one, Info also reads ahead the sections around it.
func (u *Unit) Info(index uint32, first bool) (Fields, error) {
	v := u.file
	if n := v.NumSections(); uint64(index) >= uint64(n) {
		e, err := v.extent(min(int(u.Symbols), n-1))
		if err != nil {
			return Fields{}, err
		}
		rows := Section{Index: int(u.Symbols), Type: wire.SymbolNames, Offset: e.off}
		return Fields{}, v.badIndex(rows, 0, Ref{index, wire.SymbolInfo})
	}
	if !first {
		u.infoAhead(index)
	}
	return v.Open(int(index), wire.SymbolInfo)
}

// Infos reads sections of samples to which the unit's symbol names refer, by ascending index. It
// reads nothing and returns nil if these sections together are larger than the file, which means
// that they overlap.
func (u *Unit) Infos(symbols Section, indexes []uint32) ([]Fields, error) {
	refs := make([]Ref, len(indexes))
	for i, index := range indexes {
		refs[i] = Ref{index, wire.SymbolInfo}
	}
	return u.file.openAll(nil, symbols, 0, refs, u.file.Size())
}

// Ahead reads ahead all sections of the unit or, if the unit is large, the names and some of the
// samples.
func (u *Unit) Ahead() { u.ahead(maxUnitBytes) }

// AheadOfAll is like Ahead, for callers that need all sections.
func (u *Unit) AheadOfAll() { u.ahead(maxWindowBytes) }

// span returns the range of the unit's sections, up to the next unit's first section, according to
// the file names section. It is empty if that section has not been read.
func (u *Unit) span() (from, to int) {
	d, t := u.file.dir.Load(), u.file.table.Load()
	if d == nil || t.sparse != nil {
		return 0, 0
	}
	first, last := min(u.Strings, u.Symbols), max(u.Strings, u.Symbols)
	if uint64(last) >= uint64(t.len()) {
		return 0, 0
	}
	begins := d.tableIndexes(t)
	if i, _ := slices.BinarySearch(begins, last+1); i < len(begins) {
		return int(first), min(int(begins[i]), t.len())
	}
	return int(first), t.len()
}

// ahead reads ahead all sections of the unit if they have at most most bytes, and otherwise the
// names and some of the samples. It does so once, even if the data has been dropped since.
func (u *Unit) ahead(most int64) {
	e := u.extent()
	if e.size == 0 {
		return
	}
	n := e.size
	if n > most {
		n = min(n, max(maxUnitBytes, u.namesExtent().size))
	}
	if before := u.asked.Swap(n); before >= n {
		u.asked.Store(before)
		return
	}
	u.file.src.ahead(e.off, n)
	if p := u.run; p != nil && n == e.size {
		u.vouchNames()
		names := p.NamesSize()
		u.file.vouch(p.first+2, u.file.src.windows.find(e.off+names, e.size-names), p.Infos, len(p.places)-2)
	}
}

// namesAhead reads ahead the string table and the symbol names, if their positions are in the
// index.
func (u *Unit) namesAhead() {
	if u.run != nil {
		u.file.src.ahead(u.extent().off, u.run.NamesSize())
		u.vouchNames()
	}
}

func (u *Unit) vouchNames() {
	p := u.run
	u.file.vouch(p.first, u.file.src.windows.find(p.places[0].off, p.NamesSize()), p.Names, 2)
}

// extent returns the range of the file that contains all sections of the unit, if the file is
// remote. It is empty if the range is unknown.
func (u *Unit) extent() extent {
	if !u.file.src.remote() {
		return extent{}
	}
	if p := u.run; p != nil {
		return extent{p.places[0].off, p.Size()}
	}
	from, to := u.span()
	if from == to {
		return extent{}
	}
	t := u.file.table.Load()
	first, last := t.extent(from), t.extent(to-1)
	return extent{first.off, last.off + last.size - first.off}
}

// infoAhead reads ahead the samples of a function, and some samples around them. index is the index
// of the section with the samples.
func (u *Unit) infoAhead(index uint32) {
	e := u.extent()
	if e.size == 0 || uint64(index) >= uint64(u.file.NumSections()) {
		return
	}
	info, err := u.file.extent(int(index))
	if err != nil || info.off < e.off || info.off+info.size > e.off+e.size {
		return
	}
	from := info.off - (info.off-e.off)%infoChunk
	to := max(min(from+infoChunk, e.off+e.size), info.off+info.size)
	u.file.src.ahead(from, to-from)
}

// namesExtent returns the range of the unit's string table and symbol names. It is empty if they
// are not adjacent or their positions are unknown.
func (u *Unit) namesExtent() extent {
	if p := u.run; p != nil {
		return extent{p.places[0].off, p.NamesSize()}
	}
	t, first := u.file.table.Load(), int(u.Strings)
	if t.sparse != nil || int(u.Symbols) != first+1 || first+1 >= t.len() {
		return extent{}
	}
	strings, symbols := t.extent(first), t.extent(first+1)
	return extent{strings.off, symbols.off + symbols.size - strings.off}
}

// A unitRun holds the positions of a unit's sections, which follow each other in the file. They
// come from the index.
type unitRun struct {
	*indexfmt.Run
	first  int
	places []extent
}

// unitOfRun returns a unit from the data of the index alone, which has a copy of the unit's entry.
// rank is the position of the entry in the file names section.
func (v *File) unitOfRun(x *Index, t *sectionTable, rank int) (Unit, error) {
	run, err := x.Run(rank)
	if err != nil {
		return Unit{}, err
	}
	place := t.fixedSection(wire.FileNames)
	names := newSection(place.index, place.extent, run.Bitmask)
	u, ok := v.soleUnit(names, rank, run.Entry)
	if !ok {
		return u, x.Section.FaultAt(0, fault.ErrIndex, "the entry of unit %d is malformed", rank)
	}
	if len(run.Sizes) == 0 {
		return u, nil
	}
	u.run, err = x.newRun(t, run)
	if err == nil && (int(u.Strings) != run.First || int(u.Symbols) != run.First+1) {
		err = x.Section.FaultAt(0, fault.ErrIndex, "the sections of unit %d are from %d on, not %d", rank, u.Strings, run.First)
	}
	if err == nil {
		t.sparse.addRun(u.run)
	}
	return u, err
}

// newRun computes the positions of a unit's sections from the data of the index. It returns an
// error if they are not in the file before the index.
func (x *Index) newRun(t *sectionTable, run *indexfmt.Run) (*unitRun, error) {
	u := &unitRun{Run: run, first: run.First, places: make([]extent, len(run.Sizes))}
	end := run.Offset
	first := t.firstOffset()
	ok := run.Offset >= 0 && run.First >= 0 && run.First+len(run.Sizes) <= x.Section.Index
	for i, size := range run.Sizes {
		if !ok || size <= 0 || end > x.Section.Offset-first || size > x.Section.Offset-first-end || t.fixedAt(run.First+i) != nil {
			return nil, x.Section.FaultAt(0, fault.ErrIndex, "the run of sections from %d on leads out of the file", run.First)
		}
		u.places[i] = extent{first + end, size}
		end += size
	}
	return u, nil
}

// addRun adds the positions of a unit's sections to those that are known without reading the
// section table.
func (g *entryGroups) addRun(u *unitRun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = append(g.runs, u)
}

// run returns the known positions of the sections of a unit to which the section with the given
// index belongs, or nil.
func (g *entryGroups) run(index int) *unitRun {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range g.runs {
		if u.first <= index && index < u.first+len(u.places) {
			return u
		}
	}
	return nil
}

// vouch compares adjacent sections with a checksum that the index has of all of them together, for
// example of all samples of a unit. If it matches, each of the sections counts as verified. first
// is the index of the first section, and sections is their number.
func (v *File) vouch(first int, data []byte, sum uint32, sections int) {
	x := v.idx.Load()
	if data == nil || x == nil || x.checked == nil || indexfmt.Sum(data) != sum {
		return
	}
	for i := first; i < first+sections; i++ {
		x.setChecked(i)
	}
}
