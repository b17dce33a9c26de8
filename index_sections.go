package afdo

import (
	"math/bits"

	"github.com/go-afdo/afdo/internal/wire"
)

// The block of sections says that the entries of the section table stand in the order of the file, and where
// among varints they begin, so that the table need not be looked at as a whole before one entry can be
// relied on. What is found so is compared with its checksum; where that is wrong, or
// where entries do not look like those of such a table, the whole table decides.

// sectionBlock is the block of sections.
type sectionBlock struct {
	x         *index
	bits      uint8 // of a position
	positions int64 // where their array begins
}

// position returns where a group begins in a compact table, from where the first one does. The one after the last begins where the table ends.
func (s *sectionBlock) position(group int) (int64, error) {
	v, err := s.x.bits(s.positions, uint64(group)*uint64(s.bits), s.bits)
	return int64(v), err
}

// openSparse leaves the entries of the section table where they are if the
// file has an index, found by the last one, which vouches for them. The error is that of a read.
func (r *Reader) openSparse(t *sectionTable) error {
	if r.opts.lenient || r.opts.ignoreIndex || r.opts.skipChecksums || t.count == 0 {
		return nil
	}
	last, err := r.lastEntry(t)
	if err != nil || last.off < int64(t.entries) || last.size < 1 || last.off != t.size-last.size {
		return err
	}
	x, err := r.indexAt(t.len()-1, last)
	if err == nil {
		err = x.readHeader(t.len(), t.firstOffset())
	}
	if err == nil && x.checked != nil && x.byKind[blockSections].size > 0 {
		err = t.useSections(x)
	}
	if err == nil && t.sparse != nil {
		r.idx.Store(x)
	}
	if _, ok := err.(*FormatError); ok || err == errNoIndex {
		return nil // the table will tell
	}
	return err
}

// lastEntry reads the last entry of a table that is in order. If it is not, that is any extent.
func (r *Reader) lastEntry(t *sectionTable) (extent, error) {
	end := int64(t.likelyEnd())
	n := min(2*wire.MaxVarintLen, end-int64(t.entries))
	if !t.sec.Compact {
		n = 16
	}
	if n < 0 || end > t.size {
		return extent{}, nil
	}
	data, err := r.src.view(end-n, int(n))
	if err != nil {
		return extent{}, err
	}
	f := t.sec.fieldsAt(data, 0)
	if t.sec.Compact {
		f.Pos = lastVarint(data, lastVarint(data, len(data)))
	}
	e := t.newExtent(f.Uint64(), f.Uint64())
	if f.Err != nil {
		e = extent{}
	}
	return e, nil
}

// lastVarint returns where the varint begins that ends at end.
func lastVarint(data []byte, end int) int {
	for end--; end > 0 && data[end-1] >= 0x80; end-- {
	}
	return max(end, 0)
}

// firstOffset returns where the first section of a table that is in order begins. If it is not, that is any offset.
func (t *sectionTable) firstOffset() int64 {
	f := t.fields
	first := int64(f.Uint64() &^ (1 << 63))
	return min(first, t.fixed[0].off, t.fixed[1].off)
}

// useSections has a table that is not in memory read by what the index says of it.
func (t *sectionTable) useSections(x *index) error {
	s, err := x.openSections(t)
	if err == nil {
		t.sparse = &entryGroups{src: x.src, position: s.position}
	}
	return err
}

// openSections opens the block of sections for a table, of which it places the fixed ones.
func (x *index) openSections(t *sectionTable) (*sectionBlock, error) {
	b := x.byKind[blockSections]
	f, err := x.fields(b.off, int(min(b.size, 2*wire.MaxVarintLen+1)))
	if err != nil {
		return nil, err
	}
	summary, names := int64(f.Uint32()), int64(f.Uint32())
	s := &sectionBlock{x: x, bits: f.Byte()}
	if f.Err != nil {
		return nil, x.misread(&f)
	}
	s.positions = b.off + int64(f.Pos)
	if s.bits > 32 || s.positions+packedSize(uint64(t.groups()+1), s.bits) > b.off+b.size {
		return nil, x.fault(b.off, "positions of %d bits of %d entries in %d bytes", s.bits, t.count, b.size)
	}
	if n := int64(x.sec.Index); summary >= n || names >= n || summary == names {
		return nil, x.fault(b.off, "summary and file names are sections %d and %d of %d", summary, names, n)
	}
	for i := range t.fixed {
		t.fixed[i].index = int(summary)
		if t.fixed[i].t == SectionFileNames {
			t.fixed[i].index = int(names)
		}
	}
	return s, nil
}

// sectionPositions returns where each group of entries begins in the table of a
// header, and where the last one ends, from where the first one begins; nil if entries are all of one size.
func sectionPositions(header []byte) []uint32 {
	f := headerFields(header)
	if !f.sec.Compact {
		return nil
	}
	n := int(f.Uint(7))
	f.Pos += wire.SkipVarints(f.Data[f.Pos:], 4) // the places of summary and file names
	start := f.Pos
	var positions []uint32
	for ; n > 0; n -= checkpointEvery {
		positions = append(positions, uint32(f.Pos-start))
		f.Pos += wire.SkipVarints(f.Data[f.Pos:], 2*uint64(min(n, checkpointEvery)))
	}
	return append(positions, uint32(f.Pos-start))
}

// appendSections appends the block of sections.
func appendSections(dst []byte, compact bool, summary, names int, positions []uint32) []byte {
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
