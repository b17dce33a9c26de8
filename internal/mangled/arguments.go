package mangled

import "strings"

// Arguments is a list of template arguments in a mangled name.
type Arguments struct {
	Name  string // name of the template, unqualified; empty if the symbol refers to an earlier part
	Types []int  // offset of the type in each argument that is a literal of a fundamental type
	End   int    // offset of the 'E' after the last argument
}

// Literal returns a literal of a fundamental type as mangled names contain it. code is the type's
// letter.
func Literal(code byte, value string) string { return "L" + string(code) + value + "E" }

// ArgumentsIn returns the lists of template arguments in a mangled name, inner lists first. It does
// not know the whole grammar, such as expressions, and stops at the first part that it cannot
// decode. A caller that builds another mangled name from the result must check that name with a
// demangler.
func ArgumentsIn(symbol string) []Arguments {
	s := argumentScanner{text: symbol, pos: len("_Z")}
	for s.pos < len(symbol) && s.step() {
	}
	return s.found
}

// An argumentScanner parses a mangled name from left to right.
type argumentScanner struct {
	text  string
	pos   int
	name  string     // name that ends at pos, or ""
	open  []openPart // parts that have begun before pos and not ended
	found []Arguments
}

// An openPart is a part of a mangled name that begins with the letter kind and ends with 'E'.
type openPart struct {
	kind      byte
	arguments Arguments // if kind is 'I', for template arguments
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

// number skips a decimal number in the mangled name and returns it.
func (s *argumentScanner) number() (n int) {
	for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' && n <= len(s.text) {
		n = 10*n + int(s.text[s.pos]-'0')
		s.pos++
	}
	return n
}

// source skips a name in the mangled name, which follows its length, and stores it in s.name. It
// returns false if the mangled name ends before.
func (s *argumentScanner) source() bool {
	n := s.number()
	if n > len(s.text)-s.pos {
		return false
	}
	s.name = s.text[s.pos : s.pos+n]
	s.pos += n
	return true
}

// skipUnderscore skips the text up to and including the next underscore. It returns false if there
// is none.
func (s *argumentScanner) skipUnderscore() bool {
	n := strings.IndexByte(s.text[s.pos:], '_')
	s.pos += n + 1
	return n >= 0
}

// reference skips a reference to an earlier part of the name, or an abbreviation such as St for
// std.
func (s *argumentScanner) reference() bool {
	if s.pos+1 < len(s.text) && s.text[s.pos] == 'S' && 'a' <= s.text[s.pos+1] && s.text[s.pos+1] <= 'z' {
		s.pos += 2
		return true
	}
	return s.skipUnderscore()
}

// unnamed skips a type without a name in the mangled name. Of the type of a lambda it skips only
// the beginning.
func (s *argumentScanner) unnamed() bool {
	switch {
	case strings.HasPrefix(s.text[s.pos:], "Ul"):
		s.pos++
		s.push(openPart{kind: 'U'})
		return true
	case strings.HasPrefix(s.text[s.pos:], "Ut"):
		return s.skipUnderscore()
	}
	return false
}

// literal skips a literal of a fundamental type. If the literal is a template argument, literal
// adds where its type is in the mangled name to the field Types of the argument list.
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
		return s.skipUnderscore()
	}
	s.pos++
	return true
}
