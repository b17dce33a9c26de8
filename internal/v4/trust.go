package v4

import (
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// This file decides whether to look something up in the index or in the rest of the file. A trusted
// index says where to look, and the result is verified: an entry of the file names section must
// match its checksum and be the wanted one, and a section found through the index's copy of the
// section table must match its checksum (see openOrScan). If the index turns out to be incorrect,
// lookups continue without it.

// unitsInIndex is the number of units looked up in the index before the file names section is read
// instead. Measured: one lookup takes about 10 us in the index; the section takes about 300 us for
// 3,000 units.
const unitsInIndex = 64

// MaxFalse is the maximum number of candidates with a wrong name that a lookup accepts in addition
// to the matching ones. Normally there is one per 40 lookups. More occur only if names were chosen
// to have the same hash; lookups are then faster without the index.
const MaxFalse = 256

// Trusted returns the index if lookups should use it, and otherwise nil. The error is one of
// reading, or a checksum mismatch in a damaged index.
func (v *File) Trusted() (*Index, error) {
	if v.Closed() {
		return nil, fault.ErrClosed
	}
	if !v.opts.TrustIndex {
		return nil, nil
	}
	return v.index()
}

// TrustsIndex reports whether the caller asked to trust the index.
func (v *File) TrustsIndex() bool { return v.opts.TrustIndex }

// Misleads reports whether an error of the given class in a section was caused by the index, so
// that a lookup has to continue without it. A checksum mismatch in the index is an error of the
// lookup, unless the caller skips checksums.
func (x *Index) Misleads(section int, class error) bool {
	return section == x.Section.Index && (class != fault.ErrChecksum || x.file.opts.SkipChecksums)
}

// fromIndex returns the units among the candidates of the index that fit. answered is false if the
// index should not be used or is incorrect; then the file names section has to be used.
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
	if x == nil || !x.spendLookup(v.src.remote()) {
		return nil, false, nil
	}
	units, err = v.indexedUnits(x, candidates, fits)
	if x.misledBy(err) {
		return nil, false, nil
	}
	return units, true, err
}

// spendLookup reports whether one more unit should be looked up in the index, and counts the
// lookup. For a remote file the index is always better.
func (x *Index) spendLookup(remote bool) bool {
	if !x.Has(indexfmt.Units) || !x.Has(indexfmt.Paths) || x.misled.Load() {
		return false
	}
	return remote && x.Has(indexfmt.Runs) || x.lookups.Add(1) <= unitsInIndex
}

// misledBy reports whether err means that a lookup has to continue without the index. If so, later
// lookups do not use it either.
func (x *Index) misledBy(err error) bool {
	e, ok := err.(*Fault)
	if !ok || !x.Misleads(e.Section.Index, e.Class) {
		return false
	}
	x.misled.Store(true)
	return true
}

// indexedUnits returns the units among the candidates of the index that fit.
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

// unitAt reads a single entry of the file names section.
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

// Owner returns the unit whose range contains a symbol ID.
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

// Exact returns the units with the given path, usually one.
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

// BySuffix returns the units whose path is suffix or, if there are none, those whose path ends with
// "/" + suffix.
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
