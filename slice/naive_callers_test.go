package slice

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/slice/internal/quantize"
)

// A naiveBody is a function of a slice's own that is inlined in a caller.
type naiveBody struct {
	caller, callee profile.SymbolRef
	records        []profile.Record
}

// condensed returns the samples that a slice has of callers: it compares every two bodies.
func (n *naiveSlice) condensed() map[profile.SymbolRef][]profile.Record {
	samples := make(map[profile.SymbolRef][]profile.Record)
	var bodies []naiveBody
	var callers []profile.SymbolRef
	for s := range n.callers {
		callers = append(callers, s)
	}
	slices.SortFunc(callers, n.compare)
	for _, s := range callers {
		clones := 0
		for o := range n.callers {
			if canonical.Name(n.p.SymbolName(o)) == canonical.Name(n.p.SymbolName(s)) {
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

// A callsite is an inlined call and what is inside.
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

// place returns the body to which another one is added.
func (n *naiveSlice) place(bodies []naiveBody, i int) int {
	best, bestTime := i, n.p.Function(bodies[i].caller).Timestamp
	for j := range bodies {
		if !n.alike(bodies[i], bodies[j]) {
			continue
		}
		if t := n.p.Function(bodies[j].caller).Timestamp; t == bestTime && j < best || t != 0 && (t < bestTime || bestTime == 0) {
			best, bestTime = j, t
		}
	}
	return best
}

func (n *naiveSlice) alike(a, b naiveBody) bool {
	x, y := n.callsites(a.records), n.callsites(b.records)
	alike := a.callee == b.callee && len(x) == len(y) && hasTotal(a.records) && hasTotal(b.records)
	for i := range x {
		alike = alike && hasTotal(x[i].inside) && hasTotal(y[i].inside) && len(n.callsites(x[i].inside)) == 0 && len(n.callsites(y[i].inside)) == 0 &&
			x[i].Line == y[i].Line && x[i].Discriminator == y[i].Discriminator && x[i].Callee == y[i].Callee
	}
	return alike
}
