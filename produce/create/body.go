package create

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A location is a source position relative to a function: line offset and discriminator.
type location struct{ line, discriminator uint32 }

func (w location) compare(v location) int {
	return cmp.Or(cmp.Compare(w.line, v.line), cmp.Compare(w.discriminator, v.discriminator))
}

// A symbol names a function in the profile by its source file and name.
type symbol struct{ file, name string }

// A body holds the counts of a function, or of a function that is inlined at one location of
// another function. New counts are appended to lists. At the end, settle joins the list entries for
// the same location. The lists take a fraction of the memory of maps: a large program has a hundred
// thousand bodies with a few locations each.
type body struct {
	counts  []count
	calls   []called
	inlined []inlined
}

// A count is the number of executions of a location in one duplicate of its block. The compiler may
// have duplicated a block, as in an unrolled loop, and each duplicate runs on its own.
type count struct {
	location
	copy uint64 // 0 if the block was not copied
	n    uint64
}

func (a count) compare(b count) int {
	return cmp.Or(a.location.compare(b.location), cmp.Compare(a.copy, b.copy))
}

// A called is a function that is called at a location, with the number of calls.
type called struct {
	location
	callee *function
	n      uint64
}

// compare orders two called functions by the location of the call, and then by the start address of
// the called function, which is unique.
func (a called) compare(b called) int {
	return cmp.Or(a.location.compare(b.location), cmp.Compare(a.callee.symbol.Low, b.callee.symbol.Low))
}

// An inlined is a function that is inlined at a location, with the body that has its counts there.
type inlined struct {
	location
	callee symbol
	body   *body
}

func (a inlined) compare(b inlined) int {
	return cmp.Or(a.location.compare(b.location), cmp.Compare(a.callee.name, b.callee.name), cmp.Compare(a.callee.file, b.callee.file))
}

// combine returns one count for a location, from the counts of two addresses that belong to this
// location.
func (how Combine) combine(a, b uint64) uint64 {
	if how == CombineSum {
		return saturating.Add(a, b)
	}
	return max(a, b)
}

// count adds the count n of an instruction to the location w. id is the number of the duplicate of
// the block that contains the instruction, see copyID. how says how the counts of several
// instructions of one duplicate are combined.
func (b *body) count(w location, id, n uint64, how Combine) {
	if last := len(b.counts) - 1; last >= 0 && b.counts[last].location == w && b.counts[last].copy == id {
		b.counts[last].n = how.combine(b.counts[last].n, n)
		return
	}
	b.counts = append(b.counts, count{w, id, n})
}

// call adds n calls of the function callee from the location w.
func (b *body) call(w location, callee *function, n uint64) {
	b.calls = append(b.calls, called{w, callee, n})
}

// inline adds an empty body for the function callee, which is inlined at the location w, and
// returns the new body.
func (b *body) inline(w location, callee symbol) *body {
	inner := new(body)
	b.inlined = append(b.inlined, inlined{w, callee, inner})
	return inner
}

// add appends the counts, calls and inlined bodies of other to b. other must not be used
// afterwards.
func (b *body) add(other *body) {
	if b.empty() {
		*b = *other
		return
	}
	b.counts = append(b.counts, other.counts...)
	b.calls = append(b.calls, other.calls...)
	b.inlined = append(b.inlined, other.inlined...)
}

// settle sorts the counts, calls and inlined bodies of a body by location, and joins those at the
// same location. how says how two counts of the same location and duplicate are combined. It does
// the same for all inlined bodies.
func (b *body) settle(how Combine) {
	for b := range b.all {
		// The clones have no more room than they need.
		b.counts = slices.Clone(merged(b.counts, count.compare, func(to *count, c count) { to.n = how.combine(to.n, c.n) }))
		b.calls = slices.Clone(merged(b.calls, called.compare, func(to *called, c called) { to.n = saturating.Add(to.n, c.n) }))
		b.inlined = slices.Clone(merged(b.inlined, inlined.compare, func(to *inlined, in inlined) { to.body.add(in.body) }))
	}
}

// total replaces the counts of a block's duplicates, as in an unrolled loop, by one count per
// location. It does so in the body and in all bodies inlined into it.
func (b *body) total() {
	for b := range b.all {
		b.counts = total(b.counts)
	}
}

// all yields the body b and all bodies inlined into it, outer bodies first.
func (b *body) all(yield func(*body) bool) {
	left := []*body{b} // and not the machine's stack: the depth is that of the file
	for len(left) > 0 {
		b := left[len(left)-1]
		if left = left[:len(left)-1]; !yield(b) {
			return
		}
		for _, in := range b.inlined {
			left = append(left, in.body)
		}
	}
}

// merged sorts a list and joins elements that compare says are equal: the function into adds the
// element from to the element to, which stays in the list.
func merged[T any](list []T, compare func(a, b T) int, into func(to *T, from T)) []T {
	slices.SortStableFunc(list, compare)
	kept := list[:0]
	for _, next := range list {
		if last := len(kept) - 1; last >= 0 && compare(kept[last], next) == 0 {
			into(&kept[last], next)
		} else {
			kept = append(kept, next)
		}
	}
	return kept
}

// total replaces all counts of the same location by one count. A block that the compiler has
// duplicated has a count for each duplicate, with the numbers 1, 2 and so on, and their sum is the
// count of the block. Number 0 is code of the block outside of the duplicates, such as the test of
// an unrolled loop. It runs at most as often as all duplicates together. If its count is larger
// than the sum, total takes the larger one. The list must be sorted, with number 0 first.
func total(list []count) []count {
	kept := list[:0]
	for i := 0; i < len(list); {
		at, rest, sum := list[i].location, uint64(0), uint64(0)
		for ; i < len(list) && list[i].location == at; i++ {
			if list[i].copy == 0 {
				rest = list[i].n
			} else {
				sum = saturating.Add(sum, list[i].n)
			}
		}
		kept = append(kept, count{location: at, n: max(rest, sum)})
	}
	return kept
}

// entry estimates how often a function was entered: as often as the first location in its body ran.
func (b *body) entry() uint64 {
	for {
		switch {
		case len(b.counts) > 0:
			return b.counts[0].n
		case len(b.inlined) == 0:
			return 0
		}
		b = b.inlined[0].body
	}
}

// records adds the counts, calls and inlined bodies of b to a body of the profile, to. ref and
// callee return the numbers by which the profile refers to inlined and called functions. Calls for
// which callee returns false are left out.
func (b *body) records(to *profile.Body, ref func(symbol) profile.SymbolRef, callee func(*function) (profile.SymbolRef, bool)) {
	enter := func(b *body) []inlined {
		for _, c := range b.counts {
			to.Count(c.line, c.discriminator, c.n)
		}
		for _, c := range b.calls {
			if s, ok := callee(c.callee); ok {
				to.Call(c.line, c.discriminator, s, c.n)
			}
		}
		return b.inlined
	}
	stack := [][]inlined{enter(b)} // what is left at each level
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			if stack = stack[:len(stack)-1]; len(stack) > 0 {
				to.Leave()
			}
			continue
		}
		in := (*top)[0]
		*top = (*top)[1:]
		to.Enter(in.line, in.discriminator, ref(in.callee))
		stack = append(stack, enter(in.body))
	}
}
