package create

import (
	"cmp"

	"github.com/go-afdo/afdo/input/symbolize"
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
