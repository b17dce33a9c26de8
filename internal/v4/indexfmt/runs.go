package indexfmt

import (
	"encoding/binary"
	"math/bits"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The runs block collects everything that a lookup of a unit needs: the unit's entry of the file
// names section and, if its sections are adjacent, their positions and checksums. It minimises the
// number of reads of a file for which each read is slow.

// A Run is the data that the runs block has about one unit. With it, a reader finds the unit's
// sections without the file names section and the section table.
type Run struct {
	Bitmask byte   // bitmask byte of the file names section
	Entry   []byte // the unit's entry in that section

	// The unit's sections: string table, symbol names, and the samples that follow. There are no
	// sizes if the first two are not adjacent.
	First  int   // section index of the string table
	Offset int64 // its offset from the start of the first section of the file
	Sizes  []int64
	Names  uint32 // checksum of the first two sections, concatenated
	Infos  uint32 // checksum of the other sections, concatenated
}

// NamesSize returns the size of the string table and the symbol names.
func (r *Run) NamesSize() int64 { return r.Sizes[0] + r.Sizes[1] }

// Size returns the size of all sections.
func (r *Run) Size() (size int64) {
	for _, s := range r.Sizes {
		size += s
	}
	return size
}

// Run returns the data of the runs block about a unit.
func (x *Index) Run(unit int) (*Run, error) {
	b, err := x.record(unit)
	if err != nil {
		return nil, err
	}
	data, err := x.content(b.Off, b.Size)
	if err != nil {
		return nil, err
	}
	f := wire.Fields{Data: data, Compact: true}
	r := decodeRun(&f)
	if f.Err != nil {
		return nil, x.misread(b.Off, &f)
	}
	return r, nil
}

// RunPlace returns where the pages are in the index section that contain the data of the runs block
// about a unit.
func (x *Index) RunPlace(unit int) (off, size int64, err error) {
	b, err := x.record(unit)
	if err != nil {
		return 0, 0, err
	}
	off, size = x.place(b)
	return off, size, nil
}

// record returns where the data about a unit are in the runs block.
func (x *Index) record(unit int) (Block, error) {
	b := x.byKind[Runs]
	if unit >= x.units {
		return b, x.fault(b.Off, "unit %d of %d", unit, x.units)
	}
	f, err := x.fields(b.Off+b.Size-1, 1)
	if err != nil {
		return b, err
	}
	width := f.Byte()
	size := b.Size - 1 - packedSize(uint64(x.units)+1, width)
	if width > 48 || size < 0 {
		return b, x.fault(b.Off+b.Size-1, "places of %d bits of %d runs", width, x.units)
	}
	from, err := x.bits(b.Off+size, uint64(unit)*uint64(width), width)
	if err != nil {
		return b, err
	}
	to, err := x.bits(b.Off+size, uint64(unit+1)*uint64(width), width)
	if err != nil {
		return b, err
	}
	if from > to || int64(to) > size {
		return b, x.fault(b.Off+size, "the run of unit %d from %d to %d", unit, from, to)
	}
	return Block{Runs, b.Off + int64(from), int64(to - from)}, nil
}

func decodeRun(f *wire.Fields) *Run {
	r := &Run{Bitmask: f.Byte()}
	r.Entry = f.Take(f.Count(uint64(f.Uint32()), 1, 1, "bytes"), "an entry")
	n := f.Count(uint64(f.Uint32()), 1, 1, "sizes")
	if n == 0 {
		return r
	}
	r.First, r.Offset = int(f.Uint32()), int64(f.Uint64())
	r.Sizes = make([]int64, n)
	for i := range r.Sizes {
		r.Sizes[i] = int64(f.Uint64())
	}
	if sums := f.Take(2*SumSize, "checksums"); f.Err == nil {
		r.Names, r.Infos = binary.BigEndian.Uint32(sums), binary.BigEndian.Uint32(sums[SumSize:])
	}
	if f.Err == nil && n < 2 {
		f.Fail(0, fault.ErrIndex, "a run of %d section", n)
	}
	return r
}

func (r *Run) append(dst []byte) []byte {
	e := wire.Encoder{Data: dst, Compact: true}
	e.Byte(r.Bitmask)
	e.Uint32(uint32(len(r.Entry)))
	e.Bytes(r.Entry)
	e.Uint32(uint32(len(r.Sizes)))
	if len(r.Sizes) == 0 {
		return e.Data
	}
	e.Uint32(uint32(r.First))
	e.Uint64(uint64(r.Offset))
	for _, size := range r.Sizes {
		e.Uint64(uint64(size))
	}
	return AppendChecksum(AppendChecksum(e.Data, r.Names), r.Infos)
}

// AppendRuns appends the block with the runs of all units.
func AppendRuns(dst []byte, runs []Run) []byte {
	start := len(dst)
	places := make([]uint64, len(runs)+1)
	for i := range runs {
		dst = runs[i].append(dst)
		places[i+1] = uint64(len(dst) - start)
	}
	width := uint8(bits.Len64(places[len(runs)]))
	p := wire.BitWriter{Data: dst}
	for _, at := range places {
		p.Put(at, width)
	}
	p.Align()
	return append(p.Data, width)
}
