package rebase

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/mangled"
	"github.com/go-afdo/afdo/internal/pattern"
)

// Limits on the expansion of macros whose definitions use other macros.
const (
	maxMeanings    = 1 << 8
	maxExpansions  = 1 << 9
	maxMeaning     = 1 << 9 // bytes of one expansion
	maxDefinitions = 1 << 4 // definitions of one macro
)

// A macro is one definition of a macro. function is true if it has a parameter list.
type macro struct {
	parameters []string
	function   bool
	body       string
}

// meanings returns all identifiers to which a text in a file can expand by macros. If a macro has
// several definitions, for example in branches of "#if", it uses all of them.
func (s *Sources) meanings(file *source, text string) (names []string) {
	defined := make(map[string][]macro)
	seen := map[string]bool{text: true}
	open := []string{text}
	for n := 0; len(open) > 0 && n < maxExpansions; n++ {
		text := open[len(open)-1]
		open = open[:len(open)-1]
		next, any := s.expand(file, text, defined)
		if text = strings.TrimSpace(text); !any && identifier().MatchString(text) && !slices.Contains(names, text) {
			names = append(names, text)
		}
		for _, t := range next {
			if !seen[t] && len(seen) < maxMeanings && len(t) <= maxMeaning {
				seen[t] = true
				open = append(open, t)
			}
		}
	}
	return names
}

var (
	identifier = pattern.Of(`^[A-Za-z_]\w*$`)
	anyWord    = pattern.Of(`\b[A-Za-z_]\w*\b`)
	pasting    = pattern.Of(`\s*##\s*`)
)

// expand replaces the last macro in a text by each of its definitions, and returns the resulting
// texts. It begins with the last macro because that may be an argument of another macro. any is
// false if the text contains no macro. defined caches the definitions by name.
func (s *Sources) expand(file *source, text string, defined map[string][]macro) (next []string, any bool) {
	words := anyWord().FindAllStringIndex(text, -1)
	for _, at := range slices.Backward(words) { // arguments before the macro that has them
		name := text[at[0]:at[1]]
		if _, known := defined[name]; !known {
			defined[name] = s.definitions(file, name)
		}
		for _, m := range defined[name] {
			if body, end, ok := m.use(text, at[1]); ok {
				any = true
				next = append(next, pasting().ReplaceAllString(text[:at[0]]+body+text[end:], ""))
			}
		}
		if any {
			return next, true
		}
	}
	return nil, false
}

// use expands a macro whose name ends at position at of a text. It returns the expansion and the
// end of the macro's arguments. ok is false if the arguments do not fit the definition.
func (m *macro) use(text string, at int) (body string, end int, ok bool) {
	if !m.function {
		return m.body, at, true
	}
	rest := strings.TrimLeft(text[at:], " \t")
	inner, _, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
	arguments := strings.Split(inner, ",")
	if !strings.HasPrefix(rest, "(") || !closed || strings.Contains(inner, "(") || len(arguments) != len(m.parameters) {
		return "", 0, false
	}
	body = anyWord().ReplaceAllStringFunc(m.body, func(word string) string {
		if i := slices.Index(m.parameters, word); i >= 0 {
			return strings.TrimSpace(arguments[i])
		}
		return word
	})
	return body, len(text) - len(rest) + len("(") + len(inner) + len(")"), true
}

// definitions returns the definitions of a macro in a file, or else in the first file that has any.
func (s *Sources) definitions(file *source, name string) (list []macro) {
	define := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+` + name + `\b(\([^()\n]*\))?((?:.*\\\r?\n)*.*)`)
	list = file.definitions(name, define)
	for i := 0; i < len(s.files) && list == nil; i++ {
		list = s.files[i].definitions(name, define)
	}
	return list
}

// definitions returns the definitions of a macro in one file. define is the pattern that matches
// such a definition.
func (s *source) definitions(name string, define *regexp.Regexp) (list []macro) {
	if !bytes.Contains(s.text, []byte(name)) {
		return nil
	}
	for _, found := range define.FindAllSubmatch(s.text, maxDefinitions) {
		m := macro{function: len(found[1]) > 0, body: strings.TrimSpace(noCode().ReplaceAllString(string(found[2]), " "))}
		for parameter := range strings.SplitSeq(strings.Trim(string(found[1]), "()"), ",") {
			m.parameters = append(m.parameters, strings.TrimSpace(parameter))
		}
		list = append(list, m)
	}
	return list
}

// noCode matches comments and the ends of continued lines.
var noCode = pattern.Of(`\\\r?\n|//.*|/\*(?:.|\n)*?\*/`)

// renameInlines renames symbols for inline namespaces that have another name in the new sources,
// such as std::__2 in place of std::__1. renames alternates old and new components of mangled
// symbols, see [Files.Renames].
func (p *plan) renameInlines(renames []string) {
	pairs := mangled.Renames(renames)
	for _, c := range p.changes {
		c.name = pairs.Apply(c.name)
	}
}

// symbolsOf iterates over the symbols in uses, which are the symbols of a profile.
func symbolsOf(uses []use) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range uses {
			if !yield(uses[i].symbol) {
				return
			}
		}
	}
}

// inlineNamespace matches the opening of an inline namespace within another namespace, as libraries
// write it in a macro.
var inlineNamespace = pattern.Of(`\bnamespace\s+(\w+)[\s\\]*\{[\s\\]*inline namespace\s+([^{};]*)\{`)

// maxInlines limits the number of openings of inline namespaces that inlineRenames expands.
const maxInlines = 1 << 7

// inlineRenames returns the inline namespaces in symbols that have another name in the new sources,
// in the form of [Files.Renames]. It also finds namespaces that the sources open by macros.
func (s *Sources) inlineRenames(symbols iter.Seq[string]) []string {
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
	return inlines.Renames(symbols, func(word string) bool {
		return slices.ContainsFunc(s.files, func(f source) bool { return cpp.HasWord(f.text, word) })
	})
}
