package v4

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
	"github.com/go-afdo/afdo/internal/v4/wire"
)

// An extent is the position of a section in the file: its offset and its size.
type extent struct{ off, size int64 }

// checkpointEvery is the maximum number of entries of a compact section table that are skipped to
// read one. With 32, checkpoints cost 1/8 byte per entry.
const checkpointEvery = indexfmt.GroupSize

// A sectionTable finds the position of a section by the section's index. A table whose sections are
// in the order of the file, which every sequential writer creates, is used in its encoded form. Any
// other table is decoded and sorted.
type sectionTable struct {
	Fields                    // the encoded entries, or only the first one if the table is not in memory
	size        int64         // size of the file
	entries     int           // offset in Data of the first entry
	end         int64         // end of header and table
	count       int           // number of entries, without the fixed sections
	checkpoints []uint32      // compact tables only: start of each group of entries, and end of the last group
	sorted      []extent      // all entries by offset, if the table is not in file order
	fixed       [2]fixedEntry // summary and file names, by offset

	sparse *entryGroups // reads the entries of a table that is not in memory
	head   []byte       // the expected first bytes of the file, if they have not been read
}

// vouched reports whether the table has not been checked itself, but is trusted because of the
// index and its checksums.
func (t *sectionTable) vouched() bool { return t.sparse != nil && t.sparse.index != nil }

// A fixedEntry is the position of the summary or of the file names. The header of the file has
// these two positions, and the table those of all other sections.
type fixedEntry struct {
	extent
	t     byte
	index int // position by offset among all sections
	group int // for a table in file order: number of groups of entries before the section
}

// len returns the number of sections, including the summary and the file names.
func (t *sectionTable) len() int { return t.count + len(t.fixed) }

// fixedSection returns the entry of the summary or the file names section.
func (t *sectionTable) fixedSection(typ byte) fixedEntry {
	if t.fixed[0].t == typ {
		return t.fixed[0]
	}
	return t.fixed[1]
}

// extent returns the position of a section. The table must have been scanned and the index must be
// in range.
func (t *sectionTable) extent(index int) extent {
	if f := t.fixedAt(index); f != nil {
		return f.extent
	}
	return t.encoded(t.rank(index))
}

// fixedAt returns the fixedEntry with the given section index, or nil if neither the summary nor
// the file names has this index.
func (t *sectionTable) fixedAt(index int) *fixedEntry {
	for i := range t.fixed {
		if t.fixed[i].index == index {
			return &t.fixed[i]
		}
	}
	return nil
}

// rank returns the position of a section among the sections without the summary and the file names.
func (t *sectionTable) rank(index int) int {
	rank := index
	for _, f := range t.fixed {
		if f.index < index {
			rank--
		}
	}
	return rank
}

// entry returns the position of a section, given its number i among all sections in the order of
// their offsets. The numbers do not count the summary and the file names.
func (t *sectionTable) entry(i int) (extent, error) {
	if t.sparse == nil {
		return t.encoded(i), nil
	}
	entries, err := t.sparse.group(t, i/checkpointEvery)
	if err != nil {
		return extent{}, err
	}
	return entries[i%checkpointEvery], nil
}

// encoded does the work of [sectionTable.entry] for a table in memory. The table has been checked,
// so it cannot fail.
func (t *sectionTable) encoded(i int) extent {
	if t.sorted != nil {
		return t.sorted[i]
	}
	f := t.Fields
	if !f.Section.Compact {
		f.Pos = t.entries + 16*i
		return extent{int64(f.Uint64()), int64(f.Uint64())}
	}
	f.Pos = int(t.checkpoints[i/checkpointEvery])
	f.Pos += wire.SkipVarints(f.Data[f.Pos:], uint64(2*(i%checkpointEvery)))
	return extent{int64(f.Uint64()), int64(f.Uint64())}
}

// scan reads the whole table, which must be in memory, once. It checks every entry, records
// checkpoints, and sorts the table if it is not in file order.
func (t *sectionTable) scan() error {
	ordered, err := t.inOrder(len(t.Data), func(at int) ([]byte, error) { return t.Data[at:], nil })
	if err == nil && !ordered {
		err = t.scanAny()
	}
	if err != nil {
		return err
	}
	return t.place()
}

// place checks that all sections are after the header and the table. It also finds out which
// sections the summary and the file names are between.
func (t *sectionTable) place() error {
	if t.count > 0 {
		first, err := t.entry(0)
		if err == nil {
			err = t.apart(extent{0, t.end}, first)
		}
		if err != nil {
			return err
		}
	}
	return t.placeFixed()
}

// groups returns the number of groups of entries. The position of each group is stored, so that an
// entry is found without decoding all entries before it.
func (t *sectionTable) groups() int { return (t.count + checkpointEvery - 1) / checkpointEvery }

// scanAny reads and checks a table whose sections need not be in the order of the file. If the
// table has an error, scanAny finds it, even if [sectionTable.inOrder] has only found that there is
// one.
func (t *sectionTable) scanAny() error {
	for range t.count {
		pos := t.Pos
		p := t.Place()
		if t.Err != nil {
			return t.Fault()
		}
		if err := t.checkBounds(pos, 0, p); err != nil {
			return err
		}
	}
	t.end = int64(t.Pos)
	return t.sort()
}

// checkBounds returns an error if a section is empty or not within the file. p is the section's
// position. pos is where the table has it. typ is the type of the section if that is the summary or
// the file names, and otherwise 0.
func (t *sectionTable) checkBounds(pos int, typ byte, p wire.Place) error {
	if size := uint64(t.size); p.Size > 0 && p.Size <= size && p.Offset <= size-p.Size {
		return nil
	}
	article := "a"
	if typ != 0 {
		article = "the " + wire.SectionTypeName(typ)
	}
	return t.Section.FaultAt(pos, fault.ErrHeader, "%s section of %d bytes at offset %d in a file of %d%s", article, p.Size, p.Offset, t.size, dialectHint)
}

// sort decodes and sorts the entries of a table that is not in file order.
func (t *sectionTable) sort() error {
	f := t.Fields
	f.Pos = t.entries
	sorted := make([]extent, t.count)
	for i := range sorted {
		sorted[i] = t.newExtent(f.Place())
	}
	slices.SortFunc(sorted, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	for i := 1; i < len(sorted); i++ {
		if err := t.apart(sorted[i-1], sorted[i]); err != nil {
			return err
		}
	}
	t.sorted, t.checkpoints = sorted, nil
	return nil
}

// newExtent returns the extent of a place. A place that is out of bounds gives an empty extent.
func (t *sectionTable) newExtent(p wire.Place) extent {
	if p.Offset > math.MaxInt64 || p.Size > math.MaxInt64 {
		return extent{math.MaxInt64, 0}
	}
	return extent{int64(p.Offset), int64(p.Size)}
}

// apart returns an error if section b begins before section a ends. The begin of b must not be
// before that of a.
func (t *sectionTable) apart(a, b extent) error {
	switch {
	case a.off+a.size <= b.off:
		return nil
	case b.off < t.end:
		return t.Section.FaultAt(t.entries, fault.ErrHeader, "the section at offset %d begins inside the header of %d bytes%s", b.off, t.end, dialectHint)
	}
	return t.Section.FaultAt(t.entries, fault.ErrHeader, "sections at offset %d (%d bytes) and offset %d overlap%s", a.off, a.size, b.off, dialectHint)
}

// sortFixed sorts the summary and the file names by offset.
func (t *sectionTable) sortFixed() {
	if t.fixed[1].off < t.fixed[0].off {
		t.fixed[0], t.fixed[1] = t.fixed[1], t.fixed[0]
	}
}

// placeFixed finds out how many sections come before the summary and before the file names, and so
// the indexes of these two. It returns an error if one of the two overlaps the header, another
// section, or the other one.
func (t *sectionTable) placeFixed() error {
	t.sortFixed()
	if err := cmp.Or(t.apart(extent{0, t.end}, t.fixed[0].extent), t.apart(t.fixed[0].extent, t.fixed[1].extent)); err != nil {
		return err
	}
	for i := range t.fixed {
		rank, err := t.placeBetween(&t.fixed[i])
		if err != nil {
			return err
		}
		t.fixed[i].index = rank + i
	}
	return nil
}

// placeBetween returns how many sections of the table come before the section f, the summary or the
// file names. It returns an error if f overlaps one of them, or the section after f.
func (t *sectionTable) placeBetween(f *fixedEntry) (rank int, err error) {
	end := t.count
	if t.sorted == nil { // groups before f.group end before the section
		rank = min(f.group*checkpointEvery, t.count)
		end = min(rank+checkpointEvery, t.count)
	}
	for rank < end {
		e, err := t.entry(rank)
		if err != nil {
			return 0, err
		}
		if e.off >= f.off {
			return rank, t.apart(f.extent, e)
		}
		if err := t.apart(e, f.extent); err != nil {
			return 0, err
		}
		rank++
	}
	return rank, nil
}

// setFixed sets the section indexes of the summary and of the file names.
func (t *sectionTable) setFixed(summary, names int) {
	for i := range t.fixed {
		t.fixed[i].index = summary
		if t.fixed[i].t == wire.FileNames {
			t.fixed[i].index = names
		}
	}
}

// fixedFit reports whether the section indexes of the summary and the file names, which come from
// the index, are possible: they are in the order of the offsets, and both come before the last
// section.
func (t *sectionTable) fixedFit() bool {
	return t.fixed[0].index < t.fixed[1].index && t.fixed[1].index < t.len()-1 && t.count > 0
}

// firstOffset returns the offset of the first section of a table in file order. For any other table
// the result is arbitrary.
func (t *sectionTable) firstOffset() int64 {
	f := t.Fields
	first := int64(f.Uint64() &^ (1 << 63))
	return min(first, t.fixed[0].off, t.fixed[1].off)
}

// Every sequential writer creates a section table in file order. The functions below check such a
// table in a fast pass that decodes as little of each entry as possible.

// inOrder reads and checks a table whose sections are in the order of the file, and stores the
// position of each group of entries. ordered is false if the table is invalid or in another order.
// Then scanAny finds out why. The table ends at or before end. chunk returns bytes of the table
// from an offset on: either all bytes up to end, or more than a group of entries can have.
func (t *sectionTable) inOrder(end int, chunk func(at int) ([]byte, error)) (ordered bool, err error) {
	s := orderScan{compact: t.Section.Compact, limit: uint64(t.size)}
	t.fixed[0].group, t.fixed[1].group = 0, 0
	at := t.entries
	var checkpoints []uint32
	if s.compact {
		checkpoints = make([]uint32, 0, t.groups()+1)
	}
	for i := 0; i < t.count; at += s.pos {
		if s.data, err = chunk(at); err != nil {
			return false, err
		}
		s.pos = 0
		for last := at+len(s.data) == end; i < t.count && (last || len(s.data)-s.pos >= maxGroupBytes); i += checkpointEvery {
			if s.compact {
				checkpoints = append(checkpoints, uint32(at+s.pos))
			}
			if !s.entries(min(checkpointEvery, t.count-i)) {
				return false, nil
			}
			t.passFixed(i/checkpointEvery, int64(s.end))
		}
	}
	if s.compact {
		checkpoints = append(checkpoints, uint32(at))
	}
	t.checkpoints, t.end = checkpoints, int64(at)
	return true, nil
}

// passFixed notes which of the summary and the file names come after the sections of a group of
// entries. end is where the last of these sections ends.
func (t *sectionTable) passFixed(group int, end int64) {
	for i := range t.fixed {
		if end <= t.fixed[i].off {
			t.fixed[i].group = group + 1
		}
	}
}

// An orderScan is the state of [sectionTable.inOrder]: how far it has read the table, and where the
// last section ended.
type orderScan struct {
	compact bool
	data    []byte
	pos     int
	limit   uint64 // size of the file
	end     uint64 // end of the previous section
	like    int    // compact tables only: number of bytes of the previous offset
}

// entries checks the next n entries of the table. It returns false if one is invalid or not in the
// order of the file.
func (s *orderScan) entries(n int) bool {
	if !s.compact {
		return s.wide(n)
	}
	for ; n > 0; n-- {
		if n -= s.alike(n); n > 0 && !s.next() {
			return false
		}
	}
	return true
}

// wide checks n entries of fixed width. No entry ends after the next one begins, so all are within
// the file if the last one is. Sums cannot overflow if all offsets and sizes are below 2^63. A size
// of 0 sets the highest bit, too.
func (s *orderScan) wide(n int) bool {
	if len(s.data)-s.pos < 16*n {
		return false
	}
	end, bits := s.end, uint64(0)
	table := s.data[s.pos : s.pos+16*n]
	for ; len(table) >= 16; table = table[16:] {
		off, size := binary.BigEndian.Uint64(table), binary.BigEndian.Uint64(table[8:])
		if off < end {
			return false
		}
		bits |= off | (size - 1)
		end = off + size
	}
	if bits>>63 != 0 || end > s.limit {
		return false
	}
	s.pos, s.end = s.pos+16*n, end
	return true
}

// next checks one entry of the table, whose offset and size are varints of any length.
func (s *orderScan) next() bool {
	off, n := wire.Varint(s.data[s.pos:])
	if n <= 0 {
		return false
	}
	size, m := wire.Varint(s.data[s.pos+n:])
	if m <= 0 || off < s.end || size-1 >= s.limit || off > s.limit-size {
		return false
	}
	s.pos, s.end, s.like = s.pos+n+m, off+size, n
	return true
}

// alike checks up to n entries of varints and returns the number of entries checked. It stops at an
// entry whose offset is longer than the previous one or whose size takes more than two bytes, at an
// invalid entry, and near the end of the data. In a table in file order, the length of offsets
// rarely changes. If it is known in advance, the processor need not determine where an entry begins
// before it continues with the next.
//
// Numbers stay in their encoded form, with seven bits per byte. Encoded numbers of the same length
// compare like decoded ones. To add them, the flag bits between the groups of seven bits are set,
// so that a carry passes over them.
func (s *orderScan) alike(n int) int {
	if s.like < 1 || s.like > 5 || s.end>>56 != 0 {
		return 0
	}
	shift := uint(8 * s.like)
	offset := uint64(1)<<shift - 1
	flags := offset & wire.VarintFlags
	continued := flags &^ (1 << (shift - 1))
	offset &^= flags
	data, pos, end := s.data, s.pos, wire.Spread7(s.end)
	done := 0
	for ; done < n && len(data)-pos >= 8; done++ {
		w := binary.LittleEndian.Uint64(data[pos:])
		longer := uint64(data[pos+s.like]) >> 7 // 1 if the size has a second byte
		size := w >> shift & (0x7f | 0xff00&-longer)
		off := w & offset
		if w&flags^continued|size&0x8000 != 0 || off < end || size == 0 {
			break
		}
		end = ((off | wire.VarintFlags) + size) &^ wire.VarintFlags
		pos += s.like + 1 + int(longer)
	}
	if last := wire.Gather7(end); last <= s.limit {
		s.pos, s.end = pos, last
		return done
	}
	return 0
}

// An entryGroups reads groups of entries of a section table when they are needed. It is used for a
// table that is in the order of the file and not in memory, because it is large or because an index
// replaces reading it.
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

// group returns the positions of the sections in one group of entries of the section table. The
// error is one of reading, or errWholeTable.
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

// bytes returns where a group of n entries begins and ends in the section table, relative to the
// first entry.
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
