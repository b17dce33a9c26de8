// Package slicetest has profiles of any size for tests of slices, and counts how much of a profile
// is read.
package slicetest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/compile/slice/internal/program"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A Counted is a store that counts how many paths, symbols and records have been read from it.
type Counted struct {
	*program.Memory
	Asked int
}

func (c *Counted) Path(unit int) string { c.Asked++; return c.Memory.Path(unit) }

func (c *Counted) Symbols(unit int) iter.Seq2[program.Symbol, error] {
	return func(yield func(program.Symbol, error) bool) {
		for sym, err := range c.Memory.Symbols(unit) {
			c.Asked++
			if !yield(sym, err) {
				return
			}
		}
	}
}

func (c *Counted) Symbol(id program.ID) (program.Symbol, error) {
	c.Asked++
	return c.Memory.Symbol(id)
}

func (c *Counted) Function(s program.Symbol, scratch *program.Scratch) (profile.Function, error) {
	f, err := c.Memory.Function(s, scratch)
	c.Asked += 1 + len(f.Records)
	return f, err
}

// Growing has functions that add n functions to a profile. The keys describe how these functions
// inline and call each other.
var Growing = map[string]func(p *profile.Profile, n int){
	"units":                        named(numbered("src/f%d.cc"), mangled),
	"units of one last element":    named(numbered("src/%d/main.cc"), mangled),
	"symbols":                      named(always("src/f.cc"), mangled),
	"static functions of one name": named(numbered("src/f%d.c"), always("init")),
	"lambdas": func(p *profile.Profile, n int) {
		addGrowing(p, "src/plain.cc", "operator()")
		named(numbered("src/f%d.cc"), numbered("_ZZ4mainENKUlvE%d_clEv"))(p, n)
	},
	"clones":                           named(func(i int) string { return fmt.Sprintf("src/f%d.cc", i/8) }, numbered("_Z1fv.part.%d")),
	"a ring":                           inlining(func(i, n int) []int { return []int{(i + 1) % n} }),
	"rings":                            inlining(func(i, n int) []int { return []int{(7*i + 1) % n} }),
	"a chain":                          inlining(func(i, n int) []int { return []int{min(i+1, n-1)} }),
	"a chain with functions beside it": inlining(func(i, _ int) []int { return []int{max(0, i/2*2-2)} }),
	"a tree":                           inlining(func(i, _ int) []int { return []int{i / 2} }),
	"at random": func(p *profile.Profile, n int) {
		r := rand.New(rand.NewPCG(1, 6))
		AddInlining(p, n, func(int) []int { return []int{r.IntN(n), r.IntN(n)} })
	},
	WithoutChains: func(p *profile.Profile, n int) {
		r := rand.New(rand.NewPCG(1, 6))
		AddInlining(p, n, func(i int) []int { return []int{r.IntN(i + 1), r.IntN(i + 1)} })
	},
	"symbols without a file": func(p *profile.Profile, n int) {
		named(numbered("src/f%d.c"), numbered("f%d"))(p, n)
		named(always(""), numbered("g%d"))(p, n)
	},
}

// named returns a function that adds n functions to a profile, function i with the results of path
// and name.
func named(path, name func(i int) string) func(p *profile.Profile, n int) {
	return func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, path(i), name(i))
		}
	}
}

// inlining returns a function that adds n functions to a profile, see [AddInlining]. Function i has
// the functions callees(i, n) inlined.
func inlining(callees func(i, n int) []int) func(p *profile.Profile, n int) {
	return func(p *profile.Profile, n int) {
		AddInlining(p, n, func(i int) []int { return callees(i, n) })
	}
}

// always returns a function that returns the given text, whatever its argument is.
func always(text string) func(i int) string { return func(int) string { return text } }

// numbered returns a function that returns a number as text, in the given format of package fmt.
func numbered(format string) func(i int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// mangled returns the mangled name of a function whose name contains a number.
func mangled(i int) string { return fmt.Sprintf("_Z%df%dv", 1+len(fmt.Sprint(i)), i) }

// WithoutChains is a key of [Growing]. For these profiles the work of package fingerprint grows
// faster than the size of the profile.
const WithoutChains = "at random, none in a circle"

// addGrowing adds a function with a path and a name to a profile. A function of a header is inlined
// in the added function.
func addGrowing(p *profile.Profile, path, name string) {
	var body profile.Body
	header := p.AddUnit("include/h.h")
	body.Count(1, 0, 7)
	body.Enter(2, 0, p.AddSymbol(header, "_Z6helperv"))
	body.Call(3, 0, p.AddSymbol(header, "_Z6calledv"), 9)
	body.Leave()
	p.AddFunction(p.AddSymbol(p.AddUnit(path), name), profile.Function{HeadCount: 5, Records: body.Records()})
}

// AddInlining adds n functions to a profile, each in a file of its own. Function i has the
// functions callees(i) inlined.
func AddInlining(p *profile.Profile, n int, callees func(i int) []int) {
	symbols := make([]profile.SymbolRef, n)
	for i := range symbols {
		symbols[i] = p.AddSymbol(p.AddUnit(fmt.Sprintf("src/f%d.cc", i)), mangled(i))
	}
	for i, symbol := range symbols {
		var body profile.Body
		for line, callee := range callees(i) {
			body.Enter(uint32(line), 0, symbols[callee])
			body.Count(1, 0, uint64(i))
			body.Leave()
		}
		p.AddFunction(symbol, profile.Function{HeadCount: 5, Records: body.Records()})
	}
}

// Corpus returns a real profile. It skips the test on machines without such profiles.
func Corpus(t testing.TB, name string) *profile.Profile {
	p, err := gcov.ParseBytes(testenv.CorpusData(t, name))
	require.NoError(t, err)
	return p
}
