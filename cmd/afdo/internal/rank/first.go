package rank

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/go-afdo/afdo/profile"
)

// First sorts the n first of all, which it reorders, and returns them. It takes O(len(all) log n).
func First[T any](all []T, n int, compare func(a, b T) int) []T {
	if n >= len(all) {
		slices.SortFunc(all, compare)
		return all
	}
	h := &lastOnTop[T]{all[:n], compare}
	heap.Init(h)
	for i := n; i < len(all) && n > 0; i++ {
		if compare(all[i], all[0]) < 0 {
			all[0], all[i] = all[i], all[0]
			heap.Fix(h, 0)
		}
	}
	slices.SortFunc(all[:n], compare)
	return all[:n]
}

// A lastOnTop is a heap of a fixed size, with the item on top that comes last.
type lastOnTop[T any] struct {
	items   []T
	compare func(a, b T) int
}

func (h *lastOnTop[T]) Len() int           { return len(h.items) }
func (h *lastOnTop[T]) Less(i, j int) bool { return h.compare(h.items[i], h.items[j]) > 0 }
func (h *lastOnTop[T]) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *lastOnTop[T]) Push(any)           {}
func (h *lastOnTop[T]) Pop() any           { return nil }

// Hottest returns the n symbols with the most own samples, those with the same number by total,
// name and unit, and the number of all sampled symbols.
func Hottest(p *profile.Profile, r *Ranking, n int) (hottest []profile.SymbolRef, sampled int) {
	var all []profile.SymbolRef
	for i := range r.Symbols {
		if r.Symbols[i].Sampled() {
			all = append(all, profile.SymbolRef(i))
		}
	}
	sampled = len(all)
	return First(all, n, func(a, b profile.SymbolRef) int {
		x, y := &r.Symbols[a], &r.Symbols[b]
		return cmp.Or(cmp.Compare(y.Own, x.Own), cmp.Compare(y.Total, x.Total),
			cmp.Compare(p.SymbolName(a), p.SymbolName(b)), cmp.Compare(p.UnitPath(p.SymbolUnit(a)), p.UnitPath(p.SymbolUnit(b))))
	}), sampled
}
