package indexfmt

import (
	"math/bits"
	"sort"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The units block stores the positions of the entries in the file names section, so that an entry
// can be read alone, and the order of units by symbol ID. The paths block is a hash table of their
// paths.

// MaxUnits is the maximum number of units. It makes sure that a rank and a symbol ID fit together
// into 56 bits.
const MaxUnits = 1 << maxRankBits

const maxRankBits = 24

// A unitBlock is the block of the index with the positions of all units in the file names section,
// and with the order of the units by symbol ID.
type unitBlock struct {
	x                            *Index
	ranked                       int // number of units with symbol IDs
	offsetBits, idBits, rankBits uint8
	entries, byID                int64 // offsets of the two arrays
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

// entry returns where the entry of a unit begins in the file names section, and the checksum of the
// entry. For the number after the last unit it returns the end of the last entry.
func (u *unitBlock) entry(rank int) (off int64, sum uint32, err error) {
	pos := uint64(rank) * uint64(u.entryBits())
	o, err := u.x.bits(u.entries, pos, u.offsetBits)
	if err != nil {
		return 0, 0, err
	}
	s, err := u.x.bits(u.entries, pos+uint64(u.offsetBits), 8*SumSize)
	return int64(o), uint32(s), err
}

// rankedAt returns the i-th unit in the order of symbol IDs: its first symbol ID, and its position
// in the file names section.
func (u *unitBlock) rankedAt(i int) (start uint32, rank int, err error) {
	v, err := u.x.bits(u.byID, uint64(i)*uint64(u.idBits+u.rankBits), u.idBits+u.rankBits)
	start, rank = uint32(v>>u.rankBits), int(v&(1<<u.rankBits-1))
	if err == nil && rank >= u.x.units {
		err = u.x.fault(u.byID, "unit %d of %d", rank, u.x.units)
	}
	return start, rank, err
}

// maxSearched is the size of an array of units by symbol ID that is read as a whole if reads are
// slow: a search would read a part of it several times.
const maxSearched = 256 << 10

// searchAhead announces that the units will be searched by symbol ID, so that a slow reader can
// read the whole array at once.
func (u *unitBlock) searchAhead() {
	if size := packedSize(uint64(u.ranked), u.idBits+u.rankBits); u.x.src.Slow() && size <= maxSearched {
		u.x.src.Ahead(u.x.pagesOf(u.byID, size))
	}
}

// An Entry is the position of a unit's entry in the file names section, with its checksum, see
// [EntrySum].
type Entry struct {
	Rank     int
	From, To int64
	Sum      uint32
}

// UnitEntry returns where the entry of a unit is in the file names section, given the position of
// the unit among all entries.
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

// Owner returns the position, in the file names section, of the unit whose range contains a symbol
// ID.
func (x *Index) Owner(id uint32) (rank int, ok bool, err error) {
	u, err := x.unitBlock()
	if err != nil {
		return 0, false, err
	}
	u.searchAhead()
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

// EntrySum returns the checksum of an entry of the file names section. It includes the bitmask byte
// of the section, which determines the meaning of the bytes.
func EntrySum(bitmask byte, entry []byte) uint32 { return seededSum(uint64(bitmask), entry) }

// A UnitList holds the contents of the block of units.
type UnitList struct {
	Entries []Entry
	End     int64        // end of the last entry; without entries, the end of the number of units
	Ranked  []RankedUnit // units with symbol IDs, by symbol ID
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
	p := wire.BitWriter{Data: append(dst, offsetBits, idBits, rankBits)}
	for _, e := range l.Entries {
		p.Put(uint64(e.From), offsetBits)
		p.Put(uint64(e.Sum), 8*SumSize)
	}
	p.Put(uint64(l.End), offsetBits)
	p.Put(0, 8*SumSize)
	p.Align()
	for _, r := range l.Ranked {
		p.Put(uint64(r.Start), idBits)
		p.Put(uint64(r.Rank), rankBits)
	}
	p.Align()
	return p.Data
}
