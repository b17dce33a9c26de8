package arcs

import (
	"bytes"
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/profile"
)

// A site is a statement for whose values a .gcda file has a counter. Of an indirect call, the
// values are the identifiers of the called functions. Of a call of memcpy or memset, they are the
// numbers of bytes.
type site struct {
	place
	block  uint32
	callee string            // as the dump writes it, such as "c_25(D)" or "memcpy"; of a division, its operands
	values map[uint64]uint64 // how often each value occurred
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

// copies reports whether a called expression is a function that copies or sets memory.
func copies(callee string) bool {
	switch strings.TrimPrefix(callee, "__builtin_") {
	case "memcpy", "memmove", "mempcpy", "memset":
		return true
	}
	return false
}

// hasVariableSize reports whether the last argument of a call is a variable. GCC counts the sizes
// of such calls of memcpy.
func hasVariableSize(text []byte) bool {
	size := text[bytes.LastIndexByte(text, ' ')+1:]
	return len(size) > 0 && (size[0] < '0' || size[0] > '9')
}

// maxRepeats is how often GCC's dump repeats the line of one statement, because GCC counts up to
// three properties of the values: the most frequent values, which are counted first, and their
// average, for example.
const maxRepeats = 2

// profiled reads a line that GCC's dump has after the body of a function, such as "Stmt _27 =
// c_25(D) (_10, &x);". GCC writes such a line for each counter of a statement's values, in the
// order of the counters. profiled adds an indirect call to the function's sites, and any other
// statement to the field valued.
func (p *dumpParser) profiled(text []byte) {
	if p.repeats > 0 && bytes.Equal(p.repeated, text) {
		p.repeats--
		return
	}
	s := site{callee: called(text)}
	for i, c := range p.pending {
		if s.callee == c.callee {
			s, p.pending = c, p.pending[i+1:]
			break
		}
	}
	if isIndirect(s.callee) && isCall(text) {
		p.last.sites, p.repeats = append(p.last.sites, s), 0
		return
	}
	p.last.valued, p.repeats, p.repeated = append(p.last.valued, s), maxRepeats, bytes.Clone(text)
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
		if addValue(f.body.sites, at, u.identifier(p.SymbolName(r.Callee)), r.Count) {
			return
		}
	}
}

// addSizes adds the sizes of the calls of memcpy and memset in the machine code c, which has the
// given frames. A size belongs to the outermost function of its chain of inlined calls with such a
// call at the position.
func (u *unit) addSizes(c *profile.CodeCopy, frames []frame) {
	for _, s := range c.Sizes {
		var owner *function
		for i := s.Frame; i >= 0; i = frames[i].parent {
			if f := frames[i].function; f != nil && len(sitesAt(f.valued, u.at(s.Position))) > 0 {
				owner = f
			}
		}
		if owner != nil {
			addValue(owner.valued, u.at(s.Position), s.Bytes, s.Count)
		}
	}
}

// addValue adds n to the count of a value at those of the sites that are at a source position. It
// reports whether there are any.
func addValue(sites []site, at place, value, n uint64) bool {
	found := sitesAt(sites, at)
	for _, s := range found {
		if s.values == nil {
			s.values = make(map[uint64]uint64)
		}
		s.values[value] = saturating.Add(s.values[value], n)
	}
	return len(found) > 0
}

// sitesAt returns those sites of a list that are in the line of a source position. If some of them
// have the discriminator of the position, it returns only those.
func sitesAt(list []site, at place) (sites []*site) {
	exact := false
	for i := range list {
		s := &list[i]
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
func (u *unit) identifier(name string) uint64 {
	if f := u.function(name, 0); f != nil {
		return uint64(f.Ident)
	}
	sum := uint32(0)
	for _, c := range append([]byte(name), 0) {
		sum ^= uint32(c) << 24
		for range 8 {
			sum = sum<<1 ^ sum>>31*0x04c11db7
		}
	}
	return uint64(max(sum&0x7fffffff, 1))
}

// valueCounters returns the counters for the values of a function's statements, if any values are
// known. blocks has the counts of the function's blocks.
//
// If a function has both indirect calls and other statements whose values GCC counts, and GCC gets
// counters for only one of the two kinds, GCC 12 crashes. So the statements of the other kind get
// counters as well, which are zero.
//
// GCC also reads mean sizes, but it gets none: for a small mean it copies in a loop, which is slow
// if another input has longer copies.
func (f *function) valueCounters(blocks []int64) []gcda.Counter {
	sizes, known := valuesOf(f.valued, blocks)
	targets, called := valuesOf(f.sites, blocks)
	if !known && !called {
		return nil
	}
	var counters []gcda.Counter
	if len(sizes) > 0 {
		counters = append(counters, gcda.Counter{Kind: gcda.TopValues, Values: sizes})
	}
	if len(targets) > 0 {
		counters = append(counters, gcda.Counter{Kind: gcda.IndirectCalls, Values: targets})
	}
	return counters
}

// valuesOf returns what a .gcda file has for the values of statements. For each statement, it is
// the number of executions, the number of values, and each value with its count, the most frequent
// first. The number of executions is the count of the statement's block in blocks, as GCC demands.
// The counts of the values have the same share of it as in the profile. known reports whether any
// value is known.
func valuesOf(sites []site, blocks []int64) (counters []int64, known bool) {
	for _, s := range sites {
		all := uint64(0)
		for _, n := range s.values {
			all = saturating.Add(all, n)
		}
		counters = append(counters, 0, 0)
		if all == 0 {
			continue
		}
		at := len(counters) - 2
		executions := uint64(blocks[s.block])
		counters[at], known = int64(executions), true
		for _, value := range slices.SortedFunc(maps.Keys(s.values), func(a, b uint64) int {
			return cmp.Or(cmp.Compare(s.values[b], s.values[a]), cmp.Compare(a, b))
		}) {
			if value != profile.OtherSizes {
				high, low := bits.Mul64(executions, s.values[value])
				part, _ := bits.Div64(high, low, all)
				counters = append(counters, int64(value), int64(part))
				counters[at+1]++
			}
		}
	}
	return counters, known
}
