package synth

import (
	"math/big"
	"strconv"

	"github.com/go-afdo/afdo/profile"
)

// unit is a source file and its symbols.
type unit struct {
	header   bool
	file     profile.UnitRef
	symbols  []profile.SymbolRef // starting with those that have samples of their own
	sampled  int                 // number of symbols with samples
	includes []*unit             // headers; popular ones are more likely
}

// one unit in headerOneIn is a header
const headerShare = 3

// units generates all units and their symbols.
func (g *generator) units(o Options) {
	g.all = make([]unit, o.Units)
	n := newNamer(g.rng, g.shape)
	var scopes []*scope // of headers
	sizes := g.sizes(o)
	for i, sampled := range sizes {
		u := &g.all[i]
		u.header = i%headerShare == 0
		u.sampled = sampled
		if u.header {
			g.headers = append(g.headers, u)
		}
		u.file = g.profile.AddUnit(n.path(u.header))
		scope := n.scope(u.header)
		if u.header {
			scopes = append(scopes, scope)
		}
		for range sampled + g.referred(u) {
			u.symbols = append(u.symbols, g.profile.AddSymbol(g.fileOf(u), n.newName(scope)))
		}
	}
	g.addLargeHeaders(n, scopes)
	for i := range g.all {
		u := &g.all[i]
		for range 4 + g.low(60) {
			u.includes = append(u.includes, g.headers[g.low(len(g.headers))])
		}
	}
}

// referred returns the number of symbols of a unit that are only inlined or called. Most functions
// in a header are.
func (g *generator) referred(u *unit) int {
	if u.header {
		return 1 + u.sampled*3/2
	}
	return 1 + u.sampled*3/8
}

// sizes distributes the functions over the units, in proportion to rank^-1.5. The largest of 3,000
// units then has thirty times the mean, and the median a quarter of it.
func (g *generator) sizes(o Options) []int {
	weights := make([]int64, o.Units)
	var sum int64
	for i := range weights {
		rank := int64(i + 1 + o.Units/50)
		cube := new(big.Int).SetInt64(rank * rank * rank)
		weights[i] = (1 << 40) / cube.Sqrt(cube).Int64()
		sum += weights[i]
	}
	sizes := make([]int, o.Units)
	var before int64
	for i, w := range weights {
		sizes[i] = share(before+w, sum, o.Functions) - share(before, sum, o.Functions)
		before += w
	}
	return sizes
}

// share returns part/whole of n, rounded down.
func share(part, whole int64, n int) int {
	p := new(big.Int).Mul(big.NewInt(part), big.NewInt(int64(n)))
	return int(p.Quo(p, big.NewInt(whole)).Int64())
}

// path returns a new path.
func (n *namer) path(header bool) string {
	ext := ".cc"
	if header {
		ext = ".h"
	}
	path := "/src/compiler/" + n.pick(directories) + "/" + n.pick(words) + "-" + n.pick(words)
	return n.once(path+ext, func(i int) string { return path + "-" + strconv.Itoa(i) + ext })
}
