// Package lost describes in words the data that a conversion to another format has lost.
package lost

import (
	"fmt"
	"strings"
)

// A List says what a conversion lost. Each element is a number and a few words, such as "2
// timestamps dropped".
type List []string

// Add adds that n things were lost, unless n is 0. one are the words for one thing, and many those
// for several, both without the number.
func (l *List) Add(n int, one, many string) {
	switch {
	case n == 1:
		*l = append(*l, "1 "+one)
	case n > 1:
		*l = append(*l, fmt.Sprintf("%d %s", n, many))
	}
}

// AddIf adds something that has no number, if it was lost.
func (l *List) AddIf(lost bool, what string) {
	if lost {
		*l = append(*l, what)
	}
}

// String returns the list, separated by "; ". It is empty if nothing was lost.
func (l List) String() string { return strings.Join(l, "; ") }
