package v4

import (
	"errors"
	"sync"

	"github.com/go-afdo/afdo/internal/v4/wire"
)

// entryGroups reads groups of entries when needed, for a section table that is in file order and
// not in memory.
type entryGroups struct {
	src      *source
	index    *Index                         // the index that certifies the table, nil if the whole table has been checked
	position func(group int) (int64, error) // start of a group in a compact table, relative to the first group

	mu   sync.Mutex
	read map[int][]extent // groups that have been read
	runs []*unitRun       // runs whose positions come from the index
}

// The whole table is read once more than groupsAlone + groups/groupsShare groups have been read one
// by one. Reading a group alone costs several times as much as its part of a scan.
const (
	groupsAlone = 16
	groupsShare = 64 // a share of 1/64

	maxGroupBytes = 2 * wire.MaxVarintLen * checkpointEvery // maximum size of a group of entries, in bytes

	// A table larger than maxKept is not kept in memory; its entries are read again, which costs
	// less than using new memory. It is scanned in chunks of tableChunk bytes, which reuse the same
	// memory.
	maxKept    = 256 << 10
	tableChunk = 64 << 10
)

// errWholeTable is the error if the table turns out not to be in file order, or if too many groups
// have been read one by one. The whole table is then needed.
var errWholeTable = errors.New("afdo: the section table is not in order")

// extent returns the position of a section, whose index must be in range. The error is one of
// reading, or errWholeTable.
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

// group returns the entries of a group. The error is one of reading, or errWholeTable.
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
		if e.size == 0 || e.off < end || e.off > t.size || e.size > t.size-e.off {
			return nil, errWholeTable
		}
		entries[i], end = e, e.off+e.size
	}
	if f.Err != nil || f.Rest() > 0 {
		return nil, errWholeTable
	}
	return entries, nil
}

// bytes returns the start and end of a group of n entries, relative to the first entry.
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
