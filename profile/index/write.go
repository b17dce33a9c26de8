package index

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/budget"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

var (
	errNoFingerprints = fmt.Errorf("index: fingerprints: %w", afdo.ErrNotFound)
	errNoOverview     = fmt.Errorf("index: overview: %w", afdo.ErrNotFound)
)

// Options say what an index contains, for [Write].
type Options struct {
	Producer string // program that writes the file, for example with its version
	BuildID  []byte // build ID of the profiled program, as in its ELF note

	// Unqualified is the scheme for unqualified names. With the zero Scheme the index has none.
	Unqualified Scheme

	// FingerprintScheme names the scheme of Fingerprint, in at most 255 bytes. If Fingerprint is
	// nil, the index has no fingerprints.
	FingerprintScheme string
	Fingerprint       func(*afdo.Unit) (uint64, error)

	// OverviewScheme names the scheme of Overview, in at most 255 bytes. Overview returns figures
	// about the whole file in that scheme, for readers that would have to read all of it. If it is
	// nil, the index has no overview.
	OverviewScheme string
	Overview       func(*afdo.Reader) ([]byte, error)

	// These leave out the tables for finding symbols, the lists of callers, and the checksums, to
	// save space.
	NoLookups, NoInlining, NoChecksums bool
}

// Write writes the file of a Reader with a new index, which replaces an existing one, or without an
// index if o is nil. All other sections are copied unchanged and keep their section indexes; bytes
// between sections are dropped. The index is the last section, so readers that do not know it find
// everything in its usual place.
//
// The checksums of the index are computed from the current contents of the file. If the file
// already has checksums, Write verifies them, and fails with [afdo.ErrChecksum] unless the Reader
// was opened with [afdo.SkipChecksums]. Other errors are those of a malformed file and of w. Write
// keeps all sections in memory before it writes anything. This takes up to twice the file
// size, plus the names and about 20 bytes per symbol.
func Write(w io.Writer, r *afdo.Reader, o *Options) error {
	f, err := copySections(r)
	if err != nil {
		return err
	}
	if o == nil {
		return f.write(w)
	}
	x, err := newWriting(r, f, o)
	if err != nil {
		return err
	}
	x.addTo(f)
	return f.write(w)
}

// A fileSections holds all sections of a file except its index.
type fileSections struct {
	compact  bool // the header is in compact mode
	sections []section
	span     int64 // total size of the sections in bytes
	summary  int   // index of the summary
	names    int   // index of the file names
}

type section struct {
	t       afdo.SectionType
	compact bool
	data    []byte // contents of the section without its first byte, the bitmask
}

func (f *fileSections) add(s section) {
	f.sections = append(f.sections, s)
	f.span += s.size()
}

// copySections copies all sections of a file into memory, except its index.
func copySections(r *afdo.Reader) (*fileSections, error) {
	n := r.NumSections()
	if _, err := Read(r); err == nil || errors.Is(err, afdo.ErrIndex) || errors.Is(err, afdo.ErrChecksum) {
		n--
	} else if !errors.Is(err, afdo.ErrNotFound) {
		return nil, err
	}
	f := &fileSections{compact: r.Header().Compact, sections: make([]section, 0, n+1)}
	for i := range n {
		s, err := r.Section(i)
		if err != nil {
			return nil, err
		}
		data, err := r.Data(i)
		if err != nil {
			return nil, err
		}
		f.add(section{s.Type, s.Compact, data[1:]})
	}
	var err error
	if f.summary, err = f.only(afdo.SectionSummary); err != nil {
		return nil, err
	}
	f.names, err = f.only(afdo.SectionFileNames)
	return f, err
}

// only returns the number of the section of type t. It is an error if the file does not have
// exactly one of them.
func (f *fileSections) only(t afdo.SectionType) (int, error) {
	is := func(s section) bool { return s.t == t }
	first := slices.IndexFunc(f.sections, is)
	if first < 0 || slices.ContainsFunc(f.sections[first+1:], is) {
		return 0, fmt.Errorf("index: a file without exactly one %s section: %w", t, afdo.ErrMalformed)
	}
	return first, nil
}

func (f *fileSections) write(w io.Writer) error {
	out := bufio.NewWriter(w) // it keeps its first error
	_, _ = out.Write(f.header())
	for _, s := range f.sections {
		_ = out.WriteByte(wire.SectionBitmask(byte(s.t), s.compact))
		_, _ = out.Write(s.data)
	}
	return out.Flush()
}

// header returns the header and the section table of the file.
func (f *fileSections) header() []byte {
	sizes := make([]uint64, len(f.sections))
	for i := range sizes {
		sizes[i] = uint64(f.sections[i].size())
	}
	return wire.Head(f.compact, sizes, f.summary, f.names)
}

// A writing collects the blocks of a new index. Small blocks that a lookup reads first are at the
// end of the index, next to its end block, so that one read returns all of them.
type writing struct {
	indexfmt.Writer
	checksums    bool
	filter       []byte
	units        []block
	callerGroups []byte
	overview     []byte
	producer     []byte
	buildID      []byte
}

type block struct {
	kind indexfmt.Kind
	data []byte
}

// newWriting makes the blocks of a new index for the file of r. f has the sections of that file.
func newWriting(r *afdo.Reader, f *fileSections, o *Options) (*writing, error) {
	units, err := r.NumUnits()
	if err != nil {
		return nil, err
	}
	spent := budget.New(r.Size())
	for u, err := range r.Units() {
		if err == nil {
			err = spent.Unit(u)
		}
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	fingerprints, err := fingerprintsOf(r, o) // first, because computing them takes the most memory
	if err != nil {
		return nil, err
	}
	x := &writing{Writer: indexfmt.Writer{Compact: f.compact, Units: units}, checksums: !o.NoChecksums}
	if !o.NoLookups {
		if err := x.lookups(r, f, o); err != nil {
			return nil, err
		}
	}
	if !o.NoInlining {
		t, err := NewProgram(r).file.callerTable()
		if err != nil {
			return nil, err
		}
		callers, groups := indexfmt.AppendCallers(x.Compact, callerLists(t))
		x.Add(indexfmt.Callers, callers)
		x.callerGroups = groups
	}
	x.Add(indexfmt.Fingerprints, fingerprints)
	if x.checksums {
		sums := make([]byte, 0, indexfmt.SumSize*len(f.sections))
		for i := range f.sections {
			sums = indexfmt.AppendChecksum(sums, sumOf(f.sections[i:i+1]))
		}
		x.Add(indexfmt.Checksums, sums)
	}
	if x.overview, err = overviewOf(r, o); err != nil {
		return nil, err
	}
	x.producer, x.buildID = []byte(o.Producer), o.BuildID
	return x, nil
}

// overviewOf returns the overview block of the index. It contains the name of the scheme and the
// bytes that o.Overview returns.
func overviewOf(r *afdo.Reader, o *Options) ([]byte, error) {
	if o.Overview == nil {
		return nil, nil
	}
	if err := checkScheme(o.OverviewScheme); err != nil {
		return nil, err
	}
	data, err := o.Overview(r)
	return append(indexfmt.AppendScheme(nil, o.OverviewScheme), data...), err
}

// maxUnitsLast is the maximum size in bytes of a block of units that is written after the block of
// runs. There it is in the last kilobytes of the file, which opening the file reads. Lookups by
// symbol ID need it. Lookups by path need the end of the block of runs, so a larger block of units
// must not come between that and the end of the file.
const maxUnitsLast = 48 << 10

// guesses is the maximum number of attempts to compute the positions of entries in the section
// table. Two have always been sufficient. If all fail, the index does not contain the positions.
const guesses = 4

// addTo adds the index to a file. The index contains a copy of the file's header and the positions
// of the entries in its section table. Both depend on the size of the index. So addTo guesses the
// header, makes the index, and repeats with the header that results until the two are equal.
func (x *writing) addTo(f *fileSections) {
	n, span := len(f.sections), f.span
	put := func(w *indexfmt.Writer) []byte {
		f.sections, f.span = f.sections[:n], span
		f.add(section{afdo.SectionIndex, f.compact, w.Section(n+1, span)})
		return f.header()
	}
	head := put(x.with(f, nil))
	if !x.checksums {
		return
	}
	for range guesses {
		guess := head
		if head = put(x.with(f, guess)); bytes.Equal(head, guess) {
			return
		}
	}
	put(x.with(f, nil))
}

// with returns the index for a file whose header and section table are head. If head is nil, the
// index has neither a copy of the header nor the positions of the section table's entries.
func (x *writing) with(f *fileSections, head []byte) *indexfmt.Writer {
	w := x.Writer
	if head != nil {
		w.Add(indexfmt.Sections, indexfmt.AppendOrder(nil, f.compact, f.summary, f.names, indexfmt.Positions(head)))
	}
	w.Add(indexfmt.Filter, x.filter)
	for _, b := range x.units {
		w.Add(b.kind, b.data)
	}
	w.Add(indexfmt.CallerGroups, x.callerGroups)
	w.Add(indexfmt.Overview, x.overview)
	w.Add(indexfmt.Producer, x.producer)
	w.Add(indexfmt.BuildID, x.buildID)
	if head != nil {
		w.AddCopies(sumOf(f.sections[f.summary:f.summary+1]), sumOf(f.sections[f.names:f.names+1]))
		w.End = newEnd(head, f.summary, f.names)
	}
	return &w
}

// newEnd returns the end block of the index of a file whose header and section table are head.
// summary and names are the numbers of the sections with the summary and the file names.
func newEnd(head []byte, summary, names int) *indexfmt.End {
	return &indexfmt.End{Head: head[:min(len(head), wire.HeaderPrefix)], Summary: summary, FileNames: names}
}

// lookups adds to the index the tables that find units by path and symbols by name.
func (x *writing) lookups(r *afdo.Reader, f *fileSections, o *Options) error {
	if x.Units >= indexfmt.MaxUnits {
		return fmt.Errorf("index: %d units: %w", x.Units, afdo.ErrLimit)
	}
	names, unqualified, err := nameEntries(r, o.Unqualified)
	if err != nil {
		return err
	}
	if uint64(len(names)) > math.MaxUint32 {
		return fmt.Errorf("index: %d symbols: %w", len(names), afdo.ErrLimit)
	}
	units, paths := unitEntries(f.sections[f.names])
	x.units = []block{{indexfmt.Units, units.Append(nil, x.Compact)}}
	if x.checksums {
		x.units = append(x.units, block{indexfmt.Runs, indexfmt.AppendRuns(nil, f.runs(units))})
		if len(x.units[0].data) <= maxUnitsLast {
			slices.Reverse(x.units)
		}
	}
	x.units = append(x.units, block{indexfmt.Paths, indexfmt.AppendTable(nil, x.Compact, paths)})
	x.Add(indexfmt.Names, indexfmt.AppendTable(nil, x.Compact, names))
	x.Add(indexfmt.NameParts, indexfmt.AppendNameParts(nil, x.Compact, f.namesSections(units)))
	x.filter = indexfmt.FilterOf(names, unqualified)
	if o.Unqualified.Unqualified == nil {
		return nil
	}
	if err := checkScheme(o.Unqualified.Name); err != nil {
		return err
	}
	x.Add(indexfmt.Unqualified, indexfmt.AppendTable(indexfmt.AppendScheme(nil, o.Unqualified.Name), x.Compact, unqualified))
	return nil
}

// nameEntries returns the entries of the index's two tables of names. names has one for each
// symbol, by its canonical name. unqualified has one for each symbol whose unqualified name in the
// scheme differs from its canonical name. With the zero Scheme it is empty.
func nameEntries(r *afdo.Reader, scheme Scheme) (names, unqualified []indexfmt.Hashed, err error) {
	symbols, err := numIDs(r)
	if err != nil {
		return nil, nil, err
	}
	names, unqualified = make([]indexfmt.Hashed, 0, symbols), make([]indexfmt.Hashed, 0, symbols)
	err = eachSymbol(r, func(s afdo.Symbol) {
		id := uint32(s.ID())
		names = append(names, indexfmt.Hashed{Hash: indexfmt.Hash(symname.Canonical(s.Name())), Value: id})
		if scheme.Unqualified == nil {
			return
		}
		if key, ok := scheme.key(s.Name()); ok {
			unqualified = append(unqualified, indexfmt.Hashed{Hash: indexfmt.Hash(key), Value: id})
		}
	})
	return names, unqualified, err
}

// numIDs returns the number of symbol IDs in the ranges of all units, which is usually the number
// of symbols. It returns at most one ID for 16 bytes of the file, so that a file with large ranges
// does not cause a large allocation.
func numIDs(r *afdo.Reader) (int, error) {
	n, limit := int64(0), r.Size()/16
	for u, err := range r.Units() {
		if err != nil {
			return 0, err
		}
		if start, end := u.IDs(); start < end {
			n = min(n+int64(end-start), limit)
		}
	}
	return int(n), nil
}

// fingerprintsOf returns the index's block with a fingerprint for each unit.
func fingerprintsOf(r *afdo.Reader, o *Options) ([]byte, error) {
	if o.Fingerprint == nil {
		return nil, nil
	}
	if err := checkScheme(o.FingerprintScheme); err != nil {
		return nil, err
	}
	data := indexfmt.AppendScheme(nil, o.FingerprintScheme)
	for u, err := range r.Units() {
		if err != nil {
			return nil, err
		}
		key, err := o.Fingerprint(u)
		if err != nil {
			return nil, err
		}
		data = indexfmt.AppendFingerprint(data, key)
	}
	return data, nil
}

func checkScheme(name string) error {
	if len(name) > math.MaxUint8 {
		return fmt.Errorf("index: a scheme with a name of %d bytes: %w", len(name), afdo.ErrLimit)
	}
	return nil
}

// unitEntries returns the contents of two blocks of the index: the list of units, and the table
// that finds them by path. names is the file names section.
func unitEntries(names section) (*indexfmt.UnitList, []indexfmt.Hashed) {
	bitmask := wire.SectionBitmask(byte(names.t), names.compact)
	f := wire.Fields{Data: names.data, Compact: names.compact}
	n := f.UnitCount()
	l := &indexfmt.UnitList{Entries: make([]indexfmt.Entry, n)}
	paths := make([]indexfmt.Hashed, n)
	for rank := range n {
		from := f.Pos
		var u wire.Unit
		_, path := f.Unit(&u)
		// Offsets count from the bitmask byte, which is not part of the data.
		l.Entries[rank] = indexfmt.Entry{
			Rank: rank, From: int64(from) + 1, To: int64(f.Pos) + 1, Sum: indexfmt.EntrySum(bitmask, f.Data[from:f.Pos]),
		}
		if u.Start != u.End {
			l.Ranked = append(l.Ranked, indexfmt.RankedUnit{Start: u.Start, Rank: rank})
		}
		paths[rank] = indexfmt.Hashed{Hash: indexfmt.Hash(string(path[:len(path)-1])), Value: uint32(rank)}
	}
	l.End = int64(f.Pos) + 1
	slices.SortFunc(l.Ranked, func(a, b indexfmt.RankedUnit) int { return cmp.Compare(a.Start, b.Start) })
	return l, paths
}
