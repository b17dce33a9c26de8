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
	// what clang adds to the names of landing pads, .eh, and of pieces of coroutines, .resume,
	// .destroy and .cleanup.
	SelectedSuffixes Suffixes = iota
	// NoSuffixes cuts nothing.
	NoSuffixes
	// AllSuffixes cuts at the first dot, as GCC 10 to 15 do when they read a profile.
	AllSuffixes
)

// A canonicalName is a name without suffixes.
type canonicalName struct {
	name     string
	copy     string // the copy of the function that it is, or is a piece of: without the suffixes of pieces
	fragment bool   // it is a piece of a function that is not where the function is entered
	cold     bool   // and that is only jumped into
}

// canonical takes the suffixes off a name.
func (s Suffixes) canonical(name string) canonicalName {
	switch s {
	case NoSuffixes:
		return canonicalName{name: name, copy: name}
	case AllSuffixes:
		c := SelectedSuffixes.canonical(name)
		if short := canonical.Name(name); short != "" {
			c.name = short
		} else {
			c.name = name
		}
		return c
	}
	c := canonicalName{name: name, copy: name}
	for {
		rest, word, ok := cutSuffix(c.name)
		if !ok {
			return c
		}
		p, isPiece := pieces[word]
		if isPiece {
			c.copy = rest
		}
		c.name = rest
		c.cold = c.cold || p.cold
		c.fragment = c.fragment || isPiece
	}
}

// A piece is a part of a function that is not where it is entered.
type piece struct {
	numbered bool // a number is behind the word, or may be behind .cold
	cold     bool // it is only jumped into
}

// pieces are the words that compilers name pieces by, clones those of copies, which all have a
// number.
var (
	pieces = map[string]piece{
		"part": {numbered: true}, "__part": {numbered: true, cold: true}, "cold": {numbered: true, cold: true}, "eh": {cold: true},
		"resume": {}, "destroy": {}, "cleanup": {},
	}
	clones = map[string]bool{"isra": true, "constprop": true, "lto_priv": true, "llvm": true}
)

// gccActor is the end of the name of what GCC makes of the body of a coroutine. What destroys its
// frame calls that, and has the same name for compilers that cut names at a dot.
const (
	gccActor   = ".Frame.actor"
	gccDestroy = ".Frame.destroy"
)

// cutSuffix takes the last suffix off a name.
func cutSuffix(name string) (rest, word string, ok bool) {
	rest, word = cutLast(name)
	if frame, ok := strings.CutSuffix(name, gccDestroy); ok {
		return frame + gccActor, "cold", true
	}
	p, isPiece := pieces[word]
	if isPiece && (!p.numbered || word == "cold") {
		return rest, word, rest != ""
	}
	if word == "" || strings.Trim(word, "0123456789") != "" {
		return name, "", false
	}
	rest, word = cutLast(rest)
	return rest, word, rest != "" && (clones[word] || pieces[word].numbered)
}

// cutLast cuts a name at its last dot. Without one, nothing comes after it.
func cutLast(name string) (before, after string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}
