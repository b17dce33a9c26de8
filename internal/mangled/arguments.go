package mangled

import "strings"

// Arguments are the arguments of a template in a symbol.
type Arguments struct {
	Name  string // of the template, unqualified; empty if the symbol refers to an earlier one
	Types []int  // where the fundamental types of arguments are that are literals
	End   int    // of the 'E' behind the last argument
}

// Literal is how symbols have a number of a fundamental type.
func Literal(code byte, value string) string { return "L" + string(code) + value + "E" }

// ArgumentsIn returns the arguments of templates in a symbol, inner ones first. Callers must check
// the result with the demangler: ArgumentsIn knows no expressions, and stops at the first thing
// that it cannot decode.
func ArgumentsIn(symbol string) []Arguments {
	s := argumentScanner{text: symbol, pos: len("_Z")}
	for s.pos < len(symbol) && s.step() {
	}
	return s.found
}

// An argumentScanner goes through a symbol.
type argumentScanner struct {
	text  string
	pos   int
	name  string // that was just spelled
	open  []openPart
	found []Arguments
}

// An openPart is one that an 'E' ends.
type openPart struct {
	kind      byte
	arguments Arguments
}

func (s *argumentScanner) top() byte {
	if len(s.open) == 0 {
		return 0
	}
	return s.open[len(s.open)-1].kind
}

func (s *argumentScanner) step() bool {
	name := s.name
	s.name = ""
	switch c := s.text[s.pos]; {
	case '0' <= c && c <= '9':
		return s.source()
	case c == 'I':
		s.push(openPart{kind: c, arguments: Arguments{Name: name}})
	case c == 'N' || c == 'F' || c == 'J' || c == 'Z':
		s.push(openPart{kind: c})
	case c == 'E':
		return s.end()
	case c == 'L':
		return s.literal()
	case c == 'S' || c == 'T':
		return s.reference()
	case c == 'D' && s.top() != 'N':
		s.pos += 2
		return s.pos <= len(s.text) && strings.IndexByte("pnaiudfeh", s.text[s.pos-1]) >= 0
	case c == 'C' || c == 'D':
		s.pos += 2
	case c == 'B': // a tag of the name before it
		s.pos++
		ok := s.source()
		s.name = name
		return ok
	case c == 'U':
		return s.unnamed()
	case 'a' <= c && c <= 'z' && (s.top() == 'N' || s.pos == len("_Z")) && c != 'v' && c != 'c':
		s.pos += 2 // an operator
	case c == '.' || c == '_':
		s.pos = len(s.text) // of a clone
	case 'a' <= c && c <= 'z' || strings.IndexByte("PROKVGM", c) >= 0:
		s.pos++
	default:
		return false
	}
	return true
}

func (s *argumentScanner) push(p openPart) {
	s.open = append(s.open, p)
	s.pos++
}

// number passes over digits and returns the number.
func (s *argumentScanner) number() (n int) {
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' && n <= len(s.text) {
		n = 10*n + int(s.text[s.pos]-'0')
		s.pos++
	}
	return n
}

// source passes over a name with its length in front.
func (s *argumentScanner) source() bool {
	n := s.number()
	if n > len(s.text)-s.pos {
		return false
	}
	s.name = s.text[s.pos : s.pos+n]
	s.pos += n
	return true
}

// until passes over a part that ends with an underscore.
func (s *argumentScanner) until() bool {
	n := strings.IndexByte(s.text[s.pos:], '_')
	s.pos += n + 1
	return n >= 0
}

// reference passes over one to an earlier part, and over an abbreviation such as St.
func (s *argumentScanner) reference() bool {
	if s.pos+1 < len(s.text) && s.text[s.pos] == 'S' && 'a' <= s.text[s.pos+1] && s.text[s.pos+1] <= 'z' {
		s.pos += 2
		return true
	}
	return s.until()
}

// unnamed passes over the beginning of a lambda, or an unnamed type.
func (s *argumentScanner) unnamed() bool {
	switch {
	case strings.HasPrefix(s.text[s.pos:], "Ul"):
		s.pos++
		s.push(openPart{kind: 'U'})
		return true
	case strings.HasPrefix(s.text[s.pos:], "Ut"):
		return s.until()
	}
	return false
}

// literal passes over a number of a fundamental type.
func (s *argumentScanner) literal() bool {
	s.pos++
	at := s.pos
	if at == len(s.text) || s.text[at] < 'a' || s.text[at] > 'z' {
		return false
	}
	s.pos++
	if strings.HasPrefix(s.text[s.pos:], "n") {
		s.pos++
	}
	if s.number(); !strings.HasPrefix(s.text[s.pos:], "E") {
		return false
	}
	s.pos++
	if s.top() == 'I' {
		p := &s.open[len(s.open)-1]
		p.arguments.Types = append(p.arguments.Types, at)
	}
	return true
}

func (s *argumentScanner) end() bool {
	if len(s.open) == 0 {
		return false
	}
	p := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	switch p.kind {
	case 'I':
		p.arguments.End = s.pos
		s.found = append(s.found, p.arguments)
	case 'U':
		return s.until()
	}
	s.pos++
	return true
}
