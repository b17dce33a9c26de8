package afdo

import (
	"slices"

	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// What a Reader does that trusts the index. The index says where to look, in numbers that this file
// looks at: an entry of the file names section has to have its checksum and to be the one wanted,
// and what is found by the section table as the index describes it has to have its checksum (see
// openOrScan). Where the index turns out to make no sense, the Reader goes on without it.

// unitsInIndex is how many units are looked up in the index before the file names section is read
// after all. One costs some 10 us in the index, and that section some 300 us for 3,000 units.
const unitsInIndex = 64

// maxFalse is how many candidates of another name than the one looked for are put up with. There is
// one in 40 lookups, unless names were made to have the same hash.
const maxFalse = 256

// findUnits returns the units that fit. It asks the index for the ranks of candidates, if that is
// trusted, and else the file names section for the units themselves.
func (r *Reader) findUnits(candidates func(*indexfmt.Index) ([]uint32, error), fits func(*Unit) bool, inFile func(*directory) []int) ([]*Unit, error) {
	if r.closed() {
		return nil, ErrClosed
	}
	if r.opts.trustIndex && r.dir.Load() == nil {
		x, err := r.index()
		if err != nil {
			return nil, err
		}
		if x != nil && x.usable(r.src.distant()) {
			units, err := r.indexedUnits(x, candidates, fits)
			if !r.misled(x, err) {
				return units, err
			}
		}
	}
	d, err := r.directory()
	if err != nil {
		return nil, err
	}
	return r.unitsAt(d, inFile(d)), nil
}

func (r *Reader) unitsAt(d *directory, indexes []int) []*Unit {
	units := make([]*Unit, len(indexes))
	for i, index := range indexes {
		units[i] = r.unit(d, index)
	}
	return units
}

// usable reports whether one more unit is to be looked up in the index. Of a distant file that is
// always better.
func (x *fileIndex) usable(distant bool) bool {
	if !x.Has(indexfmt.Units) || !x.Has(indexfmt.Paths) || x.misled.Load() {
		return false
	}
	return distant && x.Has(indexfmt.Runs) || x.lookups.Add(1) <= unitsInIndex
}

// misled reports whether a lookup has to go on without the index because of an error that came of
// using it. Then all later ones do, too.
func (r *Reader) misled(x *fileIndex, err error) bool {
	e, ok := err.(*FormatError)
	if !ok || e.Section != x.sec.Index || e.Err == ErrChecksum && !r.opts.skipChecksums {
		return false
	}
	x.misled.Store(true)
	return true
}

// indexedUnits returns the units among candidates of the index that fit.
func (r *Reader) indexedUnits(x *fileIndex, candidates func(*indexfmt.Index) ([]uint32, error), fits func(*Unit) bool) ([]*Unit, error) {
	ranks, err := candidates(x.Index)
	if err != nil {
		return nil, x.wrap(err)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	r.recordsAhead(x, ranks)
	var units []*Unit
	for i, rank := range ranks {
		if i > len(units)+maxFalse {
			return nil, x.sec.errorAt(0, ErrIndex, "hundreds of other units in the place of one")
		}
		u, err := r.unitAt(x, int(rank))
		if err != nil {
			return nil, x.wrap(err)
		}
		if fits(u) {
			units = append(units, u)
		}
	}
	return units, nil
}

// unitAt reads one entry of the file names section.
func (r *Reader) unitAt(x *fileIndex, rank int) (*Unit, error) {
	if t := r.table.Load(); r.src.distant() && t.sparse != nil && x.Has(indexfmt.Runs) {
		return r.unitOfRun(x, t, rank)
	}
	entry, err := x.UnitEntry(rank)
	if err != nil {
		return nil, err
	}
	place := r.table.Load().fixedSection(SectionFileNames)
	mask, err := r.src.view(place.off, 1)
	if err != nil {
		return nil, err
	}
	names := newSection(place.index, place.extent, mask[0])
	if entry.From < 1 || entry.To <= entry.From || entry.To > names.Size {
		return nil, x.sec.errorAt(0, ErrIndex, "unit %d from %d to %d in file names of %d bytes", rank, entry.From, entry.To, names.Size)
	}
	names.Offset += entry.From
	data, err := r.src.view(names.Offset, int(entry.To-entry.From))
	if err != nil {
		return nil, err
	}
	if got := indexfmt.EntrySum(wire.SectionBitmask(byte(names.Type), names.Compact), data); got != entry.Sum {
		if r.opts.skipChecksums {
			return nil, x.sec.errorAt(0, ErrIndex, "unit %d has another checksum", rank)
		}
		return nil, names.errorAt(0, ErrChecksum, "the entry of unit %d has the checksum %08x, want %08x", rank, got, entry.Sum)
	}
	f := names.fieldsAt(data, 0)
	var e unitEntry
	if f.unitEntry(&e); f.Err != nil || f.Rest() > 0 {
		return nil, x.sec.errorAt(0, ErrIndex, "unit %d is not at %d", rank, entry.From)
	}
	path := data[e.name : e.name+int(e.nameLen)]
	return &Unit{r: r, names: names, index: rank, entry: e, path: string(path)}, nil
}

// owner returns the unit whose range holds a symbol ID, nil if there is none.
func (r *Reader) owner(id SymbolID) (*Unit, error) {
	units, err := r.findUnits(
		func(x *indexfmt.Index) ([]uint32, error) {
			rank, ok, err := x.Owner(uint32(id))
			if !ok {
				return nil, err
			}
			return []uint32{uint32(rank)}, nil
		},
		func(u *Unit) bool { return u.entry.has(id) },
		func(d *directory) []int {
			i, ok := d.owner(id)
			if !ok {
				return nil
			}
			return []int{i}
		})
	if len(units) == 0 {
		return nil, err
	}
	return units[0], nil
}

// exact returns the units of a path, usually one.
func (r *Reader) exact(path string) ([]*Unit, error) {
	return r.findUnits(
		func(x *indexfmt.Index) ([]uint32, error) {
			t, err := x.Table(indexfmt.Paths)
			if err != nil {
				return nil, err
			}
			return t.Find(indexfmt.Hash(path), nil)
		},
		func(u *Unit) bool { return u.path == path },
		func(d *directory) []int { return d.exact(path) })
}

// openSparse leaves the entries of the section table where they are if the file has an index, found
// by the last one, which vouches for them. The error is that of a read.
func (r *Reader) openSparse(t *sectionTable) error {
	if !r.opts.trustIndex || r.opts.skipChecksums || t.count == 0 {
		return nil
	}
	last, err := r.lastEntry(t)
	if err != nil || last.off < int64(t.entries) || last.size < 1 || last.off != t.size-last.size {
		return err
	}
	x, err := r.indexAt(t.len()-1, last, t.firstOffset())
	if err != nil || x.unusable != nil || x.checked == nil || !x.Has(indexfmt.Sections) {
		return err
	}
	order, err := x.Order(t.count)
	if err != nil {
		if _, ok := err.(*indexfmt.Error); ok {
			return nil // the table will tell
		}
		return err
	}
	t.setFixed(order.Summary, order.FileNames)
	t.sparse = &entryGroups{src: r.src, index: x, position: order.Position}
	r.idx.Store(x)
	return nil
}

// setFixed sets the section indexes of the fixed sections.
func (t *sectionTable) setFixed(summary, names int) {
	for i := range t.fixed {
		t.fixed[i].index = summary
		if t.fixed[i].t == SectionFileNames {
			t.fixed[i].index = names
		}
	}
}

// lastEntry reads the last entry of a table that is in order. If it is not, that is any extent.
func (r *Reader) lastEntry(t *sectionTable) (extent, error) {
	end := int64(t.likelyEnd())
	n := min(2*wire.MaxVarintLen, end-int64(t.entries))
	if !t.sec.Compact {
		n = 16
	}
	if n < 0 || end > t.size {
		return extent{}, nil
	}
	data, err := r.src.view(end-n, int(n))
	if err != nil {
		return extent{}, err
	}
	f := t.sec.fieldsAt(data, 0)
	if t.sec.Compact {
		f.Pos = lastVarint(data, lastVarint(data, len(data)))
	}
	p := f.Place()
	if f.Err != nil {
		return extent{}, nil
	}
	return t.newExtent(p), nil
}

// lastVarint returns where the varint begins that ends at end.
func lastVarint(data []byte, end int) int {
	for end--; end > 0 && data[end-1] >= 0x80; end-- {
	}
	return max(end, 0)
}

// firstOffset returns where the first section of a table that is in order begins. If it is not,
// that is any offset.
func (t *sectionTable) firstOffset() int64 {
	f := t.fields
	first := int64(f.Uint64() &^ (1 << 63))
	return min(first, t.fixed[0].off, t.fixed[1].off)
}
