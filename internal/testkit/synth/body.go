package synth

import (
	"math/rand/v2"
	"strconv"

	"github.com/go-afdo/afdo/profile"
)

// Distributions of random numbers, as quantiles for generator.quantile.
var (
	// How many records a function has, including those of inlined bodies.
	functionSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 15, 17, 19, 22, 26, 31, 40, 54, 160}
	// How many records an inlined body has, without those of bodies inlined in it.
	inlinedSizes = []int{1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12}
	// How many bits the largest count of a function has.
	heats = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 19, 24}
)

// One function in hotOneIn is very hot: its counts have hotter more bits, so that some exceed 32
// bits.
const hotOneIn, hotter = 2_000, 16

// Depths of inlining.
const (
	usualDepth = 4
	deepDepth  = 30
	deepOneIn  = 500 // functions
)

// A painter generates the samples of one function. heat and deep determine how large its counts
// are, and how deep calls are inlined in it.
type painter struct {
	*generator
	unit *unit
	left int // records left to generate
	heat int
	deep int // maximum depth of inlining
}

// functions generates samples for those symbols of a unit that have some, each with a painter of
// its own.
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

// inlines decides whether a location gets an inlined body. depth is the number of inlined bodies
// around the location. percent is a random number from 0 to 99, on which the result depends unless
// the shape of the profile says how many locations get one.
func (p *painter) inlines(percent, depth int) bool {
	if p.shape.Inlining > 0 {
		return p.share(p.shape.shapedInlining(depth))
	}
	return percent < p.inlining(depth)
}

// inlining returns how many percent of the locations get an inlined body, if depth inlined bodies
// are around them.
func (p *painter) inlining(depth int) int {
	switch {
	case depth >= p.deep:
		return 0
	case p.deep > usualDepth:
		return 40
	}
	return 12 - 2*depth
}

// nested returns a random number of records for an inlined body. It does not count the records of
// further bodies inlined in it. depth is the number of bodies around it.
func (p *painter) nested(depth int) int {
	n := p.quantile(inlinedSizes)
	if depth+1 < p.deep && p.deep > usualDepth {
		n += 2 // so that there is room for inlining
	}
	return n
}

// inlinable chooses a random function that can be inlined in the unit u: one of the same unit or of
// a header that the unit includes. It returns the function and its unit.
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

// count returns a random count: zero, or somewhat less than the maximum for the function.
func (p *painter) count() uint64 {
	if p.rng.IntN(5) < 2 {
		return 0
	}
	magnitude := max(p.heat-p.low(8), 0)
	return p.rng.Uint64() >> (63 - magnitude)
}

// The words of which the paths and names of the synthetic program consist.
var (
	directories = []string{
		"analysis", "backend", "codegen/arm", "codegen/x86", "common", "cp", "debuginfo", "driver", "frontend", "include", "ipa", "linker",
		"lto", "parser", "passes/loop", "passes/vector", "rtl", "sema", "support", "support/adt", "tree", "vect",
	}
	namespaces = []string{"ana", "cc", "codegen", "debug", "front", "ipa", "lower", "opt", "parse", "rtl_ssa", "support", "tree", "vect"}
	words      = []string{
		"alias", "alloc", "anti", "array", "assign", "attr", "basic", "bind", "block", "bound", "branch", "build", "cache", "call", "canon",
		"check", "chunk", "class", "clone", "code", "combine", "commit", "compute", "cond", "const", "convert", "copy", "cost", "count", "decl", "def",
		"delta", "depth", "dest", "dom", "edge", "emit", "entry", "eval", "expand", "expr", "extract", "field", "find", "flow", "fold", "frame", "free",
		"gather", "get", "graph", "group", "hash", "head", "hoist", "ident", "index", "init", "inline", "insert", "insn", "iter", "join", "kind", "label",
		"latch", "layout", "lex", "link", "list", "live", "load", "local", "lookup", "loop", "lower", "make", "map", "mark", "match", "merge", "mode",
		"move", "name", "next", "node", "note", "offset", "operand", "order", "parse", "pass", "phi", "place", "point", "pool", "pred", "prune", "push",
		"range", "record", "reduce", "ref", "region", "reload", "remove", "rename", "reset", "resolve", "result", "rewrite", "scan", "scope", "set",
		"shift", "simplify", "slot", "sort", "spill", "split", "stack", "state", "stmt", "store", "strip", "subst", "succ", "switch", "symbol", "table",
		"target", "temp", "token", "trace", "tree", "try", "tuple", "type", "update", "use", "value", "var", "vector", "verify", "visit", "walk", "wide", "work",
	}
	// Mangled parameters: builtin types, pointers and strings.
	builtins = []string{"i", "j", "b", "m", "l", "c", "Pv", "PKc", "PKv", "Pm", "Rb", "St4pairIiiE"}
	// Suffixes of clones.
	clones = []string{".constprop.0", ".part.0", ".isra.0", ".cold"}
	// Members of standard library templates, and the beginnings of their mangled names. S1_ is the
	// type argument if it is in a single namespace.
	templates = []struct{ begin, rest string }{
		{"_ZNSt6vectorI", "SaIS1_EE9push_backERKS1_"},
		{"_ZNSt6vectorI", "SaIS1_EE7reserveEm"},
		{"_ZNSt6vectorI", "SaIS1_EED2Ev"},
		{"_ZNSt6vectorI", "SaIS1_EE17_M_realloc_insertIJRKS1_EEEvN9__gnu_cxx17__normal_iteratorIPS1_S3_EEDpOT_"},
		{"_ZNKSt6vectorI", "SaIS1_EE4sizeEv"},
		{"_ZNSt10unique_ptrI", "St14default_deleteIS1_EED2Ev"},
		{"_ZNSt5dequeI", "SaIS1_EE16_M_push_back_auxIJRKS1_EEEvDpOT_"},
		{"_ZNSt8_Rb_treeI", "S1_St9_IdentityIS1_ESt4lessIS1_ESaIS1_EE8_M_eraseEPSt13_Rb_tree_nodeIS1_E"},
		{"_ZNSt4listI", "SaIS1_EE8_M_clearEv"},
		{"_ZN8hash_mapI", "S1_15default_hashingE3getERKS1_"},
	}
)

// A namer generates the paths of units and the names of symbols. It returns each only once.
type namer struct {
	rng   *rand.Rand
	shape Shape
	taken map[string]bool
}

func newNamer(rng *rand.Rand, shape Shape) *namer { return &namer{rng, shape, make(map[string]bool)} }

// newName returns a new symbol name for the unit whose names s generates.
func (n *namer) newName(s *scope) string {
	if n.shape == (Shape{}) {
		return s.name()
	}
	return n.shaped(s)
}

func (n *namer) pick(from []string) string { return from[n.rng.IntN(len(from))] }

// once makes a name unique: it returns the name or, if that was used before, the first of
// others(2), others(3) and so on that was not.
func (n *namer) once(name string, others func(i int) string) string {
	for i := 2; n.taken[name]; i++ {
		name = others(i)
	}
	n.taken[name] = true
	return name
}

// ident returns a mangled identifier of several words: its length, then the identifier.
func (n *namer) ident(words int) string { return mangled(n.words(words)) }

func mangled(ident string) string { return strconv.Itoa(len(ident)) + ident }

func (n *namer) words(count int) string {
	ident := n.pick(words)
	for range count - 1 {
		ident += "_" + n.pick(words)
	}
	return ident
}

// A scope generates the symbol names of one unit: names in the unit's namespace and in a few
// classes.
type scope struct {
	*namer
	header    bool
	namespace string
	classes   []string
}

func (n *namer) scope(header bool) *scope {
	s := &scope{namer: n, header: header, namespace: mangled(n.pick(namespaces))}
	for range 1 + n.rng.IntN(6) {
		s.classes = append(s.classes, n.ident(2))
	}
	return s
}

// name returns a new symbol name of a random kind, such as a method or a constructor. Most names
// are mangled, and a few are names of C functions.
func (s *scope) name() string {
	kind := s.rng.IntN(100)
	switch {
	case kind < 4: // as in C
		name := s.words(3)
		return s.once(name, func(i int) string { return name + strconv.Itoa(i) })
	case kind < 6:
		return s.overload("_ZN"+s.namespace+s.pick(s.classes)+s.ident(2)+"E", s.pick(clones))
	case kind < 22: // at namespace scope
		return s.overload("_ZN"+s.namespace+s.ident(3)+"E", "")
	case kind < 40 && s.header:
		return s.template()
	case kind < 50:
		return s.overload("_ZNK"+s.namespace+s.pick(s.classes)+s.ident(2)+"E", "")
	case kind < 56:
		return s.overload("_ZN"+s.namespace+s.pick(s.classes)+"C2E", "")
	}
	return s.overload("_ZN"+s.namespace+s.pick(s.classes)+s.ident(2+s.rng.IntN(2))+"E", "")
}

// overload makes a symbol name from the mangled name of a function and random parameters, and a
// suffix of a clone, which may be empty. If the result is not unique, it adds parameters.
func (s *scope) overload(function, clone string) string {
	name := function
	for range 1 + s.rng.IntN(3) {
		name += s.parameter()
	}
	return s.once(name+clone, func(int) string {
		name += s.parameter()
		return name + clone
	})
}

func (s *scope) parameter() string {
	switch s.rng.IntN(5) {
	case 0:
		return "RKN" + s.namespace + s.pick(s.classes) + "E"
	case 1:
		return "P" + s.ident(1)
	}
	return s.pick(builtins)
}

// template returns a new symbol name, which is that of a member function of a template of the
// standard library.
func (s *scope) template() string {
	t := templates[s.rng.IntN(len(templates))]
	argument := func(words int) string { return t.begin + "N" + s.namespace + s.ident(words) + "E" + t.rest }
	return s.once(argument(2), func(i int) string { return argument(1 + i) })
}
