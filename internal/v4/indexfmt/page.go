package indexfmt

import (
	"encoding/binary"

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

// physical converts an offset in the content, which does not include the checksums of pages, to an
// offset in the index section.
func physical(off int64) int64 { return off + off/pageContent*SumSize }

// span returns where the pages are in the index section that contain n bytes of the content from
// offset off on.
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

// page returns the page with the number i, which it reads and verifies unless it is in memory.
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

// content returns size bytes of the content from offset off on. The range must be within the size
// that the index claims to have. This size may be false, so content allocates memory only as it
// reads the bytes.
func (x *Index) content(off, size int64) ([]byte, error) {
	data := make([]byte, 0, min(size, believed))
	if err := x.pieces(off, size, func(p []byte) { data = append(data, p...) }); err != nil {
		return nil, err
	}
	return data, nil
}

// pieces calls yield with the content of one page after the other: size bytes in all, from offset
// off on.
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

// bits reads a number of width bits, at most 56, from an array of such numbers. The array is at
// offset off of the content, and the number begins after pos bits of the array.
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
