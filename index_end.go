package afdo

import "github.com/go-afdo/afdo/internal/v4/indexfmt"

// A distant file whose index is trusted is read from its end: the index has copies of the header
// and of the units' entries, and tells where the sections of a unit are and which checksums they
// have. The tables themselves are not read until something is amiss.

// openByEnd reports whether the file could be opened by the end of its index. If not, for whatever
// reason, what it begins with tells.
func (r *Reader) openByEnd() bool {
	if !r.src.distant() || !r.opts.trustIndex || r.opts.skipChecksums || r.src.size < int64(indexfmt.TailSize) {
		return false
	}
	r.src.tailAhead()
	bytes, err := r.src.view(r.src.size-int64(indexfmt.TailSize), indexfmt.TailSize)
	if err != nil {
		return false
	}
	tail, ok := indexfmt.ReadTail(bytes)
	if !ok || tail.Section >= r.src.size {
		return false
	}
	t, x := new(sectionTable), new(fileIndex)
	place := extent{r.src.size - tail.Section, tail.Section}
	x.Index, err = indexfmt.OpenEnd(sectionSource{r.src, place.off}, tail, func(end *indexfmt.End) (indexfmt.File, error) {
		if err := t.readHeader(end.Head, r.src.size); err != nil {
			return indexfmt.File{}, err
		}
		t.head = end.Head
		t.setFixed(end.Summary, end.FileNames)
		t.sortFixed()
		return indexfmt.File{Sections: t.len(), Span: place.off - t.firstOffset()}, nil
	})
	if err != nil || !x.Has(indexfmt.Checksums) || !x.Has(indexfmt.Sections) || !t.fixedFit() {
		return false
	}
	x.sec = Section{Index: t.len() - 1, Type: SectionIndex, Compact: x.Compact(), Offset: place.off, Size: place.size}
	x.checked = make([]uint32, (t.len()+31)/32)
	t.sparse = &entryGroups{src: r.src, index: x, position: func(group int) (int64, error) {
		order, err := x.Order(t.count)
		if err != nil {
			return 0, err
		}
		return order.Position(group)
	}}
	r.header = Header{Version: Version, Compact: t.sec.Compact}
	r.idx.Store(x)
	r.table.Store(t)
	return true
}

// fixedFit reports whether the fixed sections are where their indexes say, before the last one.
func (t *sectionTable) fixedFit() bool {
	return t.fixed[0].index < t.fixed[1].index && t.fixed[1].index < t.len()-1 && t.count > 0
}

// unitRun is the sections of a unit, which stand together.
type unitRun struct {
	*indexfmt.Run
	first  int
	places []extent
}

// unitOfRun returns a unit as the index has it.
func (r *Reader) unitOfRun(x *fileIndex, t *sectionTable, rank int) (*Unit, error) {
	run, err := x.Run(rank)
	if err != nil {
		return nil, err
	}
	place := t.fixedSection(SectionFileNames)
	names := newSection(place.index, place.extent, run.Bitmask)
	f := names.fieldsAt(run.Entry, 0)
	var e unitEntry
	if f.unitEntry(&e); f.Err != nil || f.Rest() > 0 {
		return nil, x.sec.errorAt(0, ErrIndex, "the entry of unit %d is none", rank)
	}
	u := &Unit{r: r, names: names, index: rank, entry: e, path: string(run.Entry[e.name : e.name+int(e.nameLen)])}
	if len(run.Sizes) == 0 {
		return u, nil
	}
	u.places, err = x.newRun(t, run)
	if err == nil && (int(e.Strings) != run.First || int(e.Symbols) != run.First+1) {
		err = x.sec.errorAt(0, ErrIndex, "the sections of unit %d are from %d on, not %d", rank, e.Strings, run.First)
	}
	if err == nil {
		t.sparse.addRun(u.places)
	}
	return u, err
}

// newRun returns the places of the sections of a run, which have to be in the file before the
// index.
func (x *fileIndex) newRun(t *sectionTable, run *indexfmt.Run) (*unitRun, error) {
	u := &unitRun{Run: run, first: run.First, places: make([]extent, len(run.Sizes))}
	end := run.Offset
	first := t.firstOffset()
	ok := run.Offset >= 0 && run.First >= 0 && run.First+len(run.Sizes) <= x.sec.Index
	for i, size := range run.Sizes {
		if !ok || size <= 0 || end > x.sec.Offset-first || size > x.sec.Offset-first-end || t.fixedAt(run.First+i) != nil {
			return nil, x.sec.errorAt(0, ErrIndex, "the run of sections from %d on leads out of the file", run.First)
		}
		u.places[i] = extent{first + end, size}
		end += size
	}
	return u, nil
}

// addRun notes the places of the sections of a unit.
func (g *entryGroups) addRun(u *unitRun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = append(g.runs, u)
}

// run returns the run that has a section, nil if none is known.
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

// vouch compares the bytes of the names or of the samples of a unit with their checksum. Those of
// the single sections then need not be compared.
func (r *Reader) vouch(first int, data []byte, sum uint32, sections int) {
	x := r.idx.Load()
	if data == nil || x == nil || x.checked == nil || indexfmt.Sum(data) != sum {
		return
	}
	for i := first; i < first+sections; i++ {
		x.setChecked(i)
	}
}
