package indexfmt

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The inlining block lists, for each unit, the functions of other units into which functions of the
// unit were inlined, at any depth. Compiling the unit needs these functions, and without the list
// all records would have to be read to find them.

// Inlined returns the list of a unit: ascending symbol IDs.
func (x *Index) Inlined(unit int) ([]uint32, error) {
	b := x.byKind[Inlined]
	f, err := x.fields(b.Off, 1)
	if err != nil {
		return nil, err
	}
	width := f.Byte()
	lists := b.Off + 1 + packedSize(uint64(x.units)+1, width)
	if width > 48 || lists > b.Off+b.Size || unit >= x.units {
		return nil, x.fault(b.Off, "unit %d of %d, places of %d bits", unit, x.units, width)
	}
	from, err := x.bits(b.Off+1, uint64(unit)*uint64(width), width)
	if err != nil {
		return nil, err
	}
	to, err := x.bits(b.Off+1, uint64(unit+1)*uint64(width), width)
	if err != nil {
		return nil, err
	}
	if from > to || int64(to) > b.Off+b.Size-lists {
		return nil, x.fault(lists, "the list of unit %d from %d to %d", unit, from, to)
	}
	data, err := x.content(lists+int64(from), int64(to-from))
	if err != nil {
		return nil, err
	}
	ids, ok := ascending(data)
	if !ok {
		return nil, x.fault(lists+int64(from), "the list of unit %d does not ascend", unit)
	}
	return ids, nil
}

// AppendInlined appends the block with the lists of all units.
func AppendInlined(dst []byte, ofUnits [][]uint32) []byte {
	var lists []byte
	places := make([]uint64, len(ofUnits)+1)
	for u, ids := range ofUnits {
		lists = appendAscending(lists, ids)
		places[u+1] = uint64(len(lists))
	}
	width := uint8(bits.Len(uint(len(lists))))
	p := packer{dst: append(dst, width)}
	for _, at := range places {
		p.put(at, width)
	}
	p.align()
	return append(p.dst, lists...)
}

// CheckInlined compares the lists with the expected ones.
func (x *Index) CheckInlined(want [][]uint32) error {
	for unit, want := range want {
		got, err := x.Inlined(unit)
		if err != nil || !slices.Equal(got, want) {
			return orElse(err, x.fault(x.byKind[Inlined].Off, "unit %d was inlined into %d functions of others, want %d and the same", unit, len(got), len(want)))
		}
	}
	return nil
}

// ascending decodes ascending numbers, which are stored as the first number and the differences.
func ascending(data []byte) (numbers []uint32, ok bool) {
	next := uint64(0)
	for len(data) > 0 {
		v, n := wire.Varint(data)
		if n <= 0 || v > math.MaxUint32 || next+v > math.MaxUint32 {
			return nil, false
		}
		next += v
		numbers = append(numbers, uint32(next))
		next++
		data = data[n:]
	}
	return numbers, true
}

func appendAscending(dst []byte, numbers []uint32) []byte {
	next := uint32(0)
	for _, v := range numbers {
		dst = binary.AppendUvarint(dst, uint64(v-next))
		next = v + 1
	}
	return dst
}
