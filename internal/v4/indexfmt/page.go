package indexfmt

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The index consists of pages. Each page ends with a checksum, so that a part of the index can be
// verified without reading the rest. The concatenation of the pages without checksums is the
// content.
const (
	pageSize    = 1024
	SumSize     = 4 // size of a checksum in bytes
	pageContent = pageSize - SumSize
)

type page [pageSize]byte

// pageSum returns the checksum of page i with the given content.
func pageSum(i int, content []byte) uint32 { return seededSum(uint64(i), content) }

func seededSum(seed uint64, data []byte) uint32 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.Write(data) // cannot fail
	return uint32(d.Sum64())
}

// physical converts an offset in the content to one in the section.
func physical(off int64) int64 { return off + off/pageContent*SumSize }

// span returns the range in the section of the pages that contain n bytes of content from offset
// off.
func span(off, n int64) (from, to int64) {
	return off / pageContent * pageSize, (off + n + pageContent - 1) / pageContent * pageSize
}

// pagesOf returns the range in the section of the pages that contain n bytes of content from offset
// off, which may reach past the content.
func (x *Index) pagesOf(off, n int64) Range {
	from, to := span(max(off, 0), n)
	return Range{from, max(min(to, x.sectionSize)-from, 0)}
}

// NumPages returns the number of pages.
func (x *Index) NumPages() int { return len(x.pages) }

// CheckPage reads a page and verifies its checksum.
func (x *Index) CheckPage(i int) error {
	_, err := x.page(int64(i))
	return err
}

// page returns page i.
func (x *Index) page(i int64) (*page, error) {
	if p := x.pages[i].Load(); p != nil {
		return p, nil
	}
	n := min(pageSize, x.sectionSize-i*pageSize)
	data, err := x.src.View(i*pageSize, int(n))
	if err != nil {
		return nil, err
	}
	content, sum := data[:n-SumSize], binary.BigEndian.Uint32(data[n-SumSize:])
	if got := pageSum(int(i), content); got != sum {
		return nil, newError(int(i*pageSize), fault.ErrChecksum, "a page of the index whose checksum should be %08x has %08x", sum, got)
	}
	var p *page
	if n == pageSize {
		p = (*page)(data)
	} else {
		p = new(page)
		copy(p[:], content)
	}
	x.pages[i].Store(p)
	return p, nil
}

// read copies content from offset off, which must be within the index.
func (x *Index) read(dst []byte, off int64) error {
	return x.pieces(off, int64(len(dst)), func(p []byte) { dst = dst[copy(dst, p):] })
}

// believed is the maximum memory allocated for content before it has been read, in bytes.
const believed = 4 << 20

// content returns size bytes from offset off. The range is within the size that the index claims;
// memory is allocated as the bytes are read.
func (x *Index) content(off, size int64) ([]byte, error) {
	data := make([]byte, 0, min(size, believed))
	if err := x.pieces(off, size, func(p []byte) { data = append(data, p...) }); err != nil {
		return nil, err
	}
	return data, nil
}

// pieces yields size bytes of content from offset off, page by page.
func (x *Index) pieces(off, size int64, yield func([]byte)) error {
	if from, to := span(off, size); to-from > pageSize {
		x.src.Ahead(Range{from, min(to, x.sectionSize) - from})
	}
	for size > 0 {
		p, err := x.page(off / pageContent)
		if err != nil {
			return err
		}
		piece := p[off%pageContent : min(off%pageContent+size, pageContent)]
		yield(piece)
		off, size = off+int64(len(piece)), size-int64(len(piece))
	}
	return nil
}

// fields returns a decoder for up to n bytes of content from offset off.
func (x *Index) fields(off int64, n int) (wire.Fields, error) {
	size := min(int64(n), x.size-off)
	f := wire.Fields{Compact: x.compact}
	if size == 0 {
		return f, nil
	}
	if at := off % pageContent; at+size <= pageContent {
		p, err := x.page(off / pageContent)
		if err == nil {
			f.Data = p[at : at+size]
		}
		return f, err
	}
	data, err := x.content(off, size)
	f.Data = data
	return f, err
}

// paginate divides content into pages with checksums.
func paginate(content []byte) []byte {
	out := make([]byte, 0, physical(int64(len(content)))+SumSize)
	for i := 0; len(content) > 0; i++ {
		n := min(pageContent, len(content))
		out = append(out, content[:n]...)
		out = binary.BigEndian.AppendUint32(out, pageSum(i, content[:n]))
		content = content[n:]
	}
	return out
}

// Packed numbers have a fixed width in bits. The first number is in the highest bits of the first
// byte.

// packedSize returns the size in bytes of n numbers of width bits.
func packedSize(n uint64, width uint8) int64 { return int64((n*uint64(width) + 7) / 8) }

// bits returns the number of width bits, at most 56, that begins pos bits after offset off.
func (x *Index) bits(off int64, pos uint64, width uint8) (uint64, error) {
	if width == 0 {
		return 0, nil // such an array has no bytes and may be at the end of the content
	}
	off += int64(pos / 8)
	at := off % pageContent
	var w uint64
	if at <= pageContent-8 {
		p, err := x.page(off / pageContent)
		if err != nil {
			return 0, err
		}
		w = binary.BigEndian.Uint64(p[at:])
	} else {
		var b [8]byte
		if err := x.read(b[:min(8, x.size-off)], off); err != nil {
			return 0, err
		}
		w = binary.BigEndian.Uint64(b[:])
	}
	return w << (pos % 8) >> (64 - width), nil
}

// packer appends packed numbers.
type packer struct {
	dst  []byte
	bits uint64 // bits not appended yet
	n    uint8  // their number, below 8
}

// put appends a number of up to 56 bits.
func (p *packer) put(v uint64, width uint8) {
	p.bits = p.bits<<width | v&(math.MaxUint64>>(64-width))
	for p.n += width; p.n >= 8; p.n -= 8 {
		p.dst = append(p.dst, byte(p.bits>>(p.n-8)))
	}
}

// align advances to the next whole byte.
func (p *packer) align() {
	if p.n > 0 {
		p.put(0, 8-p.n)
	}
}

// The end block is the last block. It contains copies of the beginnings of the file and of the
// index, so that a reader that has the last kilobytes of a file need not read the first ones.

// An End is the end block.
type End struct {
	Head               []byte // the first bytes of the file, at most wire.HeaderPrefix
	Summary, FileNames int    // section indexes
}

// endFields is the size of the last fields of the block: the size of the block, the size of the
// index section, and the magic. They are in one page.
const endFields = 4 + 8 + len(Magic)

// TailSize is the number of bytes at the end of a file that show whether it ends with an end block.
const TailSize = endFields + SumSize

// A Tail holds the last fields of a file with an end block.
type Tail struct{ Section, End int64 } // sizes in bytes

// ReadTail decodes the last bytes of a file. It returns false if they are not those of an index.
func ReadTail(tail []byte) (t Tail, ok bool) {
	if len(tail) != TailSize || string(tail[12:endFields]) != Magic {
		return t, false
	}
	size := binary.BigEndian.Uint64(tail[4:])
	t = Tail{int64(size), int64(binary.BigEndian.Uint32(tail))}
	return t, size <= math.MaxUint32 && t.End < t.Section
}

// OpenEnd opens an index by its end block. file returns the properties that the index must match.
func OpenEnd(src Source, tail Tail, file func(*End) (File, error)) (*Index, error) {
	x := &Index{src: src, sectionSize: tail.Section}
	pages := (tail.Section + pageSize - 1) / pageSize
	x.size = tail.Section - pages*SumSize
	if tail.Section-(pages-1)*pageSize <= SumSize || tail.End > x.size {
		return nil, x.fault(0, "an end of %d bytes in an index of %d", tail.End, tail.Section)
	}
	x.pages = make([]atomic.Pointer[page], pages)
	f, err := x.fields(x.size-tail.End, int(tail.End))
	if err != nil {
		return nil, err
	}
	end := decodeEnd(&f)
	if f.Err != nil || !Is(f.Data[f.Pos:]) {
		return nil, x.fault(x.size-tail.End, "the end of the index makes no sense")
	}
	of, err := file(end)
	if err != nil {
		return nil, err
	}
	head := f.Data[f.Pos:]
	x.compact = head[0]&wire.CompactFlag != 0
	if err := x.header(wire.Fields{Data: head, Compact: x.compact}, of); err != nil {
		return nil, err
	}
	if b := x.byKind[lastKind]; b.Off != x.size-tail.End || b.Size != tail.End {
		return nil, x.fault(b.Off, "the end of the index is not its last block")
	}
	return x, nil
}

// decodeEnd decodes an end block up to the copy of the head of the index.
func decodeEnd(f *wire.Fields) *End {
	f.Compact = false
	end := &End{Head: f.Take(int(f.Byte()), "the head of the file")}
	end.Summary, end.FileNames = int(f.Uint32()), int(f.Uint32())
	return end
}

// appendEnd appends an end block of the given size to an index that begins with head.
func appendEnd(dst []byte, end *End, head []byte, size int, section int64) []byte {
	start := len(dst)
	e := wire.Encoder{Data: dst}
	e.Byte(byte(len(end.Head)))
	e.Bytes(end.Head)
	e.Uint32(uint32(end.Summary))
	e.Uint32(uint32(end.FileNames))
	e.Bytes(head)
	e.Bytes(make([]byte, start+size-endFields-len(e.Data)))
	e.Uint32(uint32(size))
	e.Uint64(uint64(section))
	e.String(Magic)
	return e.Data
}

// endSize returns the minimum size of an end block.
func endSize(end *End, head []byte) int { return 1 + len(end.Head) + 4 + 4 + len(head) + endFields }

// fits reports whether the last fields of content with the given size are in one page.
func fits(content int) bool {
	last := content % pageContent
	return last == 0 || last >= endFields
}

// CheckEndBlock compares the end block with the expected one.
func (x *Index) CheckEndBlock(want *End) error {
	data, err := x.All(lastKind)
	if err != nil || len(data) == 0 {
		return err
	}
	off := x.byKind[lastKind].Off
	f := wire.Fields{Data: data}
	got := decodeEnd(&f)
	if f.Err != nil || !bytes.Equal(got.Head, want.Head) || got.Summary != want.Summary || got.FileNames != want.FileNames {
		return x.fault(off, "the end block of the index does not match this file")
	}
	head, err := x.content(0, x.blocks[0].Off)
	if err != nil {
		return err
	}
	if size := len(data); size < endSize(want, head) || !bytes.Equal(data, appendEnd(nil, want, head, size, x.sectionSize)) {
		return x.fault(off, "the end block does not match this index")
	}
	return nil
}
