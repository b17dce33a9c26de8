package slice

import (
	"testing"

	"github.com/go-afdo/afdo/gcov"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/stretchr/testify/require"

	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/go-afdo/afdo/profile"
)

// A counted source counts what is asked of it.
type counted struct {
	*profileSource
	asked int
}

func (c *counted) path(unit int) string { c.asked++; return c.profileSource.path(unit) }

func (c *counted) symbols(unit int) iter.Seq2[symbol, error] {
	return func(yield func(symbol, error) bool) {
		for sym, err := range c.profileSource.symbols(unit) {
			c.asked++
			if !yield(sym, err) {
				return
			}
		}
	}
}

func (c *counted) symbol(id symbolID) (symbol, error) { c.asked++; return c.profileSource.symbol(id) }

func (c *counted) function(s symbol, scratch *scratch) (profile.Function, error) {
	f, err := c.profileSource.function(s, scratch)
	c.asked += 1 + len(f.Records)
	return f, err
}

// growing are profiles of any size. Each function of a unit calls others of it and inlines one.
var growing = map[string]func(p *profile.Profile, n int){
	"units": func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, fmt.Sprintf("src/f%d.cc", i), fmt.Sprintf("_Z%df%dv", 1+len(fmt.Sprint(i)), i))
		}
	},
	"units of one last element": func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, fmt.Sprintf("src/%d/main.cc", i), fmt.Sprintf("_Z%df%dv", 1+len(fmt.Sprint(i)), i))
		}
	},
	"symbols": func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, "src/f.cc", fmt.Sprintf("_Z%df%dv", 1+len(fmt.Sprint(i)), i))
		}
	},
	"static functions of one name": func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, fmt.Sprintf("src/f%d.c", i), "init")
		}
	},
	"lambdas": func(p *profile.Profile, n int) {
		addGrowing(p, "src/plain.cc", "operator()")
		for i := range n {
			addGrowing(p, fmt.Sprintf("src/f%d.cc", i), fmt.Sprintf("_ZZ4mainENKUlvE%d_clEv", i))
		}
	},
	"clones": func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, fmt.Sprintf("src/f%d.cc", i/8), fmt.Sprintf("_Z1fv.part.%d", i))
		}
	},
	"a ring": func(p *profile.Profile, n int) {
		addInlining(p, n, func(i int) []int { return []int{(i + 1) % n} })
	},
	"rings": func(p *profile.Profile, n int) {
		addInlining(p, n, func(i int) []int { return []int{(7*i + 1) % n} })
	},
	"a chain": func(p *profile.Profile, n int) {
		addInlining(p, n, func(i int) []int { return []int{min(i+1, n-1)} })
	},
	"a chain with functions beside it": func(p *profile.Profile, n int) {
		addInlining(p, n, func(i int) []int { return []int{max(0, i/2*2-2)} })
	},
	"a tree": func(p *profile.Profile, n int) {
		addInlining(p, n, func(i int) []int { return []int{i / 2} })
	},
	"at random": func(p *profile.Profile, n int) {
		r := rand.New(rand.NewPCG(1, 6))
		addInlining(p, n, func(int) []int { return []int{r.IntN(n), r.IntN(n)} })
	},
	withoutChains: func(p *profile.Profile, n int) {
		r := rand.New(rand.NewPCG(1, 6))
		addInlining(p, n, func(i int) []int { return []int{r.IntN(i + 1), r.IntN(i + 1)} })
	},
	"symbols without a file": func(p *profile.Profile, n int) {
		for i := range n {
			addGrowing(p, fmt.Sprintf("src/f%d.c", i), fmt.Sprintf("f%d", i))
			addGrowing(p, "", fmt.Sprintf("g%d", i))
		}
	},
}

// withoutChains is the shape for which the work grows faster than the profile.
const withoutChains = "at random, none in a circle"

// addGrowing adds a function that has a function of a header inlined.
func addGrowing(p *profile.Profile, path, name string) {
	var body profile.Body
	header := p.AddFile("include/h.h")
	body.Count(1, 0, 7)
	body.Enter(2, 0, p.AddSymbol(header, "_Z6helperv"))
	body.Call(3, 0, p.AddSymbol(header, "_Z6calledv"), 9)
	body.Leave()
	p.AddFunction(p.AddSymbol(p.AddFile(path), name), profile.Function{HeadCount: 5, Records: body.Records()})
}

// addInlining adds functions, each in a file of its own, that have others inlined.
func addInlining(p *profile.Profile, n int, callees func(i int) []int) {
	symbols := make([]profile.SymbolRef, n)
	for i := range symbols {
		symbols[i] = p.AddSymbol(p.AddFile(fmt.Sprintf("src/f%d.cc", i)), fmt.Sprintf("_Z%df%dv", 1+len(fmt.Sprint(i)), i))
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

// corpusProfile returns a real profile, or skips the test where there are none.
func corpusProfile(t testing.TB, name string) *profile.Profile {
	p, err := gcov.Decode(testenv.CorpusData(t, name))
	require.NoError(t, err)
	return p
}
