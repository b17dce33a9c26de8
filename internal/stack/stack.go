// Package stack implements a stack that grows without copying its values. A slice is in memory
// twice while it grows, which matters for files that nest inlined bodies a million deep.
package stack

// Numbers of values in the first page of a small stack, and in every other page.
const (
	firstPage = 16
	pageLen   = 1 << 12
)

// A Stack is a stack of values. The zero Stack is empty.
type Stack[T any] struct {
	top  []T   // the page with the latest value; empty if the stack is empty
	full [][]T // the pages below, which are full
}

// Push puts a value on the stack.
func (s *Stack[T]) Push(v T) {
	if len(s.top) == pageLen {
		s.full = append(s.full, s.top)
		s.top = nil
	}
	if cap(s.top) == 0 {
		n := pageLen
		if len(s.full) == 0 {
			n = firstPage
		}
		s.top = make([]T, 0, n)
	}
	s.top = append(s.top, v)
}

// Pop takes the latest value off the stack. It panics if there is none.
func (s *Stack[T]) Pop() T {
	last := len(s.top) - 1
	v := s.top[last]
	s.top = s.top[:last]
	if last == 0 && len(s.full) > 0 {
		beneath := len(s.full) - 1
		s.top, s.full = s.full[beneath], s.full[:beneath]
	}
	return v
}

// Top returns the latest value, to be changed in place until the next Push or Pop. It panics if
// there is none.
func (s *Stack[T]) Top() *T { return &s.top[len(s.top)-1] }

// Empty reports whether the stack has no values.
func (s *Stack[T]) Empty() bool { return len(s.top) == 0 }

// Clear removes all values, and keeps the memory of one page for later values.
func (s *Stack[T]) Clear() {
	if len(s.full) > 0 {
		s.top, s.full = s.full[0], nil
	}
	s.top = s.top[:0]
}
