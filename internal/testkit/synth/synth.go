// Package synth makes profiles that are shaped like real ones, of any size and
// the same on every machine: what benchmarks measure, and large tests run on.
//
// The shape is that of a C++ program as large as a compiler. Units are uneven, a few of them huge
// and most small, and a third are headers, whose functions are inlined into many units. Names are
// mangled C++ of about 50 bytes that share prefixes. A function has about 19 records on the average
// and several hundred in the long tail; inlining is up to 4 deep as a rule and up to 30 in a few.
// Counts spread over seven decades, and two in five of them are zero. No two symbols have the same
// name, so versions 2 and 3 can hold all functions. A [Shape] makes it that of a program whose
// large headers are units of their own.
//
// Nothing here uses floating point, whose results differ between processors.
package synth

import (
	"math/rand/v2"
	"sync"

	"github.com/go-afdo/afdo/profile"
)

// Options say how large a profile is. They are comparable.
type Options struct {
	Seed      uint64
	Units     int // source files and headers, without the unknown-file unit; at least 1
	Functions int // symbols with samples; others come on top, three for each four of these
	Shape     Shape
}

// The sizes that tests and benchmarks use.
var (
	Small     = Options{Seed: 1, Units: 60, Functions: 2_250}      // 1 MB in version 3
	Medium    = Options{Seed: 1, Units: 520, Functions: 22_500}    // 10 MB
	Bootstrap = Options{Seed: 1, Units: 3_000, Functions: 130_000} // 58 MB, like the profile of a compiler's bootstrap in RFC 7.2
)

var cache sync.Map // Options to func() *profile.Profile

// Profile returns the profile of o. It is made once and shared by all who ask, who must not change
// it.
func Profile(o Options) *profile.Profile {
	once := sync.OnceValue(func() *profile.Profile { return New(o) })
	cached, _ := cache.LoadOrStore(o, once)
	return cached.(func() *profile.Profile)()
}

// New makes a profile for the caller to keep and change. The profile of [Bootstrap] takes about a
// second and 120 MB. It has no summary, which is so that writers compute one.
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
	headers []*unit // those that anybody may include, most popular first
	large   []*unit // those of the headers that hold what Shape.HeaderSymbols says
	shape   Shape
	body    profile.Body
}

// oneIn is true once in n times.
func (g *generator) oneIn(n int) bool { return g.rng.IntN(n) == 0 }

// between returns a number from low to high.
func (g *generator) between(low, high int) int { return low + g.rng.IntN(high-low+1) }

// low returns an index below n, small ones more often: the first tenth more than half of the time.
func (g *generator) low(n int) int {
	r := g.rng.IntN(n)
	for range 2 {
		r = g.rng.IntN(r + 1)
	}
	return r
}

// quantile draws a number of the distribution that has the values given at
// equal steps of probability.
func (g *generator) quantile(values []int) int {
	const unit = 1 << 16
	u := g.rng.IntN((len(values) - 1) * unit)
	i, rest := u/unit, u%unit
	return values[i] + (values[i+1]-values[i])*rest/unit
}
