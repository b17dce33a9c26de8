package indexfmt

import (
	"math/bits"
	"sort"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The units block says where the entries of the file names section are, so that one can be read
// alone, and orders the units by symbol ID. The paths block is a hash table of their paths.

// MaxUnits bounds the number of units: a rank and a symbol ID make a number of up to 56 bits.
const MaxUnits = 1 << maxRankBits

const maxRankBits = 24

// unitBlock is the block of units.
type unitBlock struct {
	x                            *Index
	ranked                       int // units that have symbol IDs
	offsetBits, idBits, rankBits uint8
	entries, byID                int64 // where these arrays begin
}

func (x *Index) unitBlock() (*unitBlock, error) {
	b := x.byKind[Units]
	f, err := x.fields(b.Off, int(min(b.Size, wire.MaxVarintLen+3)))
	if err != nil {
		return nil, err
	}
	ranked := f.Uint32()
	u := &unitBlock{x: x, ranked: int(ranked), offsetBits: f.Byte(), idBits: f.Byte(), rankBits: f.Byte()}
	if f.Err != nil {
		return nil, x.misread(b.Off, &f)
	}
	if u.offsetBits > 48 || u.idBits > 32 || u.rankBits > maxRankBits || uint64(ranked) > uint64(x.units) {
		return nil, x.fault(b.Off, "%d units of %d by ID, with %d, %d and %d bits", ranked, x.units, u.offsetBits, u.idBits, u.rankBits)
	}
	u.entries = b.Off + int64(f.Pos)
	u.byID = u.entries + packedSize(uint64(x.units)+1, u.entryBits())
	if end := u.byID + packedSize(uint64(ranked), u.idBits+u.rankBits); end > b.Off+b.Size {
		return nil, x.fault(b.Off, "%d units, %d of them by ID, in %d bytes", x.units, ranked, b.Size)
	}
	return u, nil
}

func (u *unitBlock) entryBits() uint8 { return u.offsetBits + 8*SumSize }

// entry returns where the entry of a unit begins in the file names section, and its checksum. The
// one after the last unit begins at the end of the last.
func (u *unitBlock) entry(rank int) (off int64, sum uint32, err error) {
	pos := uint64(rank) * uint64(u.entryBits())
	o, err := u.x.bits(u.entries, pos, u.offsetBits)
	if err != nil {
		return 0, 0, err
	}
	s, err := u.x.bits(u.entries, pos+uint64(u.offsetBits), 8*SumSize)
	return int64(o), uint32(s), err
}

// rankedAt returns the first symbol ID and the rank in the file names section of the i-th unit by
// ID.
func (u *unitBlock) rankedAt(i int) (start uint32, rank int, err error) {
	v, err := u.x.bits(u.byID, uint64(i)*uint64(u.idBits+u.rankBits), u.idBits+u.rankBits)
	start, rank = uint32(v>>u.rankBits), int(v&(1<<u.rankBits-1))
	if err == nil && rank >= u.x.units {
		err = u.x.fault(u.byID, "unit %d of %d", rank, u.x.units)
	}
	return start, rank, err
}

// An Entry is where the entry of a unit lies in the file names section, and its checksum, see
// [EntrySum].
type Entry struct {
	Rank     int
	From, To int64
	Sum      uint32
}

// UnitEntry returns the entry of a unit.
func (x *Index) UnitEntry(rank int) (Entry, error) {
	if rank >= x.units {
		return Entry{}, x.fault(0, "unit %d of %d", rank, x.units)
	}
	u, err := x.unitBlock()
	if err != nil {
		return Entry{}, err
	}
	from, sum, err := u.entry(rank)
	if err != nil {
		return Entry{}, err
	}
	to, _, err := u.entry(rank + 1)
	return Entry{rank, from, to, sum}, err
}

// Owner returns the rank of the unit that has a symbol ID in its range, if any has.
func (x *Index) Owner(id uint32) (rank int, ok bool, err error) {
	u, err := x.unitBlock()
	if err != nil {
		return 0, false, err
	}
	above := sort.Search(u.ranked, func(i int) bool {
		start, _, e := u.rankedAt(i)
		if e != nil {
			err = e
		}
		return start > id
	})
	if err != nil || above == 0 {
		return 0, false, err
	}
	_, rank, err = u.rankedAt(above - 1)
	return rank, err == nil, err
}

// EntrySum is the checksum of an entry of the file names section, whose bitmask byte decides what
// the bytes mean.
func EntrySum(bitmask byte, entry []byte) uint32 { return seededSum(uint64(bitmask), entry) }

// A UnitList is what the block of units is made of.
type UnitList struct {
	Entries []Entry
	End     int64        // of the last one; behind the number of units if there are none
	Ranked  []RankedUnit // the units that have symbol IDs, by them
}

// A RankedUnit is a unit and its first symbol ID.
type RankedUnit struct {
	Start uint32
	Rank  int
}

// Append appends the block of units.
func (l *UnitList) Append(dst []byte, compact bool) []byte {
	offsetBits, rankBits := uint8(bits.Len64(uint64(l.End))), uint8(bits.Len(uint(max(len(l.Entries), 1)-1)))
	idBits := uint8(0)
	if n := len(l.Ranked); n > 0 {
		idBits = uint8(bits.Len32(l.Ranked[n-1].Start))
	}
	dst = appendUint(dst, compact, 4, uint64(len(l.Ranked)))
	p := packer{dst: append(dst, offsetBits, idBits, rankBits)}
	for _, e := range l.Entries {
		p.put(uint64(e.From), offsetBits)
		p.put(uint64(e.Sum), 8*SumSize)
	}
	p.put(uint64(l.End), offsetBits)
	p.put(0, 8*SumSize)
	p.align()
	for _, r := range l.Ranked {
		p.put(uint64(r.Start), idBits)
		p.put(uint64(r.Rank), rankBits)
	}
	p.align()
	return p.dst
}

// CheckUnits compares the block of units with what it should be.
func (x *Index) CheckUnits(want *UnitList) error {
	u, err := x.unitBlock()
	if err != nil {
		return err
	}
	if u.ranked != len(want.Ranked) {
		return x.fault(u.byID, "%d units by symbol ID, want %d", u.ranked, len(want.Ranked))
	}
	for rank := range x.units {
		e, err := x.UnitEntry(rank)
		if err != nil {
			return err
		}
		if e != want.Entries[rank] {
			return x.fault(u.entries, "unit %d from %d to %d with checksum %08x, want from %d to %d with %08x",
				rank, e.From, e.To, e.Sum, want.Entries[rank].From, want.Entries[rank].To, want.Entries[rank].Sum)
		}
	}
	if end, sum, err := u.entry(x.units); err != nil || end != want.End || sum != 0 {
		return orElse(err, x.fault(u.entries, "the last unit ends at %d with checksum %08x behind it, want %d with 0", end, sum, want.End))
	}
	for i, want := range want.Ranked {
		start, rank, err := u.rankedAt(i)
		if err != nil || rank != want.Rank || start != want.Start {
			return orElse(err, x.fault(u.byID, "unit %d from symbol ID %d, want %d from %d", rank, start, want.Rank, want.Start))
		}
	}
	return nil
}

// orElse returns the first of two errors that there is.
func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
