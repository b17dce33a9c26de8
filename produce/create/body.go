package create

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A location is a place in a function: line offset and discriminator.
type location struct{ line, discriminator uint32 }

func (w location) compare(v location) int {
	return cmp.Or(cmp.Compare(w.line, v.line), cmp.Compare(w.discriminator, v.discriminator))
}

// A symbol names a function in the profile.
type symbol struct{ file, name string }

// A body holds the counts of a function, or of a function inlined at one place of another. Counts
// are appended as they come. Later, settle joins the entries of each location. The lists take a
// fraction of the memory of maps: a large program has a hundred thousand bodies with a few
// locations each.
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

// compare orders calls by location, and then by the start address of the callee, which is unique.
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

// both combines the counts of two addresses of one location into one count.
func (how Combine) both(a, b uint64) uint64 {
	if how == CombineSum {
		return saturating.Add(a, b)
	}
	return max(a, b)
}

// count adds the count of an instruction to a location. id is the number of the block's duplicate,
// see copyID. how combines the counts of several instructions of a duplicate.
func (b *body) count(w location, id, n uint64, how Combine) {
	if last := len(b.counts) - 1; last >= 0 && b.counts[last].location == w && b.counts[last].copy == id {
		b.counts[last].n = how.both(b.counts[last].n, n)
		return
	}
	b.counts = append(b.counts, count{w, id, n})
}

// call adds n calls of a function at a location.
func (b *body) call(w location, callee *function, n uint64) {
	b.calls = append(b.calls, called{w, callee, n})
}

// inline adds an empty inlined body at a location and returns it.
func (b *body) inline(w location, callee symbol) *body {
	inner := new(body)
	b.inlined = append(b.inlined, inlined{w, callee, inner})
	return inner
}

// add appends the counts of another body. That body must not be used afterwards.
func (b *body) add(other *body) {
	if b.empty() {
		*b = *other
		return
	}
	b.counts = append(b.counts, other.counts...)
	b.calls = append(b.calls, other.calls...)
	b.inlined = append(b.inlined, other.inlined...)
}

// settle sorts the counts, calls and inlined bodies by location, and joins those at one location.
// It also settles all inlined bodies.
func (b *body) settle(how Combine) {
	for b := range b.all {
		// The clones have no more room than they need.
		b.counts = slices.Clone(merged(b.counts, count.compare, func(to *count, c count) { to.n = how.both(to.n, c.n) }))
		b.calls = slices.Clone(merged(b.calls, called.compare, func(to *called, c called) { to.n = saturating.Add(to.n, c.n) }))
		b.inlined = slices.Clone(merged(b.inlined, inlined.compare, func(to *inlined, in inlined) { to.body.add(in.body) }))
	}
}

// total replaces the counts of a block's duplicates by one count per location. It does so in the
// body and in all bodies inlined into it.
func (b *body) total() {
	for b := range b.all {
		b.counts = total(b.counts)
	}
}

// all yields a body and all bodies inlined into it, outer bodies first.
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

// merged sorts a list, and joins elements that compare as equal: into adds the later element to the
// first one.
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

// total replaces the counts of a location by one count: the sum over the numbered duplicates of its
// block, or the count of number 0 if that is larger. Number 0 is code of the block outside of the
// duplicates, such as the test of an unrolled loop. It runs at most as often as all duplicates
// together. It comes first in the list.
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

// entry estimates how often a function was entered: as often as the first location in the body ran.
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

// records adds the counts, calls and inlined bodies to a profile.Body. ref and callee return the
// profile's references to functions. Calls for which callee returns false are left out.
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
