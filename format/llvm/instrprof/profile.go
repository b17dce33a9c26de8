package instrprof

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/symname"
)

// A Profile holds records in memory, one for each name and hash. Profiles can be merged into a
// Profile. The zero Profile is empty and ready to use. Methods that do not change the Profile may
// be called concurrently.
type Profile struct {
	// Flags describe how the programs were instrumented. HasMemProf and Correlated have no meaning
	// here.
	Flags Flags

	BinaryIDs   []BinaryID
	VTableNames []string
	Traces      Traces

	shards [numShards]shard
	known  bool // Flags is known to distinguish front-end and IR instrumentation

	correlation *Correlation
	traced      map[uint64]string // names in traces of texts, whose functions may have no record
}

// NumRecords returns the number of records.
func (p *Profile) NumRecords() int {
	n := 0
	for i := range p.shards {
		n += p.shards[i].count
	}
	return n
}

// NumWithoutCounters returns the number of records without counters. LLVM writes such records for
// programs with a temporal profile of function entries.
func (p *Profile) NumWithoutCounters() int {
	return p.count(func(f *profileFunction) bool { return f.numCounters == 0 })
}

// NumUniform returns the number of records that had uniformity bits or uniform counters, which
// programs for GPUs have. A Profile drops these bits and counters.
func (p *Profile) NumUniform() int {
	return p.count(func(f *profileFunction) bool { return f.uniform })
}

func (p *Profile) count(is func(*profileFunction) bool) (n int) {
	for f := range p.all() {
		if is(f) {
			n++
		}
	}
	return n
}

// Records iterates over the records, sorted by name and hash. The records are valid until the
// profile is changed. Each iteration sorts, in O(n log n) and with 8 bytes per record.
func (p *Profile) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, f := range p.sorted() {
			if !yield(f.record()) {
				return
			}
		}
	}
}

// all yields the functions of the profile in no particular order.
func (p *Profile) all() iter.Seq[*profileFunction] {
	return func(yield func(*profileFunction) bool) {
		for s := range p.shards {
			for i := range p.shards[s].count {
				if !yield(p.shards[s].at(int32(i))) {
					return
				}
			}
		}
	}
}

// sorted returns the functions of the profile, sorted by name and then by hash.
func (p *Profile) sorted() []*profileFunction {
	order := make([]*profileFunction, 0, p.NumRecords())
	for f := range p.all() {
		order = append(order, f)
	}
	slices.SortFunc(order, func(f, g *profileFunction) int {
		return cmp.Or(strings.Compare(f.name, g.name), cmp.Compare(f.hash, g.hash))
	})
	return order
}

// Record returns the record with the given name and hash, or afdo.ErrNotFound. The record is valid
// until the profile is changed.
func (p *Profile) Record(name string, hash uint64) (Record, error) {
	nameHash := NameHash(name)
	if f := p.shard(nameHash).find(nameHash, []byte(name), hash); f != nil {
		return f.record(), nil
	}
	return Record{}, fmt.Errorf("instrprof: no record of %s with hash %#x: %w", name, hash, fault.ErrNotFound)
}

// names returns a function that finds the name of a function or virtual table by its hash.
func (p *Profile) names() func(uint64) (string, bool) {
	vtables := make(map[uint64]string, len(p.VTableNames))
	for _, name := range p.VTableNames {
		vtables[NameHash(name)] = name
	}
	return func(hash uint64) (string, bool) {
		s := p.shard(hash)
		if i, ok := s.byName[hash]; ok {
			return s.at(i).name, true
		}
		name, ok := vtables[hash]
		if !ok {
			name, ok = p.traced[hash]
		}
		return name, ok
	}
}

// Name returns the name of a function or virtual table with the given hash, if the profile has it.
// Each call hashes all VTableNames.
func (p *Profile) Name(nameHash uint64) (string, bool) { return p.names()(nameHash) }

// Add adds a record by LLVM's rules:
//   - counters and value counts are multiplied by weight and summed, saturating at [MaxCount];
//   - bitmaps are combined by OR;
//   - of two pseudo counts, hot wins.
//
// It keeps no reference to r. If the profile has a record with the same name and hash that does not
// match r, Add returns an error that matches [ErrMismatch], and drops
//   - all of r, if the numbers of counters differ or only one record has a pseudo count;
//   - the bitmap and the values, if the sizes of the bitmaps differ;
//   - the values of a kind, if the numbers of sites differ.
//
// The profile stays usable.
func (p *Profile) Add(r Record, weight uint64) error {
	return p.add(symname.GUID(r.name), r, weight)
}

func (p *Profile) add(nameHash uint64, r Record, weight uint64) error {
	s := p.shard(nameHash)
	if f := s.find(nameHash, r.name, r.hash); f != nil {
		return s.addTo(f, r, weight)
	}
	s.insert(nameHash, r, weight)
	return nil
}

// Sparse removes the functions that never ran, as llvm-profdata merge --sparse does. It removes all
// records of a name if none of them has a non-zero counter or bitmap byte.
func (p *Profile) Sparse() {
	for i := range p.shards {
		ran := map[string]bool{}
		s := &p.shards[i]
		for j := range s.count {
			if f := s.at(int32(j)); slices.ContainsFunc(f.body, func(b byte) bool { return b != 0 }) {
				ran[f.name] = true
			}
		}
		s.keep(func(f *profileFunction) bool { return ran[f.name] })
	}
}

// Summary computes the summary of the records that are not context-sensitive, in one pass over all
// counters.
func (p *Profile) Summary() *Summary {
	return p.summarize(func(hash uint64) bool { return !p.Flags.contextSensitive(hash) })
}

// CSSummary computes the summary of the context-sensitive records, like [Profile.Summary]. Only
// profiles with the ContextSensitive flag have such records.
func (p *Profile) CSSummary() *Summary { return p.summarize(p.Flags.contextSensitive) }

func (p *Profile) summarize(in func(hash uint64) bool) *Summary {
	return summarize(func(count func(Counters)) {
		for f := range p.all() {
			if in(f.hash) {
				count(f.counters())
			}
		}
	})
}

// addFlags adds the flags of another profile to those of p. It returns [ErrKind] if the profiles
// cannot be merged, because their programs were instrumented in different ways.
func (p *Profile) addFlags(flags Flags) error {
	if p.known && (p.Flags^flags)&IRLevel != 0 {
		return fmt.Errorf("instrprof: one of the front end and one of the IR level: %w", ErrKind)
	}
	if p.known && (p.Flags|flags)&FunctionEntryOnly != 0 && (p.Flags|flags)&EntryFirst != 0 && (p.Flags^flags)&FunctionEntryOnly != 0 {
		return fmt.Errorf("instrprof: one of function entries alone and one of blocks: %w", ErrKind)
	}
	if p.known && (p.Flags^flags)&SingleByteCounter != 0 {
		return fmt.Errorf("instrprof: one of counters and one of single-byte coverage: %w", ErrKind)
	}
	p.known = true
	p.Flags |= flags &^ (HasMemProf | Correlated)
	return nil
}

// addBinaryIDs adds binary IDs that the profile does not have yet, and sorts all its binary IDs.
func (p *Profile) addBinaryIDs(ids []BinaryID) {
	before := p.BinaryIDs
	for _, id := range ids {
		if _, found := slices.BinarySearchFunc(before, id, compareIDs); !found {
			p.BinaryIDs = append(p.BinaryIDs, bytes.Clone(id))
		}
	}
	p.BinaryIDs = sortBinaryIDs(p.BinaryIDs)
}

func (p *Profile) addVTableNames(names []string) {
	p.VTableNames = append(p.VTableNames, names...)
	slices.Sort(p.VTableNames)
	p.VTableNames = slices.Compact(p.VTableNames)
}
