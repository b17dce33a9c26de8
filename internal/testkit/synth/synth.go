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
	"math/rand/v2"
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

// between returns a number from low to high.
func (g *generator) between(low, high int) int { return low + g.rng.IntN(high-low+1) }

// low returns an index below n. Small indexes are more likely: more than half of the results are in
// the first tenth.
func (g *generator) low(n int) int {
	r := g.rng.IntN(n)
	for range 2 {
		r = g.rng.IntN(r + 1)
	}
	return r
}

// quantile returns a random number from the distribution whose quantiles at equal steps of
// probability are given.
func (g *generator) quantile(values []int) int {
	const unit = 1 << 16
	u := g.rng.IntN((len(values) - 1) * unit)
	i, rest := u/unit, u%unit
	return values[i] + (values[i+1]-values[i])*rest/unit
}
