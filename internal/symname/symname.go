package symname

import (
	"strings"
)

// A Suffix describes the part of a function that has the suffix in its name. The zero value is a
// clone of the whole function.
type Suffix struct {
	Fragment bool // the code is a part of the function, and callers do not enter the function there
	Cold     bool // the code is only reached by jumps
}

// plainSuffixes are the suffixes without a number that [CutSuffix] cuts. Suffixes of
// numberedSuffixes are followed by a dot and a number.
var (
	plainSuffixes = map[string]Suffix{
		"cold": {Fragment: true, Cold: true},
		"eh":   {Fragment: true, Cold: true}, // clang: landing pads
		// clang: parts of a coroutine
		"resume": {Fragment: true}, "destroy": {Fragment: true}, "cleanup": {Fragment: true},
	}
	numberedSuffixes = map[string]Suffix{
		"isra": {}, "constprop": {}, "lto_priv": {}, "llvm": {},
		"part": {Fragment: true}, "__part": {Fragment: true, Cold: true}, "cold": {Fragment: true, Cold: true},
	}
)

// GCC compiles the body of a coroutine to a function whose name ends with gccActor. The function
// that destroys the coroutine's frame calls it, and has the same canonical name.
const (
	gccActor   = ".Frame.actor"
	gccDestroy = ".Frame.destroy"
)

// CutSuffix cuts the last suffix off a name, if it is one that GCC 16 and google/autofdo cut.
// GCC's name of a function that destroys a coroutine becomes the name of the coroutine's body.
func CutSuffix(name string) (rest string, s Suffix, ok bool) {
	if frame, ok := strings.CutSuffix(name, gccDestroy); ok {
		return frame + gccActor, plainSuffixes["cold"], true
	}
	rest, word := cutLast(name)
	suffixes := plainSuffixes
	if isNumber(word) {
		rest, word = cutLast(rest)
		suffixes = numberedSuffixes
	}
	if s, ok = suffixes[word]; !ok || rest == "" {
		return name, Suffix{}, false
	}
	return rest, s, true
}

// The suffixes that [Strip] cuts.
var (
	strippedNumbered = map[string]bool{
		"isra": true, "constprop": true, "part": true, "cold": true, "lto_priv": true, "localalias": true, // GCC
		"llvm": true, // LLVM, for static functions that ThinLTO exports
	}
	strippedPlain = map[string]bool{"cold": true, "localalias": true}
)

// Strip cuts all suffixes off a name that merging without suffixes ignores: .isra.N, .constprop.N,
// .part.N, .cold, .cold.N, .lto_priv.N, .localalias, .localalias.N and .llvm.N. It never cuts a
// name to nothing.
func Strip(name string) string {
	for {
		rest, word := cutLast(name)
		suffixes := strippedPlain
		if isNumber(word) {
			rest, word = cutLast(rest)
			suffixes = strippedNumbered
		}
		if !suffixes[word] || rest == "" {
			return name
		}
		name = rest
	}
}

// StripMemProf cuts .llvm.X and .part.X off a name, as LLVM does before it hashes the name of a
// function in a memory profile.
func StripMemProf(name string) string {
	for _, suffix := range []string{".llvm.", ".part."} {
		if i := strings.LastIndex(name, suffix); i >= 0 && !strings.Contains(name[i+len(suffix):], ".") {
			name = name[:i]
		}
	}
	return name
}

// cutLast cuts a name at its last dot. Without a dot, before is the name and after is empty.
func cutLast(name string) (before, after string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// Canonical returns the part of a symbol's name before its first '.'. GCC 12 to 15 match functions
// by this part alone: to them foo.part.0 and foo.constprop.1 are foo. LLVM also calls this part the
// canonical name. It is empty if the name begins with a dot.
func Canonical(symbol string) string {
	name, _, _ := strings.Cut(symbol, ".")
	return name
}
