package afdo

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// The index is a section of this project's own, the last one of a file, that
// any reader may skip. It finds units by path and symbols by name over the
// whole program, tells which functions of other units a unit's were inlined
// into, and has a checksum of every section. docs/extensions.md specifies it.
//
// An index only ever tells where to look. What it leads to is looked at before
// it is given, and where it makes no sense, or is not this file's, lookups go on
// without it.

// SectionIndex is the type of the index section, which is not of the RFC (see docs/extensions.md).
const SectionIndex SectionType = 0x7f

const (
	indexMagic   = "afdo" // tells the section from others' use of its type
	indexVersion = 1

	// maxBlocks keeps the header of the index within its first page.
	maxBlocks = 64
)

// The index is made of pages, each with a checksum of its own at its end, so
// that a part of it can be relied on when only that has been read.
const (
	pageSize    = 1024
	sumSize     = 4
	pageContent = pageSize - sumSize
)

type page [pageSize]byte

// pageSum is the checksum of the i-th page, of which content is all but the checksum.
func pageSum(i int, content []byte) uint32 {
	var d xxhash.Digest
	d.ResetWithSeed(uint64(i))
	_, _ = d.Write(content) // never fails
	return uint32(d.Sum64())
}

// blockKind says what a block of the index holds.
type blockKind uint8

const (
	blockUnits blockKind = 1 + iota
	blockPaths
	blockNames
	blockUnqualified
	blockInlined
	blockChecksums
	blockFingerprints
	blockProducer
	blockBuildID
	blockSections
	numBlockKinds
)

var blockNamesByKind = [numBlockKinds]string{
	blockUnits:        "units",
	blockPaths:        "paths",
	blockNames:        "names",
	blockUnqualified:  "unqualified names",
	blockInlined:      "inlining",
	blockChecksums:    "checksums",
	blockFingerprints: "fingerprints",
	blockProducer:     "producer",
	blockBuildID:      "build ID",
	blockSections:     "sections",
}

func (k blockKind) String() string {
	if k < numBlockKinds && blockNamesByKind[k] != "" {
		return blockNamesByKind[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// block is where a block lies in the content of the index.
type block struct {
	kind      blockKind
	off, size int64
}

// index is the index section. Its pages are read as they are needed, and kept.
type index struct {
	sec     Section
	src     *source
	pages   []atomic.Pointer[page]
	size    int64 // of the content: the section without the checksums of its pages
	units   int   // of the file
	blocks  []block
	byKind  [numBlockKinds]block
	checked []uint32 // bits of the sections whose checksum has been found right
	unfit   error    // why the index cannot be used, or nil

	tables     [numBlockKinds]atomic.Pointer[indexTable] // those that have been opened
	distrusted atomic.Bool                               // its lookups have turned out not to make sense
	unitsFound atomic.Int32
}

// index returns the index of the file, nil if it has none that can be used.
// The error is that of a read, or [ErrChecksum] for an index that is damaged.
func (r *Reader) index() (*index, error) {
	x := r.idx.Load()
	if x == nil {
		var err error
		if x, err = r.openIndex(); err != nil {
			return nil, err
		}
	}
	if x.unfit == nil {
		return x, nil
	}
	if !r.opts.skipChecksums && isChecksum(x.unfit) {
		return nil, x.unfit
	}
	return nil, nil
}

// openIndex looks for an index, once.
func (r *Reader) openIndex() (*index, error) {
	r.idxMu.Lock()
	defer r.idxMu.Unlock()
	if x := r.idx.Load(); x != nil {
		return x, nil
	}
	x, err := r.findIndex()
	if err == nil {
		var first extent
		if first, err = r.extent(0); err == nil {
			err = x.readHeader(r.NumSections(), first.off)
		}
	}
	if _, ok := err.(*FormatError); ok || err == errNoIndex {
		x = &index{sec: x.sec, unfit: err}
	} else if err != nil {
		return nil, err
	}
	r.idx.Store(x)
	return x, nil
}

var errNoIndex = fmt.Errorf("afdo: index: %w", ErrNotFound)

// findIndex returns the last section if it is an index.
func (r *Reader) findIndex() (*index, error) {
	t := r.table.Load()
	last := t.len() - 1
	if t.fixedAt(last) != nil || t.faulty {
		return &index{}, errNoIndex // without a look at it
	}
	e, err := r.extent(last)
	if err != nil {
		return &index{}, err
	}
	return r.indexAt(last, e)
}

// indexAt returns the section of a place if it is an index: it must be of the type
// and begin with the magic.
func (r *Reader) indexAt(section int, e extent) (*index, error) {
	const start = 1 + len(indexMagic)
	x := &index{src: r.src, sec: Section{Index: section, Offset: e.off, Size: e.size}}
	if e.size < int64(start+1+sumSize) {
		return x, errNoIndex
	}
	head, err := r.src.view(e.off, start)
	if err != nil {
		return x, err
	}
	x.sec = newSection(section, e, head[0])
	if x.sec.Type != SectionIndex || string(head[1:]) != indexMagic {
		err = errNoIndex
	}
	return x, err
}

// readHeader reads the header of the index and checks that it is of a file
// of so many sections, the first of which begins at an offset.
func (x *index) readHeader(numSections int, first int64) error {
	if x.sec.Size > math.MaxUint32 {
		return x.fault(0, "an index of %d bytes", x.sec.Size)
	}
	pages := (x.sec.Size + pageSize - 1) / pageSize
	x.size = x.sec.Size - pages*sumSize
	if x.sec.Size-(pages-1)*pageSize <= sumSize {
		return x.fault(0, "the last page has no content")
	}
	x.pages = make([]atomic.Pointer[page], pages)
	f, err := x.fields(0, pageContent)
	if err != nil {
		return err
	}
	f.Pos = 1 + len(indexMagic)
	if v := f.Byte(); v != indexVersion {
		return x.fault(0, "version %d of the index, not %d", v, indexVersion)
	}
	sections, span, units := f.Uint32(), f.Uint64(), f.Uint32()
	if f.Err == nil && (int(sections) != numSections || int64(span) != x.sec.Offset-first) {
		return x.fault(0, "the index is stale: it is of a file with %d sections and %d bytes of them before it, not %d and %d",
			sections, span, numSections, x.sec.Offset-first)
	}
	if x.readBlocks(&f); f.Err != nil {
		return x.misread(&f)
	}
	if units > math.MaxInt32 {
		return x.fault(0, "%d units", units)
	}
	x.units = int(units)
	if sums := x.byKind[blockChecksums]; sums.off > 0 {
		if sums.size != int64(x.sec.Index)*sumSize {
			return x.fault(sums.off, "%d bytes of checksums for %d sections", sums.size, x.sec.Index)
		}
		x.checked = make([]uint32, (numSections+31)/32)
	}
	return nil
}

func (x *index) readBlocks(f *fields) {
	n := int(f.Byte())
	if n > maxBlocks {
		f.Fail(f.Pos, ErrIndex, "%d blocks, more than %d", n, maxBlocks)
	}
	left := uint64(x.size)
	x.blocks = make([]block, 0, min(n, maxBlocks))
	for range n {
		b := block{kind: blockKind(f.Byte())}
		size := f.Uint64()
		if size > left {
			f.Fail(f.Pos, ErrIndex, "the block of %s reaches past the end", b.kind)
			return
		}
		left -= size
		b.size = int64(size)
		x.blocks = append(x.blocks, b)
	}
	off := int64(f.Pos)
	for i := range x.blocks {
		b := &x.blocks[i]
		b.off = off
		off += b.size
		switch known := b.kind < numBlockKinds && b.kind > 0; {
		case off > x.size:
			f.Fail(f.Pos, ErrIndex, "the block of %s reaches past the end", b.kind)
		case known && x.byKind[b.kind].off > 0:
			f.Fail(f.Pos, ErrIndex, "two blocks of %s", b.kind)
		case known:
			x.byKind[b.kind] = *b
		}
	}
}

// fault returns an error of the index at an offset of its content.
func (x *index) fault(off int64, format string, args ...any) error {
	return x.sec.errorAt(int(physical(off)), ErrIndex, format, args...)
}

// misread is the error of fields of the index that could not be read.
func (x *index) misread(f *fields) error {
	if f.Err.Class != ErrIndex {
		return f.sec.errorAt(f.Err.Pos, ErrIndex, "%v: %s", f.Err.Class, f.Err.Detail)
	}
	return f.err()
}

// physical returns the place in the section of an offset in its content.
func physical(off int64) int64 { return off + off/pageContent*sumSize }

// page returns the i-th page.
func (x *index) page(i int64) (*page, error) {
	if p := x.pages[i].Load(); p != nil {
		return p, nil
	}
	return x.readPage(i)
}

func (x *index) readPage(i int64) (*page, error) {
	n := min(pageSize, x.sec.Size-i*pageSize)
	off := x.sec.Offset + i*pageSize
	data, err := x.src.view(off, int(n))
	if err != nil {
		return nil, err
	}
	content, sum := data[:n-sumSize], binary.BigEndian.Uint32(data[n-sumSize:])
	if got := pageSum(int(i), content); got != sum {
		return nil, x.sec.errorAt(int(i*pageSize), ErrChecksum, "a page of the index whose checksum should be %08x has %08x", sum, got)
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
func (x *index) read(dst []byte, off int64) error {
	for len(dst) > 0 {
		p, err := x.page(off / pageContent)
		if err != nil {
			return err
		}
		n := copy(dst, p[off%pageContent:pageContent])
		dst, off = dst[n:], off+int64(n)
	}
	return nil
}

// fields returns the fields of up to n bytes of content from off on.
func (x *index) fields(off int64, n int) (fields, error) {
	size := min(int64(n), x.size-off)
	f := x.sec.fieldsAt(nil, 0)
	f.sec.Offset += physical(off)
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
	f.Data = make([]byte, size)
	return f, x.read(f.Data, off)
}

// bits returns the width bits, at most 56, that begin pos bits after off.
func (x *index) bits(off int64, pos uint64, width uint8) (uint64, error) {
	if width == 0 {
		return 0, nil // such an array takes no bytes, and may stand where the content ends
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

// packedSize is the size in bytes of n numbers of width bits.
func packedSize(n uint64, width uint8) int64 { return int64((n*uint64(width) + 7) / 8) }

// searching returns the index if it has a block and lookups may use it, nil otherwise.
func (r *Reader) searching(kind blockKind) (*index, error) {
	if r.opts.ignoreIndex {
		return nil, nil
	}
	x, err := r.index()
	if x == nil || x.byKind[kind].size == 0 || x.distrusted.Load() {
		return nil, err
	}
	return x, nil
}

// forsake reports whether a lookup has to go on without the index because of an error
// that came of using it. Then all later ones do, too.
func (r *Reader) forsake(x *index, err error) bool {
	e, ok := err.(*FormatError)
	if !ok || e.Section != x.sec.Index || e.Err == ErrChecksum && !r.opts.skipChecksums {
		return false
	}
	x.distrusted.Store(true)
	return true
}

// IndexInfo is what the index section of a file says of itself.
type IndexInfo struct {
	Section  Section
	Producer string // what wrote the file, empty if it does not say
	BuildID  []byte // of the program that was profiled, nil if unknown

	// Unqualified and Fingerprints are the names of the schemes of these, empty if the index has none.
	// See [NameScheme] and [Unit.Fingerprint].
	Unqualified, Fingerprints string

	Blocks []IndexBlock // what the index consists of, in its order
}

// An IndexBlock is a part of the index.
type IndexBlock struct {
	Kind string // what it holds, such as "names"
	Size int64  // in bytes
}

// Index returns what the index section says of itself. The error is [ErrNotFound] if the
// file has none, [ErrIndex] for one that lookups do not use because it is of another version or of
// another file than this one is now, and [ErrChecksum] for one that is damaged.
//
// It reads the first page of the index, of 1024 bytes, unless that has been read, and the strings.
func (r *Reader) Index() (*IndexInfo, error) {
	if r.src.closed.Load() {
		return nil, ErrClosed
	}
	x, err := r.openIndex()
	if err != nil {
		return nil, err
	}
	if x.unfit != nil {
		return nil, x.unfit
	}
	return x.info()
}

func (x *index) info() (*IndexInfo, error) {
	info := &IndexInfo{Section: x.sec}
	for _, b := range x.blocks {
		info.Blocks = append(info.Blocks, IndexBlock{b.kind.String(), b.size})
	}
	producer, err := x.all(blockProducer)
	if err != nil {
		return nil, err
	}
	info.Producer = string(producer)
	if info.BuildID, err = x.all(blockBuildID); err != nil {
		return nil, err
	}
	if info.Unqualified, _, err = x.scheme(blockUnqualified); err != nil {
		return nil, err
	}
	if info.Fingerprints, _, err = x.scheme(blockFingerprints); err != nil {
		return nil, err
	}
	return info, nil
}

// all returns the content of a block, nil if there is none.
func (x *index) all(kind blockKind) ([]byte, error) {
	b := x.byKind[kind]
	if b.size == 0 {
		return nil, nil
	}
	data := make([]byte, b.size)
	return data, x.read(data, b.off)
}

// scheme returns the name of the scheme with which a block begins, and what follows it.
func (x *index) scheme(kind blockKind) (string, block, error) {
	b := x.byKind[kind]
	if b.size == 0 {
		return "", b, nil
	}
	f, err := x.fields(b.off, int(min(b.size, 256)))
	if err != nil {
		return "", b, err
	}
	name := f.Take(int(f.Byte()), "the name of a scheme")
	if f.Err != nil {
		return "", b, x.misread(&f)
	}
	b.off, b.size = b.off+int64(f.Pos), b.size-int64(f.Pos)
	return string(name), b, nil
}

func isChecksum(err error) bool {
	e, ok := err.(*FormatError)
	return ok && e.Err == ErrChecksum
}
