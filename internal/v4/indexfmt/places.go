package indexfmt

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A places is an array of ascending IDs, each with an offset of the data about this ID. Two blocks
// begin with such an array: that of groups of callers, by symbol ID, and that of the parts of
// names, by unit.
type places struct {
	x               *Index
	n               int
	idBits, offBits uint8
	rows            int64 // offset of the array in the content
	end             int64 // offset of the first byte after it
}

// places returns the array at the start of a block.
func (x *Index) places(kind Kind) (*places, error) {
	b := x.byKind[kind]
	f, err := x.fields(b.Off, int(min(b.Size, wire.MaxVarintLen+2)))
	if err != nil {
		return nil, err
	}
	n := f.Uint32()
	p := &places{x: x, n: int(n), idBits: f.Byte(), offBits: f.Byte()}
	if f.Err != nil {
		return nil, x.misread(b.Off, &f)
	}
	p.rows = b.Off + int64(f.Pos)
	p.end = p.rows + packedSize(uint64(n)+1, p.idBits+p.offBits)
	if p.idBits > 32 || p.offBits > 48 || p.end > b.Off+b.Size {
		return nil, x.fault(b.Off, "%d places of %d and %d bits in %d bytes", n, p.idBits, p.offBits, b.Size)
	}
	return p, nil
}

// row returns the i-th ID of the array and its offset. After the last ID, for i == p.n, it returns
// 0 and the end of the data to which the offsets refer.
func (p *places) row(i int) (id uint32, off int64, err error) {
	pos := uint64(i) * uint64(p.idBits+p.offBits)
	first, err := p.x.bits(p.rows, pos, p.idBits)
	if err != nil {
		return 0, 0, err
	}
	at, err := p.x.bits(p.rows, pos+uint64(p.idBits), p.offBits)
	return uint32(first), int64(at), err
}

// at returns the i-th ID of the array, and where the data about it begin and end. size is the size
// of all data, for a check.
func (p *places) at(i int, size int64) (id uint32, from, to int64, err error) {
	id, from, err = p.row(i)
	if err != nil {
		return 0, 0, 0, err
	}
	_, to, err = p.row(i + 1)
	if err == nil && (from > to || to > size) {
		err = p.x.fault(p.rows, "place %d from %d to %d of %d", i, from, to, size)
	}
	return id, from, to, err
}

// find returns the position in the array of the last ID that is at most id, or -1 if there is none.
func (p *places) find(id uint32) (i int, err error) {
	above := sort.Search(p.n, func(i int) bool {
		first, _, e := p.row(i)
		if e != nil {
			err = e
		}
		return first > id
	})
	return above - 1, err
}

// appendPlaces appends an array of IDs and offsets to a block. offsets has one element more than
// ids: the end of the data about the last ID.
func appendPlaces(dst []byte, compact bool, ids, offsets []uint64) []byte {
	dst = appendUint(dst, compact, 4, uint64(len(ids)))
	ids = append(ids, 0)
	idBits, offBits := uint8(bits.Len64(slices.Max(ids))), uint8(bits.Len64(offsets[len(offsets)-1]))
	p := wire.BitWriter{Data: append(dst, idBits, offBits)}
	for i, id := range ids {
		p.Put(id, idBits)
		p.Put(offsets[i], offBits)
	}
	p.Align()
	return p.Data
}
