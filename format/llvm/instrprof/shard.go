package instrprof

import (
	"encoding/binary"
	"fmt"

	"github.com/go-afdo/afdo/internal/arena"
	"github.com/go-afdo/afdo/internal/decode"
)

// numShards is the number of shards into which the functions of a profile are divided, by the hash
// of their names. At most one goroutine adds to a shard, so this is the maximum number of
// goroutines of a merge.
const numShards = 8

// A shard holds those functions of a profile for whose name hash [shardOf] returns the shard's
// index. It allocates memory in chunks.
type shard struct {
	chunks [][]profileFunction
	count  int
	byName map[uint64]int32 // index of the first function with each name hash
	alike  map[alike]int32  // index of the last further function with the same hashes
	names  arena.Names
	words  []byte
	size   int // size of the chunk from which words is allocated
}

// An alike is a map key for a function that has the same name hash as an earlier function in the
// shard. The two functions differ in the function hash or, if the hashes of different names are
// equal, in the name.
type alike struct{ nameHash, hash uint64 }

// A profileFunction holds the counters, the bitmap and the profiled values of a function. A
// function is identified by its name and a hash of its control flow.
type profileFunction struct {
	name        string
	hash        uint64
	body        []byte // counters as in indexed files, followed by the bitmap as in raw files
	numCounters uint32
	next        int32 // index of the previous function with the same alike key, or -1
	uniform     bool  // as in Record
	values      *Values
}

func (f *profileFunction) counters() Counters {
	return Counters{data: f.body[:8*int(f.numCounters)], width: 8}
}

func (f *profileFunction) bitmap() []byte { return f.body[8*int(f.numCounters):] }

func (f *profileFunction) record() Record {
	r := Record{name: []byte(f.name), hash: f.hash, counters: f.counters(), bitmap: Bitmap{data: f.bitmap(), stride: 1}, uniform: f.uniform}
	if f.values != nil {
		r.values = *f.values
	}
	return r
}

// Sizes of the chunks in which a [shard] allocates memory: the number of functions, and the minimum
// and maximum bytes of counters.
const (
	functionChunk = 256
	minByteChunk  = 1 << 10
	maxByteChunk  = 128 << 10
)

func (p *Profile) shard(nameHash uint64) *shard { return &p.shards[shardOf(nameHash)] }

// shardOf returns the index of the shard for functions whose name has the given hash.
func shardOf(nameHash uint64) int { return int(nameHash >> 61) }

func (s *shard) at(i int32) *profileFunction { return &s.chunks[i/functionChunk][i%functionChunk] }

// find returns the function with the given name and function hash, or nil. nameHash is the hash of
// the name.
func (s *shard) find(nameHash uint64, name []byte, hash uint64) *profileFunction {
	i, ok := s.byName[nameHash]
	if !ok {
		return nil
	}
	if f := s.at(i); f.is(name, hash) {
		return f
	}
	i, ok = s.alike[alike{nameHash, hash}]
	for ; ok && i >= 0; i = s.at(i).next {
		if f := s.at(i); f.is(name, hash) {
			return f
		}
	}
	return nil
}

func (f *profileFunction) is(name []byte, hash uint64) bool {
	return f.hash == hash && f.name == string(name)
}

// insert adds a record, with its counts multiplied by weight, as a new function of the shard. The
// shard must not have a function of the same name and function hash.
func (s *shard) insert(nameHash uint64, r Record, weight uint64) {
	name := s.name(nameHash, r.name)
	f := s.place(nameHash, r.hash)
	f.name, f.numCounters, f.uniform = name, uint32(r.counters.Len()), r.uniform
	f.body = r.bitmap.append(r.counters.append(s.alloc(8*r.counters.Len() + r.bitmap.Len())))
	if weight != 1 && r.Pseudo() == 0 {
		scaleCounters(f.counters().data, weight)
	}
	if !r.values.Empty() {
		sites := r.values.sites()
		sites.scale(weight)
		s.setValues(f, sites)
	}
}

// place allocates a function, and enters it into the tables by which find looks up functions.
func (s *shard) place(nameHash, hash uint64) *profileFunction {
	if s.count%functionChunk == 0 {
		s.chunks = append(s.chunks, make([]profileFunction, functionChunk))
	}
	if s.byName == nil {
		s.byName, s.alike = map[uint64]int32{}, map[alike]int32{}
	}
	i := int32(s.count)
	f := s.at(i)
	f.hash, f.next = hash, -1
	s.count++
	if _, ok := s.byName[nameHash]; !ok {
		s.byName[nameHash] = i
		return f
	}
	key := alike{nameHash, hash}
	if before, ok := s.alike[key]; ok {
		f.next = before
	}
	s.alike[key] = i
	return f
}

// keep removes from the shard the functions for which wanted returns false.
func (s *shard) keep(wanted func(*profileFunction) bool) {
	old := *s
	s.chunks, s.count, s.byName, s.alike = nil, 0, nil, nil
	for i := range old.count {
		f := old.at(int32(i))
		if !wanted(f) {
			continue
		}
		to := s.place(NameHash(f.name), f.hash)
		next := to.next
		*to = *f
		to.next = next
	}
}

// name returns a copy of a function's name. All functions of the shard with that name share the
// copy.
func (s *shard) name(nameHash uint64, name []byte) string {
	if i, ok := s.byName[nameHash]; ok && s.at(i).name == string(name) {
		return s.at(i).name
	}
	return s.names.CloneBytes(name)
}

// alloc returns an empty slice with capacity n, from the shard's current chunk of memory.
func (s *shard) alloc(n int) []byte {
	if n > len(s.words) {
		if n > maxByteChunk/8 {
			return make([]byte, 0, n)
		}
		s.size = max(min(2*s.size, maxByteChunk), minByteChunk, n)
		s.words = make([]byte, s.size)
	}
	part := s.words[:0:n]
	s.words = s.words[n:]
	return part
}

// addTo adds the counts of the record r, multiplied by weight, to f. f is the function of the same
// name and hash.
func (s *shard) addTo(f *profileFunction, r Record, weight uint64) error {
	counters, bitmap := f.counters(), f.bitmap()
	if n := r.counters.Len(); n != counters.Len() {
		return dropped(r, weight, fmt.Errorf("instrprof: %v: %d counters beside %d: %w", r, n, counters.Len(), ErrMismatch))
	}
	f.uniform = f.uniform || r.uniform
	mine, other := counters.pseudo(), r.Pseudo()
	switch {
	case mine == 0 && other == 0:
		addCounters(counters.data, r.counters, weight)
	case mine == 0 || other == 0:
		return dropped(r, weight, fmt.Errorf("instrprof: %v: counts beside a pseudo count: %w", r, ErrMismatch))
	default:
		binary.LittleEndian.PutUint64(counters.data, max(mine, other))
		return nil
	}
	if r.bitmap.Len() != len(bitmap) {
		return fmt.Errorf("instrprof: %v: %d bitmap bytes beside %d: %w", r, r.bitmap.Len(), len(bitmap), ErrMismatch)
	}
	for i := range bitmap {
		bitmap[i] |= r.bitmap.At(i)
	}
	return s.addValues(f, r, weight)
}

// addValues adds the value sites of a record to those that the function f has from earlier records.
// It skips a kind of values if the record and f have different numbers of sites of that kind, and
// returns ErrMismatch.
func (s *shard) addValues(f *profileFunction, r Record, weight uint64) error {
	if r.values.Empty() && f.values == nil {
		return nil
	}
	var mine ValueSites
	if f.values != nil {
		mine = f.values.sites()
	}
	other := r.values.sites()
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
	s.setValues(f, mine)
	return err
}

// setValues sorts the profiled values in sites by count, and stores them in f. It reuses the memory
// of earlier values if the new ones fit into it.
func (s *shard) setValues(f *profileFunction, sites ValueSites) {
	sites.order()
	if f.values == nil {
		f.values = &Values{}
	}
	encoded := fields{Buffer: decode.Buffer{Data: sites.appendTo(f.values.data[:0])}}
	*f.values = encoded.values()
}

func scaleCounters(counters []byte, weight uint64) {
	for ; len(counters) > 0; counters = counters[8:] {
		v := binary.LittleEndian.Uint64(counters)
		binary.LittleEndian.PutUint64(counters, saturatingMultiply(v, weight))
	}
}

// addCounters multiplies each counter of c by weight and adds it to the counter at the same index
// in sum. sum has as many counters, in the form of indexed files.
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
