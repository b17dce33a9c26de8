package create

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/samples"
	"github.com/go-afdo/afdo/symbolize"
)

// maxOther is the share of samples in functions of another name at which a recording is of another
// build. Of the right one the share is 0 where names are mangled; demanglers differ in details.
const maxOther = 0.001

// CheckBuild compares the names that a recording has for functions with those of the binary. It
// returns [ErrBuild] if more than a thousandth of the samples are in a function that the recording
// calls otherwise. Recordings without names, such as most of perf, pass: perf tells build IDs.
func CheckBuild(f *symbolize.File, set *samples.Set) error {
	c := buildCheck{file: f}
	for offset, n := range set.Addresses() {
		if name := set.Name(offset); name != "" {
			if err := c.compare(offset, name, n); err != nil {
				return err
			}
		}
	}
	if other := float64(c.other) / max(float64(c.all), 1); other > maxOther {
		return fmt.Errorf("create: %s: %w: %.1f%% of the samples are in functions of other names, such as %s",
			f.Path(), ErrBuild, 100*other, c.example)
	}
	return nil
}

// A buildCheck adds up how many samples are in functions that are called otherwise.
type buildCheck struct {
	file       *symbolize.File
	all, other uint64
	most       uint64 // samples of one address that are called otherwise
	example    string

	symbol symbolize.Symbol // of the last address
	name   string           // that the last address was compared by
	same   bool
}

// compare looks at n samples of a file offset that the recording has a name for.
func (c *buildCheck) compare(offset uint64, name string, n uint64) error {
	addr, ok := c.file.Address(offset)
	if !ok {
		return nil
	}
	if within := addr >= c.symbol.Low && addr < c.symbol.High; !within || name != c.name {
		if !within {
			s, ok, err := c.file.Symbol(addr)
			if !ok || err != nil {
				return err
			}
			c.symbol = s
		}
		c.name = name
		c.same = slices.ContainsFunc(c.symbol.Names, func(symbol string) bool {
			// Not all tools see the pieces that are no functions by their type, and callgrind stays
			// in a piece when it jumps back.
			return sameName(name, symbol) || sameName(wholeName(name), SelectedSuffixes.canonical(symbol).copy)
		})
	}
	c.all = saturating.Add(c.all, n)
	if !c.same {
		c.other = saturating.Add(c.other, n)
		if n > c.most {
			c.most, c.example = n, fmt.Sprintf("%s at %#x, which is %s now", name, addr, c.symbol.Names[0])
		}
	}
	return nil
}

// wholeName returns the name of the function that a recording shows a piece of: "f.cold", or
// "f() [clone .cold]" if it is demangled.
func wholeName(shown string) string {
	shown, _, _ = strings.Cut(shown, " [clone ")
	return SelectedSuffixes.canonical(shown).copy
}

// sameName reports whether a name that a recording shows is that of a symbol. It may be the symbol,
// the symbol with a version, or what some demangler makes of it, with parameters or without.
func sameName(shown, symbol string) bool {
	symbol, _, _ = strings.Cut(symbol, "@")
	if plain, _, _ := strings.Cut(shown, "@"); plain == symbol {
		return true
	}
	if len(symbol) > mangled.MaxLen {
		return true // not worth the time
	}
	tree, err := demangle.ToAST(symbol)
	if err != nil {
		return false
	}
	if withoutBlanks(demangle.ASTToString(tree)) == withoutBlanks(shown) {
		return true
	}
	last, ok := mangled.Last(tree).(*demangle.Name)
	return ok && hasWord(shown, last.Name)
}

func withoutBlanks(text string) string { return strings.ReplaceAll(text, " ", "") }

// hasWord reports whether a text has a word that is not part of a longer one.
func hasWord(text, word string) bool {
	for at := strings.Index(text, word); at >= 0; at = nextIndex(text, word, at) {
		after := at + len(word)
		if (at == 0 || !isWordByte(text[at-1])) && (after == len(text) || !isWordByte(text[after])) {
			return true
		}
	}
	return false
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
