package indexfmt

import (
	"bytes"
	"math/bits"
	"strconv"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Kind is the kind of a block. An index consists of blocks, such as a table of names or the list
// of checksums.
type Kind uint8

// The kinds of blocks.
const (
	Units Kind = 1 + iota
	Paths
	Names
	Unqualified
	_ // not used
	Checksums
	Fingerprints
	Producer
	BuildID
	Sections
	Runs
	lastKind // the end block
	Filter
	Copies
	Callers
	CallerGroups
	Overview
	NameParts
	numKinds
)

var kindNames = [numKinds]string{
	Units:        "units",
	Paths:        "paths",
	Names:        "names",
	Unqualified:  "unqualified names",
	Checksums:    "checksums",
	Fingerprints: "fingerprints",
	Producer:     "producer",
	BuildID:      "build ID",
	Sections:     "sections",
	Runs:         "runs",
	lastKind:     "end",
	Filter:       "filter",
	Copies:       "copies",
	Callers:      "callers",
	CallerGroups: "groups of callers",
	Overview:     "overview",
	NameParts:    "name parts",
}

func (k Kind) String() string {
	if k.known() {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

func (k Kind) known() bool { return k < numKinds && kindNames[k] != "" }

// maxBlocks keeps the header of the index within its first page.
const maxBlocks = 64

// A Block is the position of a block in the content of the index, which is the index without the
// checksums of its pages.
type Block struct {
	Kind Kind
	Off  int64
	Size int64
}

// Place returns where the pages with a block are in the index section.
func (x *Index) Place(kind Kind) (off, size int64) { return x.place(x.byKind[kind]) }

// ChecksumPlace returns where, in the index section, the pages are that contain the checksum of
// another section.
func (x *Index) ChecksumPlace(section int) (off, size int64) {
	return x.place(Block{Checksums, x.byKind[Checksums].Off + int64(section)*SumSize, SumSize})
}

func (x *Index) place(b Block) (off, size int64) {
	from, to := span(b.Off, b.Size)
	return from, min(to, x.sectionSize) - from
}

func (x *Index) readBlocks(f *wire.Fields) {
	n := int(f.Byte())
	if n > maxBlocks {
		f.Fail(f.Pos, fault.ErrIndex, "%d blocks, more than %d", n, maxBlocks)
	}
	left := uint64(x.size)
	x.blocks = make([]Block, 0, min(n, maxBlocks))
	for range n {
		b := Block{Kind: Kind(f.Byte())}
		size := f.Uint64()
		if size > left {
			f.Fail(f.Pos, fault.ErrIndex, "the block of %s reaches past the end", b.Kind)
			return
		}
		left -= size
		b.Size = int64(size)
		x.blocks = append(x.blocks, b)
	}
	off := int64(f.Pos)
	for i := range x.blocks {
		b := &x.blocks[i]
		b.Off = off
		off += b.Size
		switch known := b.Kind.known(); {
		case off > x.size:
			f.Fail(f.Pos, fault.ErrIndex, "the block of %s reaches past the end", b.Kind)
		case known && x.byKind[b.Kind].Off > 0:
			f.Fail(f.Pos, fault.ErrIndex, "two blocks of %s", b.Kind)
		case known:
			x.byKind[b.Kind] = *b
		}
	}
}

// A Writer collects the blocks of an index.
type Writer struct {
	Compact bool
	Units   int  // number of units in the file
	End     *End // nil for an index without an end block

	kinds []Kind // of the blocks, in order
	data  [numKinds][]byte
}

// Add adds a block, unless it is empty.
func (w *Writer) Add(kind Kind, data []byte) {
	if len(data) == 0 {
		return
	}
	w.kinds = append(w.kinds, kind)
	w.data[kind] = data
}

// Section returns the pages of the index without the bitmask byte. sections is the number of
// sections in the file, and span is the total size of those before the index.
func (w *Writer) Section(sections int, span int64) []byte {
	var blocks []byte
	for _, kind := range w.kinds {
		blocks = append(blocks, w.data[kind]...)
	}
	if w.End == nil {
		return paginate(append(w.head(sections, span, 0), blocks...))[1:]
	}
	for size := 0; ; size++ {
		head := w.head(sections, span, size)
		size = max(size, endSize(w.End, head)-1)
		if content := len(head) + len(blocks) + size; endSize(w.End, head) <= size && fits(content) {
			all := append(head, blocks...)
			section := int64(content + (content+pageContent-1)/pageContent*SumSize)
			return paginate(appendEnd(all, w.End, head, size, section))[1:]
		}
	}
}

// head returns the head of the index. end is the size of the end block, if there is one.
func (w *Writer) head(sections int, span int64, end int) []byte {
	e := wire.Encoder{Compact: w.Compact}
	e.Byte(wire.SectionBitmask(wire.Index, w.Compact))
	e.String(Magic)
	e.Byte(version)
	e.Uint32(uint32(sections))
	e.Uint64(uint64(span))
	e.Uint32(uint32(w.Units))
	n := len(w.kinds)
	if w.End != nil {
		n++
	}
	e.Byte(byte(n))
	for _, kind := range w.kinds {
		e.Byte(byte(kind))
		e.Uint64(uint64(len(w.data[kind])))
	}
	if w.End != nil {
		e.Byte(byte(lastKind))
		e.Uint64(uint64(end))
	}
	return e.Data
}

// Check compares each block of the index with the block that w, a Writer for the same file, would
// write. A block that w has and the index lacks is no error, since the index may have been written
// without it.
func (x *Index) Check(w *Writer) error {
	if x.units != w.Units {
		return x.fault(0, "%d units, want %d", x.units, w.Units)
	}
	for _, b := range x.blocks {
		if b.Size == 0 || !b.Kind.known() {
			continue
		}
		got, err := x.content(b.Off, b.Size)
		if err != nil {
			return err
		}
		want := w.data[b.Kind]
		if b.Kind == lastKind {
			if want, err = x.wantEnd(w.End, len(got)); err != nil {
				return err
			}
		}
		if !bytes.Equal(got, want) {
			return x.fault(b.Off, "the block of %s is not that of this file", b.Kind)
		}
	}
	return nil
}

// appendUint appends a number to data of the index: a varint in compact mode, and otherwise a field
// of width bytes.
func appendUint(dst []byte, compact bool, width int, v uint64) []byte {
	e := wire.Encoder{Data: dst, Compact: compact}
	e.Uint(width, v)
	return e.Data
}

// The block of sections certifies that the entries of the section table are in file order. For a
// compact table it also stores where groups of entries begin, so that an entry can be found without
// scanning the table.

// GroupSize is the number of entries in a group, whose position is stored.
const GroupSize = 32

// NumGroups returns the number of groups for a number of entries.
func NumGroups(entries int) int { return (entries + GroupSize - 1) / GroupSize }

// An Order is the block of the index that replaces reading the section table: it has the section
// indexes of the summary and the file names, and the position of each group of entries in the
// table.
type Order struct {
	Summary, FileNames int // section indexes

	x         *Index
	bits      uint8 // width of a position
	positions int64 // offset of the array of positions
}

// Order returns the block about the section table, given the number of entries in that table.
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

// Position returns where a group of entries begins in a compact section table, relative to the
// first group. The position after the last group is the end of the table.
func (o *Order) Position(group int) (int64, error) {
	v, err := o.x.bits(o.positions, uint64(group)*uint64(o.bits), o.bits)
	return int64(v), err
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

// AppendOrder appends the block about the section table. summary and names are the section indexes
// of the summary and the file names. positions are the results of [Positions].
func AppendOrder(dst []byte, compact bool, summary, names int, positions []uint32) []byte {
	dst = appendUint(dst, compact, 4, uint64(summary))
	dst = appendUint(dst, compact, 4, uint64(names))
	width := uint8(0)
	if n := len(positions); n > 0 {
		width = uint8(bits.Len32(positions[n-1]))
	}
	p := wire.BitWriter{Data: append(dst, width)}
	for _, pos := range positions {
		p.Put(uint64(pos), width)
	}
	p.Align()
	return p.Data
}
