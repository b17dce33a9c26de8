// Package mangled takes apart what the demangler makes of the names of C++ functions.
package mangled

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// MaxLen limits the length of names that are demangled. The time for some names grows with the
// square of their length.
const MaxLen = 4 << 10

// Last returns the last component of a demangled name, without scope, template arguments and
// parameters: usually a name, a constructor, a destructor or an operator.
func Last(tree demangle.AST) demangle.AST {
	for {
		tree = Bare(tree)
		q, ok := tree.(*demangle.Qualified)
		if !ok {
			return tree
		}
		tree = q.Name
	}
}

// Bare returns a demangled name with its scope, without template arguments, parameters and what
// else is said about the function.
func Bare(tree demangle.AST) demangle.AST {
	for {
		switch t := tree.(type) {
		case *demangle.Typed:
			tree = t.Name
		case *demangle.Template:
			tree = t.Name
		case *demangle.MethodWithQualifiers:
			tree = t.Method
		case *demangle.Clone:
			tree = t.Base
		case *demangle.TaggedName:
			tree = t.Name
		case *demangle.Friend:
			tree = t.Name
		case *demangle.Constraint:
			tree = t.Name
		case *demangle.ModuleEntity:
			tree = t.Name
		default:
			return tree
		}
	}
}

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

// Libraries that keep their versions apart have an inline namespace such as fmt::v9, which is in
// all of their symbols and has another name in the next version.

// Inlines are the inline namespaces of some sources, by the namespace around them: those that it
// may have.
type Inlines map[string][]string

// maxInlines bounds how many names are remembered. Of more, none is what another has become.
const maxInlines = 1 << 6

// Add takes note of an inline namespace.
func (in Inlines) Add(outer, name string) {
	if !slices.Contains(in[outer], name) && len(in[outer]) <= maxInlines {
		in[outer] = append(in[outer], name)
	}
}

// Spelled returns a symbol with these inline namespaces in it. They replace the names after their
// outer namespaces, unless these names are words of the sources.
func (in Inlines) Spelled(symbol string, has func(word string) bool) string {
	return in.Renames(func(yield func(string) bool) { yield(symbol) }, has).Apply(symbol)
}

// Renames returns how inline namespaces in symbols were renamed. The inline namespace in symbols is
// the most frequent name after the namespace around it, if it is not a word of the sources.
func (in Inlines) Renames(symbols iter.Seq[string], has func(word string) bool) (r Renames) {
	for outer, names := range in {
		outer = LengthAndName(outer)
		old := usualAfter(outer, symbols)
		if old == "" || has(old) {
			continue
		}
		if name := nowOf(old, names); name != "" && name != old {
			r = append(r, outer+LengthAndName(old), outer+LengthAndName(name))
		}
	}
	return r
}

// nowOf returns which of some names another one has become: the only one, or the only one that is
// the same but for its numbers.
func nowOf(old string, names []string) (now string) {
	if len(names) == 1 {
		return names[0]
	}
	if len(names) > maxInlines {
		return ""
	}
	for _, name := range names {
		if !slices.Equal(wordsOf(name), wordsOf(old)) {
			continue
		}
		if now != "" {
			return ""
		}
		now = name
	}
	return now
}

// wordsOf returns the parts of a name between its numbers.
func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return '0' <= r && r <= '9' })
}

// Renames are pairs of parts of symbols, as they were and as they are.
type Renames []string

// Apply returns a symbol as it is now.
func (r Renames) Apply(symbol string) string {
	if len(r) == 0 || !strings.HasPrefix(symbol, "_Z") {
		return symbol
	}
	return strings.NewReplacer(r...).Replace(symbol)
}

// LengthAndName is how symbols have a name.
func LengthAndName(name string) string { return strconv.Itoa(len(name)) + name }

// usualAfter returns the name that follows a part in more than half of the symbols that contain the
// part.
func usualAfter(part string, symbols iter.Seq[string]) (usual string) {
	var times map[string]int // made when there is one: most symbols have none
	all := 0
	for symbol := range symbols {
		_, rest, found := strings.Cut(symbol, part)
		if !found || !strings.HasPrefix(symbol, "_Z") {
			continue
		}
		all++
		if times == nil {
			times = make(map[string]int)
		}
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
