package rebase

import (
	"bytes"
	"iter"
	"regexp"

	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/profile"
)

// Namespaces knows the inline namespaces of a text, such as fmt::v9. All symbols of a library
// contain its inline namespace, which has another name in the library's next version. A slice.Text
// implements Namespaces.
type Namespaces interface {
	// InlineNamespaces returns the name of the inline namespace in each namespace that has one, or
	// all that it may have.
	InlineNamespaces() map[string][]string
	// HasWord reports whether a word is in the text.
	HasWord(word string) bool
}

// renameInlines gives symbols the inline namespaces of the new sources.
func (p *plan) renameInlines(new Namespaces) {
	renames := mangled.Inlines(new.InlineNamespaces()).Renames(func(yield func(string) bool) {
		for _, c := range p.changes {
			if !yield(c.symbol) {
				return
			}
		}
	}, new.HasWord)
	for _, c := range p.changes {
		c.name = renames.Apply(c.name)
	}
}

// renamesInlines reports whether a profile has inline namespaces of other names.
func renamesInlines(p *profile.Profile, new Namespaces) bool {
	return len(mangled.Inlines(new.InlineNamespaces()).Renames(symbolsOf(p), new.HasWord)) > 0
}

func symbolsOf(p *profile.Profile) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := range p.NumSymbols() {
			if !yield(p.SymbolName(profile.SymbolRef(s))) {
				return
			}
		}
	}
}

// inlineNamespace is how texts open one, in a macro as a rule.
var inlineNamespace = pattern.Of(`\bnamespace\s+(\w+)[\s\\]*\{[\s\\]*inline namespace\s+([^{};]*)\{`)

// maxInlines bounds how many ways to open one are looked at.
const maxInlines = 1 << 7

// InlineNamespaces implements [Namespaces] for texts with macros.
func (s *Sources) InlineNamespaces() map[string][]string {
	inlines := make(mangled.Inlines)
	seen := make(map[string]bool)
	for i := range s.files {
		if !bytes.Contains(s.files[i].text, []byte("inline namespace")) {
			continue
		}
		for _, found := range inlineNamespace().FindAllSubmatch(s.files[i].text, -1) {
			text := s.files[i].path + "\n" + string(found[0])
			if seen[text] || len(found[0]) > maxMeaning || len(seen) == maxInlines {
				continue
			}
			seen[text] = true
			for _, name := range s.meanings(&s.files[i], noCode().ReplaceAllString(string(found[2]), " ")) {
				inlines.Add(string(found[1]), name)
			}
		}
	}
	return inlines
}

// HasWord reports whether a word is in any of the texts.
func (s *Sources) HasWord(word string) bool {
	whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
	for i := range s.files {
		if text := s.files[i].text; bytes.Contains(text, []byte(word)) && whole.Match(text) {
			return true
		}
	}
	return false
}
