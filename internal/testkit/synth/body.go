package synth

import "github.com/go-afdo/afdo/profile"

// Distributions, see quantile.
var (
	// Records per function, including nested ones.
	functionSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 15, 17, 19, 22, 26, 31, 40, 54, 160}
	// Records per inlined body, without nested ones.
	inlinedSizes = []int{1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12}
	// Bits of a function's largest count.
	heats = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 19, 24}
)

// How many functions there are for each very hot one, and how many more bits its counts have. This
// makes some counts exceed 32 bits.
const hotOneIn, hotter = 2_000, 16

// Depths of inlining.
const (
	usualDepth = 4
	deepDepth  = 30
	deepOneIn  = 500 // functions
)

// A painter generates the samples of one function.
type painter struct {
	*generator
	unit *unit
	left int // records left to generate
	heat int
	deep int // maximum depth of inlining
}

// functions generates the functions of a unit.
func (g *generator) functions(u *unit) {
	for _, s := range u.symbols[:u.sampled] {
		p := painter{generator: g, unit: u, left: g.size(g.quantile(functionSizes)), heat: g.quantile(heats), deep: usualDepth}
		if g.oneIn(hotOneIn) {
			p.heat += hotter
		}
		if g.oneIn(deepOneIn) {
			p.deep = g.between(usualDepth, deepDepth)
			p.left += 2 * p.deep
		}
		f := profile.Function{HeadCount: p.count() >> g.rng.IntN(8)}
		if g.oneIn(4) {
			f.Timestamp = uint64(1 + g.rng.IntN(1<<20))
		}
		g.body.Reset()
		p.samples(p.left, u, 0)
		f.Records = g.body.Records()
		g.profile.AddFunction(s, f)
	}
}

// samples generates up to n records of a function in unit u, including inlined bodies. Lines
// ascend, and most have one location.
func (p *painter) samples(n int, u *unit, depth int) {
	line, discriminator := uint32(0), uint32(0)
	for ; n > 0 && p.left > 0; n-- {
		switch p.rng.IntN(8) {
		case 0:
			line, discriminator = line+uint32(p.between(4, 30)), 0
		case 1, 2:
			discriminator += uint32(p.between(1, 3))
		default:
			line, discriminator = line+uint32(p.between(1, 3)), 0
		}
		p.left--
		switch percent := p.rng.IntN(100); {
		case p.inlines(percent, depth) && p.left > 0:
			callee, of := p.inlinable(u)
			before := p.left
			p.body.Enter(line, discriminator, callee)
			p.samples(p.nested(depth), of, depth+1)
			p.body.Leave()
			if depth == 0 {
				n -= before - p.left // n includes nested records
			}
		case percent > 96:
			p.body.Count(line, discriminator, p.count())
			p.calls(line, discriminator, u)
		default:
			p.body.Count(line, discriminator, p.count())
		}
	}
}

// inlines decides whether a function is inlined at a location. percent is a random number, 0 to 99.
func (p *painter) inlines(percent, depth int) bool {
	if p.shape.Inlining > 0 {
		return p.share(p.shape.shapedInlining(depth))
	}
	return percent < p.inlining(depth)
}

// inlining returns the percentage of locations at a depth with an inlined body.
func (p *painter) inlining(depth int) int {
	switch {
	case depth >= p.deep:
		return 0
	case p.deep > usualDepth:
		return 40
	}
	return 12 - 2*depth
}

// nested returns the number of records that belong directly to an inlined body.
func (p *painter) nested(depth int) int {
	n := p.quantile(inlinedSizes)
	if depth+1 < p.deep && p.deep > usualDepth {
		n += 2 // so that there is room for inlining
	}
	return n
}

// inlinable returns a function that may be inlined in unit u, and the function's unit.
func (p *painter) inlinable(u *unit) (profile.SymbolRef, *unit) {
	if p.share(p.shape.HeaderInlining) {
		u = p.large[p.low(len(p.large))]
		return u.symbols[p.rng.IntN(len(u.symbols))], u
	}
	if !p.oneIn(3) {
		u = u.includes[p.low(len(u.includes))]
	}
	return u.symbols[len(u.symbols)-1-p.low(len(u.symbols))], u
}

// calls generates the targets of a call in unit u.
func (p *painter) calls(line, discriminator uint32, u *unit) {
	targets := 1
	if p.oneIn(8) { // an indirect call
		targets = p.between(2, max(6, p.shape.IndirectTargets))
	}
	for range targets {
		of := u
		if p.oneIn(2) {
			of = &p.all[p.low(len(p.all))]
		}
		p.body.Call(line, discriminator, of.symbols[p.low(len(of.symbols))], 1+p.count())
		p.left--
	}
}

// count generates samples: zero, or somewhat fewer than the function's maximum.
func (p *painter) count() uint64 {
	if p.rng.IntN(5) < 2 {
		return 0
	}
	magnitude := max(p.heat-p.low(8), 0)
	return p.rng.Uint64() >> (63 - magnitude)
}
