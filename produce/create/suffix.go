package create

import (
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/symname"
)

// Suffixes says which suffixes of compilers are cut from names.
type Suffixes int

const (
	// SelectedSuffixes cuts what GCC 16 and google/autofdo cut: .isra.N, .constprop.N, .lto_priv.N,
	// .part.N, .cold.N, .cold, .llvm.N and .__part.N, any number of them one after the other, and
	// what clang adds to the names of landing pads, .eh, and of pieces of coroutines, .resume,
	// .destroy and .cleanup.
	SelectedSuffixes Suffixes = iota
	// NoSuffixes cuts nothing.
	NoSuffixes
	// AllSuffixes cuts at the first dot, as GCC 10 to 15 do when they read a profile.
	AllSuffixes
)

// A strippedName is the name of a function without the suffixes that [Suffixes] selects.
type strippedName struct {
	name     string
	copy     string // the clone that the symbol is, or is a part of: the name without the suffixes of parts
	fragment bool   // the symbol is a part of a function, and callers do not enter the function there
	cold     bool   // the part is only reached by jumps
}

// canonical takes the suffixes off a name.
func (s Suffixes) canonical(name string) strippedName {
	switch s {
	case NoSuffixes:
		return strippedName{name: name, copy: name}
	case AllSuffixes:
		c := SelectedSuffixes.canonical(name)
		if short := symname.Canonical(name); short != "" {
			c.name = short
		} else {
			c.name = name
		}
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

// InlinedName returns the name that a profile has for a function that is inlined.
func InlinedName(f *symbolize.Function) string { return unifyConstructor(f.Linkage()) }

// Name returns a symbol without the suffixes that are cut.
func (s Suffixes) Name(symbol string) string { return s.canonical(symbol).name }
