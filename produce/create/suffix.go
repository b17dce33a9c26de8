package create

import (
	"cmp"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/symname"
)

// Suffixes selects which suffixes that compilers add, such as .isra.0, are cut from the names of
// functions.
type Suffixes int

const (
	// SelectedSuffixes cuts the suffixes that GCC 16 and google/autofdo cut: .isra.N, .constprop.N,
	// .lto_priv.N, .part.N, .cold.N, .cold, .llvm.N and .__part.N, any number of them in sequence.
	// It also cuts the suffixes that clang adds to landing pads, .eh, and to parts of coroutines,
	// .resume, .destroy and .cleanup.
	SelectedSuffixes Suffixes = iota
	// NoSuffixes cuts nothing.
	NoSuffixes
	// AllSuffixes cuts names at the first dot, as GCC 10 to 15 do when they read a profile.
	AllSuffixes
)

// A strippedName is the name of a function without the suffixes that [Suffixes] selects.
type strippedName struct {
	name     string
	copy     string // the name of the clone, with suffixes such as .constprop.0, but without those of its parts, such as .cold
	fragment bool   // the symbol is a part such as .part.0 or .cold, which callers of the function do not enter
	cold     bool   // the part is only reached by jumps
}

// canonical splits a symbol's name into the name of the function and the suffixes that s selects,
// such as .part.0.
func (s Suffixes) canonical(name string) strippedName {
	switch s {
	case NoSuffixes:
		return strippedName{name: name, copy: name}
	case AllSuffixes:
		c := SelectedSuffixes.canonical(name)
		c.name = cmp.Or(symname.Canonical(name), name)
		return c
	}
	c := strippedName{name: name, copy: name}
	for {
		rest, suffix, ok := symname.CutSuffix(c.name)
		if !ok {
			return c
		}
		if suffix.Fragment {
			c.copy = rest
		}
		c.name = rest
		c.cold = c.cold || suffix.Cold
		c.fragment = c.fragment || suffix.Fragment
	}
}

// InlinedName returns the name that a profile has for an inlined function. For a constructor or
// destructor, this is the name of the variant for base classes, C2 or D2.
func InlinedName(f *symbolize.Function) string { return unifyConstructor(f.Linkage()) }

// Name returns a symbol's name without the suffixes that s selects.
func (s Suffixes) Name(symbol string) string { return s.canonical(symbol).name }

// unifyConstructor returns the name under which GCC looks up an inlined constructor or destructor
// in a profile. Debug info has the name of the abstract function, such as _ZN1AC4Ev, which no
// function in the compiler has (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=64346). In the
// compiler, the constructor of whole objects, C1, is an alias of the constructor of base classes,
// C2, unless there are virtual bases. So the result has C2 in place of C4. Other names stay the
// same.
func unifyConstructor(name string) string { return baseStructor(name, "4") }

// unify is like unifyConstructor, but caches the results: a program inlines the same constructors
// thousands of times, and each result takes two demanglings. It is not safe for concurrent use.
func (c *creation) unify(name string) string {
	if !strings.Contains(name, "C4") && !strings.Contains(name, "D4") {
		return name
	}
	unified, ok := c.unified[name]
	if !ok {
		unified = unifyConstructor(name)
		c.unified[name] = unified
	}
	return unified
}

// baseStructor returns the name that the variant for base classes has, C2 or D2, of the constructor
// or destructor with the given name. of is the digit in the given name: "1" for whole objects (C1,
// D1), "4" for the abstract function (C4, D4). Names of other functions are returned unchanged.
func baseStructor(name, of string) string {
	if !strings.HasPrefix(name, "_Z") || len(name) > mangled.MaxLen {
		return name
	}
	for _, kinds := range [...][2]string{{"C" + of, "D1"}, {"D" + of, "C1"}} {
		kind, opposite := kinds[0], kinds[1]
		for i := range len(name) {
			if !strings.HasPrefix(name[i:], kind) {
				continue
			}
			// It is the function's own, not part of a word, a scope or a parameter, if the function
			// becomes the opposite with it.
			before, after := name[:i], name[i+len(kind):]
			if structor(name) == kind[0] && structor(before+opposite+after) == opposite[0] {
				return before + kind[:1] + "2" + after
			}
		}
	}
	return name
}

// structor returns 'C' for the mangled name of a constructor, 'D' for the name of a destructor, and
// 0 for other names.
func structor(name string) byte {
	tree, err := demangle.ToAST(name)
	if err != nil {
		return 0
	}
	switch mangled.Last(tree).(type) {
	case *demangle.Constructor:
		return 'C'
	case *demangle.Destructor:
		return 'D'
	}
	return 0
}
