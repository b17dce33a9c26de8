package cxx

import (
	"strconv"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/mangled"
)

// Identifiers calls yield for each identifier in a mangled name until yield returns false. The
// identifiers are the names of functions, scopes, types and template arguments, and a text that
// defines the function contains all of them. Identifiers returns false if yield did. If a name
// cannot be decoded entirely, Identifiers yields only the identifiers before the part that cannot
// be decoded. It may yield a word twice.
func Identifiers(name string, yield func(word string) bool) bool {
	s := nameReader{rest: name[len("_Z"):], begin: true}
	for {
		word, ok := s.next()
		switch {
		case !ok:
			return DemangledIdentifiers(name, yield)
		case word == "":
			return true
		case !yield(word):
			return false
		}
	}
}

// DemangledIdentifiers calls yield for each identifier in a mangled name, like [Identifiers], but
// it uses a demangler. The demangler decodes all names, but is slow. all is false if yield has
// returned false.
func DemangledIdentifiers(name string, yield func(word string) bool) (all bool) {
	if len(name) > mangled.MaxLen {
		return true
	}
	tree, err := demangle.ToAST(name)
	if err != nil {
		return true
	}
	all = true
	tree.Traverse(func(node demangle.AST) bool {
		if n, ok := node.(*demangle.Name); ok && all && isIdentifierOf(name, n.Name) {
			all = yield(n.Name)
		}
		return all
	})
	return all
}

// isIdentifierOf reports whether a name in the demangler's tree is an identifier in the mangled
// name. The tree also contains sizes of arrays, numbers of parameters, and words of the demangler's
// own.
func isIdentifierOf(name, word string) bool {
	return word != "" && !cpp.IsDigit(word[0]) && isWord([]byte(word)) && strings.Contains(name, strconv.Itoa(len(word))+word)
}

// A nameReader finds the identifiers in mangled names of the kinds that most functions have. For
// that it does not need the meaning of a name: it only has to know which digits are the length of
// an identifier. So it only tracks which scopes, template arguments and other groups are open.
type nameReader struct {
	rest  string              // the part that has not been read
	begin bool                // rest is at the beginning of a function's name
	open  [maxQuickDepth]byte // first letters of the open groups, such as N, I or L
	n     int                 // number of open groups

	last  string // the last component of the function's name so far, "" if it is not an identifier, operator or destructor
	named bool   // the function's name is complete, and its parameters follow

	expressions bool       // next skips expressions among template arguments
	scopes      *scopeList // receives the scopes, unless nil
}

// quickLast returns the last component of a mangled name of a usual kind: an identifier, an
// operator, or a destructor. It returns "" for a name that it cannot decode.
func quickLast(name string) string {
	s := nameReader{rest: name[len("_Z"):], begin: true, expressions: true}
	for !s.named {
		if word, _ := s.next(); word == "" && !s.named {
			return ""
		}
	}
	return s.last
}

// component stores a component of a mangled name as the last one, unless it belongs to a template
// argument or a parameter of the function.
func (s *nameReader) component(name string) {
	if !s.named && (s.n == 0 || s.atName()) {
		s.last, s.named = name, s.n == 0
	}
}

// inScope passes a component of a nested name, N…E, to the list of scopes, because each component
// may be the scope of the next one. component is "" if it is not an identifier.
func (s *nameReader) inScope(component string) {
	if s.scopes != nil && s.in('N') {
		s.scopes.follows(s.n, component, !s.named && s.atName())
	}
}

// leaveScope records that the latest component of the open nested name is not a scope, so that the
// list of scopes does not get it when the next component is read.
func (s *nameReader) leaveScope() {
	if s.scopes != nil {
		s.scopes.latest[s.n] = ""
	}
}

// atName reports whether the reader is in the nested name of the function itself, and not in one of
// a template argument or a parameter.
func (s *nameReader) atName() bool { return s.n == 1 && s.open[0] == 'N' }

// maxQuickDepth limits the nesting of groups that a nameReader can decode.
const maxQuickDepth = 32

// next returns the next identifier of the mangled name, or "" at the end of the name. ok is false
// if the reader cannot decode what comes next.
func (s *nameReader) next() (word string, ok bool) {
	for s.rest != "" {
		switch c := s.rest[0]; {
		case '1' <= c && c <= '9':
			id, rest, ok := identifier(s.rest)
			if !ok {
				return "", false
			}
			s.rest, s.begin = rest, false
			s.component(id)
			s.inScope(id)
			if !s.afterType() {
				return "", false
			}
			if strings.HasPrefix(id, "_GLOBAL__N") { // an unnamed namespace
				continue
			}
			return id, true
		case c == 'B': // a tag, which is no part of the name
			id, rest, ok := identifier(s.rest[1:])
			s.rest, s.begin = rest, false
			return id, ok
		case !s.pass(c):
			return "", false
		}
	}
	return "", s.n == 0
}

// pass skips a part of the mangled name that is not an identifier and begins with the byte c, for
// example the code of a type. It returns false if it cannot decode the part.
func (s *nameReader) pass(c byte) bool {
	begin := s.begin
	s.begin = c == 'Z' || begin && strings.HasPrefix(s.rest, "St")
	if 'a' <= c && c <= 'z' {
		return s.small(c, begin || s.in('N'))
	}
	switch c {
	case 'N', 'I', 'F', 'J', 'Z':
		return s.push(c, 1)
	case 'E':
		return s.pop()
	case 'U': // a lambda or an unnamed type; what is before it may be a template of variables
		if s.atName() {
			s.component("")
		}
		s.leaveScope()
		switch {
		case strings.HasPrefix(s.rest, "Ul"):
			return s.push(c, 2)
		case strings.HasPrefix(s.rest, "Ut"):
			s.rest = s.rest[2:]
			return s.number()
		}
		return false
	case 'S':
		return s.substitution()
	case 'X':
		return s.expressions && s.push(c, 1)
	case 'T':
		if s.expressions && s.inArguments() && (s.skip("Tn") || s.skip("Ty") || s.skip("Tp")) { // clang: parameters
			return true
		}
		if s.atName() {
			s.component("")
		}
		s.inScope("")
		s.rest = s.rest[1:]
		return s.number()
	case 'L':
		return s.literal()
	case 'C':
		return s.structor("12345I")
	case 'D':
		return s.structor("01245") || s.typeCode("pnaucidfeh")
	case 'M': // what is before it may be a variable, whose initializer has a lambda
		s.leaveScope()
		s.rest = s.rest[1:]
		return true
	case 'P', 'R', 'O', 'K', 'V':
		s.rest = s.rest[1:]
		return true
	case 'A':
		s.rest = s.rest[1:]
		return s.number()
	}
	return false
}

// small skips a part of the mangled name that begins with a small letter. That is an operator of
// two letters if a name is expected, and otherwise a basic type of one letter. name says whether a
// name is expected.
func (s *nameReader) small(c byte, name bool) bool {
	switch {
	case c == 'u':
		return false
	case s.in('X'):
		return s.expression()
	case !name:
		s.rest = s.rest[1:]
		return true
	case len(s.rest) < 2:
		return false
	}
	symbol, ok := operators[s.rest[:2]]
	if !ok { // more follows, or it may be a qualifier
		return false
	}
	s.component("operator" + symbol)
	s.inScope("")
	s.rest = s.rest[2:]
	return true
}

// expression skips the beginning of an expression in a mangled name: the two letters of an
// operator, which come before the operands, or "sr", which comes before a name in a scope. What
// follows is read like a type. It returns false if the beginning cannot be decoded.
func (s *nameReader) expression() bool {
	code := s.rest[:min(2, len(s.rest))]
	switch code {
	case "sr":
		if s.rest = s.rest[2:]; s.rest != "" && cpp.IsDigit(s.rest[0]) {
			return s.push('R', 0)
		}
		return strings.HasPrefix(s.rest, "N") || strings.HasPrefix(s.rest, "S") || strings.HasPrefix(s.rest, "T")
	case "cl":
		return s.push('X', 2)
	case "sp":
	default:
		if operators[code] == "" || operators[code][0] == ' ' { // new and delete
			return false
		}
	}
	s.rest = s.rest[2:]
	return true
}

// inArguments reports whether the reader is within a list of template arguments.
func (s *nameReader) inArguments() bool { return s.in('I') || s.in('J') }

// operators are the operators whose two letters cannot mean anything else where a name is expected.
// Those that begin with r are left out, because they may be "restrict" and a substitution.
var operators = map[string]string{
	"aN": "&=", "aS": "=", "aa": "&&", "ad": "&", "an": "&", "cl": "()", "cm": ",", "co": "~", "dV": "/=", "da": " delete[]",
	"de": "*", "dl": " delete", "dv": "/", "eO": "^=", "eo": "^", "eq": "==", "ge": ">=", "gt": ">", "ix": "[]", "lS": "<<=",
	"le": "<=", "ls": "<<", "lt": "<", "mI": "-=", "mL": "*=", "mi": "-", "ml": "*", "mm": "--", "na": " new[]", "ne": "!=",
	"ng": "-", "nt": "!", "nw": " new", "oR": "|=", "oo": "||", "or": "|", "pL": "+=", "pl": "+", "pm": "->*", "pp": "++",
	"ps": "+", "pt": "->", "ss": "<=>",
}

// in reports whether the innermost group that the reader is in begins with the letter c, such as N
// for a nested name or I for template arguments.
func (s *nameReader) in(c byte) bool { return s.n > 0 && s.open[s.n-1] == c }

// skip skips prefix if the part of the mangled name that has not been read begins with it, and
// reports whether it does.
func (s *nameReader) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(s.rest, prefix)
	s.rest = rest
	return ok
}

// push opens a group of the mangled name, such as a nested name, whose first letter is c. It skips
// length bytes. It returns false if too many groups are open.
func (s *nameReader) push(c byte, length int) bool {
	if s.n == len(s.open) {
		return false
	}
	s.open[s.n] = c
	s.n++
	if s.scopes != nil {
		s.scopes.enter(s.n)
	}
	s.rest = s.rest[length:]
	return true
}

// pop ends the innermost open group at the letter E that closes it. It also skips what may follow
// such a group in the mangled name. It returns false if the reader cannot decode what follows.
func (s *nameReader) pop() bool {
	if s.n == 0 {
		return false
	}
	s.n--
	s.rest = s.rest[1:]
	switch s.open[s.n] {
	case 'N':
		s.named = s.named || s.n == 0
	case 'U':
		return s.number()
	case 'Z':
		return s.local()
	}
	return s.afterType()
}

// number skips what a mangled name has to distinguish several entities of one name: "_", "0_" or
// "12_". It returns false if there is no such number.
func (s *nameReader) number() bool {
	s.digits()
	return s.skip("_")
}

// digits skips the decimal digits that come next in the mangled name.
func (s *nameReader) digits() {
	n := 0
	for n < len(s.rest) && cpp.IsDigit(s.rest[n]) {
		n++
	}
	s.rest = s.rest[n:]
}

// local is called after the name of a function that contains a local entity. It returns false if
// the entity is a string or in a default argument, which the reader cannot decode.
func (s *nameReader) local() bool {
	return !strings.HasPrefix(s.rest, "s") && !strings.HasPrefix(s.rest, "d")
}

// substitution skips a substitution in the mangled name: an abbreviation such as St for std, or S0_
// for something that the name has contained before.
func (s *nameReader) substitution() bool {
	if s.atName() {
		s.component("")
	}
	rest := s.rest[1:]
	if rest != "" && strings.IndexByte("tabsiod", rest[0]) >= 0 {
		s.rest = rest[1:]
		if rest[0] == 't' { // std, other than std::allocator and the like
			return true
		}
		s.inScope("")
		return s.afterType()
	}
	n := 0
	for n < len(rest) && (cpp.IsDigit(rest[n]) || 'A' <= rest[n] && rest[n] <= 'Z') {
		n++
	}
	s.rest = rest[n:]
	s.inScope("")
	return s.skip("_") && s.afterType()
}

// literal skips a literal among template arguments, such as a number, or the L that marks a static
// entity. If the type of a number is not basic, it skips only the beginning of the literal, and
// reads the number later, after the type.
func (s *nameReader) literal() bool {
	rest := s.rest[1:]
	if s.in('X') && strings.HasPrefix(rest, "_Z") {
		return s.push('X', len("L_Z"))
	}
	if !s.inArguments() && !s.in('X') {
		s.rest = rest
		return rest != "" && cpp.IsDigit(rest[0])
	}
	if len(rest) < 2 {
		return false
	}
	if c := rest[0]; c == 'N' || c == 'S' || cpp.IsDigit(c) {
		return s.push('L', 1)
	}
	if rest[0] < 'a' || 'z' < rest[0] || rest[0] == 'u' {
		return false
	}
	s.rest = rest[1:]
	return s.value()
}

// afterType is called when the reader has read a type. If the type belongs to a literal, such as
// the number of a template argument, afterType also skips the number. It does not do so if the type
// is a template, because the arguments of the template come first.
func (s *nameReader) afterType() bool {
	if !s.in('L') || strings.HasPrefix(s.rest, "I") {
		return true
	}
	s.n--
	return s.value()
}

// value skips the number of a literal and the E after it.
func (s *nameReader) value() bool {
	s.skip("n")
	s.digits()
	return s.skip("E")
}

// structor skips a constructor or a destructor, which is the last component of a name. kinds are
// the characters that may follow its letter. It returns false for an inherited constructor, whose
// class follows.
func (s *nameReader) structor(kinds string) bool {
	if len(s.rest) < 2 || strings.IndexByte(kinds, s.rest[1]) < 0 || !s.in('N') {
		return false
	}
	if s.rest[0] == 'D' && s.atName() && s.last != "" {
		s.component("~" + s.last)
	}
	s.named = s.named || s.atName()
	if s.rest[1] == 'I' {
		return false
	}
	s.inScope("")
	s.rest = s.rest[2:]
	return true
}

// typeCode skips a type that the mangled name gives by two letters. codes are the possible second
// letters.
func (s *nameReader) typeCode(codes string) bool {
	if len(s.rest) < 2 || strings.IndexByte(codes, s.rest[1]) < 0 {
		return false
	}
	s.rest = s.rest[2:]
	return true
}

// Scopes calls yield for the classes and namespaces that contain another component of a mangled
// name, until yield returns false. It returns false if yield did. If a name cannot be decoded
// entirely, it yields only the scopes before the part that cannot be decoded. It also yields scopes
// that begin with "__", which come from the text and not from the compiler. For example, std::__1
// belongs to libc++, and no text for libstdc++ opens it.
func Scopes(name string, yield func(scope string) bool) bool {
	var scopes scopeList
	s := nameReader{rest: name[len("_Z"):], begin: true, scopes: &scopes}
	for word, ok := s.next(); ok && word != ""; word, ok = s.next() {
	}
	if s.atName() && endsInUnnamed(s.rest) {
		scopes.found = append(scopes.found, UnnamedClass)
	}
	for _, scope := range scopes.found {
		if !strings.HasPrefix(scope, "_GLOBAL__N") && !yield(scope) {
			return false
		}
	}
	return true
}

// A scopeList collects the classes and namespaces in a mangled name while a nameReader reads
// the name. In the nested name of the function, N…E, each component except the last one is a
// scope. In the types of parameters and results, only the first component of a nested name is
// certainly a scope. The next ones may be typedefs, which a text may define in another class.
type scopeList struct {
	// By depth of the open names: latest is the component that is a scope if another component
	// follows, and begun is whether the name has had a component.
	latest [maxQuickDepth + 1]string
	begun  [maxQuickDepth + 1]bool

	found []string
}

// enter begins a nested name at the given depth of open groups.
func (l *scopeList) enter(depth int) { l.latest[depth], l.begun[depth] = "", false }

// follows records that another component of a nested name begins. The component before it contains
// the new one, so it is a scope, and follows adds it to the list. depth is the number of open
// groups, including the nested name. own is true if the nested name is that of the function itself.
// component is the new component, or "" if it cannot be a scope.
func (l *scopeList) follows(depth int, component string, own bool) {
	if scope := l.latest[depth]; scope != "" {
		l.found = append(l.found, scope)
	}
	l.latest[depth] = ""
	if own || !l.begun[depth] {
		l.latest[depth] = component
	}
	l.begun[depth] = true
}
