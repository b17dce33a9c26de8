package profile

import (
	"slices"

	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/internal/stack"
)

// A joiner merges two canonical bodies in one pass. It copies inlined bodies that only one of them
// has.
type joiner struct {
	at, end pair // positions and ends in the current bodies
	outer   stack.Stack[inlinedInBoth]
}

// A pair is a position in each of two bodies.
type pair struct{ a, b int }

// inlinedInBoth is an inlined body that both bodies have, and that is being merged.
type inlinedInBoth struct {
	head int  // index of its KindInlined record in the output
	end  pair // ends of the enclosing bodies
}

// join appends the canonical form of a and b to dst, which must not overlap them. Equal counts and
// calls are summed, saturating.
func (j *joiner) join(dst, a, b []Record) []Record {
	dst = slices.Grow(dst, len(a)+len(b))
	j.at, j.end = pair{}, pair{len(a), len(b)}
	for {
		dst = j.siblings(dst, a, b)
		if j.outer.Empty() {
			return dst
		}
		o := j.outer.Pop()
		dst[o.head].Count = uint64(len(dst) - o.head - 1)
		j.end = o.end
	}
}

// siblings merges the current bodies to their ends, including inlined bodies that both have.
func (j *joiner) siblings(dst, a, b []Record) []Record {
	at, end := j.at, j.end
	for at.a < end.a && at.b < end.b {
		r, s := &a[at.a], &b[at.b]
		switch order := r.place().compare(s.place()); {
		case order < 0:
			next := r.end(at.a)
			dst, at.a = append(dst, a[at.a:next]...), next
		case order > 0:
			next := s.end(at.b)
			dst, at.b = append(dst, b[at.b:next]...), next
		case r.Kind == KindInlined:
			j.outer.Push(inlinedInBoth{head: len(dst), end: end})
			end = pair{r.end(at.a), s.end(at.b)}
			dst, at = append(dst, *r), pair{at.a + 1, at.b + 1}
		default:
			dst, at = append(dst, *r), pair{at.a + 1, at.b + 1}
			last := &dst[len(dst)-1]
			last.Count = saturating.Add(last.Count, s.Count)
		}
	}
	j.at = end
	return append(append(dst, a[at.a:end.a]...), b[at.b:end.b]...)
}
