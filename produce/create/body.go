package create

import (
	"cmp"
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A where is a location in a function: line offset and discriminator.
type where struct{ line, discriminator uint32 }

func (w where) compare(v where) int {
	return cmp.Or(cmp.Compare(w.line, v.line), cmp.Compare(w.discriminator, v.discriminator))
}

// A symbol names a function in the profile.
type symbol struct{ file, name string }

// A body holds the counts of a function, or of a function inlined at one place of another. Counts
// are appended as they come, and settle adds up the entries of one location. A large program has a
// hundred thousand bodies with a few locations each. Maps would take several times the memory.
type body struct {
	counts  []count
	calls   []called
	inlined []inlined
}

// A count says how often one copy of a location ran. The compiler may have made several copies of a
// block, and each of them runs on its own.
type count struct {
	where
	copy uint64 // 0 if the block was not copied
	n    uint64
}

func (a count) compare(b count) int {
	return cmp.Or(a.where.compare(b.where), cmp.Compare(a.copy, b.copy))
}

// A called is a callee at a location, with the number of calls.
type called struct {
	where
	callee *function
	n      uint64
}

// compare orders callees by their start address, which is unique.
func (a called) compare(b called) int {
	return cmp.Or(a.where.compare(b.where), cmp.Compare(a.callee.symbol.Low, b.callee.symbol.Low))
}

// An inlined is a function that is inlined at a location.
type inlined struct {
	where
	callee symbol
	body   *body
}

func (a inlined) compare(b inlined) int {
	return cmp.Or(a.where.compare(b.where), cmp.Compare(a.callee.name, b.callee.name), cmp.Compare(a.callee.file, b.callee.file))
}

// both combines the counts of two addresses at one location.
func (how Combine) both(a, b uint64) uint64 {
	if how == CombineSum {
		return saturating.Add(a, b)
	}
	return max(a, b)
}

// count adds the count of an address to a location. id is the number of the block's copy, see
// copyID.
func (b *body) count(w where, id, n uint64, how Combine) {
	if last := len(b.counts) - 1; last >= 0 && b.counts[last].where == w && b.counts[last].copy == id {
		b.counts[last].n = how.both(b.counts[last].n, n)
		return
	}
	b.counts = append(b.counts, count{w, id, n})
}

func (b *body) call(w where, callee *function, n uint64) {
	b.calls = append(b.calls, called{w, callee, n})
}

// inline adds an empty inlined body at a location and returns it.
func (b *body) inline(w where, callee symbol) *body {
	inner := new(body)
	b.inlined = append(b.inlined, inlined{w, callee, inner})
	return inner
}

// add appends the counts of another body, which must not be used afterwards.
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
// It does so in nested bodies, too.
func (b *body) settle(how Combine) {
	for b := range b.all {
		// The clones have no more room than they need.
		b.counts = slices.Clone(merged(b.counts, count.compare, func(to *count, c count) { to.n = how.both(to.n, c.n) }))
		b.calls = slices.Clone(merged(b.calls, called.compare, func(to *called, c called) { to.n = saturating.Add(to.n, c.n) }))
		b.inlined = slices.Clone(merged(b.inlined, inlined.compare, func(to *inlined, in inlined) { to.body.add(in.body) }))
	}
}

// total adds up the copies of each location, in the body and in all bodies inlined into it.
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

// merged sorts a list and merges equal elements with into.
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

// total replaces the counts of a location's copies by one count: the sum of the numbered copies, or
// the count of copy 0 if that is larger. Copy 0 is code of the block outside of its copies, such as
// the test of an unrolled loop. It runs at most as often as all copies together. It comes first in
// the list.
func total(list []count) []count {
	kept := list[:0]
	for i := 0; i < len(list); {
		at, rest, sum := list[i].where, uint64(0), uint64(0)
		for ; i < len(list) && list[i].where == at; i++ {
			if list[i].copy == 0 {
				rest = list[i].n
			} else {
				sum = saturating.Add(sum, list[i].n)
			}
		}
		kept = append(kept, count{where: at, n: max(rest, sum)})
	}
	return kept
}

// entry estimates how often a function was entered: as often as its first location ran.
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

// records adds the body to a profile.Body. ref and callee return the profile's symbols; calls for
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
