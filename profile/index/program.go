package index

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/symname"
	"github.com/go-afdo/afdo/internal/v4"
	"github.com/go-afdo/afdo/internal/v4/indexfmt"
)

// A Scheme is a rule by which the unqualified name of a symbol is derived from its full name. This
// is usually the last component of the demangled name, for example "parse" for a::parse(int).
type Scheme struct {
	// Name identifies the scheme. It must change whenever the results of Unqualified change,
	// because an index made with one scheme cannot be used with another. It has at most 255 bytes.
	Name string

	// Unqualified must depend only on name. It may be called concurrently. It returns "" for a name
	// that has no unqualified name.
	Unqualified func(name string) string
}

// key returns the key of a symbol in the table of unqualified names, which is its unqualified name.
// ok is false if that name equals the canonical name, because the table of canonical names has it
// already.
func (s *Scheme) key(name string) (key string, ok bool) {
	key = s.Unqualified(name)
	return key, key != "" && key != symname.Canonical(name)
}

// A Program answers questions about a whole file. If the Reader trusts the index of its file, see
// [afdo.TrustIndex], a question reads a few pages of the index, the names of the matching units
// and, for questions about inlining, the samples.
//
// Otherwise a Program searches the file:
//   - Each of the first three questions about names searches the encoded names of all units. The
//     fourth builds a table of all names, which takes 16 to 20 bytes per symbol and serves later
//     questions.
//   - The first question about inlining reads all samples. It keeps 8 bytes for each pair of
//     functions of which one was inlined into the other.
//
// All methods may be called concurrently. An error ends an iteration.
type Program struct {
	r      *afdo.Reader
	file   scanned
	misled atomic.Bool // the index gave wrong candidates and is not used any more

	mu     sync.Mutex
	looked bool     // index was looked for
	index  *indexed // nil if there is no index or the Reader does not trust it
}

// NewProgram returns a Program for the file of a Reader. It reads nothing of the file. The first
// lookup does.
func NewProgram(r *afdo.Reader) *Program { return &Program{r: r, file: scanned{r: r}} }

// Named iterates over the symbols with the given name in all units, by ascending symbol ID. This
// includes symbols without samples. Two symbols of the name in a unit give [afdo.ErrSymbol].
func (p *Program) Named(name string) iter.Seq2[afdo.Symbol, error] {
	only := p.only(1, func(found string) bool { return found == name })
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.named(symname.Canonical(name)) },
		func(symbols []afdo.Symbol) ([]afdo.Symbol, error) {
			found, err := only(symbols)
			for i := 1; i < len(found); i++ { // the IDs of a unit are a range
				if u := found[i].Unit(); u.Index() == found[i-1].Unit().Index() {
					return nil, fmt.Errorf("index: two symbols %.100q in unit %.200q: %w", name, u.Path(), afdo.ErrSymbol)
				}
			}
			return found, err
		})
}

// Clones iterates over the symbols with the given canonical name, which are a function and its
// clones, for example f, f.part.0 and f.constprop.1 for "f". GCC up to version 15 treats these as
// the same function. There are none if canonicalName contains a '.'. Otherwise Clones works like
// Named.
func (p *Program) Clones(canonicalName string) iter.Seq2[afdo.Symbol, error] {
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.named(canonicalName) },
		p.only(1, func(found string) bool { return symname.Canonical(found) == canonicalName }))
}

// Unqualified iterates over the symbols that have one of the given unqualified names in a scheme,
// and for whose full name wanted returns true. A nil wanted accepts all. Empty names are ignored.
// One call for many names reads each unit once, and wanted avoids computing unqualified names.
// Otherwise Unqualified works like Named, except that without an index of the same scheme, the
// first call computes the unqualified name of every symbol.
func (p *Program) Unqualified(names []string, scheme Scheme, wanted func(name string) bool) iter.Seq2[afdo.Symbol, error] {
	asked := make(map[string]bool, len(names))
	for _, name := range names {
		asked[name] = name != ""
	}
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.unqualified(names, scheme) },
		func(symbols []afdo.Symbol) ([]afdo.Symbol, error) {
			if wanted != nil {
				symbols = slices.DeleteFunc(symbols, func(s afdo.Symbol) bool { return !wanted(s.Name()) })
			}
			return p.only(len(names), func(found string) bool { return asked[scheme.Unqualified(found)] })(symbols)
		})
}

// InlinedInto iterates over the functions into which one of the callees was inlined, directly or
// within another inlined function, except the callees themselves, by ascending symbol ID. IDs that
// do not exist are ignored.
func (p *Program) InlinedInto(callees []afdo.SymbolID) iter.Seq2[afdo.Symbol, error] {
	sorted := slices.Clone(callees)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.inlinedInto(sorted) },
		func(symbols []afdo.Symbol) ([]afdo.Symbol, error) { return inlining(p.r, symbols, sorted) })
}

// Callers returns the first n functions that InlinedInto would yield, or all if n is 0, and the
// number of the others. If the file is read through an io.ReaderAt and the Reader trusts an index
// that lists the callers of each function, Callers believes these lists instead of reading the
// samples of all callers. The lists of an index without them, and the rest of the file, are
// verified like those of InlinedInto.
func (p *Program) Callers(callees []afdo.SymbolID, n int) (first []afdo.Symbol, others int, err error) {
	x, err := p.trusted()
	if err != nil {
		return nil, 0, err
	}
	if x != nil && x.believed() {
		first, others, err = x.firstCallers(callees, n)
		if !x.misleads(err) {
			return first, others, err
		}
		p.misled.Store(true)
	}
	for s, err := range p.InlinedInto(callees) {
		if err != nil {
			return nil, 0, err
		}
		if n > 0 && len(first) == n {
			others++
		} else {
			first = append(first, s)
		}
	}
	return first, others, nil
}

// Expect announces that symbols with the given names will be looked up, by canonical name (without
// suffixes of the compiler) or by unqualified name (without namespaces and classes). Lookups do not
// need it. But if the file is read through an io.ReaderAt, Expect reads the index for all of these
// names at once.
func (p *Program) Expect(names ...string) {
	if x, err := p.trusted(); err == nil && x != nil {
		hashes := make([]uint64, len(names))
		for i, name := range names {
			hashes[i] = indexfmt.Hash(name)
		}
		x.x.FilterAhead(hashes)
	}
}

// candidates finds the IDs of symbols that may match a lookup in a [Program]. The result includes
// all symbols that match, and possibly others. Every ID exists unless an index is incorrect. One
// implementation uses the index, and another one searches the file.
type candidates interface {
	named(canonicalName string) ([]afdo.SymbolID, error)
	unqualified(names []string, scheme Scheme) ([]afdo.SymbolID, error)
	inlinedInto(callees []afdo.SymbolID) ([]afdo.SymbolID, error) // callees must be sorted
}

type (
	// A question is one lookup in a [Program]. It gets the symbol IDs that may match from
	// [candidates]. The verify function of the lookup then returns the symbols among them that do
	// match.
	question func(candidates) ([]afdo.SymbolID, error)
	// A verify returns those of the candidates that match a lookup.
	verify func([]afdo.Symbol) ([]afdo.Symbol, error)
)

// each iterates over the symbols that match a lookup. q returns candidates, and v selects the
// symbols that match.
func (p *Program) each(q question, v verify) iter.Seq2[afdo.Symbol, error] {
	return func(yield func(afdo.Symbol, error) bool) {
		found, err := p.ask(q, v)
		if err != nil {
			yield(afdo.Symbol{}, err)
			return
		}
		for _, symbol := range found {
			if !yield(symbol, nil) {
				return
			}
		}
	}
}

// ask returns the symbols that match a lookup. q finds candidates in the index if the Reader trusts
// it, and otherwise in a search of the file. In both cases, v selects the symbols that match.
func (p *Program) ask(q question, v verify) ([]afdo.Symbol, error) {
	x, err := p.trusted()
	if err != nil {
		return nil, err
	}
	if x != nil {
		found, err := p.answer(x, q, v)
		switch {
		case err == errNotIndexed:
		case x.misleads(err):
			p.misled.Store(true)
		default:
			return found, err
		}
	}
	return p.answer(&p.file, q, v)
}

// trusted returns the index of the file. It returns nil if there is none, if the Reader does not
// trust it, or if it gave wrong candidates before.
func (p *Program) trusted() (*indexed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked {
		x, err := newIndexed(p.r)
		if err != nil {
			return nil, err
		}
		p.index, p.looked = x, true
	}
	if p.misled.Load() {
		return nil, nil
	}
	return p.index, nil
}

func (p *Program) answer(c candidates, q question, v verify) ([]afdo.Symbol, error) {
	ids, err := q(c)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	symbols, err := p.r.SymbolsByID(slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	return v(symbols)
}

// only returns a verify function that selects the symbols whose name fits accepts. keys is the
// number of names that were looked up. If the index has returned many symbols whose names do not
// fit, the Program no longer uses it.
func (p *Program) only(keys int, fits func(name string) bool) verify {
	return func(symbols []afdo.Symbol) ([]afdo.Symbol, error) {
		n := len(symbols)
		found := slices.DeleteFunc(symbols, func(s afdo.Symbol) bool { return !fits(s.Name()) })
		if n > len(found)+v4.MaxFalse+keys {
			p.misled.Store(true)
		}
		return found, nil
	}
}
