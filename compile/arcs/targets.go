package arcs

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// A site is an indirect call for which a .gcda file has a counter of the functions that were
// called.
type site struct {
	place
	callee  string            // as the dump writes it, such as "c_25(D)"
	targets map[uint32]uint64 // number of calls of each target, by the target's identifier in .gcda files
}

// called returns the beginning of the called expression of a statement. GCC's dump shows a call in
// two places, which only agree in the beginning of the expression. For "_9 =
// OBJ_TYPE_REF(_2;(struct S)_6->2B) (x)" it is "OBJ_TYPE_REF(_2".
func called(text []byte) string {
	if _, value, ok := bytes.Cut(text, []byte(" = ")); ok {
		text = value
	}
	name, _, _ := bytes.Cut(text, []byte(" ("))
	name, _, _ = bytes.Cut(name, []byte(";"))
	return string(name)
}

// isIndirect reports whether a call is through a pointer, given the result of [called]: a variable
// with its version, such as "c_25" or "c_25(D)", or a virtual function. A direct call of a function
// named like "c_25" is taken for an indirect one, which is harmless: GCC counts no targets for it.
func isIndirect(callee string) bool {
	name := strings.TrimRight(callee, "0123456789")
	variable := len(name) < len(callee) && strings.HasSuffix(name, "_")
	return variable || strings.HasSuffix(callee, "(D)") || strings.HasPrefix(callee, "OBJ_TYPE_REF(")
}

// profiled reads a line that GCC's dump has after the body of a function, such as "Stmt _27 =
// c_25(D) (_10, &x);". GCC writes such a line for each statement whose values it counts, in the
// order of the counters. For an indirect call, the counted values are the called functions.
// profiled adds each indirect call to the function's sites.
func (p *dumpParser) profiled(text []byte) {
	name := called(text)
	for i, s := range p.pending {
		if s.callee == name {
			p.last.sites = append(p.last.sites, s)
			p.pending = p.pending[i+1:]
			return
		}
	}
	if isIndirect(name) && isCall(text) {
		p.last.sites, p.pending = append(p.last.sites, site{callee: name}), nil
	} else {
		p.last.valued++
	}
}

// addTargets adds the call targets in the profile to the indirect calls of the unit with the same
// source positions.
func (u *unit) addTargets(p *profile.Profile, notes *gcda.Notes) {
	l := newLineReader(p, notes)
	for s, f := range p.Functions() {
		chain := []profile.SymbolRef{s}
		w := profile.Walk(f.Records)
		for r, depth, ok := w.Next(); ok; r, depth, ok = w.Next() {
			chain = chain[:depth+1]
			switch r.Kind {
			case profile.KindInlined:
				chain = append(chain, r.Callee)
			case profile.KindCall:
				if at, known := l.position(chain[depth], r); known {
					u.addTarget(p, chain, u.at(at), r)
				}
			}
		}
	}
}

// addTarget adds the call target of record r, which is at source position at, to an indirect call.
// chain has the function that contains the call, preceded by the functions into which it was
// inlined, the outermost first. The target belongs to the first function of the chain with an
// indirect call at the position.
func (u *unit) addTarget(p *profile.Profile, chain []profile.SymbolRef, at place, r *profile.Record) {
	for _, s := range chain {
		f := u.function(p.SymbolName(s), 0)
		if f == nil {
			continue
		}
		sites := f.sitesAt(at)
		for _, s := range sites {
			if s.targets == nil {
				s.targets = make(map[uint32]uint64)
			}
			s.targets[u.identifier(p.SymbolName(r.Callee))] += r.Count
		}
		if len(sites) > 0 {
			return
		}
	}
}

// sitesAt returns the function's indirect calls in the line of a source position. If some of these
// calls have the discriminator of the position, it returns only those calls.
func (f *function) sitesAt(at place) (sites []*site) {
	exact := false
	for i := range f.body.sites {
		s := &f.body.sites[i]
		if s.file != at.file || s.line != at.line {
			continue
		}
		if same := s.discriminator == at.discriminator; same && !exact {
			sites, exact = nil, true
		} else if exact && !same {
			continue
		}
		sites = append(sites, s)
	}
	return sites
}

// identifier returns the number of a function in .gcda files, given its linkage name. The .gcno
// file has the numbers of all functions that the unit defines. The number of a function of another
// unit, which GCC finds with -flto, is a checksum of its name.
func (u *unit) identifier(name string) uint32 {
	if f := u.function(name, 0); f != nil {
		return f.Ident
	}
	sum := uint32(0)
	for _, c := range append([]byte(name), 0) {
		sum ^= uint32(c) << 24
		for range 8 {
			sum = sum<<1 ^ sum>>31*0x04c11db7
		}
	}
	return max(sum&0x7fffffff, 1)
}

// targetCounters returns the counters for the targets of a function's indirect calls. For each call
// they are the number of executions, the number of targets, and each target with its count, the
// most frequent first.
//
// If the function has other statements whose values GCC counts, GCC 12 crashes without counters for
// them. So they get counters that are zero: two for each statement, as many as GCC reads or more.
func (f *function) targetCounters() []gcda.Counter {
	var values []int64
	known := false
	for i := range f.body.sites {
		targets := f.body.sites[i].targets
		ids := slices.SortedFunc(maps.Keys(targets), func(a, b uint32) int {
			return cmp.Or(cmp.Compare(targets[b], targets[a]), cmp.Compare(a, b))
		})
		at := len(values)
		values = append(values, 0, int64(len(ids)))
		for _, id := range ids {
			values = append(values, int64(id), count(targets[id]))
			values[at] += count(targets[id])
		}
		known = known || len(ids) > 0
	}
	if !known {
		return nil
	}
	counters := []gcda.Counter{{Kind: gcda.IndirectCalls, Values: values}}
	if f.body.valued > 0 {
		counters = slices.Insert(counters, 0, gcda.Counter{Kind: gcda.TopValues, Zeros: 2 * f.body.valued})
	}
	return counters
}
