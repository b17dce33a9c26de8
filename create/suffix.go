package create

import (
	"strings"

	"github.com/go-afdo/afdo/internal/canonical"
)

// Suffixes says which suffixes of compilers are cut from names.
type Suffixes int

const (
	// SelectedSuffixes cuts what GCC 16 and google/autofdo cut: .isra.N, .constprop.N, .lto_priv.N,
	// .part.N, .cold.N, .cold, .llvm.N and .__part.N, any number of them one after the other, and
	// .eh, in which clang has landing pads.
	SelectedSuffixes Suffixes = iota
	// NoSuffixes cuts nothing.
	NoSuffixes
	// AllSuffixes cuts at the first dot, as GCC 10 to 15 do when they read a profile.
	AllSuffixes
)

// A canonicalName is a name without suffixes.
type canonicalName struct {
	name     string
	fragment bool // it is a piece of a function that is not where the function is entered
	cold     bool // and that is only jumped into
}

// canonical takes the suffixes off a name.
func (s Suffixes) canonical(name string) canonicalName {
	switch s {
	case NoSuffixes:
		return canonicalName{name: name}
	case AllSuffixes:
		if short := canonical.Name(name); short != "" {
			c := SelectedSuffixes.canonical(name)
			c.name = short
			return c
		}
		return canonicalName{name: name}
	}
	c := canonicalName{name: name}
	for {
		rest, word := cutLast(c.name)
		if word != "cold" && word != "eh" {
			if strings.Trim(word, "0123456789") != "" || word == "" {
				return c
			}
			if rest, word = cutLast(rest); !numbered[word] {
				return c
			}
		}
		if rest == "" {
			return c
		}
		c.name = rest
		c.cold = c.cold || word == "cold" || word == "eh" || word == "__part"
		c.fragment = c.cold || c.fragment || word == "part"
	}
}

// numbered are the words that are cut together with the number behind them.
var numbered = map[string]bool{
	"isra": true, "constprop": true, "lto_priv": true, "part": true, "cold": true, "llvm": true, "__part": true,
}

// cutLast cuts a name at its last dot. Without one, nothing comes after it.
func cutLast(name string) (before, after string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}
