package v4

import (
	"cmp"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// extent is the place of a section as the section table has it.
type extent struct{ off, size int64 }

// checkpointEvery is how many entries of a compact section table one scan may have to pass over to
// get at one. 32 make a checkpoint cost an eighth of a byte an entry.
const checkpointEvery = indexfmt.GroupSize

// sectionTable finds sections by index. A table in file order, which every writer that fills a file
// from front to back makes, stays as it is in the file; another one is decoded and sorted.
type sectionTable struct {
	Fields                    // the encoded entries, or just the first one of a table that is not in memory
	size        int64         // of the file
	entries     int           // where the first entry begins in Data
	end         int64         // where header and table end
	count       int           // entries, without the fixed sections
	checkpoints []uint32      // where each group of entries begins, and where the last ends; compact tables only
	sorted      []extent      // all entries by offset, if the table is out of order
	fixed       [2]fixedEntry // summary and file names, by offset

	sparse *entryGroups // what finds an entry of a table that is not in memory
	head   []byte       // what the file should begin with, if it has not been looked at
}

// vouched reports whether the table is known by the index alone.
func (t *sectionTable) vouched() bool { return t.sparse != nil && t.sparse.index != nil }

// fixedEntry is one of the two sections that have their own place in the header.
type fixedEntry struct {
	extent
	t     byte
	index int // rank by offset among all sections
	group int // how many groups of entries lie before it; of a table in order
}

// len is the number of sections, the fixed ones included.
func (t *sectionTable) len() int { return t.count + len(t.fixed) }

// fixedSection returns the entry of the summary or the file names section.
func (t *sectionTable) fixedSection(typ byte) fixedEntry {
	if t.fixed[0].t == typ {
		return t.fixed[0]
	}
	return t.fixed[1]
}

// extent returns the place of the section of an index below len in a table that has been scanned.
func (t *sectionTable) extent(index int) extent {
	if f := t.fixedAt(index); f != nil {
		return f.extent
	}
	return t.encoded(t.rank(index))
}

// fixedAt returns the fixed section of an index, nil if that is no fixed one.
func (t *sectionTable) fixedAt(index int) *fixedEntry {
	for i := range t.fixed {
		if t.fixed[i].index == index {
			return &t.fixed[i]
		}
	}
	return nil
}

// rank returns the rank of a section that is not fixed among those that are not.
func (t *sectionTable) rank(index int) int {
	rank := index
	for _, f := range t.fixed {
		if f.index < index {
			rank--
		}
	}
	return rank
}

// entry returns the i-th entry by offset.
func (t *sectionTable) entry(i int) (extent, error) {
	if t.sparse == nil {
		return t.encoded(i), nil
	}
	entries, err := t.sparse.group(t, i/checkpointEvery)
	if err != nil {
		return extent{}, err
	}
	return entries[i%checkpointEvery], nil
}

// encoded is entry for a table in memory, which has been checked: nothing here can fail.
func (t *sectionTable) encoded(i int) extent {
	if t.sorted != nil {
		return t.sorted[i]
	}
	f := t.Fields
	if !f.Section.Compact {
		f.Pos = t.entries + 16*i
		return extent{int64(f.Uint64()), int64(f.Uint64())}
	}
	f.Pos = int(t.checkpoints[i/checkpointEvery])
	f.Pos += wire.SkipVarints(f.Data[f.Pos:], uint64(2*(i%checkpointEvery)))
	return extent{int64(f.Uint64()), int64(f.Uint64())}
}

// scan reads the whole table, which is in memory, once: it checks every entry, takes checkpoints,
// and sorts the table if it is out of order.
func (t *sectionTable) scan() error {
	ordered, err := t.inOrder(len(t.Data), func(at int) ([]byte, error) { return t.Data[at:], nil })
	if err == nil && !ordered {
		err = t.scanAny()
	}
	if err != nil {
		return err
	}
	return t.place()
}

// place checks that all sections lie behind header and table, and places the fixed ones among the
// others.
func (t *sectionTable) place() error {
	if t.count > 0 {
		first, err := t.entry(0)
		if err == nil {
			err = t.apart(extent{0, t.end}, first)
		}
		if err != nil {
			return err
		}
	}
	return t.placeFixed()
}

// groups is the number of groups of entries of which the places are noted.
func (t *sectionTable) groups() int { return (t.count + checkpointEvery - 1) / checkpointEvery }

// scanAny is scan for any table.
func (t *sectionTable) scanAny() error {
	for range t.count {
		pos := t.Pos
		p := t.Place()
		if t.Err != nil {
			return t.Fault()
		}
		if err := t.checkBounds(pos, 0, p); err != nil {
			return err
		}
	}
	t.end = int64(t.Pos)
	return t.sort()
}

// checkBounds checks that a section, whose entry is at pos, has bytes and lies within the file. Of
// sections that the header names, typ is the type.
func (t *sectionTable) checkBounds(pos int, typ byte, p wire.Place) error {
	if size := uint64(t.size); p.Size > 0 && p.Size <= size && p.Offset <= size-p.Size {
		return nil
	}
	article := "a"
	if typ != 0 {
		article = "the " + wire.SectionTypeName(typ)
	}
	return t.Section.FaultAt(pos, fault.ErrHeader, "%s section of %d bytes at offset %d in a file of %d%s", article, p.Size, p.Offset, t.size, dialectHint)
}

// sort decodes the entries of a table that is out of order and sorts them.
func (t *sectionTable) sort() error {
	f := t.Fields
	f.Pos = t.entries
	sorted := make([]extent, t.count)
	for i := range sorted {
		sorted[i] = t.newExtent(f.Place())
	}
	slices.SortFunc(sorted, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	for i := 1; i < len(sorted); i++ {
		if err := t.apart(sorted[i-1], sorted[i]); err != nil {
			return err
		}
	}
	t.sorted, t.checkpoints = sorted, nil
	return nil
}

// newExtent returns the extent of a place, without bytes if it is out of any bounds.
func (t *sectionTable) newExtent(p wire.Place) extent {
	if p.Offset > math.MaxInt64 || p.Size > math.MaxInt64 {
		return extent{math.MaxInt64, 0}
	}
	return extent{int64(p.Offset), int64(p.Size)}
}

// apart checks that section b, which begins no earlier than a, begins behind a's end.
func (t *sectionTable) apart(a, b extent) error {
	switch {
	case a.off+a.size <= b.off:
		return nil
	case b.off < t.end:
		return t.Section.FaultAt(t.entries, fault.ErrHeader, "the section at offset %d begins inside the header of %d bytes%s", b.off, t.end, dialectHint)
	}
	return t.Section.FaultAt(t.entries, fault.ErrHeader, "sections at offset %d (%d bytes) and offset %d overlap%s", a.off, a.size, b.off, dialectHint)
}

// sortFixed puts the fixed sections in the order of the file.
func (t *sectionTable) sortFixed() {
	if t.fixed[1].off < t.fixed[0].off {
		t.fixed[0], t.fixed[1] = t.fixed[1], t.fixed[0]
	}
}

// placeFixed ranks the fixed sections among the entries and checks that they lie clear of the
// header, of the entries, and of each other.
func (t *sectionTable) placeFixed() error {
	t.sortFixed()
	if err := t.apart(extent{0, t.end}, t.fixed[0].extent); err != nil {
		return err
	}
	if err := t.apart(t.fixed[0].extent, t.fixed[1].extent); err != nil {
		return err
	}
	for i := range t.fixed {
		rank, err := t.placeBetween(&t.fixed[i])
		if err != nil {
			return err
		}
		t.fixed[i].index = rank + i
	}
	return nil
}

// placeBetween returns how many entries lie before a fixed section, and checks that it lies clear
// of them and of those behind it.
func (t *sectionTable) placeBetween(f *fixedEntry) (rank int, err error) {
	end := t.count
	if t.sorted == nil { // those of groups before end before it
		rank = min(f.group*checkpointEvery, t.count)
		end = min(rank+checkpointEvery, t.count)
	}
	for rank < end {
		e, err := t.entry(rank)
		if err != nil {
			return 0, err
		}
		if e.off >= f.off {
			return rank, t.apart(f.extent, e)
		}
		if err := t.apart(e, f.extent); err != nil {
			return 0, err
		}
		rank++
	}
	return rank, nil
}

// setFixed sets the section indexes of the fixed sections.
func (t *sectionTable) setFixed(summary, names int) {
	for i := range t.fixed {
		t.fixed[i].index = summary
		if t.fixed[i].t == wire.FileNames {
			t.fixed[i].index = names
		}
	}
}

// fixedFit reports whether the fixed sections are where their indexes say, before the last one.
func (t *sectionTable) fixedFit() bool {
	return t.fixed[0].index < t.fixed[1].index && t.fixed[1].index < t.len()-1 && t.count > 0
}

// firstOffset returns where the first section of a table that is in order begins. If it is not,
// that is any offset.
func (t *sectionTable) firstOffset() int64 {
	f := t.Fields
	first := int64(f.Uint64() &^ (1 << 63))
	return min(first, t.fixed[0].off, t.fixed[1].off)
}
