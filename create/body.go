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

// A body is what is counted in a function, or in one that is inlined at one place of one.
type body struct {
	counts  map[where]*cell
	calls   map[target]uint64
	inlined map[inlining]*body
}

// A target is a function that is called at a location.
type target struct {
	where
	callee *function
}

// An inlining is a function that is inlined at a location.
type inlining struct {
	where
	callee symbol
}

// A cell is the count of a location. The compiler may have made several copies of a block, each of
// which runs on its own.
type cell struct{ copies []copyCount }

type copyCount struct {
	id    uint64 // 0 if the block was not copied
	count uint64
}

// add counts an address.
func (c *cell) add(id, count uint64, how Combine) {
	for i := range c.copies {
		if have := &c.copies[i]; have.id == id {
			if how == Sum {
				have.count = saturating.Add(have.count, count)
			} else {
				have.count = max(have.count, count)
			}
			return
		}
	}
	c.copies = append(c.copies, copyCount{id, count})
}

// total adds the copies up. What is left outside of them, such as the test of a loop that was
// unrolled, is of the same block and runs no more often than they do together.
func (c *cell) total() uint64 {
	var rest, sum uint64
	for _, have := range c.copies {
		if have.id == 0 {
			rest = have.count
		} else {
			sum = saturating.Add(sum, have.count)
		}
	}
	return max(rest, sum)
}

// count counts an address at a location.
func (b *body) count(w where, id, n uint64, how Combine) {
	if b.counts == nil {
		b.counts = make(map[where]*cell)
	}
	c := b.counts[w]
	if c == nil {
		c = new(cell)
		b.counts[w] = c
	}
	c.add(id, n, how)
}

func (b *body) call(w where, callee *function, n uint64) {
	if b.calls == nil {
		b.calls = make(map[target]uint64)
	}
	t := target{w, callee}
	b.calls[t] = saturating.Add(b.calls[t], n)
}

// inline returns the body of a function that is inlined at a location.
func (b *body) inline(w where, callee symbol) *body {
	if b.inlined == nil {
		b.inlined = make(map[inlining]*body)
	}
	k := inlining{w, callee}
	inner := b.inlined[k]
	if inner == nil {
		inner = new(body)
		b.inlined[k] = inner
	}
	return inner
}

// entry estimates how often a function was entered: as often as its first location ran.
func (b *body) entry() uint64 {
	for b != nil {
		var first *where
		for w := range b.counts {
			if first == nil || w.compare(*first) < 0 {
				first = &w
			}
		}
		if first != nil {
			return b.counts[*first].total()
		}
		var next *inlining
		for k := range b.inlined {
			if next == nil || cmp.Or(k.where.compare(next.where), cmp.Compare(k.callee.name, next.callee.name)) < 0 {
				next = &k
			}
		}
		if next == nil {
			break
		}
		b = b.inlined[*next]
	}
	return 0
}

// records puts a body into the form of package profile.
func (b *body) records(to *profile.Body, ref func(symbol) profile.SymbolRef, callee func(*function) (profile.SymbolRef, bool)) {
	type level struct {
		body *body
		left []inlining
	}
	enter := func(b *body) level {
		for w, c := range b.counts {
			to.Count(w.line, w.discriminator, c.total())
		}
		for t, n := range b.calls {
			if s, ok := callee(t.callee); ok {
				to.Call(t.line, t.discriminator, s, n)
			}
		}
		l := level{body: b}
		for k := range b.inlined {
			l.left = append(l.left, k)
		}
		slices.SortFunc(l.left, func(a, b inlining) int {
			return cmp.Or(b.where.compare(a.where), cmp.Compare(b.callee.name, a.callee.name), cmp.Compare(b.callee.file, a.callee.file))
		})
		return l
	}
	stack := []level{enter(b)} // and not the machine's: the depth is that of the file
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		n := len(top.left)
		if n == 0 {
			if stack = stack[:len(stack)-1]; len(stack) > 0 {
				to.Leave()
			}
			continue
		}
		k := top.left[n-1]
		top.left = top.left[:n-1]
		to.Enter(k.line, k.discriminator, ref(k.callee))
		stack = append(stack, enter(top.body.inlined[k]))
	}
}
