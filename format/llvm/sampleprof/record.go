package sampleprof

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A Kind is the kind of a [Record], such as a count, a call target or an inlined body.
type Kind uint8

// The kinds of records. Within a body, records of KindInlined and later kinds come after all
// records of earlier kinds.
const (
	KindCount      Kind = iota // samples at a location
	KindTarget                 // calls of one callee from the location of the preceding KindCount
	KindInlined                // a function inlined at a location
	KindVTable                 // one type of the objects used in a virtual call
	KindChecksum               // checksum of the function's control flow graph; probe-based profiles only
	KindAttributes             // attributes of the function
)

// Attributes of functions, in the Count of a [KindAttributes] record.
const (
	AttributeInlined          = 1 << 0 // the function was inlined in the profiled binary
	AttributeShouldInline     = 1 << 1 // the pre-inliner wants the function inlined
	AttributeDuplicatedInBase = 1 << 2 // the samples are also in the function's base profile
)

// A Record is one entry of a function. Bodies are flat: the records of an inlined body, including
// nested bodies, follow its KindInlined record, whose Span is their number. So a loop can walk a
// function without recursion.
//
// The records of a body are canonical. They have the order of LLVM's formats, without duplicates:
//   - counts by location, each followed by its targets, by descending calls and then by name;
//   - inlined bodies by location and then by name;
//   - types of vtables by location and then by name;
//   - the checksum;
//   - the attributes.
type Record struct {
	Count         uint64  // depending on Kind: samples, calls, the stored total of an inlined body, the checksum, or the attributes
	Name          NameRef // for a target, an inlined function or a type
	Discriminator uint32
	Span          uint32 // for KindInlined: number of records in the body
	Line          uint16 // offset from the first line of the function or, with probes, the number of the probe
	Kind          Kind
}

// recordSize is the size of a Record in memory, in bytes.
const recordSize = 24

// where returns the location of the record as one number. The numbers of records are in the order
// of their lines and, on the same line, of their discriminators.
func (r *Record) where() uint64 { return uint64(r.Line)<<32 | uint64(r.Discriminator) }

// compareSiblings compares two records of the same function or inlined body, by kind, location and
// name. Call targets come directly after the count of their location, and are compared by name, not
// by calls.
func compareSiblings(r, s *Record, compare func(s, t NameRef) int) int {
	if c := cmp.Compare(group(r.Kind), group(s.Kind)); c != 0 {
		return c
	}
	if c := cmp.Compare(r.where(), s.where()); c != 0 {
		return c
	}
	if c := cmp.Compare(r.Kind, s.Kind); c != 0 {
		return c
	}
	if r.Name == s.Name {
		return 0
	}
	return compare(r.Name, s.Name)
}

// group returns the kind by which [compareSiblings] compares a record. For a call target it is
// KindCount, because call targets are between the counts.
func group(k Kind) Kind {
	if k == KindTarget {
		return KindCount
	}
	return k
}

// compareTargets compares two call targets of the same location. The one with more calls comes
// first. If they have equal calls, the name decides.
func compareTargets(r, s *Record, compare func(s, t NameRef) int) int {
	return cmp.Or(cmp.Compare(s.Count, r.Count), compare(r.Name, s.Name))
}

// canonical reports whether two records of a function may follow each other, first r and then s, in
// the order described at [Record].
func canonical(r, s *Record, compare func(s, t NameRef) int) bool {
	if r.Kind == KindTarget && s.Kind == KindTarget && r.where() == s.where() {
		return compareTargets(r, s, compare) < 0
	}
	return compareSiblings(r, s, compare) < 0
}

// repeats reports whether two call targets of a location have the same name. Targets are not sorted
// by name, so equal names need not be adjacent.
func repeats(targets []Record) bool {
	if len(targets) > 16 {
		refs := make([]NameRef, len(targets))
		for i := range targets {
			refs[i] = targets[i].Name
		}
		slices.Sort(refs)
		return len(slices.Compact(refs)) < len(targets)
	}
	for i := range targets {
		for j := range i {
			if targets[i].Name == targets[j].Name {
				return true
			}
		}
	}
	return false
}

// span returns the number of records that the record stands for: 1, or for an inlined body 1 plus
// the number of records in the body.
func (r *Record) span() int {
	if r.Kind == KindInlined {
		return 1 + int(r.Span)
	}
	return 1
}

// An adder adds counts with saturation. It remembers whether a sum has overflowed.
type adder struct{ overflow bool }

func (a *adder) add(x, y uint64) uint64 {
	sum, carry := bits.Add64(x, y, 0)
	if carry != 0 {
		a.overflow = true
		return math.MaxUint64
	}
	return sum
}

// A Function holds the samples of a function where it was not inlined into others. In a
// context-sensitive profile, it holds the samples in one calling context.
type Function struct {
	Name      NameRef
	Context   []Frame // outermost function first, this function last; nil without contexts
	Total     uint64  // samples including inlined functions, as stored; not necessarily the sum of the records
	HeadCount uint64  // number of calls of the function
	Records   []Record
}

// find returns the Count of the first record of the given kind in a function, or 0 if there is
// none. It does not look into inlined bodies.
func find(records []Record, kind Kind) uint64 {
	for i := 0; i < len(records); i += records[i].span() {
		if records[i].Kind == kind {
			return records[i].Count
		}
	}
	return 0
}
