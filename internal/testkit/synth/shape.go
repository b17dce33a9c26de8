package synth

import (
	"strconv"

	"github.com/go-afdo/afdo/profile"
)

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

// deepInlining is the depth down to which functions inline at the full rate in a shape.
const deepInlining = 8

// share returns true with the given probability per thousand.
func (g *generator) share(perMille int) bool { return perMille > 0 && g.rng.IntN(1000) < perMille }

// addLargeHeaders adds symbols to the first header units, as the shape requires.
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

// shaped returns a new name for the shape.
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

// longTemplate returns a new member of a template whose arguments are types of this and other
// scopes.
func (s *scope) longTemplate() string {
	name := "_ZN" + s.namespace + s.pick(s.classes) + "I"
	for range 2 + s.rng.IntN(5) {
		name += "N" + mangled(s.pick(namespaces)) + s.ident(2) + "E"
	}
	name += "E"
	return s.overload(name+s.ident(1+s.rng.IntN(3))+"E", "")
}

// size returns the number of records of a function that would have n in the plain profile.
func (g *generator) size(n int) int {
	n *= max(g.shape.Size, 1)
	if g.share(g.shape.Long) {
		n *= 16
	}
	return n
}

// fileOf returns the file of a new symbol in unit u: the unit's file or none.
func (g *generator) fileOf(u *unit) profile.UnitRef {
	if g.share(g.shape.UnknownFile) {
		return profile.UnknownUnit
	}
	return u.file
}

// shapedInlining returns how many per thousand locations at a depth have an inlined body.
func (s *Shape) shapedInlining(depth int) int {
	if depth < deepInlining {
		return s.Inlining
	}
	return s.Inlining * deepInlining / (2 * depth)
}
