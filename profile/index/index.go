// Package index reads and writes the optional index at the end of a version 4 file, and answers
// questions about the whole program with or without it. The index is an extension of this project
// (docs/reference/extensions.md); other readers skip it.
//
// [Write] adds an index to a file, and [Read] returns information about an index. A [Program] finds
// symbols by name anywhere in the file, and the functions into which others were inlined. For a
// Reader opened with [afdo.TrustIndex], it uses the index and reads little else. For other Readers
// it searches the file. The answers are the same as long as the index is correct.
package index

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An Index is the optional index at the end of a version 4 file. All methods may be called
// concurrently.
type Index struct {
	r *afdo.Reader
	x *v4.Index
}

// Read opens the index of a file. It reads the first page of 1024 bytes, unless that has been read
// before. Errors:
//   - [afdo.ErrNotFound] if the file has no index,
//   - [afdo.ErrIndex] if the index has another version, or the file has changed since the index was
//     written,
//   - [afdo.ErrChecksum] if the index is damaged.
func Read(r *afdo.Reader) (*Index, error) {
	x, err := v4.FileOf(r).Index()
	if err != nil {
		return nil, err
	}
	return &Index{r, x}, nil
}

// wrap returns err, an error about the index, with the position in the file added.
func (x *Index) wrap(err error) error { return x.x.Fault(err) }

// An Info describes an index.
type Info struct {
	Section  afdo.Section
	Producer string // program that wrote the file, empty if unknown
	BuildID  []byte // build ID of the profiled program, nil if unknown

	// Unqualified and Fingerprints are the names of the schemes in use, empty if the index has no
	// unqualified names or fingerprints. See [Scheme] and [Index.Fingerprint].
	Unqualified, Fingerprints string

	Blocks []Block // parts of the index, in file order
}

// A Block is a section of an index, such as the table of names.
type Block struct {
	Kind string // kind of its contents, such as "names"
	Size int64  // in bytes
}

// Info returns a description of the index. It reads the pages with the strings.
func (x *Index) Info() (*Info, error) {
	s := x.x.Section
	info := &Info{Section: afdo.Section{Index: s.Index, Type: afdo.SectionIndex, Compact: s.Compact, Offset: s.Offset, Size: s.Size}}
	for _, b := range x.x.Blocks() {
		info.Blocks = append(info.Blocks, Block{b.Kind.String(), b.Size})
	}
	producer, err := x.x.All(indexfmt.Producer)
	if err != nil {
		return nil, x.wrap(err)
	}
	info.Producer = string(producer)
	if info.BuildID, err = x.x.All(indexfmt.BuildID); err != nil {
		return nil, x.wrap(err)
	}
	if info.Unqualified, err = x.x.Scheme(indexfmt.Unqualified); err != nil {
		return nil, x.wrap(err)
	}
	if info.Fingerprints, err = x.x.Scheme(indexfmt.Fingerprints); err != nil {
		return nil, x.wrap(err)
	}
	return info, nil
}

// Overview returns the overview that the writer of the index stored, and its scheme, see [Options].
// It does not compare it with the file. The error is [afdo.ErrNotFound] if the index has none.
func (x *Index) Overview() (scheme string, data []byte, err error) {
	if !x.x.Has(indexfmt.Overview) {
		return "", nil, errNoOverview
	}
	scheme, data, err = x.x.SchemeData(indexfmt.Overview)
	return scheme, data, x.wrap(err)
}

// Fingerprint returns the fingerprint that the writer of the index stored for a unit. It stays the
// same as long as the unit's part of the profile does. The scheme defines exactly what it covers,
// see [Info]. Fingerprint does not verify it. The error is [afdo.ErrNotFound] if the index has no
// fingerprints.
func (x *Index) Fingerprint(u *afdo.Unit) (uint64, error) {
	if !x.x.Has(indexfmt.Fingerprints) {
		return 0, errNoFingerprints
	}
	key, err := x.x.Fingerprint(u.Index())
	return key, x.wrap(err)
}

// runs returns the contents of the index's block of runs, with one entry for each unit. A run
// consists of a unit's string table, symbol names and samples, if these sections are adjacent in
// the file. If units share a string table, only the first of them has a run.
func (f *fileSections) runs(units *indexfmt.UnitList) []indexfmt.Run {
	names := f.sections[f.names]
	offsets := make([]int64, len(f.sections))
	for i := 1; i < len(offsets); i++ {
		offsets[i] = offsets[i-1] + f.sections[i-1].size()
	}
	runs := make([]indexfmt.Run, len(units.Entries))
	had := make(map[uint32]bool, len(runs))
	for i := range units.Entries {
		r := &runs[i]
		r.Bitmask = wire.SectionBitmask(byte(names.t), names.compact)
		var u wire.Unit
		r.Entry, u = f.unit(units, i)
		if had[u.Strings] || !f.adjacent(&u) {
			continue
		}
		had[u.Strings] = true
		r.First, r.Offset = int(u.Strings), offsets[u.Strings]
		f.addSections(r)
	}
	return runs
}

// unit returns the entry of unit i in the file names section, once encoded and once decoded.
func (f *fileSections) unit(units *indexfmt.UnitList, i int) (entry []byte, u wire.Unit) {
	names, e := f.sections[f.names], units.Entries[i]
	entry = names.data[e.From-1 : e.To-1]
	fields := wire.Fields{Data: entry, Compact: names.compact}
	fields.Unit(&u)
	return entry, u
}

// namesSections returns, for each unit, decoders for its string table and its symbol names. If
// several units share one of these sections, only the first of them is in the result, so that no
// section is searched many times.
func (f *fileSections) namesSections(units *indexfmt.UnitList) []indexfmt.NamesSections {
	all := make([]indexfmt.NamesSections, 0, len(units.Entries))
	had := make(map[uint32]bool, len(units.Entries))
	for i := range units.Entries {
		_, u := f.unit(units, i)
		strings, ok := f.fields(u.Strings, afdo.SectionStringTable)
		symbols, okay := f.fields(u.Symbols, afdo.SectionSymbolNames)
		if ok && okay && !had[u.Strings] && !had[u.Symbols] {
			had[u.Strings], had[u.Symbols] = true, true
			all = append(all, indexfmt.NamesSections{Unit: i, Start: u.Start, Strings: strings, Symbols: symbols})
		}
	}
	return all
}

// fields returns a decoder for a section, positioned after its bitmask byte. index is the number of
// the section. The second result is false if there is no section of that number, or if its type is
// not t.
func (f *fileSections) fields(index uint32, t afdo.SectionType) (wire.Fields, bool) {
	if uint64(index) >= uint64(len(f.sections)) || f.sections[index].t != t {
		return wire.Fields{}, false
	}
	s := f.sections[index]
	return wire.Fields{Data: s.data, Compact: s.compact}, true
}

// adjacent reports whether a unit's symbol names directly follow its string table.
func (f *fileSections) adjacent(u *wire.Unit) bool {
	at := uint64(u.Strings)
	return u.Symbols == u.Strings+1 && at+1 < uint64(len(f.sections)) &&
		f.sections[at].t == afdo.SectionStringTable && f.sections[at+1].t == afdo.SectionSymbolNames
}

// addSections adds to a run the sizes and checksums of its sections. These are the string table,
// the symbol names and all sections of samples that follow directly.
func (f *fileSections) addSections(r *indexfmt.Run) {
	end := r.First + 2
	for end < len(f.sections) && f.sections[end].t == afdo.SectionSymbolInfo {
		end++
	}
	r.Sizes = make([]int64, 0, end-r.First)
	for _, s := range f.sections[r.First:end] {
		r.Sizes = append(r.Sizes, s.size())
	}
	r.Names = sumOf(f.sections[r.First : r.First+2])
	r.Infos = sumOf(f.sections[r.First+2 : end])
}

// sumOf returns one checksum of several sections, in the form that the index stores. It covers the
// bitmask byte and the data of each.
func sumOf(sections []section) uint32 {
	sum := indexfmt.NewChecksum()
	for i := range sections {
		s := &sections[i]
		sum.Add(wire.SectionBitmask(byte(s.t), s.compact), s.data)
	}
	return sum.Value()
}

// size returns the size of the section in the file, in bytes.
func (s *section) size() int64 { return int64(len(s.data)) + 1 }

// An indexed finds symbols for a [Program] with the index of the file, see [candidates].
type indexed struct{ *Index }

// newIndexed returns the index of a file. It returns nil if there is none or the Reader does not
// trust it. The error says that the index could not be read or is damaged.
func newIndexed(r *afdo.Reader) (*indexed, error) {
	x, err := v4.FileOf(r).Trusted()
	if x == nil || err != nil {
		return nil, err
	}
	return &indexed{&Index{r, x}}, nil
}

// errNotIndexed means that the index does not contain the table that a lookup needs.
var errNotIndexed = fmt.Errorf("index: %w", afdo.ErrNotFound)

// misleads reports whether an incorrect index caused an error of a lookup. One example is a symbol
// ID from the index that the file does not have.
func (x *indexed) misleads(err error) bool {
	var e *afdo.FormatError
	if errors.As(err, &e) {
		return x.x.Misleads(e.Section, e.Err)
	}
	return errors.Is(err, afdo.ErrNotFound) // a symbol ID that does not exist
}

func (x *indexed) named(canonicalName string) ([]afdo.SymbolID, error) {
	return x.find(indexfmt.Names, canonicalName, nil)
}

func (x *indexed) unqualified(names []string, scheme Scheme) ([]afdo.SymbolID, error) {
	if !x.x.Has(indexfmt.Unqualified) {
		return nil, errNotIndexed
	}
	made, err := x.x.Scheme(indexfmt.Unqualified)
	if err != nil {
		return nil, x.wrap(err)
	}
	if made != scheme.Name {
		return nil, errNotIndexed
	}
	var ids []afdo.SymbolID
	for _, kind := range []indexfmt.Kind{indexfmt.Names, indexfmt.Unqualified} {
		for _, name := range names {
			if ids, err = x.find(kind, name, ids); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}

// find appends to ids the symbol IDs that the index has for a key. kind selects the table of the
// index, for example that of canonical names.
func (x *indexed) find(kind indexfmt.Kind, key string, ids []afdo.SymbolID) ([]afdo.SymbolID, error) {
	if !x.x.Has(kind) {
		return nil, errNotIndexed
	}
	hash := indexfmt.Hash(key)
	if there, err := x.x.MayHave(hash); !there {
		return ids, x.wrap(err)
	}
	t, err := x.x.Table(kind)
	if err != nil {
		return nil, x.wrap(err)
	}
	values, err := t.Find(hash, nil)
	return appendIDs(ids, values), x.wrap(err)
}

func appendIDs(ids []afdo.SymbolID, values []uint32) []afdo.SymbolID {
	ids = slices.Grow(ids, len(values))
	for _, v := range values {
		ids = append(ids, afdo.SymbolID(v))
	}
	return ids
}

// inlinedInto returns the IDs of the functions into which at least one of the callees was inlined,
// according to the index.
func (x *indexed) inlinedInto(callees []afdo.SymbolID) ([]afdo.SymbolID, error) {
	if !x.x.HasCallers() {
		return nil, errNotIndexed
	}
	var found []uint32
	for _, callee := range callees {
		var err error
		if found, err = x.x.Callers(uint32(callee), found); err != nil {
			return nil, x.wrap(err)
		}
	}
	return appendIDs(nil, found), nil
}

// believed reports whether a [Program] uses the index's lists of callers without comparing them
// with the samples. It does so only for files that are read through an io.ReaderAt, where reading
// the samples is slow.
func (x *indexed) believed() bool { return x.x.HasCallers() && x.x.Remote() }

// firstCallers returns the results of [Program.Callers]. It reads only the index's lists of
// callers, and not the samples.
func (x *indexed) firstCallers(callees []afdo.SymbolID, n int) (first []afdo.Symbol, others int, err error) {
	ids, err := x.inlinedInto(callees)
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id afdo.SymbolID) bool { return slices.Contains(callees, id) })
	if n > 0 && len(ids) > n {
		ids, others = ids[:n], len(ids)-n
	}
	first, err = x.r.SymbolsByID(ids)
	return first, others, err
}
