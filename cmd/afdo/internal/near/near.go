// Package near finds what may have been meant by a name that is not there.
package near

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/go-afdo/afdo/internal/fault"
)

const (
	maxNear       = 5   // near matches that are named
	maxEditLength = 128 // of names whose edit distance is worth its square
)

// Names finds the names that are most like one that was not found.
type Names struct {
	want  string
	found []nearName
}

type nearName struct {
	name     string
	distance int
	order    int
}

// Add offers a name. key is what of it is compared with what is wanted.
func (n *Names) Add(name, key string) {
	d, ok := distance(n.want, key)
	if !ok {
		return
	}
	n.found = append(n.found, nearName{name, d, len(n.found)})
	if len(n.found) > 16*maxNear {
		n.prune()
	}
}

// New returns what finds names like want.
func New(want string) *Names { return &Names{want: want} }

// prune keeps the best of what was found, the first ones of the same distance.
func (n *Names) prune() {
	slices.SortStableFunc(n.found, func(a, b nearName) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.order, b.order))
	})
	n.found = n.found[:min(len(n.found), maxNear)]
	for i := range n.found {
		n.found[i].order = i
	}
}

// Best returns the best names, best first, and none much worse than the best.
func (n *Names) Best() []string {
	n.prune()
	var names []string
	for _, f := range n.found {
		if f.distance <= 2*n.found[0].distance && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

// distance tells how far key is from what was wanted, false if too far to be meant: 0 if equal, 1
// if one is part of the other, more with every letter that is wrong. Letters of the other case are
// not. Of a key with scopes, "a::b::c", what stands behind one may be meant as well, and the
// beginning of that.
func distance(want, key string) (int, bool) {
	if want == key {
		return 0, true
	}
	if want == "" || key == "" {
		return 0, false
	}
	want, key = strings.ToLower(want), strings.ToLower(key)
	if strings.Contains(key, want) || len(key) > 3 && strings.Contains(want, key) {
		return 1, true
	}
	best, near := 0, false
	for tail, more := key, true; more; _, tail, more = strings.Cut(tail, "::") {
		if d, ok := letters(want, tail); ok && (!near || d < best) {
			best, near = d, true
		}
	}
	return best, near
}

// leastBegun is how long what was typed has to be to be taken for the beginning of a name, wrongly
// spelled: many names begin with nearly the same two or three letters.
const leastBegun = 4

// letters returns how many letters of one name are wrong, and 1; another one if it is only like the
// beginning of the other name.
func letters(want, key string) (int, bool) {
	if len(want) > maxEditLength {
		return 0, false
	}
	if swapped(want, key) {
		return 2, true
	}
	limit := max(1, min(len(want), len(key))/3)
	if len(want)-len(key) <= limit && len(key)-len(want) <= limit {
		if d := levenshtein.ComputeDistance(want, key); d <= limit {
			return 1 + d, true
		}
	}
	if len(want) < leastBegun || len(key) <= len(want) {
		return 0, false
	}
	d := levenshtein.ComputeDistance(want, key[:len(want)])
	return 2 + d, d <= limit
}

// swapped reports whether two neighbouring letters have changed places in a name.
func swapped(want, key string) bool {
	if len(want) != len(key) {
		return false
	}
	for i := range len(want) - 1 {
		if want[i] != key[i] {
			return want[i] == key[i+1] && want[i+1] == key[i] && want[i+2:] == key[i+2:]
		}
	}
	return false
}

// NotFound is the error for a name that is not there: what is "unit" or "symbol", and the names are
// those that may have been meant. [errors.Is] finds afdo.ErrNotFound in it.
func NotFound(what, name string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%s %q: %w", what, name, fault.ErrNotFound)
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return fmt.Errorf("%s %q: %w, near: %s", what, name, fault.ErrNotFound, strings.Join(quoted, ", "))
}
