package profile

// A table is a list that grows without copying. A slice of a million functions would temporarily
// take twice its size when it grows. The zero table is empty.
type table[T any] struct {
	pages [][]T
	len   int
}

const pageLen = 1 << 10

func (t *table[T]) at(i int) *T { return &t.pages[uint(i)/pageLen][uint(i)%pageLen] }

func (t *table[T]) append(v T) {
	switch {
	case t.len == 0:
		t.pages = [][]T{nil} // the first page grows, which saves memory for small profiles
	case t.len%pageLen == 0:
		t.pages = append(t.pages, make([]T, 0, pageLen))
	}
	last := &t.pages[len(t.pages)-1]
	*last = append(*last, v)
	t.len++
}
