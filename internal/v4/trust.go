package v4

import (
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// What is looked up in the index, and what in the file. An index that the caller trusts says where
// to look, in numbers that this file looks at: an entry of the file names section has to have its
// checksum and to be the one wanted, and what is found by the section table as the index describes
// it has to have its checksum (see openOrScan). Where the index turns out to make no sense, lookups
// go on without it.

// unitsInIndex is how many units are looked up in the index before the file names section is read
// after all. One costs some 10 us in the index, and that section some 300 us for 3,000 units.
const unitsInIndex = 64

// MaxFalse is how many candidates of another name than the one looked for may be more than there
// are of that name. There is one in 40 lookups, unless names were made to have the same hash: then
// lookups do better without the index.
const MaxFalse = 256

// Trusted returns the index if lookups are to go by it, else nil. The error is that of a read, or a
// fault of a checksum for an index that is damaged.
func (v *File) Trusted() (*Index, error) {
	if v.Closed() {
		return nil, fault.ErrClosed
	}
	if !v.opts.TrustIndex {
		return nil, nil
	}
	return v.index()
}

// TrustsIndex reports whether the caller has asked to trust the index.
func (v *File) TrustsIndex() bool { return v.opts.TrustIndex }

// Misleads reports whether a fault of a class in a section comes of using the index, so that a
// lookup has to go on without it. A checksum that is wrong is an error of the lookup, unless the
// caller skips checksums.
func (x *Index) Misleads(section int, class error) bool {
	return section == x.Section.Index && (class != fault.ErrChecksum || x.file.opts.SkipChecksums)
}

// fromIndex returns the units among candidates of the index that fit. It reports whether that is
// the answer: else the index is not to be asked, or misleads, and the file names section tells.
func (v *File) fromIndex(candidates func(*indexfmt.Index) ([]uint32, error), fits func(*Unit) bool) (units []Unit, answered bool, err error) {
	if v.Closed() {
		return nil, true, fault.ErrClosed
	}
	if v.dir.Load() != nil {
		return nil, false, nil
	}
	x, err := v.Trusted()
	if err != nil {
		return nil, true, err
	}
	if x == nil || !x.usable(v.src.remote()) {
		return nil, false, nil
	}
	units, err = v.indexedUnits(x, candidates, fits)
	if x.misledBy(err) {
		return nil, false, nil
	}
	return units, true, err
}

// usable reports whether one more unit is to be looked up in the index. Of a remote file that is
// always better.
func (x *Index) usable(remote bool) bool {
	if !x.Has(indexfmt.Units) || !x.Has(indexfmt.Paths) || x.misled.Load() {
		return false
	}
	return remote && x.Has(indexfmt.Runs) || x.lookups.Add(1) <= unitsInIndex
}

// misledBy reports whether a lookup has to go on without the index because of an error. Then all
// later ones do, too.
func (x *Index) misledBy(err error) bool {
	e, ok := err.(*Fault)
	if !ok || !x.Misleads(e.Section.Index, e.Class) {
		return false
	}
	x.misled.Store(true)
	return true
}

// indexedUnits returns the units among candidates of the index that fit.
func (v *File) indexedUnits(x *Index, candidates func(*indexfmt.Index) ([]uint32, error), fits func(*Unit) bool) ([]Unit, error) {
	ranks, err := candidates(x.Index)
	if err != nil {
		return nil, x.Fault(err)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	v.recordsAhead(x, ranks)
	var units []Unit
	for i, rank := range ranks {
		if i > len(units)+MaxFalse {
			return nil, x.Section.FaultAt(0, fault.ErrIndex, "hundreds of other units in the place of one")
		}
		u, err := v.unitAt(x, int(rank))
		if err != nil {
			return nil, x.Fault(err)
		}
		if fits(&u) {
			units = append(units, u)
		}
	}
	return units, nil
}

// unitAt reads one entry of the file names section.
func (v *File) unitAt(x *Index, rank int) (Unit, error) {
	if t := v.table.Load(); v.src.remote() && t.sparse != nil && x.Has(indexfmt.Runs) {
		return v.unitOfRun(x, t, rank)
	}
	entry, err := x.UnitEntry(rank)
	if err != nil {
		return Unit{}, err
	}
	place := v.table.Load().fixedSection(wire.FileNames)
	mask, err := v.src.view(place.off, 1)
	if err != nil {
		return Unit{}, err
	}
	names := newSection(place.index, place.extent, mask[0])
	if entry.From < 1 || entry.To <= entry.From || entry.To > names.Size {
		return Unit{}, x.Section.FaultAt(0, fault.ErrIndex, "unit %d from %d to %d in file names of %d bytes", rank, entry.From, entry.To, names.Size)
	}
	names.Offset += entry.From
	data, err := v.src.view(names.Offset, int(entry.To-entry.From))
	if err != nil {
		return Unit{}, err
	}
	if got := indexfmt.EntrySum(wire.SectionBitmask(names.Type, names.Compact), data); got != entry.Sum {
		if v.opts.SkipChecksums {
			return Unit{}, x.Section.FaultAt(0, fault.ErrIndex, "unit %d has another checksum", rank)
		}
		return Unit{}, names.FaultAt(0, fault.ErrChecksum, "the entry of unit %d has the checksum %08x, want %08x", rank, got, entry.Sum)
	}
	u, ok := v.soleUnit(names, rank, data)
	if !ok {
		return u, x.Section.FaultAt(0, fault.ErrIndex, "unit %d is not at %d", rank, entry.From)
	}
	return u, nil
}

// Owner returns the unit whose range holds a symbol ID, if there is one.
func (v *File) Owner(id uint32) (u Unit, ok bool, err error) {
	units, answered, err := v.fromIndex(
		func(x *indexfmt.Index) ([]uint32, error) {
			rank, ok, err := x.Owner(id)
			if !ok {
				return nil, err
			}
			return []uint32{uint32(rank)}, nil
		},
		func(u *Unit) bool { return u.Has(id) })
	if answered {
		if len(units) == 0 {
			return Unit{}, false, err
		}
		return units[0], true, nil
	}
	d, err := v.Directory()
	if err != nil {
		return Unit{}, false, err
	}
	rank, ok := d.owner(id)
	if !ok {
		return Unit{}, false, nil
	}
	return d.Unit(rank), true, nil
}

// Exact returns the units of a path, usually one.
func (v *File) Exact(path string) ([]Unit, error) {
	units, answered, err := v.fromIndex(
		func(x *indexfmt.Index) ([]uint32, error) {
			t, err := x.Table(indexfmt.Paths)
			if err != nil {
				return nil, err
			}
			return t.Find(indexfmt.Hash(path), nil)
		},
		func(u *Unit) bool { return u.Path == path })
	if answered {
		return units, err
	}
	d, err := v.Directory()
	if err != nil {
		return nil, err
	}
	return d.exact(path), nil
}

// BySuffix returns the units of a path, or, if there are none, those whose path ends in it at a
// '/'.
func (v *File) BySuffix(suffix string) ([]Unit, error) {
	units, err := v.Exact(suffix)
	if err != nil || len(units) > 0 {
		return units, err
	}
	d, err := v.Directory()
	if err != nil {
		return nil, err
	}
	return d.suffix(suffix), nil
}
