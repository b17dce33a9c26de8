package arcs

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/profile"
)

// A site is an indirect call, whose targets GCC counts.
type site struct {
	place
	callee  string            // as the dump writes it, such as "c_25(D)"
	targets map[uint32]uint64 // calls by the identifier of the target
}

// called returns the beginning of the called expression of a statement, up to where the forms of
// the dump differ: of "_9 = OBJ_TYPE_REF(_2;(struct S)_6->2B) (x)", it is "OBJ_TYPE_REF(_2".
func called(text []byte) string {
	if _, value, ok := bytes.Cut(text, []byte(" = ")); ok {
		text = value
	}
	name, _, _ := bytes.Cut(text, []byte(" ("))
	name, _, _ = bytes.Cut(name, []byte(";"))
	return string(name)
}

// isIndirect recognises a called expression that is a value, and not the name of a function that
// GCC knows to copy or fill memory. These are the only calls whose values GCC counts.
func isIndirect(callee string) bool {
	version := len(callee)
	for version > 0 && callee[version-1] >= '0' && callee[version-1] <= '9' {
		version--
	}
	value := version > 0 && version < len(callee) && callee[version-1] == '_'
	return value || bytes.HasSuffix([]byte(callee), []byte("(D)")) || bytes.HasPrefix([]byte(callee), []byte("OBJ_TYPE_REF("))
}

// profiled reads a line that follows the body of a function: "Stmt _27 = c_25(D) (_10, &x);". GCC
// writes one for each statement whose values it counts, in the order of the counters.
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

// addTargets gives the indirect calls of the unit the targets that the profile has for their lines.
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

// addTarget counts calls at a position for the outermost function of a chain of inlined calls whose
// graph has an indirect call there.
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

// sitesAt returns the indirect calls of a line: those with the discriminator if there are any, and
// otherwise all.
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

// identifier returns the number by which counters name a function. The notes have the numbers of
// the unit's functions. Of others, which matter for -flto, it is the checksum of the name.
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

// targetCounters returns the counters of a function's indirect calls: for each the number of calls
// and of targets, and the targets, the most frequent first. GCC 12 crashes if it finds counters of
// calls and none of the most frequent values of other statements, so those are zero. There are two
// for each statement, which may be more than GCC reads.
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
