package v4

import (
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A unitRun holds the positions of a unit's adjacent sections.
type unitRun struct {
	*indexfmt.Run
	first  int
	places []extent
}

// unitOfRun returns a unit as recorded in the index.
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

// newRun computes the positions of the sections in a run. They must lie in the file before the
// index.
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

// addRun records the positions of a unit's sections.
func (g *entryGroups) addRun(u *unitRun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = append(g.runs, u)
}

// run returns the run that contains a section, nil if there is none.
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

// vouch compares the names or the samples of a unit with their combined checksum. If it matches,
// the sections need not be verified separately.
func (v *File) vouch(first int, data []byte, sum uint32, sections int) {
	x := v.idx.Load()
	if data == nil || x == nil || x.checked == nil || indexfmt.Sum(data) != sum {
		return
	}
	for i := first; i < first+sections; i++ {
		x.setChecked(i)
	}
}
