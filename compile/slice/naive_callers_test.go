package slice

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/profile"
)

// A naiveBody is the body of a function of the slice, inlined into a function of another unit, the
// caller.
type naiveBody struct {
	caller, callee profile.SymbolRef
	records        []profile.Record
}

// condensed returns the samples of the callers in a slice, functions of other units. It adds up
// inlined bodies that look alike, which it finds by comparing every two of them.
func (n *naiveSlice) condensed() map[profile.SymbolRef][]profile.Record {
	samples := make(map[profile.SymbolRef][]profile.Record)
	var bodies []naiveBody
	var callers []profile.SymbolRef
	for s := range n.callers {
		callers = append(callers, s)
	}
	slices.SortFunc(callers, n.compareCallers)
	for _, s := range callers {
		clones := 0
		for o := range n.callers {
			if symname.Canonical(n.p.SymbolName(o)) == symname.Canonical(n.p.SymbolName(s)) {
				clones++
			}
		}
		if clones > 1 {
			samples[s] = n.pruned(n.records(s))
			continue
		}
		bodies = append(bodies, n.bodies(s, n.records(s))...)
	}
	lines := make(map[profile.SymbolRef]uint32)
	sums := make(map[profile.SymbolRef]*profile.Body)
	for i, b := range bodies {
		if n.place(bodies, i) != i {
			continue
		}
		if sums[b.caller] == nil {
			sums[b.caller] = new(profile.Body)
		}
		lines[b.caller]++
		for j, part := range bodies {
			if n.place(bodies, j) == i {
				sums[b.caller].Enter(lines[b.caller], 0, b.callee)
				quantize.Records(sums[b.caller], part.records, func(s profile.SymbolRef) profile.SymbolRef { return s }, 0)
				sums[b.caller].Leave()
			}
		}
	}
	for s, sum := range sums {
		samples[s] = sum.Records()
	}
	return samples
}

func (n *naiveSlice) compare(a, b profile.SymbolRef) int {
	return cmp.Or(strings.Compare(n.p.SymbolName(a), n.p.SymbolName(b)),
		strings.Compare(n.p.UnitPath(n.p.SymbolUnit(a)), n.p.UnitPath(n.p.SymbolUnit(b))))
}

// compareCallers orders functions by file, with unknown files last, and then by name.
func (n *naiveSlice) compareCallers(a, b profile.SymbolRef) int {
	key := func(s profile.SymbolRef) string {
		path := n.p.UnitPath(n.p.SymbolUnit(s))
		if path == "" {
			path = "\xff"
		}
		return path + "\x00" + n.p.SymbolName(s)
	}
	return strings.Compare(key(a), key(b))
}

// A callsite is the record of an inlined call, with the records of the inlined body.
type callsite struct {
	profile.Record
	inside []profile.Record
}

func (n *naiveSlice) callsites(records []profile.Record) (sites []callsite) {
	for i := 0; i < len(records); i++ {
		if r := records[i]; r.Kind == profile.KindInlined {
			sites = append(sites, callsite{r, records[i+1 : i+1+int(r.Count)]})
			i += int(r.Count)
		}
	}
	slices.SortFunc(sites, func(a, b callsite) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Discriminator, b.Discriminator), n.compare(a.Callee, b.Callee))
	})
	return sites
}

func (n *naiveSlice) bodies(caller profile.SymbolRef, records []profile.Record) (bodies []naiveBody) {
	for _, site := range n.callsites(records) {
		if n.own[site.Callee] {
			bodies = append(bodies, naiveBody{caller, site.Callee, site.inside})
		} else {
			bodies = append(bodies, n.bodies(caller, site.inside)...)
		}
	}
	return bodies
}

// place returns the inlined body to which the counts of body i are added: the first one that looks
// alike, or body i itself if it has the earliest timestamp.
func (n *naiveSlice) place(bodies []naiveBody, i int) int {
	first, earliest := i, i
	time := func(i int) uint64 { return n.p.Function(bodies[i].caller).Timestamp - 1 } // none is the latest
	for j := range bodies {
		if n.alike(bodies[i], bodies[j]) {
			first = min(first, j)
			if time(j) < time(earliest) || time(j) == time(earliest) && j < earliest {
				earliest = j
			}
		}
	}
	if earliest == i {
		return i
	}
	return first
}

func (n *naiveSlice) alike(a, b naiveBody) bool {
	x, y := n.callsites(a.records), n.callsites(b.records)
	alike := a.callee == b.callee && len(x) == len(y) && n.summable(a) && n.summable(b)
	for i := range x {
		alike = alike && x[i].Line == y[i].Line && x[i].Discriminator == y[i].Discriminator && x[i].Callee == y[i].Callee
	}
	return alike
}

// summable reports whether a body may be added to others: it has samples of its own, the bodies
// inlined in it have no further ones, and GCC does not rename their functions.
func (n *naiveSlice) summable(b naiveBody) bool {
	var own []profile.Record
	for i := 0; i < len(b.records); i++ {
		if r := b.records[i]; r.Kind == profile.KindInlined {
			inside := b.records[i+1 : i+1+int(r.Count)]
			if !hasTotal(inside) || len(n.callsites(inside)) > 0 {
				return false
			}
			i += int(r.Count)
		} else {
			own = append(own, r)
		}
	}
	return hasTotal(own) && hasTotal(b.records) && !slices.ContainsFunc(b.records, func(r profile.Record) bool {
		name := n.p.SymbolName(r.Callee)
		return r.Kind != profile.KindCount && (strings.Contains(name, ".") || n.own[r.Callee] && !strings.HasPrefix(name, "_Z"))
	})
}
