package indexfmt

import (
	"math/bits"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The block of sections certifies that the entries of the section table are in file order. For a
// compact table it also stores where groups of entries begin, so that an entry can be found without
// scanning the table.

// GroupSize is the number of entries in a group, whose position is stored.
const GroupSize = 32

// NumGroups returns the number of groups for a number of entries.
func NumGroups(entries int) int { return (entries + GroupSize - 1) / GroupSize }

// An Order is the block of sections.
type Order struct {
	Summary, FileNames int // section indexes

	x         *Index
	bits      uint8 // width of a position
	positions int64 // offset of the array of positions
}

// Order returns the block of sections of a file with the given number of entries in its section
// table.
func (x *Index) Order(entries int) (*Order, error) {
	b := x.byKind[Sections]
	f, err := x.fields(b.Off, int(min(b.Size, 2*wire.MaxVarintLen+1)))
	if err != nil {
		return nil, err
	}
	o := &Order{x: x}
	summary, names := int64(f.Uint32()), int64(f.Uint32())
	o.bits = f.Byte()
	if f.Err != nil {
		return nil, x.misread(b.Off, &f)
	}
	o.positions = b.Off + int64(f.Pos)
	if o.bits > 32 || o.positions+packedSize(uint64(NumGroups(entries)+1), o.bits) > b.Off+b.Size {
		return nil, x.fault(b.Off, "positions of %d bits of %d entries in %d bytes", o.bits, entries, b.Size)
	}
	if n := int64(x.sections - 1); summary >= n || names >= n || summary == names {
		return nil, x.fault(b.Off, "summary and file names are sections %d and %d of %d", summary, names, n)
	}
	o.Summary, o.FileNames = int(summary), int(names)
	return o, nil
}

// Position returns the start of a group in a compact table, relative to the first group. The
// position after the last group is the end of the table.
func (o *Order) Position(group int) (int64, error) {
	v, err := o.x.bits(o.positions, uint64(group)*uint64(o.bits), o.bits)
	return int64(v), err
}

// CheckOrder compares the block of sections with the expected one. positions comes from
// [Positions].
func (x *Index) CheckOrder(entries, summary, names int, positions []uint32) error {
	o, err := x.Order(entries)
	if err != nil {
		return err
	}
	off := x.byKind[Sections].Off
	if o.Summary != summary || o.FileNames != names {
		return x.fault(off, "summary and file names are sections %d and %d, want %d and %d", o.Summary, o.FileNames, summary, names)
	}
	for i, want := range positions {
		if got, err := o.Position(i); err != nil || got != int64(want) {
			return orElse(err, x.fault(off, "entry %d of the section table begins %d bytes after the first one, want %d", i*GroupSize, got, want))
		}
	}
	return nil
}

// FaultyOrder returns the error for a block of sections in a file whose section table is not in
// file order.
func (x *Index) FaultyOrder() error {
	return x.fault(x.byKind[Sections].Off, "the section table is not in the order of the file")
}

// Positions returns the start of each group in the section table of a file that begins with head,
// and the end of the last group, relative to the first group. It returns nil if all entries have
// the same size.
func Positions(head []byte) []uint32 {
	f := wire.Header(head)
	if !f.Compact {
		return nil
	}
	n := int(f.Uint(7))
	f.Pos += wire.SkipVarints(f.Data[f.Pos:], 4) // the places of summary and file names
	start := f.Pos
	var positions []uint32
	for ; n > 0; n -= GroupSize {
		positions = append(positions, uint32(f.Pos-start))
		f.Pos += wire.SkipVarints(f.Data[f.Pos:], 2*uint64(min(n, GroupSize)))
	}
	return append(positions, uint32(f.Pos-start))
}

// AppendOrder appends the block of sections.
func AppendOrder(dst []byte, compact bool, summary, names int, positions []uint32) []byte {
	dst = appendUint(dst, compact, 4, uint64(summary))
	dst = appendUint(dst, compact, 4, uint64(names))
	width := uint8(0)
	if n := len(positions); n > 0 {
		width = uint8(bits.Len32(positions[n-1]))
	}
	p := packer{dst: append(dst, width)}
	for _, pos := range positions {
		p.put(uint64(pos), width)
	}
	p.align()
	return p.dst
}
