package v4

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An index is the last section of a file, which readers may skip (docs/reference/extensions.md).
// This package uses its checksums, which it compares when a section is first read. If the caller
// trusts the index, this package also uses it to find units and sections. Package index uses the
// rest.

// An Index is the index of a file, or the reason why the file has no usable index.
type Index struct {
	*indexfmt.Index
	Section  Section
	file     *File
	checked  []uint32    // bit set of the sections whose checksum has been verified; nil if there are no checksums
	unusable error       // the reason why the index cannot be used, or nil
	misled   atomic.Bool // a lookup has shown that the index is incorrect
	lookups  atomic.Int32
	sums     sync.Once // guards reading all checksums
}

// errNoIndex is the reason for a file without an index, as most files are.
var errNoIndex = fmt.Errorf("afdo: index: %w", fault.ErrNotFound)

// Index returns the index of the file. The error is [fault.ErrNotFound] if there is none, a
// [fault.FormatError] if it cannot be used, or an error of reading.
func (v *File) Index() (*Index, error) {
	if v.Closed() {
		return nil, fault.ErrClosed
	}
	x, err := v.openIndex()
	if err == nil {
		err = x.unusable
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// index returns the index of the file, or nil if there is none that can be used. The error is one
// of reading, or a checksum mismatch in a damaged index.
func (v *File) index() (*Index, error) {
	x, err := v.openIndex()
	switch {
	case err != nil:
		return nil, err
	case x.unusable == nil:
		return x, nil
	case !v.opts.SkipChecksums && isChecksum(x.unusable):
		return nil, x.unusable
	}
	return nil, nil
}

// openIndex opens the index of the file in the first call. Later calls return the same result.
func (v *File) openIndex() (*Index, error) {
	if x := v.idx.Load(); x != nil {
		return x, nil
	}
	v.idxMu.Lock()
	defer v.idxMu.Unlock()
	if x := v.idx.Load(); x != nil {
		return x, nil
	}
	x, err := v.findIndex()
	if err != nil {
		return nil, err
	}
	v.idx.Store(x)
	return x, nil
}

// findIndex looks at the last section of the file, and opens it if it is an index. The error is one
// of reading the file.
func (v *File) findIndex() (*Index, error) {
	t := v.table.Load()
	last := t.len() - 1
	if t.fixedAt(last) != nil { // decided without reading it
		return &Index{file: v, unusable: errNoIndex}, nil
	}
	place, err := v.extent(last)
	if err != nil {
		return nil, err
	}
	first, err := v.extent(0)
	if err != nil {
		return nil, err
	}
	return v.indexAt(last, place, first.off)
}

// indexAt opens the section with the extent e if that is an index. It is the last section of the
// file. first is the offset of the first section.
func (v *File) indexAt(section int, e extent, first int64) (*Index, error) {
	x := &Index{file: v, unusable: errNoIndex}
	if e.size <= int64(indexfmt.HeadSize) {
		return x, nil
	}
	head, err := v.src.view(e.off, indexfmt.HeadSize)
	if err != nil || !indexfmt.Is(head) {
		return x, err
	}
	x.Section = newSection(section, e, head[0])
	file := indexfmt.File{Sections: section + 1, Span: e.off - first}
	x.Index, err = indexfmt.Open(sectionSource{v.src, e.off}, e.size, x.Section.Compact, file)
	x.unusable = x.Fault(err)
	if _, ok := x.unusable.(*fault.FormatError); x.unusable != nil && !ok {
		return nil, err
	}
	if x.unusable == nil && x.Has(indexfmt.Checksums) {
		x.checked = make([]uint32, (section+32)/32)
	}
	return x, nil
}

// sectionSource reads the bytes of a section.
type sectionSource struct {
	src *source
	off int64
}

func (s sectionSource) View(off int64, n int) ([]byte, error) {
	s.src.pagesAhead(s.off, off, int64(n))
	return s.src.view(s.off+off, n)
}

func (s sectionSource) Ahead(parts ...indexfmt.Range) { s.src.partsAhead(s.off, parts) }

func (s sectionSource) Slow() bool { return s.src.remote() }

// Remote reports whether the file is read through an io.ReaderAt, where each read may be a request
// to a server.
func (x *Index) Remote() bool { return x.file.src.remote() }

// Fault converts an error of package indexfmt, whose position counts in the index, to one with the
// position in the file. It returns other errors unchanged.
func (x *Index) Fault(err error) error {
	if e, ok := err.(*indexfmt.Error); ok {
		return x.Section.Fault(&e.Fault)
	}
	return err
}

// requireChecksums returns an error if the file has no usable checksums.
func (v *File) requireChecksums() error {
	x, err := v.openIndex()
	switch {
	case err != nil:
		return err
	case x.unusable == nil && x.checked != nil:
		return nil
	case isChecksum(x.unusable):
		return x.unusable
	}
	why := "the file has none"
	if e, ok := x.unusable.(*fault.FormatError); ok {
		why = e.Detail
	}
	return header.FaultAt(0, fault.ErrChecksum, "checksums are required: %s", why)
}

// verify compares the bytes of a section with its checksum, if the file has one and it has not been
// verified yet.
func (v *File) verify(section int, e extent, data []byte) error {
	if v.opts.SkipChecksums {
		return nil
	}
	x, err := v.index()
	if x == nil || x.checked == nil || section == x.Section.Index {
		return err
	}
	if x.isChecked(section) {
		return nil
	}
	want, err := v.checksum(x, section)
	if err != nil {
		return x.Fault(err)
	}
	if got := indexfmt.Sum(data); got != want {
		return newSection(section, e, data[0]).FaultAt(0, fault.ErrChecksum, "the section has the checksum %08x, want %08x", got, want)
	}
	x.setChecked(section)
	return nil
}

// checksum returns the checksum that the index has for a section. For the summary and the file
// names the index has a second copy of the checksum, which is closer to other data that are read. A
// caller that trusts the index gets this copy.
func (v *File) checksum(x *Index, section int) (uint32, error) {
	if f := v.table.Load().fixedAt(section); f != nil && v.opts.TrustIndex {
		if summary, fileNames, ok := x.FixedChecksums(); ok {
			return map[byte]uint32{wire.SummaryInfo: summary, wire.FileNames: fileNames}[f.t], nil
		}
	}
	v.checksumsAhead(x)
	return x.Checksum(section)
}

func (x *Index) isChecked(section int) bool {
	return atomic.LoadUint32(&x.checked[section/32])>>(section%32)&1 != 0
}

func (x *Index) setChecked(section int) {
	atomic.OrUint32(&x.checked[section/32], 1<<(section%32))
}

// A remote file with a trusted index is read from its end. The index contains copies of the header
// and of the units' entries, and the positions and checksums of each unit's sections. The original
// tables are read only if something is wrong.

// openByEnd tries to open the file without its beginning: the end of its index has a copy of the
// header. That saves a request to a server. If openByEnd returns false, for whatever reason, the
// file has to be opened by its beginning.
func (v *File) openByEnd() bool {
	if !v.src.remote() || !v.opts.TrustIndex || v.opts.SkipChecksums {
		return false
	}
	v.src.tailAhead()
	tail, ok := v.src.indexTail()
	if !ok {
		return false
	}
	t, x := new(sectionTable), &Index{file: v}
	place := extent{v.src.size - tail.Section, tail.Section}
	var err error
	x.Index, err = indexfmt.OpenEnd(sectionSource{v.src, place.off}, tail, func(end *indexfmt.End) (indexfmt.File, error) {
		if err := t.readHeader(end.Head, v.src.size); err != nil {
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
	x.Section = Section{Index: t.len() - 1, Type: wire.Index, Compact: x.Compact(), Offset: place.off, Size: place.size}
	x.checked = make([]uint32, (t.len()+31)/32)
	t.sparse = &entryGroups{src: v.src, index: x, position: func(group int) (int64, error) {
		order, err := x.Order(t.count)
		if err != nil {
			return 0, err
		}
		return order.Position(group)
	}}
	v.idx.Store(x)
	v.table.Store(t)
	return true
}

// indexTail reads the last bytes of the file, which show whether it ends with an index. It returns
// false if it does not.
func (s *source) indexTail() (tail indexfmt.Tail, ok bool) {
	if s.size < int64(indexfmt.TailSize) {
		return tail, false
	}
	bytes, err := s.view(s.size-int64(indexfmt.TailSize), indexfmt.TailSize)
	if err != nil {
		return tail, false
	}
	tail, ok = indexfmt.ReadTail(bytes)
	return tail, ok && tail.Section < s.size
}

// HeadByEnd returns the copy of the first bytes of a file that the end of its index holds, or nil
// if the file does not end with an index that has one. It reads only the end of the file, and
// compares nothing with the rest.
func HeadByEnd(at io.ReaderAt, size int64) (head []byte) {
	src := &source{at: at, size: size}
	tail, ok := src.indexTail()
	if !ok {
		return nil
	}
	_, _ = indexfmt.OpenEnd(sectionSource{src, size - tail.Section}, tail, func(end *indexfmt.End) (indexfmt.File, error) {
		head = end.Head
		return indexfmt.File{}, errNoIndex // nothing else is wanted
	})
	return head
}

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

// Misleads reports whether an error in a section was caused by a wrong index, so that a lookup has
// to be repeated without the index. section and class are the section and the class of the error. A
// checksum mismatch in the index does not count: it is an error of the lookup, unless the caller
// skips checksums.
func (x *Index) Misleads(section int, class error) bool {
	return section == x.Section.Index && (class != fault.ErrChecksum || x.file.opts.SkipChecksums)
}

// fromIndex looks up units by the index. candidates returns the positions of units that may be the
// wanted ones, according to the index, and fits reports whether a unit is one. fromIndex returns
// the units that fit. answered is false if the index should not be used or is wrong. The caller
// then has to search the file names section.
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

// misledBy reports whether the error of a lookup was caused by a wrong index, so that the lookup
// has to be repeated without it. If so, later lookups do not use the index either.
func (x *Index) misledBy(err error) bool {
	e, ok := err.(*fault.FormatError)
	if !ok || !x.Misleads(e.Section, e.Err) {
		return false
	}
	x.misled.Store(true)
	return true
}

// indexedUnits reads the units that a lookup in the index has found, the candidates, and returns
// those for which fits is true. Candidates may be wrong ones, because the index finds units by
// hashes of their paths.
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

// unitAt reads the entry of one unit, without reading the rest of the file names section. rank is
// the position of the entry in that section, and x has the offset of the entry.
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
