package indexfmt

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// The index is made of pages, each with a checksum of its own at its end, so that a part of it can
// be relied on when only that has been read. What is in the pages, one after the other, is the
// content.
const (
	pageSize    = 1024
	SumSize     = 4 // of a checksum
	pageContent = pageSize - SumSize
)

type page [pageSize]byte

// pageSum is the checksum of the i-th page, of which content is all but the checksum.
func pageSum(i int, content []byte) uint32 { return seededSum(uint64(i), content) }

func seededSum(seed uint64, data []byte) uint32 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.Write(data) // never fails
	return uint32(d.Sum64())
}

// physical returns the place in the section of an offset in its content.
func physical(off int64) int64 { return off + off/pageContent*SumSize }

// span returns where the pages begin and end in the section that have n bytes of content from off
// on.
func span(off, n int64) (from, to int64) {
	return off / pageContent * pageSize, (off + n + pageContent - 1) / pageContent * pageSize
}

// NumPages is the number of pages.
func (x *Index) NumPages() int { return len(x.pages) }

// CheckPage reads a page and compares its checksum.
func (x *Index) CheckPage(i int) error {
	_, err := x.page(int64(i))
	return err
}

// page returns the i-th page.
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

// read copies content from off on, which is within the index.
func (x *Index) read(dst []byte, off int64) error {
	return x.pieces(off, int64(len(dst)), func(p []byte) { dst = dst[copy(dst, p):] })
}

// believed is how many bytes of content an index takes memory for before it has read them.
const believed = 4 << 20

// content returns size bytes from off on, which are within the index as it says itself. Memory for
// them is taken as they are read.
func (x *Index) content(off, size int64) ([]byte, error) {
	data := make([]byte, 0, min(size, believed))
	if err := x.pieces(off, size, func(p []byte) { data = append(data, p...) }); err != nil {
		return nil, err
	}
	return data, nil
}

// pieces hands out size bytes of content from off on, page by page.
func (x *Index) pieces(off, size int64, yield func([]byte)) error {
	if from, to := span(off, size); to-from > pageSize {
		x.src.Ahead(from, min(to, x.sectionSize)-from)
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

// fields returns the fields of up to n bytes of content from off on.
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

// paginate returns content in pages, each with its checksum.
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
