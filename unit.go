package afdo

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Unit is an entry of the file names section (RFC 4.5): a source file, and the symbols it
// defines. It reads each of its sections when it is first needed, and keeps it. Two lookups of the
// same unit give two Units. All methods may be called concurrently.
type Unit struct {
	r     *Reader
	names Section // the file names section, from where entry counts
	index int
	entry unitEntry
	path  string

	places *unitRun     // where its sections are, if the index has told
	asked  atomic.Int64 // how much of them has been read ahead

	mu      sync.Mutex
	encoded *encodedTable     // as far as read and not yet decoded
	table   *symbolTable      // nil until needed
	infos   map[uint32]fields // symbol info sections by index, as far as they have been read
}

// unitEntry is one entry of the file names section. 32 bytes.
type unitEntry struct {
	name    int // of the path, in directory.data
	nameLen uint32
	wire.Unit
}

// directory is the file names section, decoded.
type directory struct {
	sec     Section
	data    []byte
	entries []unitEntry
	order   []uint32 // entries that have symbols, by their IDs; nil if that is how all of them stand

	mu      sync.Mutex
	lookups int
	table   []uint32 // see hashTable

	begin  sync.Once // guards the making of begins
	begins []uint32  // see tableIndexes
}

func (d *directory) path(e *unitEntry) []byte { return d.data[e.name : e.name+int(e.nameLen)] }

// directory reads the file names section when first needed.
func (r *Reader) directory() (*directory, error) {
	if r.closed() {
		return nil, ErrClosed
	}
	if d := r.dir.Load(); d != nil {
		return d, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.dir.Load(); d != nil {
		return d, nil
	}
	f, err := r.openFixed(SectionFileNames)
	if err != nil {
		return nil, err
	}
	d, err := newDirectory(f)
	if err == nil {
		r.dir.Store(d)
	}
	return d, err
}

func newDirectory(f fields) (*directory, error) {
	d := &directory{sec: f.sec, data: f.Data}
	n := f.UnitCount()
	if f.Err != nil {
		return nil, f.err()
	}
	d.entries = make([]unitEntry, n)
	for i := range d.entries {
		f.unitEntry(&d.entries[i])
		if f.Err != nil {
			return nil, f.err()
		}
	}
	if err := d.orderByID(); err != nil {
		return nil, err
	}
	return d, nil
}

// unitEntry reads and checks an entry.
func (f *fields) unitEntry(e *unitEntry) {
	name := f.unitFields(e)
	if f.Err == nil {
		f.Err = cmp.Or(e.nameFault(name), e.rangeFault())
	}
}

// unitFields reads an entry and returns its path, the NUL included.
func (f *fields) unitFields(e *unitEntry) (name []byte) {
	e.name, name = f.Unit(&e.Unit)
	e.nameLen = uint32(max(len(name), 1) - 1)
	return name
}

// nameFault returns what is wrong with the path (format note 8).
func (e *unitEntry) nameFault(name []byte) *wire.Fault {
	if i := bytes.IndexByte(name, 0); i < 0 || i != len(name)-1 {
		return &wire.Fault{Pos: e.name, Class: ErrName, Detail: fmt.Sprintf("%.200q is not a string that ends at its only NUL", name)}
	}
	return nil
}

func (e *unitEntry) rangeFault() *wire.Fault {
	if e.Start > e.End {
		return &wire.Fault{Pos: e.name, Class: ErrSymbol, Detail: fmt.Sprintf("symbol IDs from %d to %d", e.Start, e.End)}
	}
	return nil
}

// orderByID orders the units that have symbols by their IDs, which must not overlap (format note
// 9).
func (d *directory) orderByID() error {
	d.rank()
	end := uint32(0)
	for i := range d.numRanked() {
		e := &d.entries[d.ranked(i)]
		if e.Start < end {
			return d.overlap(e)
		}
		end = e.End
	}
	return nil
}

// overlap is the error of symbol IDs that are another unit's, too.
func (d *directory) overlap(e *unitEntry) error {
	return d.sec.errorAt(e.name, ErrSymbol, "symbol IDs from %d to %d of unit %.200q overlap those of another unit", e.Start, e.End, d.path(e))
}

func (d *directory) rank() {
	inOrder, end := true, uint32(0)
	for i := range d.entries {
		e := &d.entries[i]
		inOrder = inOrder && e.Start >= end && e.Start != e.End
		end = e.Start
	}
	if inOrder {
		return
	}
	// The IDs that begin a range, with the entry in the low bits: numbers sort several times as
	// fast as entries.
	keys := make([]uint64, 0, len(d.entries))
	for i := range d.entries {
		if e := &d.entries[i]; e.Start != e.End {
			keys = append(keys, uint64(e.Start)<<32|uint64(i))
		}
	}
	slices.Sort(keys)
	d.order = make([]uint32, len(keys))
	for i, key := range keys {
		d.order[i] = uint32(key)
	}
}

// has reports whether a symbol ID is in the unit's range.
func (e *unitEntry) has(id SymbolID) bool { return e.Start <= uint32(id) && uint32(id) < e.End }

// numRanked is the number of units that have symbol IDs.
func (d *directory) numRanked() int {
	if d.order != nil {
		return len(d.order)
	}
	return len(d.entries)
}

// ranked returns the index of the i-th unit by symbol IDs.
func (d *directory) ranked(i int) int {
	if d.order != nil {
		return int(d.order[i])
	}
	return i
}

// owner returns the index of the unit whose range holds a symbol ID.
func (d *directory) owner(id SymbolID) (index int, ok bool) {
	i := sort.Search(d.numRanked(), func(i int) bool { return d.entries[d.ranked(i)].End > uint32(id) })
	if i == d.numRanked() {
		return 0, false
	}
	index = d.ranked(i)
	return index, d.entries[index].Start <= uint32(id)
}

// hashAfter is how many lookups of a path look at every unit before a hash table is made, which
// costs about as much as a few of them.
const hashAfter = 4

// exact returns the indexes of the units of a path, usually one.
func (d *directory) exact(path string) []int {
	if table := d.hashTable(); table != nil {
		return d.probe(table, path)
	}
	return d.matching(func(p []byte) bool { return string(p) == path })
}

// suffix returns the indexes of the units whose path ends in suffix at a '/'.
func (d *directory) suffix(suffix string) []int {
	return d.matching(func(p []byte) bool { return endsAtSlash(p, suffix) })
}

// endsAtSlash reports whether suffix is the whole of path or its last elements.
func endsAtSlash(path []byte, suffix string) bool {
	before := len(path) - len(suffix)
	if suffix == "" || before < 0 || string(path[before:]) != suffix {
		return len(path) == 0 && suffix == ""
	}
	return before == 0 || suffix[0] == '/' || path[before-1] == '/'
}

func (d *directory) matching(fits func(path []byte) bool) []int {
	var found []int
	for i := range d.entries {
		if fits(d.path(&d.entries[i])) {
			found = append(found, i)
		}
	}
	return found
}

// hashTable returns an open-addressing table of unit indexes plus one by the hash of their paths,
// or nil as long as lookups do not repeat and for a faulty file that has a path twice.
func (d *directory) hashTable() []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lookups++; d.lookups == hashAfter+1 {
		d.table = d.newTable()
	}
	return d.table
}

// hashSeed makes it unforeseeable what a path hashes to. Else a file could be made whose paths all
// collide.
var hashSeed = maphash.MakeSeed()

func (d *directory) newTable() []uint32 {
	table := make([]uint32, 2<<bits.Len(uint(len(d.entries))))
	for i := range d.entries {
		path := d.path(&d.entries[i])
		slot := maphash.Bytes(hashSeed, path) % uint64(len(table))
		for ; table[slot] != 0; slot = (slot + 1) % uint64(len(table)) {
			if bytes.Equal(path, d.path(&d.entries[table[slot]-1])) {
				return nil
			}
		}
		table[slot] = uint32(i + 1)
	}
	return table
}

// probe returns what the table has for a path.
func (d *directory) probe(table []uint32, path string) []int {
	slot := maphash.String(hashSeed, path) % uint64(len(table))
	for ; table[slot] != 0; slot = (slot + 1) % uint64(len(table)) {
		if i := int(table[slot] - 1); string(d.path(&d.entries[i])) == path {
			return []int{i}
		}
	}
	return nil
}

// NumUnits returns the number of units, including the unknown-file unit. It costs what
// [Reader.Units] costs to begin.
func (r *Reader) NumUnits() (int, error) {
	d, err := r.directory()
	if err != nil {
		return 0, err
	}
	return len(d.entries), nil
}

// Units iterates over the units in the order of the file names section. It reads that section, and
// nothing of the units. An error ends the iteration.
func (r *Reader) Units() iter.Seq2[*Unit, error] {
	return func(yield func(*Unit, error) bool) {
		d, err := r.directory()
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range d.entries {
			if r.closed() {
				yield(nil, ErrClosed)
				return
			}
			if !yield(r.unit(d, i), nil) {
				return
			}
		}
	}
}

// Unit returns the unit of a path, which is compared byte for byte. The empty path is the unit of
// symbols with unknown file (format note 8). The error is [ErrNotFound] if there is none, and an
// [AmbiguousError] if a faulty file has several. The first lookup reads the file names section. A
// lookup compares every path; repeated lookups use a hash table.
func (r *Reader) Unit(path string) (*Unit, error) {
	units, err := r.exact(path)
	if err != nil {
		return nil, err
	}
	return onlyUnit(path, units)
}

// UnitBySuffix returns the unit whose path is suffix or ends in it at a '/': "b/c.h" finds
// "/a/b/c.h", not "/a/bb/c.h". An exact match comes first. The error is [ErrNotFound] if there is
// none, and an [AmbiguousError] if there are several. A lookup without an exact match compares
// every path.
func (r *Reader) UnitBySuffix(suffix string) (*Unit, error) {
	units, err := r.exact(suffix)
	if err != nil {
		return nil, err
	}
	if len(units) == 0 {
		d, err := r.directory()
		if err != nil {
			return nil, err
		}
		units = r.unitsAt(d, d.suffix(suffix))
	}
	return onlyUnit(suffix, units)
}

// UnitOf returns the unit whose range of symbol IDs contains id (RFC 4.5), [ErrNotFound] if there
// is none. The unit need not have a symbol of that ID. It costs a binary search.
func (r *Reader) UnitOf(id SymbolID) (*Unit, error) {
	u, err := r.owner(id)
	if u == nil && err == nil {
		err = fmt.Errorf("afdo: unit of symbol ID %d: %w", id, ErrNotFound)
	}
	return u, err
}

func onlyUnit(path string, found []*Unit) (*Unit, error) {
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("afdo: unit %q: %w", path, ErrNotFound)
	case 1:
		return found[0], nil
	}
	e := &AmbiguousError{Path: path}
	for _, u := range found {
		e.Paths = append(e.Paths, u.path)
	}
	return nil, e
}

func (r *Reader) unit(d *directory, index int) *Unit {
	e := d.entries[index]
	return &Unit{r: r, names: d.sec, index: index, entry: e, path: string(d.path(&e))}
}

// Path returns the path of the source file, empty if it is unknown. It need not be UTF-8.
func (u *Unit) Path() string { return u.path }

// Index returns the rank of the unit in the file names section.
func (u *Unit) Index() int { return u.index }

// Sections returns the indices of the string table and the symbol names of the unit (RFC 4.5),
// unchecked.
func (u *Unit) Sections() (stringTable, symbolNames int) {
	return int(u.entry.Strings), int(u.entry.Symbols)
}

// IDs returns the range of the unit's symbol IDs, the end excluded.
func (u *Unit) IDs() (start, end SymbolID) {
	return SymbolID(u.entry.Start), SymbolID(u.entry.End)
}
