// Package synth generates profiles that resemble real ones, of any size and the same on every
// machine, for benchmarks and large tests.
//
// The plain shape resembles a C++ program as large as a compiler. A few units are huge and most are
// small. A third are headers, whose functions are inlined into many units. Names are mangled C++
// names of about 50 bytes with shared prefixes. A function has about 19 records on average, and
// several hundred in the long tail. Inlining is usually up to 4 deep, and in a few functions up to
// 30. Counts spread over seven decades, and two in five are zero. All symbols have different names,
// so versions 2 and 3 can store all functions. A [Shape] changes this, for example to a program
// whose large headers are units.
//
// The package uses no floating point, because results would differ between processors.
package synth

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/go-afdo/afdo/profile"
)

// Options determine the size of a profile. They are comparable.
type Options struct {
	Seed      uint64
	Units     int // source files and headers, without the unit of unknown files; at least 1
	Functions int // symbols with samples; there are 3/4 as many others in addition
	Shape     Shape
}

// The sizes for tests and benchmarks.
var (
	Small     = Options{Seed: 1, Units: 60, Functions: 2_250}      // 1 MB in version 3
	Medium    = Options{Seed: 1, Units: 520, Functions: 22_500}    // 10 MB
	Bootstrap = Options{Seed: 1, Units: 3_000, Functions: 130_000} // 58 MB, like the profile of a compiler's bootstrap in RFC 7.2
)

var cache sync.Map // Options to func() *profile.Profile

// Profile returns the profile for o. It is generated once and shared by all callers, who must not
// change it.
func Profile(o Options) *profile.Profile {
	once := sync.OnceValue(func() *profile.Profile { return New(o) })
	cached, _ := cache.LoadOrStore(o, once)
	return cached.(func() *profile.Profile)()
}

// New generates a profile that the caller may change. The profile of [Bootstrap] takes about a
// second and 120 MB. It has no summary, so that writers compute one.
func New(o Options) *profile.Profile {
	g := &generator{
		rng:     rand.New(rand.NewPCG(o.Seed, 0)),
		profile: profile.New(),
		shape:   o.Shape,
	}
	g.units(o)
	for i := range g.all {
		g.functions(&g.all[i])
	}
	return g.profile
}

type generator struct {
	rng     *rand.Rand
	profile *profile.Profile
	all     []unit
	headers []*unit // headers that any unit may include, most popular first
	large   []*unit // headers with the symbols of Shape.HeaderSymbols
	shape   Shape
	body    profile.Body
}

// oneIn returns true with probability 1/n.
func (g *generator) oneIn(n int) bool { return g.rng.IntN(n) == 0 }

// between returns a random number from low to high, both included.
func (g *generator) between(low, high int) int { return low + g.rng.IntN(high-low+1) }

// low returns a random index below n, which is more likely small than large: more than half of the
// results are in the first tenth.
func (g *generator) low(n int) int {
	r := g.rng.IntN(n)
	for range 2 {
		r = g.rng.IntN(r + 1)
	}
	return r
}

// quantile returns a random number from a distribution. values are the quantiles of the
// distribution at equal steps of probability, the smallest and the largest value included.
func (g *generator) quantile(values []int) int {
	const unit = 1 << 16
	u := g.rng.IntN((len(values) - 1) * unit)
	i, rest := u/unit, u%unit
	return values[i] + (values[i+1]-values[i])*rest/unit
}

// A unit is a source file of the synthetic program, with its symbols.
type unit struct {
	header   bool
	file     profile.UnitRef
	symbols  []profile.SymbolRef // starting with those that have samples of their own
	sampled  int                 // number of symbols with samples
	includes []*unit             // headers; popular ones are more likely
}

// one unit in headerOneIn is a header
const headerShare = 3

// units generates all units of the profile and their symbols, but no samples.
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

// referred returns how many symbols of a unit get no samples of their own, because they are only
// inlined in other functions or called by them. In a header, most symbols are of this kind.
func (g *generator) referred(u *unit) int {
	if u.header {
		return 1 + u.sampled*3/2
	}
	return 1 + u.sampled*3/8
}

// sizes returns the number of functions of each unit. Together they have the number of functions in
// the options. The sizes are proportional to rank^-1.5, so the largest of 3,000 units has thirty
// times the mean, and the median is a quarter of the mean.
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

// share returns part/whole of n, rounded down. For example, share(1, 3, 10) is 3.
func share(part, whole int64, n int) int {
	p := new(big.Int).Mul(big.NewInt(part), big.NewInt(int64(n)))
	return int(p.Quo(p, big.NewInt(whole)).Int64())
}

// path returns a new path of a source file, or of a header if header is true.
func (n *namer) path(header bool) string {
	ext := ".cc"
	if header {
		ext = ".h"
	}
	path := "/src/compiler/" + n.pick(directories) + "/" + n.pick(words) + "-" + n.pick(words)
	return n.once(path+ext, func(i int) string { return path + "-" + strconv.Itoa(i) + ext })
}

// A Shape describes how a profile differs from the plain one. Profiles of C++ and Rust programs may
// assign a function to the file of its declaration. Then headers are units, a few headers contain
// most symbols, and every function inlines from them. All fields are per thousand unless noted
// otherwise. The zero Shape is the plain profile.
type Shape struct {
	HeaderSymbols   int // symbols in a few large header units; the first contains two thirds of them
	HeaderInlining  int // inlined bodies whose function is in one of these units
	Inlining        int // records that are inlined bodies, down to a depth of 8; decreasing below
	Size            int // factor for the number of records per function; not per thousand
	Long            int // functions with another sixteen times as many records
	UnknownFile     int // symbols without a file
	Functors        int // symbols that are an operator() of a class
	Lambdas         int // symbols that are the operator() of a lambda
	Templates       int // symbols that are members of templates with long arguments
	Clones          int // symbols whose name ends with a clone suffix
	IndirectTargets int // maximum number of targets of an indirect call; not per thousand
}

// Headers is the shape of C++ programs whose headers are units.
var Headers = Shape{
	HeaderSymbols:   600,
	HeaderInlining:  600,
	Inlining:        500,
	Size:            7,
	Long:            10,
	UnknownFile:     10,
	Functors:        30,
	Lambdas:         20,
	Templates:       450,
	Clones:          50,
	IndirectTargets: 24,
}

// Profiles in the shape of [Headers].
var (
	SmallHeaders = Options{Seed: 1, Units: 40, Functions: 250, Shape: Headers}      // 1 MB in version 3
	Android      = Options{Seed: 1, Units: 1_200, Functions: 8_000, Shape: Headers} // 25 MB, like that of some Android programs
)

// largeHeaders is the number of header units that share the symbols of Shape.HeaderSymbols.
const largeHeaders = 4

// deepInlining is a depth of inlining. From this depth on, fewer calls are inlined than
// Shape.Inlining requires for lower depths.
const deepInlining = 8

// share returns true with the given probability per thousand.
func (g *generator) share(perMille int) bool { return perMille > 0 && g.rng.IntN(1000) < perMille }

// addLargeHeaders adds symbols to the first units that are headers, so that a few headers have as
// many of the profile's symbols as the [Shape] demands.
func (g *generator) addLargeHeaders(n *namer, scopes []*scope) {
	h := g.shape.HeaderSymbols
	if h == 0 {
		return
	}
	left := g.profile.NumSymbols() * h / (1000 - h)
	g.large = g.headers[:min(largeHeaders, len(g.headers))]
	for i, u := range g.large {
		count := left * 2 / 3
		if i == len(g.large)-1 {
			count = left
		}
		left -= count
		for range count {
			u.symbols = append(u.symbols, g.profile.AddSymbol(u.file, n.shaped(scopes[i])))
		}
	}
}

// shaped returns a new symbol name for a unit. The [Shape] of the profile determines how likely it
// is the name of a functor, a lambda, a member of a template or a clone.
func (n *namer) shaped(s *scope) string {
	switch kind := n.rng.IntN(1000); {
	case kind < n.shape.Functors:
		return s.overload("_ZNK"+s.namespace+s.pick(s.classes)+s.ident(2)+"clE", "")
	case kind < n.shape.Functors+n.shape.Lambdas:
		return s.lambda()
	case kind < n.shape.Functors+n.shape.Lambdas+n.shape.Templates:
		return s.longTemplate()
	case kind >= 1000-n.shape.Clones:
		return s.overload("_ZN"+s.namespace+s.pick(s.classes)+s.ident(2)+"E", s.pick(clones))
	}
	return s.name()
}

// lambda returns the name of a lambda's operator(), one of several in its function.
func (s *scope) lambda() string {
	within := "_ZZN" + s.namespace + s.pick(s.classes) + s.ident(2) + "EvENKUl"
	parameter := s.pick(builtins)
	return s.once(within+parameter+"E_clE"+parameter, func(i int) string {
		return within + parameter + "E" + strconv.Itoa(i-2) + "_clE" + parameter
	})
}

// longTemplate returns a new symbol name, which is that of a member of a template. The template's
// arguments are several random types, so the name is long.
func (s *scope) longTemplate() string {
	name := "_ZN" + s.namespace + s.pick(s.classes) + "I"
	for range 2 + s.rng.IntN(5) {
		name += "N" + mangled(s.pick(namespaces)) + s.ident(2) + "E"
	}
	name += "E"
	return s.overload(name+s.ident(1+s.rng.IntN(3))+"E", "")
}

// size returns how many records a function gets in a profile with a [Shape], if it would get n in
// the plain profile.
func (g *generator) size(n int) int {
	n *= max(g.shape.Size, 1)
	if g.share(g.shape.Long) {
		n *= 16
	}
	return n
}

// fileOf returns the unit to which a new symbol of the unit u belongs in the profile. That is u
// itself or, for some symbols, the unit of symbols whose file is unknown.
func (g *generator) fileOf(u *unit) profile.UnitRef {
	if g.share(g.shape.UnknownFile) {
		return profile.UnknownUnit
	}
	return u.file
}

// shapedInlining returns how many of 1,000 locations get an inlined body, if depth inlined bodies
// are around them.
func (s *Shape) shapedInlining(depth int) int {
	if depth < deepInlining {
		return s.Inlining
	}
	return s.Inlining * deepInlining / (2 * depth)
}
