package afdo

import (
	"errors"
	"fmt"
	"io"
	"iter"

	v4 "github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Version is the version of the format that this package reads and writes.
const Version = wire.Version

// A Header is what the header says of the whole file (RFC 4.1).
type Header struct {
	Version uint32 // always 4
	Compact bool   // the header's own integers are varints; sections have their own flag
}

// A Reader reads a version 4 file lazily. All methods may be called concurrently. The zero Reader
// is closed.
type Reader struct {
	handle // of the file, which has where everything is

	maxNameBytes int // of a unit
	tables       tableCache
}

type handle = v4.Handle

// Open opens a file and maps it into memory. The caller closes the Reader. A file that is truncated
// or written to while it is open gives a [ReadError] of [ErrChanged].
//
// Open reads the header and the section table and checks that the sections lie within the file and
// do not overlap. Time is linear in the number of sections. So is memory, typically 6 bytes a
// section in a compact file and 16 in a normal one, up to 256 KiB: of a larger table in file order
// 64 KiB are in memory at a time, and an eighth of a byte a section stays there if it is compact.
func Open(path string, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	file, err := v4.Open(path, o.Options)
	return newReader(file, o, err)
}

// OpenBytes reads a file in memory, without a copy. The bytes must not change as long as the Reader
// or anything it returned is in use. It costs what [Open] costs.
func OpenBytes(data []byte, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	file, err := v4.OpenBytes(data, o.Options)
	return newReader(file, o, err)
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
	o := newOptions(opts)
	file, err := v4.OpenAt(src, size, o.Options)
	return newReader(file, o, err)
}

// newReader returns the Reader of a file that has been opened.
func newReader(file *v4.File, o options, err error) (*Reader, error) {
	if err != nil {
		return nil, public(err)
	}
	r := &Reader{handle: v4.NewHandle(file, public)}
	r.maxNameBytes = v4.MaxNameBytes(o.maxNameBytes, file.Size())
	r.tables.max = v4.MaxTableBytes(r.maxNameBytes, file.Size())
	return r, nil
}

// file is where everything is, nil for the zero Reader.
func (r *Reader) file() *v4.File {
	if r == nil {
		return nil
	}
	return v4.FileOf(r)
}

// Close releases the file. It does not wait for other calls. Later calls that have to read return
// [ErrClosed], as does a second Close.
func (r *Reader) Close() error { return r.file().Close() }

// Header returns the header.
func (r *Reader) Header() Header {
	f := r.file()
	if f == nil {
		return Header{}
	}
	return Header{Version: Version, Compact: f.Compact()}
}

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.file().Size() }

// NumSections returns the number of sections, including summary and file names.
func (r *Reader) NumSections() int { return r.file().NumSections() }

// Section returns the section of an index (RFC 4.1, format note 1), [ErrNotFound] if it is out of
// range. It reads one byte of the section.
func (r *Reader) Section(index int) (Section, error) {
	f := r.file()
	if f.Closed() {
		return Section{}, ErrClosed
	}
	if n := f.NumSections(); index < 0 || index >= n {
		return Section{}, fmt.Errorf("afdo: section %d of %d: %w", index, n, ErrNotFound)
	}
	s, err := f.SectionAt(index)
	if err != nil {
		return Section{}, public(err)
	}
	return newSection(s), nil
}

// Data returns the bytes of a section, bitmask byte included, [ErrNotFound] for an index out of
// range. They must not be changed.
func (r *Reader) Data(index int) ([]byte, error) {
	s, err := r.Section(index)
	if err != nil {
		return nil, err
	}
	f, err := r.file().Open(index, byte(s.Type))
	return f.Data, public(err)
}

// Sections iterates over all sections by index. It reads one byte of each. An error ends the
// iteration.
func (r *Reader) Sections() iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		f := r.file()
		if f.Closed() {
			yield(Section{}, ErrClosed)
			return
		}
		if err := f.Scan(); err != nil {
			yield(Section{}, public(err))
			return
		}
		for i := range f.NumSections() {
			s, err := r.Section(i)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Summary returns the summary section (RFC 4.4) as it is in the file. It reads the section at each
// call.
func (r *Reader) Summary() (*Summary, error) {
	f := r.file()
	if f.Closed() {
		return nil, ErrClosed
	}
	fields, err := f.OpenFixed(wire.SummaryInfo)
	if err != nil {
		return nil, public(err)
	}
	s := newSummary(fields.Summary())
	return s, public(fields.Fault())
}

// NumUnits returns the number of units, including the unknown-file unit. It costs what
// [Reader.Units] costs to begin.
func (r *Reader) NumUnits() (int, error) {
	d, err := r.file().Directory()
	if err != nil {
		return 0, public(err)
	}
	return d.Len(), nil
}

// Units iterates over the units in the order of the file names section. It reads that section, and
// nothing of the units. An error ends the iteration.
func (r *Reader) Units() iter.Seq2[*Unit, error] {
	return func(yield func(*Unit, error) bool) {
		f := r.file()
		d, err := f.Directory()
		if err != nil {
			yield(nil, public(err))
			return
		}
		for i := range d.Len() {
			if f.Closed() {
				yield(nil, ErrClosed)
				return
			}
			if !yield(r.unit(d.Unit(i)), nil) {
				return
			}
		}
	}
}

func (r *Reader) unit(entry v4.Unit) *Unit { return &Unit{r: r, entry: entry} }

// Unit returns the unit of a path, which is compared byte for byte. The empty path is the unit of
// symbols with unknown file (format note 8). The error is [ErrNotFound] if there is none, and an
// [AmbiguousError] if a faulty file has several. The first lookup reads the file names section. A
// lookup compares every path; repeated lookups use a hash table.
func (r *Reader) Unit(path string) (*Unit, error) {
	return r.only(path, r.file().Exact)
}

// UnitBySuffix returns the unit whose path is suffix or ends in it at a '/': "b/c.h" finds
// "/a/b/c.h", not "/a/bb/c.h". An exact match comes first. The error is [ErrNotFound] if there is
// none, and an [AmbiguousError] if there are several. A lookup without an exact match compares
// every path.
func (r *Reader) UnitBySuffix(suffix string) (*Unit, error) {
	return r.only(suffix, r.file().BySuffix)
}

// only returns the unit of a path if a way to look finds one and no other.
func (r *Reader) only(path string, find func(string) ([]v4.Unit, error)) (*Unit, error) {
	found, err := find(path)
	switch {
	case err != nil:
		return nil, public(err)
	case len(found) == 0:
		return nil, fmt.Errorf("afdo: unit %q: %w", path, ErrNotFound)
	case len(found) == 1:
		return r.unit(found[0]), nil
	}
	e := &AmbiguousError{Path: path}
	for _, u := range found {
		e.Paths = append(e.Paths, u.Path)
	}
	return nil, e
}

// UnitOf returns the unit whose range of symbol IDs contains id (RFC 4.5), [ErrNotFound] if there
// is none. The unit need not have a symbol of that ID. It costs a binary search.
func (r *Reader) UnitOf(id SymbolID) (*Unit, error) {
	u, ok, err := r.file().Owner(uint32(id))
	if err != nil {
		return nil, public(err)
	}
	if !ok {
		return nil, fmt.Errorf("afdo: unit of symbol ID %d: %w", id, ErrNotFound)
	}
	return r.unit(u), nil
}

// Symbol returns the symbol of an ID, that of a call target or an inlined function, in whichever
// unit it is. The error is [ErrNotFound] if the file has none. It decodes the symbols of that unit
// once and keeps them; then it costs two binary searches. For several IDs use [Reader.SymbolsByID].
func (r *Reader) Symbol(id SymbolID) (Symbol, error) {
	u, ok, err := r.file().Owner(uint32(id))
	if err != nil {
		return Symbol{}, public(err)
	}
	if !ok {
		return Symbol{}, noSymbolID(id)
	}
	return r.unit(u).SymbolByID(id)
}

func noSymbolID(id SymbolID) error { return fmt.Errorf("afdo: symbol ID %d: %w", id, ErrNotFound) }
