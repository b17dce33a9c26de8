package memprof

import (
	"iter"
	"math"
	"slices"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/saturating"
)

// Merge adds another profile, for example of another run of the program, with the weight times:
//   - counts and totals of src are multiplied by times, minima and maxima are not;
//   - allocations at the same call stack are combined as by Block.add;
//   - calls and callees are the union of both profiles;
//   - fields that only one of the profiles has are 0 in the other;
//   - accesses to data are summed, and data is cold only if it is cold in both.
//
// Only the fields about the last allocation and the order of records depend on the order of
// merging. After an error the profile must not be used.
func (p *Profile) Merge(src Source, times uint64) error {
	if err := p.addRecords(src, src.Records(), times); err != nil {
		return err
	}
	access, err := src.DataAccess()
	if err != nil {
		return err
	}
	p.access = p.access.plus(access.times(times))
	return nil
}

// AddRecords adds the given records of another profile and nothing else, as by [Profile.Merge].
func (p *Profile) AddRecords(src Source, records iter.Seq2[Record, error]) error {
	return p.addRecords(src, records, 1)
}

func (p *Profile) addRecords(src Source, records iter.Seq2[Record, error], times uint64) error {
	in := importer{p: p, walk: newWalk(src), ids: make(map[StackID]StackID), nodes: math.MaxInt64}
	if r, ok := src.(*Reader); ok {
		in.nodes = int64(len(p.stacks.nodes)) + 1<<18 + int64(r.Size())/2
	}
	p.limit = p.limitWith(src)
	schema := src.Schema()
	for rec, err := range records {
		if err == nil {
			err = in.record(&rec)
		}
		if err != nil {
			return err
		}
		for i := range rec.Allocs {
			rec.Allocs[i].Block.scale(times)
		}
		p.addRecord(schema, rec)
	}
	if len(p.schema) == 0 {
		p.schema = slices.Clone(schema)
	}
	return nil
}

// limitWith returns the maximum number of frames that a walk over all call stacks of the profile
// may visit, after the records of src have been added.
func (p *Profile) limitWith(src Source) int64 {
	if len(p.records) == 0 {
		return src.maxFrames()
	}
	return int64(min(math.MaxInt64, uint64(p.maxFrames())+uint64(src.maxFrames())))
}

// An importer copies the records of another profile, with their call stacks, into the profile p.
type importer struct {
	p     *Profile
	walk  *walk
	ids   map[StackID]StackID // stack IDs in the profile, by stack ID in the source
	stack []Frame
	nodes int64 // limit on the size of the tree, because a few bytes can encode many frames
}

func (in *importer) record(rec *Record) (err error) {
	rec.Allocs, rec.Calls = slices.Clone(rec.Allocs), slices.Clone(rec.Calls)
	for i := range rec.Allocs {
		if rec.Allocs[i].Stack, err = in.id(rec.Allocs[i].Stack); err != nil {
			return err
		}
		rec.Allocs[i].Block[AccessHistogram] = 0
	}
	if !distinct(rec.Allocs, stackOfAlloc) {
		rec.Allocs = in.dropRecursion(rec.Function, rec.Allocs)
	}
	for i := range rec.Calls {
		if rec.Calls[i].Stack, err = in.id(rec.Calls[i].Stack); err != nil {
			return err
		}
	}
	return nil
}

// dropRecursion removes copies of an allocation from the record of a function. If a function is
// inlined into itself, LLVM adds the allocation once for each inlined copy, one after another.
// Other allocations with equal stacks stay, because several instructions may have the same stack,
// for example in an unrolled loop. Their counts have to be summed.
func (in *importer) dropRecursion(function uint64, allocs []Alloc) []Alloc {
	times := make(map[StackID]int)
	kept := allocs[:0]
	for _, a := range allocs {
		if times[a.Stack]%in.recursion(function, a.Stack) == 0 {
			kept = append(kept, a)
		}
		times[a.Stack]++
	}
	return kept
}

// recursion returns how often a function occurs in the innermost part of a call stack, which is
// inlined into one function. It returns at least 1.
func (in *importer) recursion(function uint64, id StackID) int {
	n := 0
	for f := range in.p.stacks.walk(uint32(id)) {
		if f.Function == function {
			n++
		}
		if !f.Inlined {
			break
		}
	}
	return max(n, 1)
}

func (in *importer) id(id StackID) (StackID, error) {
	if known, ok := in.ids[id]; ok {
		return known, nil
	}
	in.stack = in.stack[:0]
	if err := in.walk.frames(id, func(f Frame) { in.stack = append(in.stack, f) }); err != nil {
		return 0, err
	}
	own := in.p.Stack(in.stack)
	if int64(len(in.p.stacks.nodes)) > in.nodes {
		return 0, faultAt(partCallStacks, -1, fault.ErrLimit, "the call stacks expand to more frames than a section of this size can have")
	}
	in.ids[id] = own
	return own, nil
}

// times returns the data access profile a with all counts multiplied by n.
func (a *DataAccess) times(n uint64) *DataAccess {
	if a.empty() || n == 1 {
		return a
	}
	scaled := *a
	scaled.Records = slices.Clone(a.Records)
	for i := range scaled.Records {
		scaled.Records[i].Accesses = saturating.Mul(scaled.Records[i].Accesses, n)
	}
	return &scaled
}

// plus returns the sum of the data access profiles a and other. Either may be nil.
func (a *DataAccess) plus(other *DataAccess) *DataAccess {
	switch {
	case other.empty():
		return a
	case a.empty():
		return other
	}
	sum := new(DataAccess)
	type key struct {
		symbol string
		hash   uint64
	}
	at := make(map[key]int)
	for _, rec := range slices.Concat(a.Records, other.Records) {
		k := key{rec.Symbol, rec.Hash}
		i, ok := at[k]
		if !ok {
			at[k] = len(sum.Records)
			sum.Records = append(sum.Records, rec)
			continue
		}
		sum.Records[i].add(rec)
	}
	sum.ColdSymbols = inBoth(a.ColdSymbols, other.ColdSymbols)
	sum.ColdHashes = inBoth(a.ColdHashes, other.ColdHashes)
	sum.order()
	return sum
}

func (rec *DataRecord) add(other DataRecord) {
	rec.Accesses = saturating.Add(rec.Accesses, other.Accesses)
	rec.Places = slices.Clone(rec.Places)
	for _, place := range other.Places {
		if !slices.Contains(rec.Places, place) {
			rec.Places = append(rec.Places, place)
		}
	}
}

// inBoth returns the elements that both a and b contain, in the order of a.
func inBoth[T comparable](a, b []T) []T {
	have := make(map[T]struct{}, len(b))
	for _, v := range b {
		have[v] = struct{}{}
	}
	return slices.DeleteFunc(slices.Clone(a), func(v T) bool {
		_, ok := have[v]
		return !ok
	})
}
