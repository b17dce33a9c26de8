// Package lost says in words what a format cannot hold.
package lost

import (
	"fmt"
	"strings"
)

// A List is what was lost, each in a few words.
type List []string

// Add adds n things, if n is not 0. one and many are the words for one thing and for several,
// without the number.
func (l *List) Add(n int, one, many string) {
	switch {
	case n == 1:
		*l = append(*l, "1 "+one)
	case n > 1:
		*l = append(*l, fmt.Sprintf("%d %s", n, many))
	}
}

// AddIf adds one thing, if it was lost.
func (l *List) AddIf(lost bool, what string) {
	if lost {
		*l = append(*l, what)
	}
}

// String returns the list, separated by "; ". It is empty if nothing was lost.
func (l List) String() string { return strings.Join(l, "; ") }
