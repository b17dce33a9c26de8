package afdo

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/wire"
)

// unchecked returns a Reader of the same file, of which the section table has been scanned, that neither compares checksums
// nor uses the index: what looks for everything that is wrong must not stop at the first of it.
func (r *Reader) unchecked(t *sectionTable) *Reader {
	o := r.opts
	o.skipChecksums, o.ignoreIndex = true, true
	u := &Reader{src: r.src, header: r.header, opts: o}
	u.table.Store(t)
	return u
}

// index checks the index, if there is one, and with it all checksums. What it finds things by
// is compared with the rest of the file only if that is without fault.
func (k *checker) index() {
	if k.stopped {
		return
	}
	x, err := k.r.openIndex()
	if err == nil && x.unfit != errNoIndex {
		err = x.unfit
	}
	if err != nil || x.unfit != nil {
		k.fault(err)
		return
	}
	faults := k.faults
	for i := range x.pages {
		if _, err := x.page(int64(i)); err != nil {
			k.fault(err)
		}
	}
	if k.faults > faults || k.stopped {
		return
	}
	k.checksums(x)
	k.sections(x)
	k.schemes(x)
	if k.faults == 0 && !k.stopped {
		k.fault(k.lookups(x))
	}
}

// checksums compares the checksum of every section.
func (k *checker) checksums(x *index) {
	if x.checked == nil {
		return
	}
	for i := range x.sec.Index {
		e := k.t.extent(i)
		data, err := k.r.viewExtent(e)
		if err == nil {
			err = x.compare(i, e, data)
		}
		if k.fault(err); k.stopped {
			return
		}
	}
}

// sections compares what the index says of the section table.
func (k *checker) sections(x *index) {
	b := x.byKind[blockSections]
	if b.size == 0 || k.stopped {
		return
	}
	if k.t.sorted != nil {
		k.fault(x.fault(b.off, "the section table is not in the order of the file"))
		return
	}
	said := *k.t
	block, err := x.openSections(&said)
	if err != nil {
		k.fault(err)
		return
	}
	for i := range k.t.fixed {
		if f := k.t.fixed[i]; f.index != said.fixed[i].index {
			k.fault(x.fault(b.off, "the %s is section %d, not %d", f.t, f.index, said.fixed[i].index))
			return
		}
	}
	for i := 0; k.t.sec.Compact && i <= k.t.groups(); i++ {
		at := k.t.end
		if i < k.t.groups() {
			at = int64(k.t.checkpoints[i])
		}
		got, err := block.position(i)
		if at -= int64(k.t.entries); err == nil && got != at {
			err = x.fault(b.off, "entry %d of the section table begins %d bytes behind the first one, not %d", i*checkpointEvery, at, got)
		}
		if err != nil {
			k.fault(err)
			return
		}
	}
}

// schemes checks the form of what is not known here, or that nothing else depends on.
func (k *checker) schemes(x *index) {
	for _, kind := range []blockKind{blockUnqualified, blockFingerprints} {
		_, b, err := x.scheme(kind)
		if err == nil && kind == blockFingerprints && x.byKind[kind].size > 0 && b.size != 8*int64(x.units) {
			err = x.fault(b.off, "%d bytes of fingerprints for %d units", b.size, x.units)
		}
		k.fault(err)
	}
	if n := len(x.blocks); n > 0 {
		last := x.blocks[n-1]
		if end := last.off + last.size; end < x.size {
			k.fault(x.fault(end, "%d bytes behind the last block", x.size-end))
		}
	}
}

// lookups compares what the index finds things by with the file. It returns
// the first thing that it finds.
func (k *checker) lookups(x *index) error {
	d, err := k.r.directory()
	if err != nil {
		return err
	}
	if x.units != len(d.entries) {
		return x.fault(0, "%d units, the file has %d", x.units, len(d.entries))
	}
	if x.byKind[blockUnits].size > 0 {
		if err := x.checkUnits(d); err != nil {
			return err
		}
	}
	if x.byKind[blockPaths].size > 0 {
		if err := x.checkTable(blockPaths, d.pathTable()); err != nil {
			return err
		}
	}
	if x.byKind[blockNames].size > 0 {
		names, err := k.r.newTable(canonical.Name, false, hashKey)
		if err == nil {
			err = x.checkTable(blockNames, names)
		}
		if err != nil {
			return err
		}
	}
	if err := k.unqualified(x); err != nil {
		return err
	}
	if x.byKind[blockInlined].size > 0 {
		return k.inlined(x)
	}
	return nil
}

// unqualified checks the unqualified names, if the Reader knows how they were made.
func (k *checker) unqualified(x *index) error {
	of := k.r.opts.unqualified
	scheme, b, err := x.scheme(blockUnqualified)
	if err != nil || b.size == 0 || of.Unqualified == nil || scheme != of.Name {
		return err
	}
	table, err := k.r.newTable(of.Unqualified, true, hashKey)
	if err != nil {
		return err
	}
	return x.checkTable(blockUnqualified, table)
}

func (k *checker) inlined(x *index) error {
	all, err := k.r.allInlining()
	if err != nil {
		return err
	}
	for unit := range x.units {
		ids, err := x.inlined(unit)
		if err != nil {
			return err
		}
		if want := all.of(unit); !slices.Equal(ids, want) {
			return x.fault(x.byKind[blockInlined].off, "unit %d was inlined into %d functions of others, the index has %d or not the same",
				unit, len(want), len(ids))
		}
	}
	return nil
}

// checkUnits compares the block of units with the file names section.
func (x *index) checkUnits(d *directory) error {
	u, err := x.unitBlock()
	if err != nil {
		return err
	}
	if u.ranked != d.numRanked() {
		return x.fault(u.byID, "%d units by symbol ID, the file has %d", u.ranked, d.numRanked())
	}
	f := d.sec.fieldsAt(d.data, 1)
	f.UnitCount()
	mask := wire.SectionBitmask(byte(d.sec.Type), d.sec.Compact)
	for rank := range x.units + 1 {
		from, want := f.Pos, uint32(0)
		if rank < x.units {
			f.unitFields(new(unitEntry))
			want = entrySum(mask, d.data[from:f.Pos])
		}
		if off, sum, err := u.entry(rank); err != nil {
			return err
		} else if off != int64(from) || sum != want {
			return x.fault(u.entries, "unit %d is at %d with checksum %08x, the index has %d and %08x", rank, from, want, off, sum)
		}
	}
	for i := range u.ranked {
		if start, rank, err := u.rankedAt(i); err != nil {
			return err
		} else if want := d.ranked(i); rank != want || uint32(start) != d.entries[want].Start {
			return x.fault(u.byID, "unit %d from symbol ID %d, the index has %d from %d", want, d.entries[want].Start, rank, start)
		}
	}
	return nil
}

// placed is an entry of a table by its place.
type placed struct {
	bucket uint64
	row    uint64 // remainder and value
}

func comparePlaced(a, b placed) int {
	return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.row, b.row))
}

// checkTable compares a hash table with what it should hold.
func (x *index) checkTable(kind blockKind, want hashTable) error {
	t, err := x.table(kind)
	if err != nil {
		return err
	}
	if t.entries != uint64(len(want)) {
		return x.fault(t.starts, "a table of %d entries, %d are due", t.entries, len(want))
	}
	due := make([]placed, len(want))
	for i, e := range want {
		if e.value>>t.valueBits != 0 {
			return x.fault(t.starts, "a table of values of %d bits, there is %d", t.valueBits, e.value)
		}
		due[i] = placed{bucket(e.hash, t.buckets), e.hash&(1<<t.remainderBits-1)<<t.valueBits | uint64(e.value)}
	}
	slices.SortFunc(due, comparePlaced)
	i := uint64(0)
	for in := range t.buckets + 1 {
		for i < t.entries && due[i].bucket < in {
			row, err := t.row(i)
			if err != nil {
				return err
			}
			if row != due[i].row {
				return x.fault(t.rows, "entry %d of the table is %#x, %#x is due", i, row, due[i].row)
			}
			i++
		}
		if start, err := x.bits(t.starts, in*uint64(t.startBits), t.startBits); err != nil {
			return err
		} else if start != i {
			return x.fault(t.starts, "bucket %d of the table begins with entry %d, %d is due", in, start, i)
		}
	}
	return nil
}
