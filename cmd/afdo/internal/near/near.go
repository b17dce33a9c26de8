// Package near finds names similar to a name that was not found, to suggest them to the user.
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
	maxNear       = 5   // number of similar names that are suggested
	maxEditLength = 128 // length of the longest name whose edit distance is computed, which takes the square of the length
)

// Names collects candidates that are similar to a name that was not found, to suggest the best of
// them to the user.
type Names struct {
	want  string
	found []nearName
}

type nearName struct {
	name     string
	distance int
	order    int
}

// Add adds a candidate. key is the part of name that is compared with the name that was not found,
// such as the last element of a path.
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

// New returns an empty list of suggestions for the name want, which was not found.
func New(want string) *Names { return &Names{want: want} }

// prune keeps the maxNear candidates that are most similar to the wanted name. Of equally similar
// ones, it keeps those that were added first.
func (n *Names) prune() {
	slices.SortStableFunc(n.found, func(a, b nearName) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.order, b.order))
	})
	n.found = n.found[:min(len(n.found), maxNear)]
	for i := range n.found {
		n.found[i].order = i
	}
}

// Best returns the candidates that are most similar to the wanted name, the most similar first. It
// leaves out those with more than twice the distance of the first.
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

// distance returns how much key differs from want, ignoring case: 0 if they are equal, 1 if one
// contains the other, and more for each wrong letter. A key with scopes, such as "a::b::c", is also
// compared without its first scopes, as "b::c" and "c". Then the smallest distance counts. The
// second result is false if key is not similar.
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

// leastBegun is the length from which a typed name is compared with the beginnings of longer names.
// A shorter name would match too many, because many names begin with nearly the same two or three
// letters.
const leastBegun = 4

// letters returns 1 plus the number of wrong letters, or 2 plus that number if want is only similar
// to the beginning of key. It returns false if key is not similar.
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

// swapped reports whether two names are equal but for two neighbouring letters that are swapped.
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

// NotFound returns the error for a name that was not found. what is "unit" or "symbol", and names
// are suggestions. [errors.Is] finds afdo.ErrNotFound in it.
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
