package instrprof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo"
)

// A Profile holds records in memory, each name and hash once. It is what profiles are merged into
// and what is written. The zero value is an empty profile. It must not be used from many goroutines,
// but for its methods that only read.
type Profile struct {
	// Flags say how the programs were instrumented. HasMemProf and Correlated have no meaning here.
	Flags Flags

	BinaryIDs   []BinaryID
	VTableNames []string
	Traces      Traces

	functions []function
	byName    map[uint64]int32 // name hash: the first function with it
	names     strings.Builder  // memory of names
	words     []byte           // and of counters, as it is handed out
	known     bool             // Flags say whether the front end or the IR was instrumented
}

// A function is what a Profile holds of a name and a hash.
type function struct {
	name     string
	hash     uint64
	next     int32 // the next function of that name hash, or -1
	counters []byte
	bitmap   []byte
	values   Values
}

func (f *function) record() Record {
	return Record{
		name: []byte(f.name), hash: f.hash, counters: Counters{data: f.counters, width: 8},
		bitmap: Bitmap{data: f.bitmap, stride: 1}, values: f.values,
	}
}

// NumRecords returns the number of records.
func (p *Profile) NumRecords() int { return len(p.functions) }

// Records returns the records by name and hash.
func (p *Profile) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, i := range p.sorted() {
			if !yield(p.functions[i].record()) {
				return
			}
		}
	}
}

// sorted returns the functions by name and hash.
func (p *Profile) sorted() []int32 {
	order := make([]int32, len(p.functions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		f, g := &p.functions[a], &p.functions[b]
		return cmp.Or(strings.Compare(f.name, g.name), cmp.Compare(f.hash, g.hash))
	})
	return order
}

// Record returns the record of a name and a hash, or [afdo.ErrNotFound].
func (p *Profile) Record(name string, hash uint64) (Record, error) {
	if i := p.find(NameHash(name), []byte(name), hash); i >= 0 {
		return p.functions[i].record(), nil
	}
	return Record{}, fmt.Errorf("instrprof: no record of %s with hash %#x: %w", name, hash, afdo.ErrNotFound)
}

// find returns the index of a function, or -1.
func (p *Profile) find(nameHash uint64, name []byte, hash uint64) int32 {
	i, ok := p.byName[nameHash]
	if !ok {
		return -1
	}
	for i >= 0 {
		if f := &p.functions[i]; f.hash == hash && f.name == string(name) {
			return i
		}
		i = p.functions[i].next
	}
	return -1
}

// Add adds a record, its counts multiplied by weight, by LLVM's rules: counters and value counts add
// up, at most to [MaxCount], bitmaps are united. Of two pseudo counts hot wins. A record that
// does not fit the one of its name and hash is dropped, in part if it is the bitmap or the
// values that do not, and the error matches [ErrMismatch]; the profile is as good as before. Nothing of r is kept.
func (p *Profile) Add(r Record, weight uint64) error {
	return p.add(nameHash(r.name), r, weight)
}

func (p *Profile) add(nameHash uint64, r Record, weight uint64) error {
	if i := p.find(nameHash, r.name, r.hash); i >= 0 {
		return p.functions[i].add(r, weight)
	}
	p.insert(nameHash, r, weight)
	return nil
}

// insert adds a record of a new name or hash.
func (p *Profile) insert(nameHash uint64, r Record, weight uint64) {
	if p.byName == nil {
		p.byName = map[uint64]int32{}
	}
	f := function{name: p.keepName(nameHash, r.name), hash: r.hash, next: -1}
	f.counters = r.counters.append(p.alloc(8 * r.counters.Len()))
	if weight != 1 && r.Pseudo() == 0 {
		scaleCounters(f.counters, weight)
	}
	f.bitmap = r.bitmap.append(p.alloc(r.bitmap.Len()))
	if !r.values.Empty() {
		f.setValues(r.values.sites(), weight)
	}
	if first, ok := p.byName[nameHash]; ok {
		f.next = first
	}
	p.byName[nameHash] = int32(len(p.functions))
	p.functions = append(p.functions, f)
}

// nameChunk and wordChunk are how much memory is asked for at once for names, counters and bitmaps.
const (
	nameChunkSize = 64 << 10
	wordChunkSize = 256 << 10
)

// keepName returns a copy of a name; names of several hashes share it.
func (p *Profile) keepName(nameHash uint64, name []byte) string {
	if i, ok := p.byName[nameHash]; ok && p.functions[i].name == string(name) {
		return p.functions[i].name
	}
	if p.names.Cap()-p.names.Len() < len(name) {
		p.names = strings.Builder{}
		p.names.Grow(max(nameChunkSize, len(name)))
	}
	start := p.names.Len()
	p.names.Write(name)
	return p.names.String()[start:]
}

// alloc returns an empty slice with room for n bytes.
func (p *Profile) alloc(n int) []byte {
	if n > len(p.words) {
		if n > wordChunkSize/8 {
			return make([]byte, 0, n)
		}
		p.words = make([]byte, wordChunkSize)
	}
	part := p.words[:0:n]
	p.words = p.words[n:]
	return part
}

// add adds a record of the same name and hash.
func (f *function) add(r Record, weight uint64) error {
	if n := r.counters.Len(); n != len(f.counters)/8 {
		return fmt.Errorf("instrprof: %v: %d counters beside %d: %w", r, n, len(f.counters)/8, ErrMismatch)
	}
	mine, other := Counters{data: f.counters, width: 8}.pseudo(), r.Pseudo()
	switch {
	case mine == 0 && other == 0:
		addCounters(f.counters, r.counters, weight)
	case mine == 0 || other == 0:
		return fmt.Errorf("instrprof: %v: counts beside a pseudo count: %w", r, ErrMismatch)
	default:
		binary.LittleEndian.PutUint64(f.counters, max(mine, other))
		return nil
	}
	if r.bitmap.Len() != len(f.bitmap) {
		return fmt.Errorf("instrprof: %v: %d bitmap bytes beside %d: %w", r, r.bitmap.Len(), len(f.bitmap), ErrMismatch)
	}
	for i := range f.bitmap {
		f.bitmap[i] |= r.bitmap.At(i)
	}
	return f.addValues(r, weight)
}

// addValues adds the sites of kinds of which both have as many.
func (f *function) addValues(r Record, weight uint64) error {
	if r.values.Empty() && f.values.Empty() {
		return nil
	}
	mine, other := f.values.sites(), r.values.sites()
	other.scale(weight)
	var err error
	for kind := range other {
		if len(mine[kind]) != len(other[kind]) {
			err = fmt.Errorf("instrprof: %v: %d sites of kind %v beside %d: %w", r, len(other[kind]), ValueKind(kind), len(mine[kind]), ErrMismatch)
			continue
		}
		for i := range mine[kind] {
			mine[kind][i] = addSite(mine[kind][i], other[kind][i])
		}
	}
	f.setValues(mine, 1)
	return err
}

// setValues keeps the sites, in order, in the memory of those before if they fit.
func (f *function) setValues(s ValueSites, weight uint64) {
	if weight != 1 {
		s.scale(weight)
	}
	s.order()
	encoded := fields{data: s.appendTo(f.values.data[:0])}
	f.values = encoded.values()
}

func scaleCounters(counters []byte, weight uint64) {
	for ; len(counters) > 0; counters = counters[8:] {
		v := binary.LittleEndian.Uint64(counters)
		binary.LittleEndian.PutUint64(counters, saturatingMultiply(v, weight))
	}
}

// addCounters adds to the counters of an indexed file others, of which there are as many.
func addCounters(sum []byte, c Counters, weight uint64) {
	if weight == 1 && c.width == 8 && !c.big {
		data := c.data
		for ; len(sum) >= 8 && len(data) >= 8; sum, data = sum[8:], data[8:] {
			v := saturatingAdd(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(data))
			binary.LittleEndian.PutUint64(sum, v)
		}
		return
	}
	for i := range c.Len() {
		v := saturatingAdd(binary.LittleEndian.Uint64(sum[8*i:]), saturatingMultiply(c.At(i), weight))
		binary.LittleEndian.PutUint64(sum[8*i:], v)
	}
}

// Summary returns the summary of the records that are not context-sensitive, and CSSummary that of the others.
// Each takes a pass over all counters.
func (p *Profile) Summary() *Summary { return p.summarize(false) }

// CSSummary is like [Profile.Summary] for the context-sensitive records.
func (p *Profile) CSSummary() *Summary { return p.summarize(true) }

func (p *Profile) summarize(cs bool) *Summary {
	var t tally
	for i := range p.functions {
		if f := &p.functions[i]; (f.hash&csHash != 0) == cs {
			t.add(Counters{data: f.counters, width: 8})
		}
	}
	return t.summary()
}

// addFlags takes over how a profile was instrumented.
func (p *Profile) addFlags(flags Flags) error {
	if p.known && (p.Flags^flags)&IRLevel != 0 {
		return fmt.Errorf("instrprof: one of the front end and one of the IR level: %w", ErrKind)
	}
	if p.known && (p.Flags|flags)&FunctionEntryOnly != 0 && (p.Flags|flags)&EntryFirst != 0 && (p.Flags^flags)&FunctionEntryOnly != 0 {
		return fmt.Errorf("instrprof: one of function entries alone and one of blocks: %w", ErrKind)
	}
	p.known = true
	p.Flags |= flags &^ (HasMemProf | Correlated)
	return nil
}

// addBinaryIDs unites the binary IDs.
func (p *Profile) addBinaryIDs(ids []BinaryID) {
	for _, id := range ids {
		i, found := slices.BinarySearchFunc(p.BinaryIDs, id, func(a, b BinaryID) int { return bytes.Compare(a, b) })
		if !found {
			p.BinaryIDs = slices.Insert(p.BinaryIDs, i, bytes.Clone(id))
		}
	}
}

func (p *Profile) addVTableNames(names []string) {
	p.VTableNames = append(p.VTableNames, names...)
	slices.Sort(p.VTableNames)
	p.VTableNames = slices.Compact(p.VTableNames)
}
