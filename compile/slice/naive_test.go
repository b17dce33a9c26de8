package slice

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/compile/slice/internal/cxx"
	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/compile/slice/internal/quantize"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A naiveSlice selects a slice as Select does, in a slow and simple way: it compares every two
// symbols, until there is nothing left to add.
type naiveSlice struct {
	p       *profile.Profile
	q       Request
	own     map[profile.SymbolRef]bool
	follow  map[profile.SymbolRef]bool
	names   map[profile.SymbolRef]bool
	callers map[profile.SymbolRef]bool
	samples map[profile.SymbolRef][]profile.Record // of callers
}

func selectNaively(p *profile.Profile, q Request) *naiveSlice {
	n := &naiveSlice{
		p: p, q: q,
		own:     make(map[profile.SymbolRef]bool),
		follow:  make(map[profile.SymbolRef]bool),
		names:   make(map[profile.SymbolRef]bool),
		callers: make(map[profile.SymbolRef]bool),
	}
	for s := range n.all() {
		path := p.UnitPath(p.SymbolUnit(s))
		if slices.Contains(q.Units, path) && path != "" {
			n.own[s], n.follow[s] = true, q.Text == nil
		}
		if path == "" && q.Text == nil {
			n.own[s] = true
		}
	}
	for n.grow() {
	}
	if q.Text != nil {
		for s := range n.all() {
			if slices.Contains(q.Text.names(), cxx.KeyOf(p.SymbolName(s))) && n.inText(p.SymbolName(s)) {
				n.own[s] = true
			}
		}
	}
	for s := range n.own {
		n.names[s] = true
		n.addNames(s, n.records(s))
	}
	if q.Target != Version2 {
		for s, f := range p.Functions() {
			for _, r := range f.Records {
				if r.Kind == profile.KindInlined && n.own[r.Callee] && !n.own[s] {
					n.callers[s] = true
				}
			}
		}
	}
	n.samples = n.condensed()
	for s, records := range n.samples {
		n.addNames(s, records)
		n.addName(s)
	}
	if q.Target == Version2 && q.Text != nil {
		n.dropUnused()
	}
	return n
}

// dropUnused removes the names from the slice that do not change what the compiler finds. To find
// out, it performs the compiler's search for each name, and for each name at which a search may
// continue.
func (n *naiveSlice) dropUnused() {
	used := make(map[profile.SymbolRef]bool)
	for s := range n.own {
		if n.p.Function(s) != nil {
			used[s] = true
			for _, r := range n.records(s) {
				if r.Kind != profile.KindCount {
					used[r.Callee] = true
				}
			}
		}
	}
	var idle []profile.SymbolRef
	for s := range n.names {
		name := n.p.SymbolName(s)
		cut, key := symname.Canonical(name), cxx.KeyOf(name)
		needed := key == "" || key == cxx.OddKey || key == cxx.ConversionKey || n.q.Text.isLabel(cut)
		for u := range used {
			other := n.p.SymbolName(u)
			needed = needed || symname.Canonical(other) == cut
			for o := range n.names {
				plain := mayBeStructor(cut) || !cxx.IsMangled(n.p.SymbolName(o)) && cxx.KeyOf(n.p.SymbolName(o)) == key
				if !cxx.IsMangled(name) {
					plain = cxx.IsMangled(other) && mayBeStructor(other)
				}
				needed = needed || cxx.KeyOf(other) == key && plain
			}
		}
		if !needed {
			idle = append(idle, s)
		}
	}
	for _, s := range idle {
		delete(n.names, s)
	}
}

func (n *naiveSlice) all() func(func(profile.SymbolRef) bool) {
	return func(yield func(profile.SymbolRef) bool) {
		for s := range n.p.NumSymbols() {
			if !yield(profile.SymbolRef(s)) {
				return
			}
		}
	}
}

func (n *naiveSlice) records(s profile.SymbolRef) []profile.Record {
	if f := n.p.Function(s); f != nil {
		return f.Records
	}
	return nil
}

// mayBeLocal reports whether several units may each have a different function with the name of a
// symbol.
func (n *naiveSlice) mayBeLocal(s profile.SymbolRef) bool {
	name := n.p.SymbolName(s)
	return n.unmangled(name) || cxx.IsMangled(name) && cxx.IsInternal(name)
}

// unmangled reports whether a name is in the form of debug info. If it is the name of a template's
// instance, the text must also contain the words of the template's arguments.
func (n *naiveSlice) unmangled(name string) bool {
	return !cxx.IsMangled(name) && (!strings.Contains(name, "<") || n.q.Text == nil || n.inText(name))
}

// inText reports whether the text contains all words of a mangled name.
func (n *naiveSlice) inText(name string) bool {
	name = symname.Canonical(name)
	if !cxx.IsMangled(name) {
		lambda := cxx.KeyOf(name) == "operator()" || cxx.KeyOf(name) == "_FUN"
		return (!lambda || n.q.Text.defines(cxx.KeyOf(name))) && cxx.TemplateWords(name, n.q.Text.has)
	}
	if cxx.IsOtherInvoke(name) && !n.q.Text.defines(cxx.Invoker) {
		return false
	}
	return cxx.DemangledIdentifiers(name, func(word string) bool {
		return strings.HasPrefix(word, "__") || isUnnamed(word) || slices.Contains(implicitNames, word) || n.q.Text.has(word)
	}) && cxx.Scopes(name, func(word string) bool { return isUnnamed(word) || n.q.Text.hasScope(word) })
}

func (n *naiveSlice) grow() bool {
	grown := false
	add := func(set map[profile.SymbolRef]bool, s profile.SymbolRef) {
		grown = grown || !set[s]
		set[s] = true
	}
	for s, follow := range n.follow {
		if !follow {
			continue
		}
		add(n.own, s)
		for _, r := range n.records(s) {
			if r.Kind == profile.KindInlined {
				add(n.follow, r.Callee)
			}
		}
	}
	for s := range n.own {
		name := n.p.SymbolName(s)
		for o := range n.all() {
			other := n.p.SymbolName(o)
			same := cxx.KeyOf(name) == cxx.KeyOf(other) && cxx.KeyOf(name) != "" && cxx.KeyOf(name) != cxx.OddKey
			if symname.Canonical(name) == symname.Canonical(other) ||
				same && cxx.IsMangled(name) && n.unmangled(other) ||
				same && !cxx.IsMangled(name) && (n.mayBeLocal(o) || n.q.Text != nil && n.inText(other)) {
				add(n.own, o)
			}
		}
	}
	return grown
}

func (n *naiveSlice) addNames(s profile.SymbolRef, records []profile.Record) {
	for _, r := range records {
		if r.Kind != profile.KindCount {
			n.addName(r.Callee)
		}
	}
}

func (n *naiveSlice) addName(s profile.SymbolRef) {
	name := n.p.SymbolName(s)
	n.names[s] = true
	if n.own[s] {
		return
	}
	for o := range n.all() {
		other := n.p.SymbolName(o)
		if symname.Canonical(name) == symname.Canonical(other) || !cxx.IsMangled(name) && cxx.KeyOf(name) == cxx.KeyOf(other) && (n.mayBeLocal(o) || n.q.Text != nil && n.inText(other)) {
			n.names[o] = true
		}
	}
}

// pruned keeps those records that are inlined bodies of the slice's own functions, and the bodies
// that contain these.
func (n *naiveSlice) pruned(records []profile.Record) []profile.Record {
	var kept []profile.Record
	for i := 0; i < len(records); {
		r := records[i]
		if r.Kind != profile.KindInlined {
			i++
			continue
		}
		inside := records[i+1 : i+1+int(r.Count)]
		i += 1 + len(inside)
		if !n.own[r.Callee] {
			inside = n.pruned(inside)
			r.Count = uint64(len(inside))
		}
		if len(inside) > 0 || n.own[r.Callee] {
			kept = append(append(kept, r), inside...)
		}
	}
	return kept
}

// profile returns the selected slice as a profile.
func (n *naiveSlice) profile() *profile.Profile {
	p := profile.New()
	refs := make(map[program.ID]profile.SymbolRef)
	for s := range n.names {
		refs[program.ID(s)] = p.AddSymbol(p.AddUnit(n.p.UnitPath(n.p.SymbolUnit(s))), n.p.SymbolName(s))
	}
	for s := range n.names {
		f := n.p.Function(s)
		records, ok := n.samples[s]
		if f == nil || !n.own[s] && !ok {
			continue
		}
		head := f.HeadCount
		if ok {
			head = 0
		} else {
			records = f.Records
		}
		var body profile.Body
		quantize.Records(&body, records, refsOf(refs), n.q.Bits)
		p.AddFunction(refs[program.ID(s)], profile.Function{
			HeadCount: quantize.Count(head, n.q.Bits), Timestamp: f.Timestamp, Records: body.Records(),
		})
	}
	return p
}

// TestSelectNaively compares slices of random profiles with those that naiveSlice selects.
func TestSelectNaively(t *testing.T) {
	for seed := range uint64(testenv.Rounds(30, 150)) {
		p := randomProfile(seed)
		program := FromProfile(p)
		for q := range randomRequests(p, seed) {
			want := selectNaively(p, q)
			got, err := program.Select(q)
			require.NoError(t, err)
			require.NoError(t, profile.Compare(want.profile(), got), "seed %d, %+v", seed, q)
			summary := p.Summarize()
			if got.NumFunctions() == 0 { // totals would mean that the slice has lost functions
				summary = &afdo.Summary{MaxCount: summary.MaxCount, Entries: summary.Entries}
			}
			assert.Equal(t, summary, got.Summary)
			if t.Failed() {
				return
			}
		}
	}
}
