// Package depfile parses the dependency files that compilers write with -MD, which contain rules
// for make.
package depfile

import (
	"bytes"
	"errors"
	"fmt"
)

// A Rule is a rule of a dependency file: make has to rebuild the targets if a prerequisite changes.
// GCC also writes rules without prerequisites, so that make accepts the removal of a header.
type Rule struct {
	Targets, Prerequisites []string
}

// ErrDepfile matches the errors of [Parse].
var ErrDepfile = errors.New("not a dependency file")

// Parse parses a dependency file as compilers write it for make and ninja. It knows lines that a
// backslash continues, "\ " and "\#" for a blank and a number sign in a path, "$$" for a dollar
// sign, comments, and any number of rules. A backslash before anything else is literal. A colon
// ends the targets only before white space, so paths of Windows are parsed, too.
func Parse(data []byte) ([]Rule, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, fmt.Errorf("%w: a NUL at byte %d", ErrDepfile, i)
	}
	p := depParser{data: data}
	var rules []Rule
	var rule *Rule
	var words []string // in this line, before a colon
	line := 1
	for {
		token, word := p.next()
		switch token {
		case depWord:
			if rule != nil {
				rule.Prerequisites = append(rule.Prerequisites, word)
			} else {
				words = append(words, word)
			}
			continue
		case depColon:
			if rule != nil || len(words) == 0 {
				return nil, fmt.Errorf("%w: line %d has a colon without a target", ErrDepfile, line)
			}
			rules = append(rules, Rule{Targets: words})
			rule, words = &rules[len(rules)-1], nil
			continue
		}
		if len(words) > 0 && !isAssignment(words) {
			return nil, fmt.Errorf("%w: line %d has no colon", ErrDepfile, line)
		}
		words = nil
		if token == depEnd {
			return rules, nil
		}
		rule = nil
		line = 1 + bytes.Count(data[:p.pos], []byte{'\n'})
	}
}

// isAssignment reports whether a line assigns a make variable, as GCC writes it for C++ modules.
func isAssignment(words []string) bool {
	return len(words) > 1 && (words[1] == "=" || words[1] == "+=")
}

// Prerequisites returns the prerequisites of all rules in order, each once.
func Prerequisites(rules []Rule) []string {
	var all []string
	seen := make(map[string]bool)
	for _, r := range rules {
		for _, name := range r.Prerequisites {
			if !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}

type depToken int

const (
	depEnd depToken = iota
	depLine
	depColon
	depWord
)

type depParser struct {
	data []byte
	pos  int
}

// at returns the byte at an offset from the current position, or 0 beyond the end.
func (p *depParser) at(ahead int) byte {
	if p.pos+ahead < len(p.data) {
		return p.data[p.pos+ahead]
	}
	return 0
}

// continued returns the length of the backslash and the line end at the current position, which
// continue a line. It returns 0 if there is none.
func (p *depParser) continued() int {
	switch {
	case p.at(0) != '\\':
		return 0
	case p.at(1) == '\n':
		return 2
	case p.at(1) == '\r' && p.at(2) == '\n':
		return 3
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func (p *depParser) next() (depToken, string) {
	for {
		switch n := p.continued(); {
		case n > 0:
			p.pos += n
		case isBlank(p.at(0)):
			p.pos++
		case p.at(0) == '#':
			p.skipComment()
		default:
			return p.token()
		}
	}
}

// skipComment skips a comment up to the end of its line, which a backslash may continue.
func (p *depParser) skipComment() {
	for p.pos < len(p.data) && p.at(0) != '\n' {
		p.pos += max(1, p.continued())
	}
}

func (p *depParser) token() (depToken, string) {
	switch {
	case p.pos == len(p.data):
		return depEnd, ""
	case p.at(0) == '\n':
		p.pos++
		return depLine, ""
	case p.atColon():
		p.pos++
		return depColon, ""
	}
	return depWord, p.word()
}

// atColon reports whether the next byte is a colon that ends the targets of a rule.
func (p *depParser) atColon() bool {
	if p.at(0) != ':' {
		return false
	}
	next := p.at(1)
	return next == 0 || next == '\n' || isBlank(next) || next == '\\' && (p.at(2) == '\n' || p.at(2) == '\r')
}

func (p *depParser) word() string {
	var word []byte
	for p.pos < len(p.data) && p.continued() == 0 && !p.atColon() {
		c := p.at(0)
		if c == '\n' || isBlank(c) {
			break
		}
		switch next := p.at(1); {
		case c == '$' && next == '$', c == '\\' && next == '#', c == '\\' && next == ':':
			word = append(word, next)
			p.pos += 2
		case c == '\\':
			word = p.backslashes(word)
		default:
			word = append(word, c)
			p.pos++
		}
	}
	return string(word)
}

// backslashes reads consecutive backslashes and appends what they mean to a word. They are escapes
// only before a blank: then each pair is one backslash, and an odd one makes the blank a part of
// the word.
func (p *depParser) backslashes(word []byte) []byte {
	n := 0
	for p.at(n) == '\\' {
		n++
	}
	blank := p.at(n)
	if blank != ' ' && blank != '\t' {
		if c := p.at(n); n > 1 && (c == '\n' || c == '\r' || c == '#') {
			n-- // the last one belongs to what follows
		}
		p.pos += n
		return append(word, bytes.Repeat([]byte{'\\'}, n)...)
	}
	p.pos += n
	word = append(word, bytes.Repeat([]byte{'\\'}, n/2)...)
	if n%2 == 1 {
		word = append(word, blank)
		p.pos++
	}
	return word
}
