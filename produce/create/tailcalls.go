package create

import (
	"maps"
	"slices"
)

// A function that ends with the call of another may jump there, and is on no call stack then.
// tailCalls finds the functions that are missing between a call on a stack and the function that
// is next on it, as llvm-profgen does: if there is one way only from one to the other by jumps
// that were seen, it is the way that was taken.
type tailCalls struct {
	callees map[uint64][]string // of calls that were seen, by address: functions by name, sorted
	jumps   map[string][]uint64 // of functions to others, by name: addresses, sorted
	targets map[uint64][]string // of these jumps, sorted
	known   map[[2]string]way
}

// A way is what leads from one function to another: jumps, if it is the only one.
type way struct {
	ways  int // 2 for more than one
	jumps []uint64
}

// maxTailCalls is how many functions are looked for between two.
const maxTailCalls = 64

// newTailCalls takes what calls and jumps were seen.
func (b *contextBuilder) newTailCalls(u *unwinder) *tailCalls {
	t := &tailCalls{make(map[uint64][]string), make(map[string][]uint64), make(map[uint64][]string), make(map[[2]string]way)}
	seen := make(map[codeBranch]bool)
	for _, c := range u.contexts {
		for branch := range c.branches {
			seen[branch] = true
		}
	}
	for _, branch := range slices.SortedFunc(maps.Keys(seen), codeBranch.compare) {
		from, to := b.function(branch.from), b.function(branch.to)
		if from == nil || to == nil {
			continue
		}
		switch in := u.code.decode(branch.from); {
		case in.Calls:
			t.callees[branch.from] = with(t.callees[branch.from], to.name.name)
		case in.Jumps && in.Leaves && from.name.name != to.name.name:
			t.targets[branch.from] = with(t.targets[branch.from], to.name.name)
			t.jumps[from.name.name] = with(t.jumps[from.name.name], branch.from)
		}
	}
	return t
}

// with adds a value to a sorted list unless the list contains it.
func with[T uint64 | string](list []T, one T) []T {
	if i, found := slices.BinarySearch(list, one); !found {
		list = slices.Insert(list, i, one)
	}
	return list
}

// between returns the jumps that lead from a call to a function that it does not call.
func (t *tailCalls) between(call uint64, to string) []uint64 {
	callees := t.callees[call]
	if slices.Contains(callees, to) {
		return nil
	}
	var only way
	for _, callee := range callees {
		if only = only.or(t.way(callee, to, nil)); only.ways > 1 {
			return nil
		}
	}
	return only.jumps
}

// or returns the way that there is if there are two sets of them.
func (w way) or(other way) way {
	if w.ways == 0 {
		return other
	}
	if w.ways += other.ways; w.ways > 1 {
		return way{ways: 2}
	}
	return w
}

// way returns the way from one function to another that does not come through those around it.
func (t *tailCalls) way(from, to string, around []string) way {
	if from == to {
		return way{ways: 1}
	}
	if len(around) == maxTailCalls || slices.Contains(around, from) {
		return way{}
	}
	key := [2]string{from, to}
	if w, known := t.known[key]; known {
		return w
	}
	var only way
	for _, jump := range t.jumps[from] {
		for _, target := range t.targets[jump] {
			w := t.way(target, to, append(around, from))
			w.jumps = append([]uint64{jump}, w.jumps...)
			only = only.or(w)
		}
	}
	if only.ways != 1 {
		only.jumps = nil
	}
	t.known[key] = only
	return only
}
