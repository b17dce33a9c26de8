package memprof

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/go-afdo/afdo/format/llvm/internal/names"
	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// A Reader decodes the MemProf section of an indexed profile in place. The bytes must not change
// while it is in use. Its methods may be called concurrently.
type Reader struct {
	header
	section decoder // the whole section
	frames  decoder // versions 3 and 4
	stacks  decoder // versions 3 and 4
	records table
	limit   int64

	frameItems, stackItems table // version 2
}

// An Option configures a [Reader].
type Option func(*Reader)

// MaxFrames limits the number of frames read in one walk over the call stacks of all records,
// because a few bytes can encode many frames. The default is 2^20 plus 64 per byte of the section.
// Profiles of real programs have fewer than 8 per byte.
func MaxFrames(n int64) Option { return func(r *Reader) { r.limit = n } }

// OpenBytes opens a section. It reads the header, the schema and the heads of the hash tables.
// offset is the section's file offset, which offsets in the section include. section may extend to
// the end of the file. Use package instrprof to find the section in a file. Errors are
// afdo.FormatError and afdo.VersionError.
func OpenBytes(section []byte, offset int64, options ...Option) (*Reader, error) {
	r := &Reader{section: decoder{Buffer: decode.Buffer{Data: section, Part: partHeader}, base: offset}}
	r.limit = 1<<20 + 64*int64(len(section))
	for _, set := range options {
		if set != nil {
			set(r)
		}
	}
	d := r.section
	var err error
	if r.header, err = d.header(); err != nil {
		return nil, err
	}
	if r.header.version == version2 {
		return r, r.openTables(d.Pos)
	}
	return r, r.openArrays(d.Pos)
}

// openTables opens the three hash tables of version 2. The payload of the first one starts at end,
// where the header ends.
func (r *Reader) openTables(end int) (err error) {
	d := r.section
	at, err := d.places(end, r.recordTable, r.framePayload, r.frameTable, r.stackPayload, r.stackTable)
	if err != nil {
		return err
	}
	r.recordPayload = uint64(d.base) + uint64(end)
	if r.records, err = d.in(partRecords).openTable(end, at[0], at[0], tableFormat); err != nil {
		return err
	}
	if r.frameItems, err = d.in(partFrames).openTable(at[1], at[2], at[2], tableFormat); err != nil {
		return err
	}
	r.stackItems, err = d.in(partCallStacks).openTable(at[3], at[4], at[4], leanFormat)
	return err
}

// openArrays opens the frames, call stacks and records of versions 3 and 4. The frames start at
// end, where the header ends.
func (r *Reader) openArrays(end int) (err error) {
	d := r.section
	at, err := d.places(end, r.header.stacks, r.recordPayload, r.recordTable)
	if err != nil {
		return err
	}
	r.frames = d.in(partFrames).between(end, at[0])
	r.stacks = d.in(partCallStacks).between(at[0], at[1])
	for _, array := range []struct {
		of   decoder
		size int
	}{{r.frames, frameSize}, {r.stacks, wordSize}} {
		if rest := len(array.of.Data) % array.size; rest != 0 {
			array.of.Fail(len(array.of.Data)-rest, fault.ErrTruncated, "%d bytes, not a multiple of %d", len(array.of.Data), array.size)
			return array.of.err()
		}
	}
	r.records, err = d.in(partRecords).openTable(at[1], at[2], at[2], tableFormat)
	return err
}

func (d decoder) in(part string) decoder {
	d.Part = part
	return d
}

func (d decoder) between(from, to int) decoder {
	return decoder{Buffer: decode.Buffer{Data: d.Data[from:to:to], Part: d.Part}, base: d.base + int64(from)}
}

// places converts ascending file offsets of the header to positions in the section, which must not
// be before end.
func (d *decoder) places(end int, offsets ...uint64) ([]int, error) {
	at := make([]int, len(offsets))
	for i, offset := range offsets {
		place := offset - uint64(d.base)
		if offset < uint64(d.base) || place < uint64(end) || place > uint64(len(d.Data)) {
			d.Fail(8+8*i, ErrOffset, "offset %d is not between %d and %d", offset, d.base+int64(end), d.base+int64(len(d.Data)))
			return nil, d.err()
		}
		at[i], end = int(place), int(place)
	}
	return at, nil
}

// Version returns the version of the section: 2, 3 or 4.
func (r *Reader) Version() int { return int(r.header.version) }

// Size returns the number of bytes given to [OpenBytes].
func (r *Reader) Size() int { return len(r.section.Data) }

// Schema returns the fields of each block. The caller must not change it.
func (r *Reader) Schema() Schema { return r.header.schema }

// NumRecords returns the number of functions that have a record.
func (r *Reader) NumRecords() int { return int(r.records.Entries) }

// Record returns the record of the function with the given GUID, or afdo.ErrNotFound. It reads one
// bucket and one chain.
func (r *Reader) Record(function uint64) (Record, error) {
	if r.records.Entries == 0 { // for example the zero Reader
		return Record{}, fault.ErrNotFound
	}
	found, err := r.records.lookup(function)
	if err != nil {
		return Record{}, err
	}
	return r.record(found)
}

func (r *Reader) record(i tableItem) (Record, error) {
	d := r.records.within(i)
	return d.record(i.key, r.header.version, r.header.schema)
}

// Records iterates over all records in file order. An error ends the iteration.
func (r *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for i, err := range r.records.items() {
			var rec Record
			if err == nil {
				rec, err = r.record(i)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Frames iterates over the frames of a call stack, leaf first. An error ends the iteration.
func (r *Reader) Frames(id StackID) iter.Seq2[Frame, error] {
	if r.header.version == version2 {
		return r.tableFrames(id)
	}
	return r.radixFrames(id)
}

// tableFrames implements Frames for version 2, in which a call stack is a list of frame IDs.
func (r *Reader) tableFrames(id StackID) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		stack, err := r.stackItems.need(uint64(id), "call stack")
		if err != nil {
			yield(Frame{}, err)
			return
		}
		for d := r.stackItems.within(stack); d.Rest() > 0; {
			var f Frame
			frame, err := d.Uint64("ID of a frame"), d.err()
			if err == nil {
				f, err = r.tableFrame(frame)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

func (r *Reader) tableFrame(id uint64) (Frame, error) {
	i, err := r.frameItems.need(id, "frame")
	if err != nil {
		return Frame{}, err
	}
	d := r.frameItems.within(i)
	return d.frame(), d.err()
}

// need looks up a key that another part refers to. A missing key is an error.
func (t *table) need(key uint64, what string) (tableItem, error) {
	i, err := t.lookup(key)
	if err == fault.ErrNotFound {
		return i, faultAt(t.payload.Part, t.where, ErrOffset, "there is no %s %#x", what, key)
	}
	return i, err
}

// Summary returns the summary. Version 4 stores it. For other versions it is computed from all
// records.
func (r *Reader) Summary() (*Summary, error) {
	if r.header.summary != nil {
		s := *r.header.summary
		return &s, nil
	}
	return summarize(r)
}

func (r *Reader) maxFrames() int64 { return r.limit }

// A Temperature describes how often the memory of an allocation site is used during its lifetime.
type Temperature uint8

// The temperatures.
const (
	Warm Temperature = iota
	Cold
	Hot
)

// String returns the name.
func (t Temperature) String() string { return [...]string{"warm", "cold", "hot"}[t] }

// Thresholds for cold and hot memory. LLVM computes with 32-bit floats, so they are float32.
const (
	coldDensity  float32 = 0.05    // accesses per byte and second
	coldLifetime float32 = 200_000 // milliseconds
)

// Temperature returns the hint that the compiler derives from the block by default. It never
// returns Hot.
func (b *Block) Temperature() Temperature {
	n := float32(b[AllocCount])
	if float32(b[TotalLifetimeAccessDensity])/n/100 < coldDensity && float32(b[TotalLifetime])/n >= coldLifetime {
		return Cold
	}
	return Warm
}

// A Summary counts the call stacks of all allocations.
type Summary struct {
	Contexts     uint64
	ColdContexts uint64
	HotContexts  uint64
	MaxColdSize  uint64 // largest TotalSize of a cold call stack, in bytes
	MaxWarmSize  uint64
	MaxHotSize   uint64
}

func (s *Summary) fields() []*uint64 {
	return []*uint64{&s.Contexts, &s.ColdContexts, &s.HotContexts, &s.MaxColdSize, &s.MaxWarmSize, &s.MaxHotSize}
}

// summary reads the summary of a header. It skips fields that later versions may append.
func (d *decoder) summary() *Summary {
	s := new(Summary)
	fields := s.fields()
	at := d.Pos
	n := int64(d.Uint32("number of summary fields"))
	switch {
	case d.Err != nil:
	case n < int64(len(fields)):
		d.Fail(at, ErrValue, "a summary of %d fields, want at least %d", n, len(fields))
	case n > int64(d.Rest()/8):
		d.Fail(at, fault.ErrCount, "a summary of %d fields of 8 bytes, %d bytes are left", n, d.Rest())
	}
	for _, field := range fields {
		*field = d.Uint64("field of the summary")
	}
	if d.Err == nil {
		d.Take(uint64(n-int64(len(fields)))*8, "further fields of the summary")
	}
	return s
}

func (e *encoder) summary(s *Summary) {
	fields := s.fields()
	e.u32(uint32(len(fields)))
	for _, field := range fields {
		e.u64(*field)
	}
}

func (s *Summary) add(b *Block) {
	s.Contexts++
	switch b.Temperature() {
	case Cold:
		s.ColdContexts++
		s.MaxColdSize = max(s.MaxColdSize, b[TotalSize])
	case Warm:
		s.MaxWarmSize = max(s.MaxWarmSize, b[TotalSize])
	}
}

// summarize computes the summary from all records. If several records contain the same call stack,
// the first one counts. As in LLVM, stacks that differ only in inlining count as one.
func summarize(src Source) (*Summary, error) {
	s := new(Summary)
	seen := make(map[uint64]struct{})
	w := newWalk(src)
	for rec, err := range src.Records() {
		if err != nil {
			return nil, err
		}
		for i := range rec.Allocs {
			hash, err := w.hash(rec.Allocs[i].Stack)
			if err != nil {
				return nil, err
			}
			if _, again := seen[hash]; !again {
				seen[hash] = struct{}{}
				s.add(&rec.Allocs[i].Block)
			}
		}
	}
	return s, nil
}

// hash returns a hash of the frames of a call stack, which ignores inlining.
func (w *walk) hash(id StackID) (uint64, error) {
	h := xxhash.New()
	e := encoder{data: w.buf[:0]}
	err := w.frames(id, func(f Frame) {
		e.data = e.data[:0]
		f.Inlined = false
		e.frame(f)
		h.Write(e.data)
	})
	w.buf = e.data
	return h.Sum64(), err
}

// A DataAccess is a data access profile: which static data of the program was accessed, and how
// often. Only version 4 has it.
type DataAccess struct {
	Records     []DataRecord
	ColdSymbols []string // symbols that were never sampled
	ColdHashes  []uint64 // hashes of string literals that were never sampled
}

// A DataRecord counts the accesses to a symbol or a string literal.
type DataRecord struct {
	Symbol   string // empty for a string literal
	Hash     uint64 // of the string literal, 0 for a symbol
	Literal  bool
	Accesses uint64
	Places   []DataPlace
}

// A DataPlace is the source line that defines the data.
type DataPlace struct {
	File string
	Line uint32
}

// symbolName cuts a data symbol's name at the first dot, as LLVM does. A ".__uniq." suffix stays.
func symbolName(name string) string {
	from := 0
	const unique = ".__uniq."
	if i := strings.Index(name, unique); i >= 0 {
		from = i + len(unique)
	}
	if i := strings.IndexByte(name[from:], '.'); from+i > 0 && i >= 0 {
		return name[:from+i]
	}
	return name
}

func (a *DataAccess) empty() bool {
	return a == nil || len(a.Records)+len(a.ColdSymbols)+len(a.ColdHashes) == 0
}

// DataAccess reads the data access profile. It returns nil if there is none.
func (r *Reader) DataAccess() (*DataAccess, error) {
	if r.header.access == 0 {
		return nil, nil
	}
	d := r.section.in(partHeader)
	at, err := d.places(int(r.recordTable-uint64(d.base)), r.header.access)
	if err != nil {
		return nil, err
	}
	d = r.section.in(partDataAccess)
	d.Pos = at[0]
	return d.dataAccess()
}

// Minimum sizes of the items of a data access profile, in bytes.
const (
	minDataRecord = 8 + 1 + 8 + 8
	placeSize     = 8 + 4
)

func (d *decoder) dataAccess() (*DataAccess, error) {
	strs, cold := d.strings()
	a := &DataAccess{ColdSymbols: cold}
	for range d.count("hashes of string literals", 8) {
		a.ColdHashes = append(a.ColdHashes, d.Uint64("hash of a string literal"))
	}
	if n := d.count("sampled records", minDataRecord); n > 0 {
		a.Records = make([]DataRecord, n)
		for i := range a.Records {
			d.dataRecord(&a.Records[i], strs)
		}
	}
	if d.Err != nil {
		return nil, d.err()
	}
	return a, nil
}

// strings reads the string table of the records and the names of the cold symbols.
func (d *decoder) strings() (strs, cold []string) {
	at := d.Pos
	numStrings, numCold := d.Uint64("number of strings"), d.Uint64("number of cold symbols")
	size := d.size("bytes of strings")
	part := *d
	part.Data = part.Data[:part.Pos+size]
	var all []string
	left := maxNames(size)
	names.Read(&part.Buffer, &left, func(name []byte) { all = append(all, string(name)) })
	d.Stop(part.err())
	d.Take(uint64(size), "strings")
	d.align("padding of strings")
	if d.Err != nil {
		return nil, nil
	}
	if n := uint64(len(all)); numStrings > n || numCold != n-numStrings {
		d.Fail(at, fault.ErrCount, "%d strings and %d cold symbols, there are %d", numStrings, numCold, n)
		return nil, nil
	}
	return all[:numStrings:numStrings], all[numStrings:]
}

func (d *decoder) dataRecord(rec *DataRecord, strs []string) {
	at := d.Pos
	id := d.Uint64("symbol or hash")
	literal := d.Uint8("kind of a record")
	if rec.Literal = literal == 1; rec.Literal {
		rec.Hash = id
	} else {
		rec.Symbol = d.indexed(at, id, strs)
	}
	rec.Accesses = d.Uint64("number of accesses")
	for range d.count("places", placeSize) {
		at := d.Pos
		file := d.indexed(at, d.Uint64("file of a place"), strs)
		rec.Places = append(rec.Places, DataPlace{File: file, Line: d.Uint32("line of a place")})
	}
}

// indexed returns string i of strs. An index out of range is an error at pos.
func (d *decoder) indexed(pos int, i uint64, strs []string) string {
	if d.Err == nil && i >= uint64(len(strs)) {
		d.Fail(pos, ErrOffset, "string %d of %d", i, len(strs))
	}
	if d.Err != nil {
		return ""
	}
	return strs[i]
}

// dataAccess appends a, which must not be empty.
func (e *encoder) dataAccess(a *DataAccess) error {
	var strs []string
	ids := make(map[string]uint64)
	id := func(s string) uint64 {
		i, ok := ids[s]
		if !ok {
			i = uint64(len(strs))
			ids[s] = i
			strs = append(strs, s)
		}
		return i
	}
	body := encoder{}
	body.u64(uint64(len(a.ColdHashes)))
	for _, hash := range a.ColdHashes {
		body.u64(hash)
	}
	body.u64(uint64(len(a.Records)))
	for i := range a.Records {
		body.dataRecord(&a.Records[i], id)
	}
	packed, err := packNames(append(strs, a.ColdSymbols...))
	if err != nil {
		return err
	}
	e.u64(uint64(len(strs)))
	e.u64(uint64(len(a.ColdSymbols)))
	e.u64(uint64(len(packed)))
	e.data = append(e.data, packed...)
	e.align()
	e.data = append(e.data, body.data...)
	return nil
}

func (e *encoder) dataRecord(rec *DataRecord, id func(string) uint64) {
	if rec.Literal {
		e.u64(rec.Hash)
		e.u8(1)
	} else {
		e.u64(id(rec.Symbol))
		e.u8(0)
	}
	e.u64(rec.Accesses)
	e.u64(uint64(len(rec.Places)))
	for _, place := range rec.Places {
		e.u64(id(place.File))
		e.u32(place.Line)
	}
}

// maxNames limits the uncompressed size of names that take packed bytes in the file. The names of a
// program take a few megabytes, and zlib compresses them to a fifth. The limit is 16 MiB plus 16
// times the packed size.
func maxNames(packed int) int64 { return 16<<20 + 16*int64(packed) }

// packNames packs names into one chunk, compressed if that is shorter. decoder.strings reads it.
func packNames(list []string) ([]byte, error) {
	for _, name := range list {
		if strings.Contains(name, names.Separator) || name == "" {
			return nil, unrepresentable("the name %q among data accesses", name)
		}
	}
	return names.Append(nil, list, false), nil
}

// order sorts in the order that YAML uses: records by descending accesses, cold symbols and hashes
// ascending.
func (a *DataAccess) order() {
	slices.SortStableFunc(a.Records, func(x, y DataRecord) int { return cmp.Compare(y.Accesses, x.Accesses) })
	slices.Sort(a.ColdSymbols)
	slices.Sort(a.ColdHashes)
}

// ordered returns a copy of a, sorted as by order.
func (a *DataAccess) ordered() *DataAccess {
	c := &DataAccess{slices.Clone(a.Records), slices.Clone(a.ColdSymbols), slices.Clone(a.ColdHashes)}
	c.order()
	return c
}
