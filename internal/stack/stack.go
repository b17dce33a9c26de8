// Package stack has a stack that takes no more memory than what is on it: a slice that grows is in
// memory twice while it is copied, which tells where a file nests bodies a million deep.
package stack

// firstPage is how many values fit before the stack is in pages, and pageLen how many a page holds.
const (
	firstPage = 16
	pageLen   = 1 << 12
)

// A Stack is a stack of values. The zero Stack is empty.
type Stack[T any] struct {
	top  []T   // the page at hand, empty if the stack is
	full [][]T // the pages beneath
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

// Empty reports whether there is nothing on the stack.
func (s *Stack[T]) Empty() bool { return len(s.top) == 0 }

// Clear takes all values off the stack, and keeps a page for those to come.
func (s *Stack[T]) Clear() {
	if len(s.full) > 0 {
		s.top, s.full = s.full[0], nil
	}
	s.top = s.top[:0]
}
