package sampleprof

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Kind tells what a [Record] holds.
type Kind uint8

// The kinds. Records of the kinds from KindInlined on stand behind those of the kinds before them.
const (
	KindCount      Kind = iota // samples of a location
	KindTarget                 // calls of one callee at that location
	KindInlined                // a function inlined at a location
	KindVTable                 // one type of the objects at a virtual call
	KindChecksum               // of the function's control flow graph; probe-based profiles only
	KindAttributes             // of the function
)

// Attributes of functions, in the Count of a record of [KindAttributes].
const (
	AttributeInlined          = 1 << 0 // was inlined in the profiled binary
	AttributeShouldInline     = 1 << 1 // the pre-inliner wants it inlined
	AttributeDuplicatedInBase = 1 << 2 // its samples are in the function's base profile, too
)

// A Record is one entry of a function. Bodies are flat: the records of an inlined body follow their
// KindInlined record, which spans them, nested ones included. So walking a function is a loop, not
// a recursion, however deep it nests.
//
// The records of a body are canonical, in the order in which LLVM's formats have them: counts by
// location, behind each its targets by descending calls and then by name; inlined bodies by
// location and then by name; types of vtables likewise; checksum, attributes. Nothing is there
// twice.
type Record struct {
	Count         uint64  // samples, calls, the total of an inlined body as stated, the checksum, or the attributes
	Name          NameRef // of a target, an inlined function or a type
	Discriminator uint32
	Span          uint32 // KindInlined: number of records of the body
	Line          uint16 // offset from the line of the function; with probes, the number of the probe
	Kind          Kind
}

// recordSize is what a Record takes in memory.
const recordSize = 24

// where orders locations.
func (r *Record) where() uint64 { return uint64(r.Line)<<32 | uint64(r.Discriminator) }

// compareSiblings orders records of one body. A count and its targets are of one place: the count
// comes first, and targets are in order of name here, not of calls.
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

// group is the kind, but for targets, which stand among the counts.
func group(k Kind) Kind {
	if k == KindTarget {
		return KindCount
	}
	return k
}

// compareTargets orders the targets of one location.
func compareTargets(r, s *Record, compare func(s, t NameRef) int) int {
	return cmp.Or(cmp.Compare(s.Count, r.Count), compare(r.Name, s.Name))
}

// canonical tells whether s may follow r in a body.
func canonical(r, s *Record, compare func(s, t NameRef) int) bool {
	if r.Kind == KindTarget && s.Kind == KindTarget && r.where() == s.where() {
		return compareTargets(r, s, compare) < 0
	}
	return compareSiblings(r, s, compare) < 0
}

// repeats tells whether two targets of a location have the same name, which their order does not
// show.
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

// span returns how many records a record and what it spans are.
func (r *Record) span() int {
	if r.Kind == KindInlined {
		return 1 + int(r.Span)
	}
	return 1
}

// An adder adds saturating, and remembers whether a sum was too large.
type adder struct{ overflow bool }

func (a *adder) add(x, y uint64) uint64 {
	sum, carry := bits.Add64(x, y, 0)
	if carry != 0 {
		a.overflow = true
		return math.MaxUint64
	}
	return sum
}
