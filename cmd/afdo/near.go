package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

const (
	maxNear       = 5   // near matches that are named
	maxEditLength = 128 // of names whose edit distance is worth its square
)

// A nearest finds the names that are most like one that was not found.
type nearest struct {
	want  string
	found []nearName
}

type nearName struct {
	name     string
	distance int
	order    int
}

// add offers a name. key is what of it is compared with what is wanted.
func (n *nearest) add(name, key string) {
	d, ok := distance(n.want, key)
	if !ok {
		return
	}
	n.found = append(n.found, nearName{name, d, len(n.found)})
	if len(n.found) > 16*maxNear {
		n.prune()
	}
}

// prune keeps the best of what was found, the first ones of the same distance.
func (n *nearest) prune() {
	slices.SortStableFunc(n.found, func(a, b nearName) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.order, b.order))
	})
	n.found = n.found[:min(len(n.found), maxNear)]
	for i := range n.found {
		n.found[i].order = i
	}
}

// names returns the best names, best first, and none much worse than the best.
func (n *nearest) names() []string {
	n.prune()
	var names []string
	for _, f := range n.found {
		if f.distance <= 2*n.found[0].distance && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}

// distance tells how far key is from what was wanted, false if too far to be
// meant: 0 if equal, 1 if one is part of the other, more with every letter that is wrong.
func distance(want, key string) (int, bool) {
	if want == key {
		return 0, true
	}
	if want == "" || key == "" {
		return 0, false
	}
	if strings.Contains(key, want) || len(key) > 3 && strings.Contains(want, key) {
		return 1, true
	}
	limit := max(1, min(len(want), len(key))/3)
	if len(want) > maxEditLength || len(key) > maxEditLength || len(want)-len(key) > limit || len(key)-len(want) > limit {
		return 0, false
	}
	d := levenshtein.ComputeDistance(want, key)
	return 1 + d, d <= limit
}
