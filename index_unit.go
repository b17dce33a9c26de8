package afdo

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/cespare/xxhash/v2"
	"github.com/go-afdo/afdo/internal/wire"
)

// The units block says where the entries of the file names section are, so that one can be read
// alone, and orders the units by symbol ID. The paths block is a hash table of their paths.

// maxRankBits bounds what the ranks of units may take: with an ID, they make a number of up to 56 bits.
const maxRankBits = 24

// unitBlock is the block of units.
type unitBlock struct {
	x                            *index
	ranked                       int // units that have symbol IDs
	offsetBits, idBits, rankBits uint8
	entries, byID                int64 // where these arrays begin
}

// unitBlock opens the block of units.
func (x *index) unitBlock() (*unitBlock, error) {
	b := x.byKind[blockUnits]
	f, err := x.fields(b.off, int(min(b.size, wire.MaxVarintLen+3)))
	if err != nil {
		return nil, err
	}
	ranked := f.Uint32()
	u := &unitBlock{x: x, ranked: int(ranked), offsetBits: f.Byte(), idBits: f.Byte(), rankBits: f.Byte()}
	if f.Err != nil {
		return nil, x.misread(&f)
	}
	if u.offsetBits > 48 || u.idBits > 32 || u.rankBits > maxRankBits || uint64(ranked) > uint64(x.units) {
		return nil, x.fault(b.off, "%d units of %d by ID, with %d, %d and %d bits", ranked, x.units, u.offsetBits, u.idBits, u.rankBits)
	}
	u.entries = b.off + int64(f.Pos)
	u.byID = u.entries + packedSize(uint64(x.units)+1, u.entryBits())
	if end := u.byID + packedSize(uint64(ranked), u.idBits+u.rankBits); end > b.off+b.size {
		return nil, x.fault(b.off, "%d units, %d of them by ID, in %d bytes", x.units, ranked, b.size)
	}
	return u, nil
}

func (u *unitBlock) entryBits() uint8 { return u.offsetBits + 8*sumSize }

// entry returns where the entry of a unit begins in the file names section, and its checksum. The one after the last
// unit begins at the end of the last.
func (u *unitBlock) entry(rank int) (off int64, sum uint32, err error) {
	pos := uint64(rank) * uint64(u.entryBits())
	o, err := u.x.bits(u.entries, pos, u.offsetBits)
	if err != nil {
		return 0, 0, err
	}
	s, err := u.x.bits(u.entries, pos+uint64(u.offsetBits), 8*sumSize)
	return int64(o), uint32(s), err
}

// rankedAt returns the first symbol ID and the rank in the file names section of the i-th unit by ID.
func (u *unitBlock) rankedAt(i int) (start SymbolID, rank int, err error) {
	v, err := u.x.bits(u.byID, uint64(i)*uint64(u.idBits+u.rankBits), u.idBits+u.rankBits)
	start, rank = SymbolID(v>>u.rankBits), int(v&(1<<u.rankBits-1))
	if err == nil && rank >= u.x.units {
		err = u.x.fault(u.byID, "unit %d of %d", rank, u.x.units)
	}
	return start, rank, err
}

// entrySum is the checksum of an entry of the file names section, whose
// bitmask byte decides what the bytes mean.
func entrySum(bitmask byte, entry []byte) uint32 {
	var d xxhash.Digest
	d.ResetWithSeed(uint64(bitmask))
	_, _ = d.Write(entry) // never fails
	return uint32(d.Sum64())
}

// unitAt reads one entry of the file names section.
func (r *Reader) unitAt(u *unitBlock, rank int) (*Unit, error) {
	from, sum, err := u.entry(rank)
	if err != nil {
		return nil, err
	}
	to, _, err := u.entry(rank + 1)
	if err != nil {
		return nil, err
	}
	place := r.table.Load().fixedSection(SectionFileNames)
	mask, err := r.src.view(place.off, 1)
	if err != nil {
		return nil, err
	}
	names := newSection(place.index, place.extent, mask[0])
	if from < 1 || to <= from || to > names.Size {
		return nil, u.x.fault(u.entries, "unit %d from %d to %d in file names of %d bytes", rank, from, to, names.Size)
	}
	data, err := r.src.view(names.Offset+from, int(to-from))
	if err != nil {
		return nil, err
	}
	f := names.fieldsAt(data, 0)
	f.sec.Offset += from
	if got := entrySum(wire.SectionBitmask(byte(names.Type), names.Compact), data); got != sum {
		if r.opts.skipChecksums {
			return nil, u.x.fault(u.entries, "unit %d has another checksum", rank)
		}
		return nil, f.sec.errorAt(0, ErrChecksum, "the entry of unit %d should have the checksum %08x and has %08x", rank, sum, got)
	}
	var e unitEntry
	if f.unitEntry(&e); f.Err != nil || f.Rest() > 0 {
		return nil, u.x.fault(u.entries, "unit %d is not at %d", rank, from)
	}
	path := data[e.name : e.name+int(e.nameLen)]
	return &Unit{r: r, names: f.sec, index: rank, entry: e, path: string(path)}, nil
}

// unitsInIndex is how many units are looked up in the index before the file names section is read after all.
const unitsInIndex = 64

// searchingUnits returns the index if units are to be looked up in it: not
// where the file names section has been read, or soon will have been, piece by piece.
func (r *Reader) searchingUnits(kind blockKind) (*index, error) {
	if r.dir.Load() != nil {
		return nil, nil
	}
	x, err := r.searching(kind)
	if x == nil || x.byKind[blockUnits].size == 0 || x.unitsFound.Add(1) > unitsInIndex {
		return nil, err
	}
	return x, nil
}

// indexedUnits returns the units of a path through the index.
func (r *Reader) indexedUnits(x *index, path string) ([]*Unit, error) {
	t, err := x.table(blockPaths)
	if err != nil {
		return nil, err
	}
	ranks, err := t.find(hashKey(path), nil)
	if err != nil {
		return nil, err
	}
	block, err := x.unitBlock()
	if err != nil {
		return nil, err
	}
	var units []*Unit
	for i, rank := range distinct(ranks) {
		if i > len(units)+maxFalse {
			return nil, x.fault(t.rows, "hundreds of other paths in the place of %.200q", path)
		}
		if uint64(rank) >= uint64(x.units) {
			return nil, x.fault(t.rows, "unit %d of %d", rank, x.units)
		}
		u, err := r.unitAt(block, int(rank))
		if err != nil {
			return nil, err
		}
		if u.path == path {
			units = append(units, u)
		}
	}
	return units, nil
}

// indexedOwner returns the unit whose range holds a symbol ID through the index, nil if there is none.
func (r *Reader) indexedOwner(x *index, id SymbolID) (*Unit, error) {
	b, err := x.unitBlock()
	if err != nil {
		return nil, err
	}
	above := sort.Search(b.ranked, func(i int) bool {
		start, _, e := b.rankedAt(i)
		if e != nil {
			err = e
		}
		return start > id
	})
	if err != nil || above == 0 {
		return nil, err
	}
	start, rank, err := b.rankedAt(above - 1)
	if err != nil {
		return nil, err
	}
	u, err := r.unitAt(b, rank)
	if err != nil {
		return nil, err
	}
	if SymbolID(u.entry.Start) != start {
		return nil, x.fault(b.byID, "unit %d begins with symbol ID %d, not %d", rank, u.entry.Start, start)
	}
	if !u.entry.has(id) {
		return nil, nil
	}
	return u, nil
}

// owner returns the unit whose range holds a symbol ID, nil if there is none.
func (r *Reader) owner(id SymbolID) (*Unit, error) {
	if r.src.closed.Load() {
		return nil, ErrClosed
	}
	x, err := r.searchingUnits(blockUnits)
	if err != nil {
		return nil, err
	}
	if x != nil {
		u, err := r.indexedOwner(x, id)
		if !r.forsake(x, err) {
			return u, err
		}
	}
	d, err := r.directory()
	if err != nil {
		return nil, err
	}
	if i, ok := d.owner(id); ok {
		return r.unit(d, i), nil
	}
	return nil, nil
}

// exact returns the units of a path, as a rule one.
func (r *Reader) exact(path string) ([]*Unit, error) {
	if r.src.closed.Load() {
		return nil, ErrClosed
	}
	x, err := r.searchingUnits(blockPaths)
	if err != nil {
		return nil, err
	}
	if x != nil {
		units, err := r.indexedUnits(x, path)
		if !r.forsake(x, err) {
			return units, err
		}
	}
	d, err := r.directory()
	if err != nil {
		return nil, err
	}
	return r.unitsAt(d, d.exact(path)), nil
}

func (r *Reader) unitsAt(d *directory, indexes []int) []*Unit {
	units := make([]*Unit, len(indexes))
	for i, index := range indexes {
		units[i] = r.unit(d, index)
	}
	return units
}

// Fingerprint returns the key of the unit that whoever wrote the file has put into
// its index: a number that is the same as long as what the profile says of
// the unit is. What exactly goes into it is told by its scheme, see [IndexInfo].
// It is what the writer said, and not compared with anything. The error is [ErrNotFound] if the file has none.
func (u *Unit) Fingerprint() (uint64, error) {
	if u.r.src.closed.Load() {
		return 0, ErrClosed
	}
	x, err := u.r.index()
	if err != nil {
		return 0, err
	}
	if x == nil || x.byKind[blockFingerprints].size == 0 {
		return 0, errNoIndex
	}
	_, b, err := x.scheme(blockFingerprints)
	if err != nil {
		return 0, err
	}
	if b.size < 8*int64(x.units) || u.index >= x.units {
		return 0, x.fault(b.off, "%d bytes of fingerprints for %d units", b.size, x.units)
	}
	var v [8]byte
	err = x.read(v[:], b.off+8*int64(u.index))
	return binary.BigEndian.Uint64(v[:]), err
}

// appendUnits appends the block of units.
func (d *directory) appendUnits(dst []byte, compact bool) []byte {
	order := make([]int, 0, len(d.entries))
	for i := range d.numRanked() {
		order = append(order, d.ranked(i))
	}
	mask := wire.SectionBitmask(byte(d.sec.Type), d.sec.Compact)
	offsetBits, rankBits := uint8(bits.Len(uint(len(d.data)))), uint8(bits.Len(uint(max(len(d.entries), 1)-1)))
	idBits := uint8(0)
	if n := len(order); n > 0 {
		idBits = uint8(bits.Len32(d.entries[order[n-1]].Start))
	}
	dst = appendUint(dst, compact, 4, uint64(len(order)))
	dst = append(dst, offsetBits, idBits, rankBits)

	p := packer{dst: dst}
	f := d.sec.fieldsAt(d.data, 1)
	f.UnitCount()
	for range d.entries {
		from := f.Pos
		f.unitFields(new(unitEntry))
		p.put(uint64(from), offsetBits)
		p.put(uint64(entrySum(mask, d.data[from:f.Pos])), 8*sumSize)
	}
	p.put(uint64(f.Pos), offsetBits)
	p.put(0, 8*sumSize)
	p.align()
	for _, rank := range order {
		p.put(uint64(d.entries[rank].Start), idBits)
		p.put(uint64(rank), rankBits)
	}
	p.align()
	return p.dst
}

// pathTable returns the hash table of the paths.
func (d *directory) pathTable() hashTable {
	t := make(hashTable, len(d.entries))
	for i := range d.entries {
		t[i] = hashed{xxhash.Sum64(d.path(&d.entries[i])), uint32(i)}
	}
	t.sort()
	return t
}
