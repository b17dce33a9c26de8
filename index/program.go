package index

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/canonical"
	"github.com/go-afdo/afdo/internal/v4"
)

// A Scheme is a way to take the unqualified name out of a name: usually the last part of what the
// name is demangled to.
type Scheme struct {
	// Name identifies the scheme, and changes whenever the results of Unqualified do: an index made
	// with one scheme is of no use for lookups with another. It has up to 255 bytes.
	Name string

	// Unqualified depends on the name alone, and may be called from many goroutines. It returns ""
	// for a name that is not to be found by an unqualified one.
	Unqualified func(name string) string
}

// key is the unqualified name by which a symbol has to be kept: not if that is its canonical name,
// by which it is kept anyway.
func (s *Scheme) key(name string) (key string, ok bool) {
	key = s.Unqualified(name)
	return key, key != "" && key != canonical.Name(name)
}

// A Program answers questions about the whole of a file. For a Reader that trusts the index of its
// file, see [afdo.TrustIndex], a question reads some pages of that, the names of the units to which
// it leads, and, about inlining, the samples. For others it goes through the file: the first three
// questions about names through the encoded names of all units, later ones through a table of all
// names, 12 bytes a symbol and 4 to 8 more, that the fourth one makes; the first one about inlining
// goes through all samples and keeps 8 bytes for each two functions one of which was inlined into
// the other.
//
// All methods may be called from many goroutines. Iterations end with an error.
type Program struct {
	r      *afdo.Reader
	file   scanned
	misled atomic.Bool // by the index, which has turned out not to make sense

	mu     sync.Mutex
	looked bool     // for an index
	index  *indexed // nil if there is none to go by
}

// NewProgram returns the program of a file. Nothing is read before the first question.
func NewProgram(r *afdo.Reader) *Program { return &Program{r: r, file: scanned{r: r}} }

// Named iterates over the symbols of a name in all units, those without samples included, by
// ascending symbol ID.
func (p *Program) Named(name string) iter.Seq2[afdo.Symbol, error] {
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.named(canonical.Name(name)) },
		p.only(1, func(found string) bool { return found == name }))
}

// Clones iterates over the symbols of a canonical name, a function and its clones, such as f,
// f.part.0 and f.constprop.1 for "f", which GCC up to 15 treats as equal. There is none for a name
// with a '.' in it. In all else it is like Named.
func (p *Program) Clones(canonicalName string) iter.Seq2[afdo.Symbol, error] {
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.named(canonicalName) },
		p.only(1, func(found string) bool { return canonical.Name(found) == canonicalName }))
}

// Unqualified iterates over the symbols that have one of some unqualified names by a scheme, and
// whose whole names are wanted: all of them if wanted is nil. An empty name is passed over. To ask
// for many names at once reads each unit once, and to leave out whole names spares taking the
// unqualified ones out of them. In all else it is like Named, but without an index of the same
// scheme the first call takes the unqualified name of every symbol.
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

// InlinedInto iterates over the functions, other than the callees themselves, into which one of the
// callees was inlined, directly or in something else that was inlined, by ascending symbol ID. IDs
// that no symbol has are passed over.
func (p *Program) InlinedInto(callees []afdo.SymbolID) iter.Seq2[afdo.Symbol, error] {
	sorted := slices.Clone(callees)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return p.each(func(c candidates) ([]afdo.SymbolID, error) { return c.inlinedInto(sorted) },
		func(symbols []afdo.Symbol) ([]afdo.Symbol, error) { return inlining(p.r, symbols, sorted) })
}

// candidates says which symbols may be the answer to a question: all that are, and others. It
// returns no IDs that no symbol has, unless an index is wrong.
type candidates interface {
	named(canonicalName string) ([]afdo.SymbolID, error)
	unqualified(names []string, scheme Scheme) ([]afdo.SymbolID, error)
	inlinedInto(callees []afdo.SymbolID) ([]afdo.SymbolID, error) // callees ascend
}

// A question asks for candidates, and verify returns those of their symbols that are an answer.
type (
	question func(candidates) ([]afdo.SymbolID, error)
	verify   func([]afdo.Symbol) ([]afdo.Symbol, error)
)

// each iterates over the answers to a question.
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

// ask asks the index, if the Reader trusts it, and else the file. Nothing that comes after knows
// where a candidate came from.
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

// trusted returns the index, nil if there is none to go by.
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

// only lets the symbols of so many keys pass by their name. An index that has led to many of other
// names is not asked again.
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
