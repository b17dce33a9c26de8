package afdo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/v4/door"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Version is the version of the format that this package reads and writes.
const Version = wire.Version

// dialectHint ends the errors of a header that makes no sense.
const dialectHint = " (the file is damaged or cut, or in another dialect of version 4 than the RFC's)"

// DefaultMaxNameBytes is the default of [MaxNameBytes].
const DefaultMaxNameBytes = 256 << 20

// An Option changes how a [Reader] works.
type Option func(*options)

type options struct {
	maxNameBytes     int
	skipChecksums    bool
	requireChecksums bool
	trustIndex       bool
}

// MaxNameBytes bounds the length of all symbol names of a unit together; a string table of a few
// megabytes can spell gigabytes. A unit that exceeds the bound gives [ErrLimit], and so do further
// units once all that were read exceed four times the bound and eight times the file. Neither may
// exceed 64 times the file and 16 MiB. A string table that units share counts once. The default is
// [DefaultMaxNameBytes]; values above 4 GiB or below 0 mean 4 GiB.
func MaxNameBytes(n int) Option {
	return func(o *options) { o.maxNameBytes = n }
}

// A Header is what the header says of the whole file (RFC 4.1).
type Header struct {
	Version uint32 // always 4
	Compact bool   // the header's own integers are varints; sections have their own flag
}

// A Reader reads a version 4 file lazily. All methods may be called concurrently. The zero Reader
// is closed.
type Reader struct {
	src    *source
	header Header
	opts   options

	table      atomic.Pointer[sectionTable]
	tableMu    sync.Mutex // guards the scan of table
	tableFault error      // what it has found

	mu     sync.Mutex // guards the making of dir and tables
	dir    atomic.Pointer[directory]
	tables tableCache

	idxMu sync.Mutex // guards the making of idx
	idx   atomic.Pointer[fileIndex]
}

// Open opens a file and maps it into memory. The caller closes the Reader. A file that is truncated
// or written to while it is open gives a [ReadError] of [ErrChanged].
//
// Open reads the header and the section table and checks that the sections lie within the file and
// do not overlap. Time and memory are linear in the number of sections: typically 6 bytes a section
// in a compact file and 16 in a normal one.
func Open(path string, opts ...Option) (*Reader, error) {
	m, err := openMapping(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(&source{mapped: m, size: m.info.Size()}, opts)
	if err != nil {
		_ = m.close()
		return nil, err
	}
	return r, nil
}

// OpenBytes reads a file in memory, without a copy. The bytes must not change as long as the Reader
// or anything it returned is in use. It costs what [Open] costs.
func OpenBytes(data []byte, opts ...Option) (*Reader, error) {
	if data == nil {
		data = []byte{}
	}
	return newReader(&source{bytes: data, size: int64(len(data))}, opts)
}

// NewReader reads a file of size bytes through src, which must allow concurrent reads, as all that
// is an io.ReaderAt does. Close does not close src.
//
// Reads of src may be slow, so what is likely to be needed next is read along: opening reads the
// end of the file and the section table, the first lookup in a unit reads all of the unit unless it
// is large. Opening a file of some megabytes and reading a unit takes three reads. What is needed
// of many units is read in a few pieces, at the same time. Some megabytes of what was read stay in
// memory.
func NewReader(src io.ReaderAt, size int64, opts ...Option) (*Reader, error) {
	if src == nil {
		return nil, errors.New("afdo: the io.ReaderAt is nil")
	}
	if size < 0 {
		return nil, fmt.Errorf("afdo: size %d is negative", size)
	}
	return newReader(&source{at: src, size: size}, opts)
}

// Close releases the file. It does not wait for other calls. Later calls that have to read return
// [ErrClosed], as does a second Close.
func (r *Reader) Close() error {
	if r.closed() {
		return ErrClosed
	}
	return r.src.close()
}

// closed reports whether nothing is to be read any more. A zero Reader has never been open.
func (r *Reader) closed() bool { return r == nil || r.src == nil || r.src.closed.Load() }

// Header returns the header.
func (r *Reader) Header() Header { return r.header }

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 {
	if r.src == nil {
		return 0
	}
	return r.src.size
}

func newReader(src *source, opts []Option) (*Reader, error) {
	r := &Reader{src: src, opts: options{maxNameBytes: DefaultMaxNameBytes}}
	for _, o := range opts {
		if o != nil {
			o(&r.opts)
		}
	}
	if r.opts.maxNameBytes < 0 || uint64(r.opts.maxNameBytes) > math.MaxUint32 {
		r.opts.maxNameBytes = math.MaxUint32 & math.MaxInt
	}
	r.opts.maxNameBytes = door.MaxNameBytes(r.opts.maxNameBytes, src.size)
	src.opening = true
	err := r.readHeader(new(sectionTable))
	if changed := src.opened(); changed != nil {
		err = changed
	}
	if err != nil {
		return nil, err
	}
	if r.opts.requireChecksums {
		if err := r.requireChecksums(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readHeader reads header and section table.
//
// Everything that knows how these are laid out stands in this file and in the section table:
// another dialect of version 4 would be told apart here.
func (r *Reader) readHeader(t *sectionTable) error {
	if r.openByEnd() {
		return nil
	}
	r.src.aheadOfOpening()
	prefix, err := r.src.view(0, int(min(r.src.size, wire.HeaderPrefix)))
	if err != nil {
		return err
	}
	if err := t.readHeader(prefix, r.src.size); err != nil {
		return err
	}
	return headerClass(r.readTable(t))
}

// readHeader reads what a file of a size begins with, up to the section table.
func (t *sectionTable) readHeader(prefix []byte, size int64) error {
	if err := checkVersion(prefix); err != nil {
		return err
	}
	h := headerFields(prefix)
	t.fields = h
	t.size = size
	n := h.Uint(7)
	for i, typ := range [2]SectionType{SectionSummary, SectionFileNames} {
		p := h.Place()
		if h.Err != nil {
			return headerClass(h.err())
		}
		if err := t.checkBounds(h.Pos, "the "+typ.String(), p); err != nil {
			return err
		}
		t.fixed[i] = fixedEntry{extent: t.newExtent(p), t: typ}
	}
	t.fields = h
	t.entries = h.Pos
	return headerClass(t.checkCount(n))
}

// checkCount compares the number of entries of the section table with what the file can hold.
func (t *sectionTable) checkCount(n uint64) error {
	entrySize := uint64(wire.PlaceSize(t.Compact))
	left := uint64(t.size) - uint64(t.Pos)
	if n > left/entrySize || n > math.MaxInt32 {
		return t.sec.errorAt(9, ErrHeader, "%d sections in a file of %d bytes%s", n, t.size, dialectHint)
	}
	t.count = int(n)
	return nil
}

// headerFields returns the fields of a header behind magic and version.
func headerFields(data []byte) fields {
	h := fields{Section{Index: HeaderSection}, wire.Header(data)}
	h.sec.Compact = h.Compact
	return h
}

// headerClass gives faults of single header fields the class of the header.
func headerClass(err error) error {
	if e, ok := err.(*FormatError); ok && e.Err != ErrHeader {
		e.Detail = fmt.Sprintf("%v: %s%s", e.Err, e.Detail, dialectHint)
		e.Err = ErrHeader
	}
	return err
}

// readTable reads the entries of the section table, or leaves them for later.
func (r *Reader) readTable(t *sectionTable) error {
	r.header = Header{Version: Version, Compact: t.sec.Compact}
	err := r.openSparse(t)
	if err == nil && t.sparse == nil {
		err = r.scanTable(t)
	}
	r.table.Store(t)
	return err
}

// scanTable reads the section table, of which all that comes before has been read.
func (r *Reader) scanTable(t *sectionTable) error {
	end := t.likelyEnd()
	if end > min(math.MaxUint32, math.MaxInt) {
		return fmt.Errorf("afdo: a section table of %d bytes: %w", end, ErrLimit)
	}
	data, err := r.src.view(0, int(end))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(data, t.head) {
		return t.sec.errorAt(0, ErrChecksum, "the header is not the one that the index has a copy of")
	}
	t.Data = data
	return t.scan()
}

// likelyEnd returns how far the table may reach. Where it is compact that is not beyond a section,
// and the first entry is usually the first section.
func (t *sectionTable) likelyEnd() uint64 {
	start, n := uint64(t.entries), uint64(t.count)
	if !t.sec.Compact {
		return start + 16*n
	}
	end := min(uint64(t.size), start+2*wire.MaxVarintLen*n)
	for _, f := range t.fixed {
		end = min(end, uint64(f.off))
	}
	if first, size := wire.Varint(t.Data[t.entries:]); n > 0 && size > 0 {
		end = min(end, first)
	}
	return max(end, start)
}

// checkVersion tells a version 4 file from older ones and from what is no profile.
func checkVersion(head []byte) error {
	start := Section{Index: HeaderSection}
	if len(head) < 8 {
		return start.errorAt(0, ErrMagic, "%d bytes", len(head))
	}
	var version uint32
	switch string(head[:4]) {
	case wire.Magic:
		version = binary.BigEndian.Uint32(head[4:])
	case "adcg":
		version = binary.LittleEndian.Uint32(head[4:])
	case "gcda":
		version = binary.BigEndian.Uint32(head[4:])
	default:
		return start.errorAt(0, ErrMagic, "the file begins with %q", head[:4])
	}
	if version != Version || string(head[:4]) != wire.Magic {
		return &VersionError{Magic: string(head[:4]), Version: version}
	}
	return nil
}
