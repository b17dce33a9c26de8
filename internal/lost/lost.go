// Package lost describes in words the data that a conversion to another format has lost.
package lost

import (
	"fmt"
	"strings"
)

// A List says what a conversion lost. Each element is a number and a few words, such as "2
// timestamps dropped".
type List []string

// Add records that a conversion lost n things, unless n is 0. one are the words for one lost thing,
// and many those for several, both without the number, such as "timestamp dropped" and "timestamps
// dropped".
func (l *List) Add(n int, one, many string) {
	switch {
	case n == 1:
		*l = append(*l, "1 "+one)
	case n > 1:
		*l = append(*l, fmt.Sprintf("%d %s", n, many))
	}
}

// AddIf records that a conversion lost something that is not counted, if lost is true. what
// describes it.
func (l *List) AddIf(lost bool, what string) {
	if lost {
		*l = append(*l, what)
	}
}

// String returns the list, separated by "; ". It is empty if nothing was lost.
func (l List) String() string { return strings.Join(l, "; ") }
