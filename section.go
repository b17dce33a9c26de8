package afdo

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
)

// A SectionType says what a section holds (RFC 4.2). Types other than the
// constants below are legal and skipped.
type SectionType uint8

// The section types of the RFC.
const (
	SectionStringTable SectionType = 0x01 // names of a unit's symbols, as a trie
	SectionSummary     SectionType = 0x02 // statistics of the whole profile
	SectionFileNames   SectionType = 0x03 // the units
	SectionSymbolNames SectionType = 0x04 // symbols of a unit
	SectionSymbolInfo  SectionType = 0x05 // samples of a function
)

var sectionTypeNames = [...]string{
	SectionStringTable: "string table",
	SectionSummary:     "summary",
	SectionFileNames:   "file names",
	SectionSymbolNames: "symbol names",
	SectionSymbolInfo:  "symbol info",
}

// String returns the name of the type, or "type 0x2a" for one that is not of the RFC.
func (t SectionType) String() string {
	if t == SectionIndex {
		return "index"
	}
	if int(t) < len(sectionTypeNames) && sectionTypeNames[t] != "" {
		return sectionTypeNames[t]
	}
	return "type 0x" + strconv.FormatUint(uint64(t), 16)
}

// The bitmask byte of the header and of each section.
const (
	compactFlag     = 0x80
	sectionTypeMask = 0x7f
)

func sectionBitmask(t SectionType, compact bool) byte {
	if compact {
		return byte(t) | compactFlag
	}
	return byte(t)
}

// A Section says where a section lies and what it holds (RFC 4.2).
type Section struct {
	Index   int // rank by offset among all sections (format note 1)
	Type    SectionType
	Compact bool  // its integers are varints
	Offset  int64 // of its bitmask byte, from the start of the file
	Size    int64 // in bytes, from the bitmask byte to the last byte of data
}

// errorAt returns a FormatError for the byte at pos of the section.
func (s Section) errorAt(pos int, class error, format string, args ...any) error {
	return &FormatError{
		Section: s.Index, Type: s.Type, Offset: s.Offset + int64(pos),
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// extent is the place of a section as the section table has it.
type extent struct{ off, size int64 }

// checkpointEvery is how many entries of a compact section table one scan may
// have to pass over to get at one. 32 make a checkpoint cost an eighth of a byte an entry.
const checkpointEvery = 32

// sectionTable finds sections by index. A table in file order, which every
// writer that fills a file from front to back makes, stays as it is in the
// file; another one is decoded and sorted.
type sectionTable struct {
	fields                    // the encoded entries
	size        int64         // of the file
	entries     int           // where the first entry begins in fields.data
	end         int64         // where header and table end
	count       int           // entries, without the fixed sections
	checkpoints []uint32      // where each checkpointEvery-th entry begins; compact tables only
	sorted      []extent      // all entries by offset, if the table is out of order
	fixed       [2]fixedEntry // summary and file names, by offset

	sparse *entryGroups // what finds an entry of a table that is not in memory

	onFault func(error) error // what to do about a fault; nil to give up
	faulty  bool              // there was one
}

// fixedEntry is one of the two sections that have their own place in the header.
type fixedEntry struct {
	extent
	t     SectionType
	index int // rank by offset among all sections
}

// len is the number of sections, the fixed ones included.
func (t *sectionTable) len() int { return t.count + len(t.fixed) }

// fixedSection returns the entry of the summary or the file names section.
func (t *sectionTable) fixedSection(typ SectionType) fixedEntry {
	if t.fixed[0].t == typ {
		return t.fixed[0]
	}
	return t.fixed[1]
}

// extent returns the place of the section of an index below len in a table that has been scanned.
func (t *sectionTable) extent(index int) extent {
	if f := t.fixedAt(index); f != nil {
		return f.extent
	}
	return t.entry(t.rank(index))
}

// fixedAt returns the fixed section of an index, nil if that is no fixed one.
func (t *sectionTable) fixedAt(index int) *fixedEntry {
	for i := range t.fixed {
		if t.fixed[i].index == index {
			return &t.fixed[i]
		}
	}
	return nil
}

// rank returns the rank of a section that is not fixed among those that are not.
func (t *sectionTable) rank(index int) int {
	rank := index
	for _, f := range t.fixed {
		if f.index < index {
			rank--
		}
	}
	return rank
}

// entry returns the i-th entry by offset. The table has been checked: nothing here can fail.
func (t *sectionTable) entry(i int) extent {
	if t.sorted != nil {
		return t.sorted[i]
	}
	f := t.fields
	if !f.sec.Compact {
		f.pos = t.entries + 16*i
		return extent{int64(f.uint64()), int64(f.uint64())}
	}
	f.pos = int(t.checkpoints[i/checkpointEvery])
	f.pos += skipVarints(f.data[f.pos:], uint64(2*(i%checkpointEvery)))
	return extent{int64(f.uint64()), int64(f.uint64())}
}

// scan reads the whole table once: it checks every entry, takes checkpoints,
// and sorts the table if it is out of order.
func (t *sectionTable) scan() error {
	t.entries = t.pos
	if !t.inOrder() {
		if err := t.scanAny(); err != nil {
			return err
		}
	}
	header := extent{0, t.end}
	for i := 0; i < t.count && t.entry(i).off < t.end; i++ {
		if err := t.apart(header, t.entry(i)); err != nil {
			return err
		}
	}
	return t.placeFixed()
}

// inOrder is scan for a table without fault that is in file order. It reports
// whether the table is one; scanAny finds out why not.
func (t *sectionTable) inOrder() bool {
	s := t.orderScan()
	s.data, s.pos = t.data, t.pos
	var checkpoints []uint32
	if t.sec.Compact {
		checkpoints = make([]uint32, 0, t.groups())
	}
	for i := 0; i < t.count; i += checkpointEvery {
		if t.sec.Compact {
			checkpoints = append(checkpoints, uint32(s.pos))
		}
		if !s.entries(min(checkpointEvery, t.count-i)) {
			return false
		}
	}
	t.checkpoints, t.end = checkpoints, int64(s.pos)
	return true
}

// groups is the number of groups of entries of which the places are noted.
func (t *sectionTable) groups() int { return (t.count + checkpointEvery - 1) / checkpointEvery }

// orderScan is the state of the scan of a table in file order.
type orderScan struct {
	compact bool
	data    []byte
	pos     int
	limit   uint64 // size of the file
	end     uint64 // of the section before
	like    int    // bytes that the offset before took; compact tables only
}

// orderScan returns a scan that has no data yet.
func (t *sectionTable) orderScan() orderScan {
	return orderScan{compact: t.sec.Compact, limit: uint64(t.size)}
}

// entries checks the next n entries.
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

// wide checks n entries of fixed width.
func (s *orderScan) wide(n int) bool {
	if len(s.data)-s.pos < 16*n {
		return false
	}
	end, limit := s.end, s.limit
	table := s.data[s.pos : s.pos+16*n]
	for ; len(table) >= 16; table = table[16:] {
		off, size := binary.BigEndian.Uint64(table), binary.BigEndian.Uint64(table[8:])
		if off < end || size-1 >= limit || off > limit-size {
			return false
		}
		end = off + size
	}
	s.pos, s.end = s.pos+16*n, end
	return true
}

// next checks any entry of varints.
func (s *orderScan) next() bool {
	off, n := varint(s.data[s.pos:])
	if n <= 0 {
		return false
	}
	size, m := varint(s.data[s.pos+n:])
	if m <= 0 || off < s.end || size-1 >= s.limit || off > s.limit-size {
		return false
	}
	s.pos, s.end, s.like = s.pos+n+m, off+size, n
	return true
}

// alike checks up to n entries of varints and returns how many it has: it stops at one of
// which the offset takes more bytes than those before or the size more than two, at a faulty one, and
// near the end of the data. Offsets of a table in order rarely change their
// length; knowing it, the processor need not find out where an entry begins before it goes on with the next.
//
// Numbers stay spread over the low seven bits of each byte, as varints have them. They compare as they
// are, and add up once the bits between are set, over which a carry then passes.
func (s *orderScan) alike(n int) int {
	if s.like < 1 || s.like > 5 || s.end>>56 != 0 {
		return 0
	}
	shift := uint(8 * s.like)
	offset := uint64(1)<<shift - 1
	flags := offset & varintFlags
	continued := flags &^ (1 << (shift - 1))
	offset &^= flags
	data, pos, end := s.data, s.pos, spread7(s.end)
	done := 0
	for ; done < n && len(data)-pos >= 8; done++ {
		w := binary.LittleEndian.Uint64(data[pos:])
		longer := uint64(data[pos+s.like]) >> 7 // the size takes a second byte
		size := w >> shift & (0x7f | 0xff00&-longer)
		off := w & offset
		if w&flags^continued|size&0x8000 != 0 || off < end || size == 0 {
			break
		}
		end = ((off | varintFlags) + size) &^ varintFlags
		pos += s.like + 1 + int(longer)
	}
	if last := gather7(end); last <= s.limit {
		s.pos, s.end = pos, last
		return done
	}
	return 0
}

// scanAny is scan for any table.
func (t *sectionTable) scanAny() error {
	var s tableScan
	for i := range t.count {
		if t.sec.Compact && i%checkpointEvery == 0 {
			t.checkpoints = append(t.checkpoints, uint32(t.pos))
		}
		if err := s.add(t); err != nil {
			return err
		}
	}
	t.end = int64(t.pos)
	if s.unordered || t.faulty {
		return t.sort()
	}
	return nil
}

// report returns a fault of the table unless there is something else to do about it.
func (t *sectionTable) report(fault error) error {
	t.faulty = true
	if t.onFault == nil {
		return fault
	}
	return t.onFault(fault)
}

// tableScan is the state of the pass over the entries of a section table.
type tableScan struct {
	end       uint64 // of the section before
	unordered bool
}

// add reads and checks the next entry.
func (s *tableScan) add(t *sectionTable) error {
	pos := t.pos
	off, size := t.uint64(), t.uint64()
	if t.err != nil {
		return t.err
	}
	if off < s.end {
		s.unordered = true
	}
	s.end = off + size
	return t.checkBounds(pos, "a", off, size)
}

// checkBounds checks that a section, whose entry is at pos, has bytes and lies within the file.
func (t *sectionTable) checkBounds(pos int, article string, off, size uint64) error {
	if !t.outside(off, size) {
		return nil
	}
	return t.report(t.sec.errorAt(pos, ErrHeader, "%s section of %d bytes at offset %d in a file of %d%s", article, size, off, t.size, dialectHint))
}

func (t *sectionTable) outside(off, size uint64) bool {
	return size == 0 || size > uint64(t.size) || off > uint64(t.size)-size
}

// sort decodes the entries of a table that is out of order and sorts them.
func (t *sectionTable) sort() error {
	f := t.fields
	f.pos = t.entries
	sorted := make([]extent, t.count)
	for i := range sorted {
		sorted[i] = t.newExtent(f.uint64(), f.uint64())
	}
	slices.SortFunc(sorted, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	var before extent // the one of those before that reaches furthest
	for _, e := range sorted {
		if err := t.apart(before, e); err != nil {
			return err
		}
		if e.off+e.size >= before.off+before.size {
			before = e
		}
	}
	t.sorted, t.checkpoints = sorted, nil
	return nil
}

// newExtent returns the extent of a section. One that is not within the file, which only a lenient Reader
// lives with, keeps its place in the order and has no bytes.
func (t *sectionTable) newExtent(off, size uint64) extent {
	if t.outside(off, size) {
		return extent{int64(min(off, math.MaxInt64)), 0}
	}
	return extent{int64(off), int64(size)}
}

// apart checks that section b, which begins no earlier than a, begins after a's end.
func (t *sectionTable) apart(a, b extent) error {
	if a.off+a.size <= b.off || b.size == 0 { // one that is not within the file has been reported
		return nil
	}
	if b.off < t.end {
		return t.report(t.sec.errorAt(t.entries, ErrHeader, "the section at offset %d begins inside the header of %d bytes%s", b.off, t.end, dialectHint))
	}
	return t.report(t.sec.errorAt(t.entries, ErrHeader, "sections at offset %d (%d bytes) and offset %d overlap%s", a.off, a.size, b.off, dialectHint))
}

// sortFixed puts the fixed sections in the order of the file.
func (t *sectionTable) sortFixed() {
	if t.fixed[1].off < t.fixed[0].off {
		t.fixed[0], t.fixed[1] = t.fixed[1], t.fixed[0]
	}
}

// placeFixed ranks the fixed sections among the entries and checks that they
// lie clear of the header, of the entries, and of each other.
func (t *sectionTable) placeFixed() error {
	t.sortFixed()
	if err := t.apart(extent{0, t.end}, t.fixed[0].extent); err != nil {
		return err
	}
	if err := t.apart(t.fixed[0].extent, t.fixed[1].extent); err != nil {
		return err
	}
	for i := range t.fixed {
		f := &t.fixed[i]
		above := sort.Search(t.count, func(e int) bool { return t.entry(e).off >= f.off })
		f.index = above + i
		if above > 0 {
			if err := t.apart(t.entry(above-1), f.extent); err != nil {
				return err
			}
		}
		if above < t.count {
			if err := t.apart(f.extent, t.entry(above)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanned returns the section table in memory, after a look at every entry.
func (r *Reader) scanned() (*sectionTable, error) {
	if t := r.table.Load(); t.sparse == nil {
		return t, nil
	}
	r.tableMu.Lock()
	defer r.tableMu.Unlock()
	t := r.table.Load()
	if t.sparse == nil || r.tableFault != nil {
		return t, r.tableFault
	}
	whole := *t
	whole.sparse = nil
	if err := r.scanTable(&whole); err != nil {
		err = headerClass(err)
		if _, ok := err.(*FormatError); ok {
			r.tableFault = err
		}
		return nil, err
	}
	r.table.Store(&whole)
	return &whole, nil
}

// unseen reports whether not all entries have been looked at: an index vouches for them.
func (t *sectionTable) unseen() bool { return t.sparse != nil && t.sparse.vouched }

// extent returns the place of the section of an index below NumSections.
func (r *Reader) extent(index int) (extent, error) {
	t := r.table.Load()
	if t.sparse != nil {
		e, err := t.sparse.extent(t, index)
		if err != errAstray {
			return e, err
		}
		if t, err = r.scanned(); err != nil {
			return extent{}, err
		}
	}
	return t.extent(index), nil
}

// NumSections returns the number of sections, the summary and the file names section included.
func (r *Reader) NumSections() int { return r.table.Load().len() }

// Section returns the section of an index (RFC 4.1, format note 1). It reads one byte of the
// file, the section's bitmask, and the section table if that has not been read. The error is [ErrNotFound] for an index out of range.
func (r *Reader) Section(index int) (Section, error) {
	if n := r.NumSections(); index < 0 || index >= n {
		return Section{}, fmt.Errorf("afdo: section %d of %d: %w", index, n, ErrNotFound)
	}
	if r.table.Load().unseen() { // no checksum will tell whether it is the right one
		if _, err := r.scanned(); err != nil {
			return Section{}, err
		}
	}
	e, err := r.extent(index)
	if err != nil {
		return Section{}, err
	}
	if e.size == 0 { // only a lenient Reader has such sections
		return newSection(index, e, 0), nil
	}
	mask, err := r.src.view(e.off, 1)
	if err != nil {
		return Section{}, err
	}
	return newSection(index, e, mask[0]), nil
}

// Sections iterates over all sections by index. It reads one byte of each. An error ends the iteration.
func (r *Reader) Sections() iter.Seq2[Section, error] {
	return func(yield func(Section, error) bool) {
		if _, err := r.scanned(); err != nil {
			yield(Section{}, err)
			return
		}
		for i := range r.NumSections() {
			s, err := r.Section(i)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func newSection(index int, e extent, bitmask byte) Section {
	return Section{
		Index:   index,
		Type:    SectionType(bitmask & sectionTypeMask),
		Compact: bitmask&compactFlag != 0,
		Offset:  e.off,
		Size:    e.size,
	}
}

// open reads a whole section, which must be of type want.
func (r *Reader) open(index int, want SectionType) (fields, error) {
	t := r.table.Load()
	f, err := r.openPlace(index, want)
	if again, err := r.mayBeAstray(t, err); !again {
		return f, err
	}
	return r.openPlace(index, want)
}

// openFixed reads the summary or the file names section.
func (r *Reader) openFixed(t SectionType) (fields, error) {
	table := r.table.Load()
	f, err := r.openPlace(table.fixedSection(t).index, t)
	if again, err := r.mayBeAstray(table, err); !again {
		return f, err
	}
	return r.openPlace(r.table.Load().fixedSection(t).index, t) // which may be another one now
}

// openPlace is open without a second thought.
func (r *Reader) openPlace(index int, want SectionType) (fields, error) {
	e, err := r.extent(index)
	if err != nil {
		return fields{}, err
	}
	if e.size == 0 {
		return fields{}, newSection(index, e, byte(want)).errorAt(0, ErrSection, "the section lies outside the file")
	}
	data, err := r.viewExtent(e)
	if err != nil {
		return fields{}, err
	}
	return r.newFields(index, e, data, want)
}

// mayBeAstray reports whether sections are to be opened once more, since the first time they may not have been
// the right ones: a checksum was wrong, and the section table, as it was before, had not been looked at as a whole. If not, it returns
// the error of the first time, or what is wrong with the table.
func (r *Reader) mayBeAstray(t *sectionTable, err error) (again bool, _ error) {
	if !isChecksum(err) || !t.unseen() {
		return false, err
	}
	if _, fault := r.scanned(); fault != nil {
		return false, fault
	}
	return true, nil
}

// viewExtent returns the bytes of an extent.
func (r *Reader) viewExtent(e extent) ([]byte, error) {
	if e.size > math.MaxInt {
		return nil, fmt.Errorf("afdo: %d bytes at offset %d: %w", e.size, e.off, ErrLimit)
	}
	return r.src.view(e.off, int(e.size))
}

// newFields returns the fields of a section read into data, which must be of
// type want and have the checksum that the index of the file may have of it.
func (r *Reader) newFields(index int, e extent, data []byte, want SectionType) (fields, error) {
	if err := r.verify(index, e, data); err != nil {
		return fields{}, err
	}
	f := fields{sec: newSection(index, e, data[0]), data: data, pos: 1}
	if f.sec.Type != want {
		return fields{}, f.sec.errorAt(0, ErrSection, "want a %s section", want)
	}
	return f, nil
}

// sectionRef is a reference to a section by index, and the type it must have.
type sectionRef struct {
	index uint32
	want  SectionType
}

// openAll reads the sections that fields at pos of section from refer to, in
// their order. Sections that stand together in the file are read together, and
// one that is referred to several times in a row is read once.
func (r *Reader) openAll(from Section, pos int, refs []sectionRef) ([]fields, error) {
	t := r.table.Load()
	out, err := r.openPlaces(from, pos, refs)
	if again, err := r.mayBeAstray(t, err); !again {
		return out, err
	}
	return r.openPlaces(from, pos, refs)
}

func (r *Reader) openPlaces(from Section, pos int, refs []sectionRef) ([]fields, error) {
	places := make([]extent, len(refs))
	for i, ref := range refs {
		if uint64(ref.index) >= uint64(r.NumSections()) {
			return nil, r.badIndex(from, pos, ref)
		}
		var err error
		if places[i], err = r.extent(int(ref.index)); err != nil {
			return nil, err
		}
	}
	out := make([]fields, len(refs))
	for i := 0; i < len(refs); {
		if i > 0 && refs[i] == refs[i-1] { // two symbols of a faulty file share their samples
			out[i] = out[i-1]
			i++
			continue
		}
		n := together(places[i:])
		if places[i].size == 0 {
			_, err := r.open(int(refs[i].index), refs[i].want)
			return nil, err
		}
		data, err := r.viewExtent(extent{places[i].off, places[i+n-1].off + places[i+n-1].size - places[i].off})
		if err != nil {
			return nil, err
		}
		for end := i + n; i < end; i++ {
			size := places[i].size
			if out[i], err = r.newFields(int(refs[i].index), places[i], data[:size], refs[i].want); err != nil {
				return nil, err
			}
			data = data[size:]
		}
	}
	return out, nil
}

// badIndex is the error of a reference to a section that the file does not have.
func (r *Reader) badIndex(from Section, pos int, ref sectionRef) error {
	return from.errorAt(pos, ErrSection, "section index %d for a %s, the file has %d sections", ref.index, ref.want, r.NumSections())
}

// together returns how many of the extents, from the first on, follow on each other in the file.
func together(places []extent) int {
	n := 1
	for n < len(places) && places[n].off == places[n-1].off+places[n-1].size && places[n].size > 0 {
		n++
	}
	return n
}
