package afdo

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// Version is the version of the format that this package reads and writes.
const Version = wire.Version

// A Header holds the fields of the file header (RFC 4.1).
type Header struct {
	Version uint32 // always 4
	Compact bool   // the integers of the header are varints; each section has its own flag
}

// A Reader reads a version 4 file lazily. All methods may be called concurrently. The zero Reader
// behaves like a closed one.
type Reader struct {
	handle // the open file

	maxNameBytes int // limit per unit, see MaxNameBytes
	tables       tableCache
}

type handle = v4.Handle

// Open opens and maps a regular file. The caller must close the Reader. Errors are system errors,
// *[FormatError], *[VersionError] and *[ReadError]. If the file is truncated or modified while it
// is open, reads return a *ReadError that wraps [ErrChanged].
//
// Open reads the header and the section table and checks that sections lie within the file and do
// not overlap. It takes time and memory proportional to the number of sections: typically 6 bytes
// per section in a compact file and 16 in a normal one. If a table in file order exceeds 256 KiB,
// at most 64 KiB of it are in memory, plus 1/8 byte per section in a compact file.
func Open(path string, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	file, err := v4.Open(path, o.Options)
	return newReader(file, o, err)
}

// OpenBytes opens a file in memory without copying it. data must not change while the Reader or
// anything it returned is in use. OpenBytes costs as much as [Open].
func OpenBytes(data []byte, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	file, err := v4.OpenBytes(data, o.Options)
	return newReader(file, o, err)
}

// NewReader opens a file of size bytes that it reads through src. As io.ReaderAt demands, src must
// allow concurrent reads. Close does not close src.
//
// Since reads of src may be slow, NewReader reads ahead: opening reads the end of the file and the
// section table, and the first lookup in a unit reads the whole unit unless it is large. Opening a
// file of a few megabytes and reading one unit takes three reads. Data from many units is fetched
// in a few concurrent reads of adjacent ranges. A few megabytes of recently read data stay in
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

// newReader wraps an opened file in a Reader, or returns the error of opening it.
func newReader(file *v4.File, o options, err error) (*Reader, error) {
	if err != nil {
		return nil, err
	}
	r := &Reader{handle: v4.NewHandle(file)}
	r.maxNameBytes = v4.MaxNameBytes(o.maxNameBytes, file.Size())
	r.tables.max = v4.MaxTableBytes(r.maxNameBytes, file.Size())
	return r, nil
}

// file returns the open file, nil for the zero Reader.
func (r *Reader) file() *v4.File {
	if r == nil {
		return nil
	}
	return v4.FileOf(r)
}

// Close releases the file. It does not wait for other calls. Later lookups and reads return
// [ErrClosed], even if their data is in memory, and so does a second Close.
func (r *Reader) Close() error { return r.file().Close() }

// Header returns the file header.
func (r *Reader) Header() Header {
	f := r.file()
	if f == nil {
		return Header{}
	}
	return Header{Version: Version, Compact: f.Compact()}
}

// Size returns the size of the file in bytes.
func (r *Reader) Size() int64 { return r.file().Size() }

// NumSections returns the number of sections, including the summary and the file names.
func (r *Reader) NumSections() int { return r.file().NumSections() }

// Section describes the section with the given index (RFC 4.1, format note 1). It returns
// [ErrNotFound] if the index is out of range. It reads one byte of the section.
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
		return Section{}, err
	}
	return newSection(s), nil
}

// Data returns the bytes of a section, including the bitmask byte. The caller must not modify them.
// Data returns [ErrNotFound] if the index is out of range. Each call reads the section again,
// except after [OpenBytes]: then the result is a part of the caller's bytes.
func (r *Reader) Data(index int) ([]byte, error) {
	s, err := r.Section(index)
	if err != nil {
		return nil, err
	}
	f, err := r.file().Open(index, byte(s.Type))
	return f.Data, err
}

// Sections iterates over all sections in the order of their indexes. It reads one byte of each. An
// error ends the iteration.
func (r *Reader) Sections() iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		f := r.file()
		if f.Closed() {
			yield(Section{}, ErrClosed)
			return
		}
		if err := f.Scan(); err != nil {
			yield(Section{}, err)
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

// Summary returns the summary section as stored (RFC 4.4). Each call reads the section again.
func (r *Reader) Summary() (*Summary, error) {
	f := r.file()
	if f.Closed() {
		return nil, ErrClosed
	}
	fields, err := f.OpenFixed(wire.SummaryInfo)
	if err != nil {
		return nil, err
	}
	s := newSummary(fields.Summary())
	return s, fields.Fault()
}

// NumUnits returns the number of units, including the unit for unknown files. Like [Reader.Units],
// it reads the file names section.
func (r *Reader) NumUnits() (int, error) {
	d, err := r.file().Directory()
	if err != nil {
		return 0, err
	}
	return d.Len(), nil
}

// Units iterates over the units in the order of the file names section. It reads that section but
// nothing of the units themselves. An error ends the iteration.
func (r *Reader) Units() iter.Seq2[*Unit, error] {
	return func(yield func(*Unit, error) bool) {
		f := r.file()
		d, err := f.Directory()
		if err != nil {
			yield(nil, err)
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

// Unit returns the unit with the given path, compared byte for byte. The empty path is the unit of
// symbols with unknown file (format note 8). Unit returns [ErrNotFound] if there is none, and an
// [AmbiguousError] if a malformed file has several. The first lookup reads the file names section.
// The first few lookups compare every path; later ones use a hash table.
func (r *Reader) Unit(path string) (*Unit, error) {
	return r.uniqueUnit(path, r.file().Exact)
}

// UnitBySuffix returns the unit whose path equals suffix or ends with "/" + suffix: "b/c.h" and
// "/b/c.h" find "/a/b/c.h", not "/a/bb/c.h". An exact match wins. UnitBySuffix returns
// [ErrNotFound] if there is no match, and an [AmbiguousError] if there are several. A lookup
// without an exact match compares every path.
func (r *Reader) UnitBySuffix(suffix string) (*Unit, error) {
	return r.uniqueUnit(suffix, r.file().BySuffix)
}

// uniqueUnit returns the single unit that find returns for path. It is an error if find returns
// none or several.
func (r *Reader) uniqueUnit(path string, find func(string) ([]v4.Unit, error)) (*Unit, error) {
	found, err := find(path)
	switch {
	case err != nil:
		return nil, err
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

// UnitOf returns the unit whose range of symbol IDs contains id (RFC 4.5), or [ErrNotFound]. The
// unit need not have a symbol with that ID. UnitOf does a binary search.
func (r *Reader) UnitOf(id SymbolID) (*Unit, error) {
	u, ok, err := r.file().Owner(uint32(id))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("afdo: unit of symbol ID %d: %w", id, ErrNotFound)
	}
	return r.unit(u), nil
}

// SymbolByID returns the symbol with the given ID, for example a call target or an inlined
// function, from any unit. It returns [ErrNotFound] if no unit has the ID. The first call for a
// unit decodes and keeps the symbols of that unit; later calls do two binary searches. For
// several IDs use [Reader.SymbolsByID].
func (r *Reader) SymbolByID(id SymbolID) (Symbol, error) {
	u, ok, err := r.file().Owner(uint32(id))
	if err != nil {
		return Symbol{}, err
	}
	if !ok {
		return Symbol{}, noSymbolID(id)
	}
	return r.unit(u).SymbolByID(id)
}

func noSymbolID(id SymbolID) error { return fmt.Errorf("afdo: symbol ID %d: %w", id, ErrNotFound) }

// A Summary holds aggregate statistics of the whole profile (RFC 4.4).
type Summary struct {
	TotalCount       uint64 // sum of all counts
	MaxCount         uint64 // largest count of a single location
	MaxFunctionCount uint64 // largest head count of a single function
	NumCounts        uint64 // number of counts, including zeros
	NumFunctions     uint64 // number of functions with samples of their own

	// Entries is the detailed histogram, in ascending order of Cutoff.
	Entries []SummaryEntry
}

// A SummaryEntry describes the hottest counts that together make up a given share of the total
// count.
type SummaryEntry struct {
	Cutoff    uint32 // share of the total count, in parts per million
	MinCount  uint64 // smallest of these counts
	NumCounts uint64 // number of counts of at least MinCount
}

func newSummary(w *wire.Summary) *Summary {
	s := &Summary{w.TotalCount, w.MaxCount, w.MaxFunctionCount, w.NumCounts, w.NumFunctions, nil}
	if len(w.Entries) > 0 {
		s.Entries = make([]SummaryEntry, len(w.Entries))
	}
	for i, e := range w.Entries {
		s.Entries[i] = SummaryEntry(e)
	}
	return s
}

// DefaultMaxNameBytes is the default of [MaxNameBytes], in bytes.
const DefaultMaxNameBytes = 256 << 20

// An Option configures a [Reader].
type Option func(*options)

type options struct {
	v4.Options
	maxNameBytes int
}

func newOptions(opts []Option) options {
	all := options{maxNameBytes: DefaultMaxNameBytes}
	for _, o := range opts {
		if o != nil {
			o(&all)
		}
	}
	if all.maxNameBytes < 0 || uint64(all.maxNameBytes) > math.MaxUint32 {
		all.maxNameBytes = math.MaxUint32 & math.MaxInt
	}
	return all
}

// MaxNameBytes limits the total length of all symbol names in a unit to n bytes, because a string
// table of a few megabytes can expand to gigabytes of names. The default is [DefaultMaxNameBytes].
// Values above 4 GiB or below 0 mean 4 GiB.
//
// Decoding the symbols of a unit fails with [ErrLimit] if
//   - the names of the unit exceed n bytes or
//   - the decoded symbols of all units so far take 4n bytes plus eight times the file size.
//
// Both limits are at most 64 times the file size plus 16 MiB. A string table shared by several
// units counts once.
func MaxNameBytes(n int) Option {
	return func(o *options) { o.maxNameBytes = n }
}

// TrustIndex makes the Reader use the index at the end of the file, if there is one (see package
// index). Opening then reads a few pages of the index instead of the section table, and the first
// lookups by path or symbol ID read only the unit they find. A malformed section table is reported
// by the call that first reads it, not by Open.
//
// A lookup verifies the unit to which the index leads. But a crafted index can hide a unit or make
// UnitBySuffix return a unit although others match as well. If the section table is not in file
// order, it can also lead to the samples of another function. A Reader from [NewReader] also trusts
// the index's copy of the header, of the units' entries and of the positions of their sections; it
// verifies the sections by checksum. Without TrustIndex, an index never changes an answer.
func TrustIndex() Option {
	return func(o *options) { o.TrustIndex = true }
}

// SkipChecksums disables the comparison of sections with the checksums in the index. Open then
// reads the section table even with [TrustIndex].
func SkipChecksums() Option {
	return func(o *options) { o.SkipChecksums = true }
}

// RequireChecksums rejects a file with [ErrChecksum] if it has no checksums, or if its index is
// damaged or belongs to another file. It cancels an earlier [SkipChecksums].
func RequireChecksums() Option {
	return func(o *options) { o.SkipChecksums, o.RequireChecksums = false, true }
}
