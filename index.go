package afdo

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/v4/door"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An index is a section that any reader may skip, the last one of a file (docs/extensions.md). Of
// what it says this package uses the checksums of sections, which are compared when a section is
// first read, and, if the caller trusts it, where units and sections are. Package index has the
// rest.

// SectionIndex is the type of the index section, an extension (docs/extensions.md).
const SectionIndex SectionType = wire.Index // 0x7f

// TrustIndex makes lookups use the index at the end of the file (see package index), if there is
// one: opening reads a few pages of it instead of the section table, and the first lookups of units
// read no other units. A fault of the section table is then the error of the call that finds it.
//
// A lookup verifies what the index leads to. But whoever writes the file can make it miss a unit,
// find one by a part of its path or, with a section table out of order, give the samples of another
// function. A Reader of [NewReader] believes what the index says of the header, of the entries of
// units and of the places of their sections, and verifies the bytes of these. Without TrustIndex no
// index changes an answer.
func TrustIndex() Option {
	return func(o *options) { o.trustIndex = true }
}

// SkipChecksums does not compare sections to the checksums in the index of the file. With it, Open
// reads the section table in spite of [TrustIndex].
func SkipChecksums() Option {
	return func(o *options) { o.skipChecksums = true }
}

// RequireChecksums refuses, with [ErrChecksum], a file without checksums or with a damaged or
// foreign index. It undoes [SkipChecksums].
func RequireChecksums() Option {
	return func(o *options) { o.skipChecksums, o.requireChecksums = false, true }
}

func init() {
	door.IndexOf = func(reader any) (*door.Index, error) { return reader.(*Reader).behindDoor() }
}

// behindDoor returns the index for package index.
func (r *Reader) behindDoor() (*door.Index, error) {
	if r.closed() {
		return nil, ErrClosed
	}
	x, err := r.openIndex()
	if err == nil {
		err = x.unusable
	}
	if err != nil {
		return nil, err
	}
	return &door.Index{
		Index: x.Index, Section: x.sec.Index, Offset: x.sec.Offset, Size: x.sec.Size, Compact: x.sec.Compact,
		Trusted: r.opts.trustIndex, Lenient: r.opts.skipChecksums,
	}, nil
}

// fileIndex is the index of a file, or why there is none that can be used.
type fileIndex struct {
	*indexfmt.Index
	sec      Section
	checked  []uint32    // bits of the sections whose checksum has been found right; nil if there are no checksums
	unusable error       // why it cannot be used, or nil
	misled   atomic.Bool // a lookup: it has turned out not to make sense
	lookups  atomic.Int32
	sums     sync.Once // guards that all checksums are read
}

// errNoIndex is why most files have no index.
var errNoIndex = fmt.Errorf("afdo: index: %w", ErrNotFound)

// index returns the index of the file, nil if it has none that can be used. The error is that of a
// read, or [ErrChecksum] for an index that is damaged.
func (r *Reader) index() (*fileIndex, error) {
	x, err := r.openIndex()
	switch {
	case err != nil:
		return nil, err
	case x.unusable == nil:
		return x, nil
	case !r.opts.skipChecksums && isChecksum(x.unusable):
		return nil, x.unusable
	}
	return nil, nil
}

// openIndex looks for an index, once.
func (r *Reader) openIndex() (*fileIndex, error) {
	if x := r.idx.Load(); x != nil {
		return x, nil
	}
	r.idxMu.Lock()
	defer r.idxMu.Unlock()
	if x := r.idx.Load(); x != nil {
		return x, nil
	}
	x, err := r.findIndex()
	if err != nil {
		return nil, err
	}
	r.idx.Store(x)
	return x, nil
}

// findIndex opens the last section if that is an index. The error is that of a read.
func (r *Reader) findIndex() (*fileIndex, error) {
	t, err := r.scanned()
	if err != nil {
		return nil, err
	}
	last := t.len() - 1
	if t.fixedAt(last) != nil { // without a look at it
		return &fileIndex{unusable: errNoIndex}, nil
	}
	return r.indexAt(last, t.extent(last), t.extent(0).off)
}

// indexAt opens the section of a place, which is the last one, if it is an index. The file's first
// section begins at an offset.
func (r *Reader) indexAt(section int, e extent, first int64) (*fileIndex, error) {
	x := &fileIndex{unusable: errNoIndex}
	if e.size <= int64(indexfmt.HeadSize) {
		return x, nil
	}
	head, err := r.src.view(e.off, indexfmt.HeadSize)
	if err != nil || !indexfmt.Is(head) {
		return x, err
	}
	x.sec = newSection(section, e, head[0])
	file := indexfmt.File{Sections: section + 1, Span: e.off - first}
	x.Index, err = indexfmt.Open(sectionSource{r.src, e.off}, e.size, x.sec.Compact, file)
	x.unusable = x.wrap(err)
	if _, ok := x.unusable.(*FormatError); x.unusable != nil && !ok {
		return nil, err
	}
	if x.unusable == nil && x.Has(indexfmt.Checksums) {
		x.checked = make([]uint32, (section+32)/32)
	}
	return x, nil
}

// sectionSource hands out the bytes of a section.
type sectionSource struct {
	src *source
	off int64
}

func (s sectionSource) View(off int64, n int) ([]byte, error) {
	s.src.pagesAhead(s.off, off, int64(n))
	return s.src.view(s.off+off, n)
}

func (s sectionSource) Ahead(off, n int64) { s.src.pagesAhead(s.off, off, n) }

// wrap makes an error of the index one of this package.
func (x *fileIndex) wrap(err error) error {
	if e, ok := err.(*indexfmt.Error); ok {
		return x.sec.errorOf(&e.Fault)
	}
	return err
}

func isChecksum(err error) bool {
	e, ok := err.(*FormatError)
	return ok && e.Err == ErrChecksum
}

// requireChecksums is the error of a file that has no checksums which can be used.
func (r *Reader) requireChecksums() error {
	x, err := r.openIndex()
	switch {
	case err != nil:
		return err
	case x.unusable == nil && x.checked != nil:
		return nil
	case isChecksum(x.unusable):
		return x.unusable
	}
	why := "the file has none"
	if e, ok := x.unusable.(*FormatError); ok {
		why = e.Detail
	}
	return Section{Index: HeaderSection}.errorAt(0, ErrChecksum, "checksums are required: %s", why)
}

// verify compares the bytes of a section with its checksum, if the file has one and that has not
// been done.
func (r *Reader) verify(section int, e extent, data []byte) error {
	if r.opts.skipChecksums {
		return nil
	}
	x, err := r.index()
	if x == nil || x.checked == nil || section == x.sec.Index {
		return err
	}
	if x.isChecked(section) {
		return nil
	}
	r.checksumsAhead(x)
	want, err := x.Checksum(section)
	if err != nil {
		return x.wrap(err)
	}
	if got := indexfmt.Sum(data); got != want {
		return newSection(section, e, data[0]).errorAt(0, ErrChecksum, "the section has the checksum %08x, want %08x", got, want)
	}
	x.setChecked(section)
	return nil
}

func (x *fileIndex) isChecked(section int) bool {
	return atomic.LoadUint32(&x.checked[section/32])>>(section%32)&1 != 0
}

func (x *fileIndex) setChecked(section int) {
	atomic.OrUint32(&x.checked[section/32], 1<<(section%32))
}
