package slice

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// lookedAt counts what the latest slice looked at.
func lookedAt(r *reach) (n int) {
	for _, rounds := range [][]uint32{r.entered, r.added} {
		for _, round := range rounds {
			if round == r.round {
				n++
			}
		}
	}
	return n
}

// looks counts what slices of all units look at.
func looks(r *reach, units int) (n int) {
	for unit := range units {
		r.total([]int{unit})
		n += lookedAt(r)
	}
	return n
}

// TestFingerprintsLook counts what the keys of real profiles look at, and how many functions have
// which other ones inlined: that is what one pass reads.
func TestFingerprintsLook(t *testing.T) {
	for _, name := range []string{"keystore2.v3", "libgui.v3", "libart_arm.v3"} {
		t.Run(name, func(t *testing.T) {
			program := FromProfile(corpusProfile(t, name))
			m, err := program.meanings(Request{Target: Version2})
			require.NoError(t, err)
			inlined := 0
			for _, callees := range m.inlined {
				inlined += len(callees)
			}
			n := looks(newReach(m), program.source.numUnits())
			t.Logf("%d looks, %d functions inlined", n, inlined)
			assert.Less(t, n, inlined)
		})
	}
}

// TestFingerprintsScale doubles profiles, and counts what is asked of them and how many symbols
// all slices look at.
func TestFingerprintsScale(t *testing.T) {
	const n = 2_000
	for shape, grow := range growing {
		for _, target := range []Target{Version2, Version3} {
			work := func(n int) int {
				p := profile.New()
				grow(p, n)
				source := &counted{profileSource: newProfileSource(p)}
				program := newProgram(source, &scan{source: source})
				_, err := program.Fingerprints(target, 0)
				require.NoError(t, err)
				asked := source.asked
				m, err := program.meanings(Request{Target: target})
				require.NoError(t, err)
				return asked + looks(newReach(m), source.numUnits())
			}
			once, twice := work(n), work(2*n)
			most := 2.3
			if shape == withoutChains { // see Fingerprints
				most = 3
			}
			assert.Less(t, float64(twice), most*float64(once), "%s, for version %d: %d and %d", shape, target, once, twice)
			assert.Less(t, once, 40*n, shape)
		}
	}
}

// TestSelectScales doubles profiles of which a compile uses one function.
func TestSelectScales(t *testing.T) {
	const n = 2_000
	text := textOf("void init() {} int main() { return 0; } struct A {};")
	for shape, grow := range growing {
		for _, target := range []Target{Version2, Version3} {
			work := func(n int) int {
				p := profile.New()
				grow(p, n)
				source := &counted{profileSource: newProfileSource(p)}
				program := newProgram(source, &scan{source: source})
				program.demands = new(demands)
				q := Request{Text: text, Target: target}
				_, err := program.Select(q) // this one reads all names
				require.NoError(t, err)
				first := source.asked
				const again = 10
				for range again {
					_, err = program.Select(q)
					require.NoError(t, err)
				}
				if shape != "static functions of one name" && shape != "lambdas" && shape != "clones" { // those the text may have
					assert.Less(t, (source.asked-first)/again, 20, "%s: a slice of next to nothing", shape)
				}
				return source.asked
			}
			once, twice := work(n), work(2*n)
			assert.Less(t, float64(twice), 2.3*float64(once), "%s, for version %d: %d and %d", shape, target, once, twice)
		}
	}
}
