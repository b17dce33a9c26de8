package rebase

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// Libraries that keep their versions apart have an inline namespace such as fmt::v9, which is in
// all of their symbols and has another name in the next version.

// inlineNamespace is how texts open one, in a macro as a rule.
var inlineNamespace = regexp.MustCompile(`\bnamespace\s+(\w+)\s*\{[\s\\]*inline namespace\s+(\w+)`)

// inlines returns the inline namespaces of all texts by the namespace around them. One that is
// opened under several names is empty.
func (s *Sources) inlines() map[string]string {
	inlines := make(map[string]string)
	for i := range s.files {
		if !bytes.Contains(s.files[i].text, []byte("inline namespace")) {
			continue
		}
		for _, found := range inlineNamespace.FindAllSubmatch(s.files[i].text, -1) {
			outer, inner := string(found[1]), s.macro(string(found[2]))
			if before, ok := inlines[outer]; ok && before != inner {
				inner = ""
			}
			inlines[outer] = inner
		}
	}
	return inlines
}

// macro returns the word that a macro stands for, or the name itself if it is none.
func (s *Sources) macro(name string) string {
	define := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+` + name + `[ \t]+([A-Za-z_]\w*)[ \t]*\r?$`)
	for i := range s.files {
		if found := define.FindSubmatch(s.files[i].text); found != nil {
			return string(found[1])
		}
	}
	return name
}

// hasWord reports whether a word is in any of the texts.
func (s *Sources) hasWord(word string) bool {
	whole := regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`)
	for i := range s.files {
		if text := s.files[i].text; bytes.Contains(text, []byte(word)) && whole.Match(text) {
			return true
		}
	}
	return false
}

// renameInlines gives symbols the inline namespaces of the new sources. The one that they have is
// what stands most often behind the namespace around it, if no new text mentions that.
func (p *plan) renameInlines(new *Sources) {
	for outer, inner := range new.inlines() {
		outer = lengthAndName(outer)
		if old := p.usualAfter(outer); inner != "" && old != "" && old != inner && !new.hasWord(old) {
			for _, c := range p.changes {
				if c.spelled.known {
					c.name = strings.ReplaceAll(c.name, outer+lengthAndName(old), outer+lengthAndName(inner))
				}
			}
		}
	}
}

// lengthAndName is how mangled names have a name.
func lengthAndName(name string) string { return strconv.Itoa(len(name)) + name }

// usualAfter returns the name that is more often behind a part of mangled names than all others
// together.
func (p *plan) usualAfter(part string) (usual string) {
	times, all := make(map[string]int), 0
	for _, c := range p.changes {
		_, rest, found := strings.Cut(c.symbol, part)
		if !found || !c.spelled.known {
			continue
		}
		all++
		name := strings.TrimLeft(rest, "0123456789")
		if size, err := strconv.Atoi(rest[:len(rest)-len(name)]); err == nil && size <= len(name) {
			times[name[:size]]++
		}
	}
	for name, n := range times {
		if 2*n > all {
			usual = name
		}
	}
	return usual
}
