package create

import (
	"maps"
	"slices"
)

// tailCalls finds functions that are missing in a call stack. They are missing because they ended
// with a jump to the next function instead of a call. Like llvm-profgen, it searches for a sequence
// of recorded jumps from the called function to the next function on the stack. It accepts a
// sequence only if there is no other one.
type tailCalls struct {
	callees map[uint64][]string // by address of a call: names of the functions called there, sorted
	jumps   map[string][]uint64 // by name of a function: addresses of its jumps to other functions, sorted
	targets map[uint64][]string // by address of such a jump: names of its targets, sorted
	known   map[[2]string]jumpPaths
}

// jumpPaths describes the sequences of jumps that lead from one function to another. If there is
// exactly one sequence, jumps has the addresses of its jumps.
type jumpPaths struct {
	count int // number of sequences, 2 for two or more
	jumps []uint64
}

// maxTailCalls limits the number of functions in a sequence of tail calls.
const maxTailCalls = 64

// newTailCalls collects the calls, and the jumps between functions, that the samples contain.
func (b *contextBuilder) newTailCalls(u *unwinder) *tailCalls {
	t := &tailCalls{make(map[uint64][]string), make(map[string][]uint64), make(map[uint64][]string), make(map[[2]string]jumpPaths)}
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
			t.callees[branch.from] = insertSorted(t.callees[branch.from], to.name.name)
		case in.Jumps && in.Leaves && from.name.name != to.name.name:
			t.targets[branch.from] = insertSorted(t.targets[branch.from], to.name.name)
			t.jumps[from.name.name] = insertSorted(t.jumps[from.name.name], branch.from)
		}
	}
	return t
}

// insertSorted inserts a value into a sorted list unless the list contains the value.
func insertSorted[T uint64 | string](list []T, one T) []T {
	if i, found := slices.BinarySearch(list, one); !found {
		list = slices.Insert(list, i, one)
	}
	return list
}

// between returns the jumps by which tail calls led from the callee of a call to the function named
// to. call is the address of the call instruction. It returns nil if the call itself leads to that
// function, or if several sequences of tail calls are possible.
func (t *tailCalls) between(call uint64, to string) []uint64 {
	callees := t.callees[call]
	if slices.Contains(callees, to) {
		return nil
	}
	var only jumpPaths
	for _, callee := range callees {
		if only = only.or(t.paths(callee, to, nil)); only.count > 1 {
			return nil
		}
	}
	return only.jumps
}

// or returns the union of the sequences of jumps that w and other describe.
func (w jumpPaths) or(other jumpPaths) jumpPaths {
	if w.count == 0 {
		return other
	}
	if w.count += other.count; w.count > 1 {
		return jumpPaths{count: 2}
	}
	return w
}

// paths searches for the sequences of jumps from one function to another. around lists the
// functions that the search has already passed, because a sequence contains no function twice.
func (t *tailCalls) paths(from, to string, around []string) jumpPaths {
	if from == to {
		return jumpPaths{count: 1}
	}
	if len(around) == maxTailCalls || slices.Contains(around, from) {
		return jumpPaths{}
	}
	key := [2]string{from, to}
	if w, known := t.known[key]; known {
		return w
	}
	var only jumpPaths
	for _, jump := range t.jumps[from] {
		for _, target := range t.targets[jump] {
			w := t.paths(target, to, append(around, from))
			w.jumps = append([]uint64{jump}, w.jumps...)
			only = only.or(w)
		}
	}
	if only.count != 1 {
		only.jumps = nil
	}
	t.known[key] = only
	return only
}
