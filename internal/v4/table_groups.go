package v4

import (
	"errors"
	"sync"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// entryGroups reads the entries of a section table that is in file order, and is not in memory, as
// they are needed, some together.
type entryGroups struct {
	src      *source
	index    *Index                         // which vouches for the table, nil if that has been looked at as a whole
	position func(group int) (int64, error) // where a group begins in a compact table, from where the first one does

	mu   sync.Mutex
	read map[int][]extent // groups that have been read
	runs []*unitRun       // whose places the index has told
}

// The whole table is read once so many groups and this share of all have been read one by one. A
// group that is read alone costs several times what it costs in a scan.
const (
	groupsAlone = 16
	groupsShare = 64 // one in so many

	maxGroupBytes = 2 * wire.MaxVarintLen * checkpointEvery // of a group of entries

	// Of a table of more bytes than are kept, entries are read again, as that costs less than
	// memory that is used for the first time. It is looked at in chunks, for which the same memory
	// is used again and again.
	maxKept    = 256 << 10
	tableChunk = 64 << 10
)

// errWholeTable is the error of entries that are not those of a table in order, and of more groups
// than are read one by one: the whole table is needed.
var errWholeTable = errors.New("afdo: the section table is not in order")

// extent returns the place of the section of an index below t.len. The error is that of a read, or
// errWholeTable.
func (g *entryGroups) extent(t *sectionTable, index int) (extent, error) {
	if f := t.fixedAt(index); f != nil {
		return f.extent, nil
	}
	if u := g.run(index); u != nil {
		return u.places[index-u.first], nil
	}
	rank := t.rank(index)
	entries, err := g.group(t, rank/checkpointEvery)
	if err != nil {
		return extent{}, err
	}
	return entries[rank%checkpointEvery], nil
}

// group returns the entries of a group. The error is that of a read, or errWholeTable.
func (g *entryGroups) group(t *sectionTable, i int) ([]extent, error) {
	g.mu.Lock()
	entries, n := g.read[i], len(g.read)
	g.mu.Unlock()
	if entries != nil {
		return entries, nil
	}
	if n >= groupsAlone+t.groups()/groupsShare {
		return nil, errWholeTable
	}
	entries, err := g.readGroup(t, i)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.read == nil {
		g.read = make(map[int][]extent)
	}
	g.read[i] = entries
	return entries, nil
}

func (g *entryGroups) readGroup(t *sectionTable, i int) ([]extent, error) {
	n := min(checkpointEvery, t.count-i*checkpointEvery)
	from, to, err := g.bytes(t, i, n)
	if err != nil {
		return nil, err
	}
	if from > to || to-from > maxGroupBytes || to > t.size-int64(t.entries) {
		return nil, errWholeTable
	}
	data, err := g.src.view(int64(t.entries)+from, int(to-from))
	if err != nil {
		return nil, err
	}
	f := t.Section.fieldsAt(data, 0)
	entries := make([]extent, n)
	end := int64(t.entries)
	for i := range entries {
		e := t.newExtent(f.Place())
		if e.size == 0 || e.off < end {
			return nil, errWholeTable
		}
		entries[i], end = e, e.off+e.size
	}
	if f.Err != nil || f.Rest() > 0 {
		return nil, errWholeTable
	}
	return entries, nil
}

// bytes returns where a group of n entries begins and ends, from where the first entry begins.
func (g *entryGroups) bytes(t *sectionTable, i, n int) (from, to int64, err error) {
	if !t.Section.Compact {
		from = 16 * checkpointEvery * int64(i)
		return from, from + 16*int64(n), nil
	}
	if from, err = g.position(i); err == nil {
		to, err = g.position(i + 1)
	}
	return from, to, g.index.Fault(err)
}
