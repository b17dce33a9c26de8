package v4

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// A Directory is the decoded file names section of a file: the list of its units.
type Directory struct {
	file    *File
	section Section
	data    []byte
	entries []unitEntry
	order   []uint32 // entries with symbols, by symbol ID; nil if all entries are already in this order

	mu      sync.Mutex
	lookups int
	table   []uint32 // see hashTable

	begin  sync.Once // guards the computation of begins
	begins []uint32  // see tableIndexes
}

func (d *Directory) path(e *unitEntry) []byte { return d.data[e.name : e.name+int(e.nameLen)] }

// Directory returns the decoded file names section. The first call reads it.
func (v *File) Directory() (*Directory, error) {
	if v.Closed() {
		return nil, fault.ErrClosed
	}
	if d := v.dir.Load(); d != nil {
		return d, nil
	}
	v.dirMu.Lock()
	defer v.dirMu.Unlock()
	if d := v.dir.Load(); d != nil {
		return d, nil
	}
	v.fixedAhead()
	f, err := v.OpenFixed(wire.FileNames)
	if err != nil {
		return nil, err
	}
	d, err := v.newDirectory(f)
	if err == nil {
		v.dir.Store(d)
	}
	return d, err
}

func (v *File) newDirectory(f Fields) (*Directory, error) {
	d := &Directory{file: v, section: f.Section, data: f.Data}
	n := f.UnitCount()
	if f.Err != nil {
		return nil, f.Fault()
	}
	d.entries = make([]unitEntry, n)
	for i := range d.entries {
		f.entry(&d.entries[i])
		if f.Err != nil {
			return nil, f.Fault()
		}
	}
	return d, d.orderByID()
}

// Data returns the bytes of the file names section, which must not be changed.
func (d *Directory) Data() []byte { return d.data }

// Len returns the number of units.
func (d *Directory) Len() int { return len(d.entries) }

// Unit returns the unit that has the given position in the file names section.
func (d *Directory) Unit(rank int) Unit {
	e := &d.entries[rank]
	return d.file.newUnit(&d.section, rank, e, d.path(e))
}

// orderByID sorts the units that have symbols by ID. Their ranges must not overlap (format note 9).
func (d *Directory) orderByID() error {
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

// overlap returns the error for a unit whose symbol IDs also belong to another unit.
func (d *Directory) overlap(e *unitEntry) error {
	return d.section.FaultAt(e.name, fault.ErrSymbol, "symbol IDs from %d to %d of unit %.200q overlap those of another unit", e.Start, e.End, d.path(e))
}

func (d *Directory) rank() {
	inOrder, end := true, uint32(0)
	for i := range d.entries {
		e := &d.entries[i]
		inOrder = inOrder && e.Start >= end && e.Start != e.End
		end = e.Start
	}
	if inOrder {
		return
	}
	// Each key has the first ID in the high bits and the index of the entry in the low bits.
	// Numbers sort several times as fast as entries.
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

// numRanked returns the number of units that have symbol IDs.
func (d *Directory) numRanked() int {
	if d.order != nil {
		return len(d.order)
	}
	return len(d.entries)
}

// ranked returns the position, in the file names section, of the unit that is the i-th in the order
// of symbol IDs.
func (d *Directory) ranked(i int) int {
	if d.order != nil {
		return int(d.order[i])
	}
	return i
}

// owner returns the index of the unit whose range contains a symbol ID.
func (d *Directory) owner(id uint32) (index int, ok bool) {
	i := sort.Search(d.numRanked(), func(i int) bool { return d.entries[d.ranked(i)].End > id })
	if i == d.numRanked() {
		return 0, false
	}
	index = d.ranked(i)
	return index, d.entries[index].Start <= id
}

// hashAfter is the number of lookups by path that compare every unit, before a hash table is built.
// Building it costs about as much as a few such lookups.
const hashAfter = 4

// exact returns the units with the given path, usually one.
func (d *Directory) exact(path string) []Unit {
	if table := d.hashTable(); table != nil {
		return d.probe(table, path)
	}
	return d.matching(func(p []byte) bool { return string(p) == path })
}

// suffix returns the units whose path is suffix or ends with "/" + suffix.
func (d *Directory) suffix(suffix string) []Unit {
	return d.matching(func(p []byte) bool { return endsAtSlash(p, suffix) })
}

// endsAtSlash reports whether suffix is the whole path or its last elements.
func endsAtSlash(path []byte, suffix string) bool {
	before := len(path) - len(suffix)
	if suffix == "" || before < 0 || string(path[before:]) != suffix {
		return len(path) == 0 && suffix == ""
	}
	return before == 0 || suffix[0] == '/' || path[before-1] == '/'
}

func (d *Directory) matching(fits func(path []byte) bool) (found []Unit) {
	for i := range d.entries {
		if fits(d.path(&d.entries[i])) {
			found = append(found, d.Unit(i))
		}
	}
	return found
}

// hashTable returns an open-addressing hash table that finds units by path. A slot contains the
// index of a unit plus one. hashTable returns nil for the first few lookups, for which a table does
// not pay, and for a malformed file with duplicate paths.
func (d *Directory) hashTable() []uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lookups++; d.lookups == hashAfter+1 {
		d.table = d.newTable()
	}
	return d.table
}

// hashSeed is random, so that a file cannot choose paths that all collide.
var hashSeed = maphash.MakeSeed()

func (d *Directory) newTable() []uint32 {
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

// probe looks up a path in the hash table of paths, and returns the unit that has the path, or
// nothing.
func (d *Directory) probe(table []uint32, path string) []Unit {
	slot := maphash.String(hashSeed, path) % uint64(len(table))
	for ; table[slot] != 0; slot = (slot + 1) % uint64(len(table)) {
		if i := int(table[slot] - 1); string(d.path(&d.entries[i])) == path {
			return []Unit{d.Unit(i)}
		}
	}
	return nil
}

// tableIndexes returns, in ascending order, the section indexes of the string tables and symbol
// names of all units, of the summary, and of the file names. The samples of a unit end before the
// next of these sections.
func (d *Directory) tableIndexes(t *sectionTable) []uint32 {
	d.begin.Do(func() {
		for i := range d.entries {
			d.begins = append(d.begins, d.entries[i].Strings, d.entries[i].Symbols)
		}
		for i := range t.fixed {
			d.begins = append(d.begins, uint32(t.fixed[i].index))
		}
		slices.Sort(d.begins)
	})
	return d.begins
}

// A unitEntry is an entry of the file names section. It takes 32 bytes.
type unitEntry struct {
	name    int // position of the path in the section
	nameLen uint32
	wire.Unit
}

// entry decodes the entry of a unit in the file names section, and checks its path.
func (f *Fields) entry(e *unitEntry) {
	name := f.unitFields(e)
	if f.Err == nil {
		f.Err = cmp.Or(e.nameFault(name), e.rangeFault())
	}
}

// unitFields decodes the entry of a unit in the file names section. It returns the path of the unit
// with its final NUL.
func (f *Fields) unitFields(e *unitEntry) (name []byte) {
	e.name, name = f.Unit(&e.Unit)
	e.nameLen = uint32(max(len(name), 1) - 1)
	return name
}

// nameFault returns an error if the path is invalid (format note 8).
func (e *unitEntry) nameFault(name []byte) *wire.Fault {
	if i := bytes.IndexByte(name, 0); i < 0 || i != len(name)-1 {
		return &wire.Fault{Pos: e.name, Class: fault.ErrName, Detail: fmt.Sprintf("%.200q is not a string that ends at its only NUL", name)}
	}
	return nil
}

func (e *unitEntry) rangeFault() *wire.Fault {
	if e.Start > e.End {
		return &wire.Fault{Pos: e.name, Class: fault.ErrSymbol, Detail: fmt.Sprintf("symbol IDs from %d to %d", e.Start, e.End)}
	}
	return nil
}
