// Package cxx reads C++ source text and mangled names, as far as package slice needs it. In a text
// it finds the functions, classes and namespaces that the text may define. In a mangled name it
// finds identifiers, classes and namespaces. It knows no types and builds no trees. Its time is
// proportional to the length of the text or of the name.
package cxx

import (
	"bytes"
	"path/filepath"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/cpp"
	"github.com/go-afdo/afdo/internal/symname"
)

// Notes has functions that [Definitions] calls with what it finds in a text, maybe more than once
// with the same name. The bytes are valid until the function returns.
//
// A word counts as mentioned unless it is the name of a function in a declaration outside of
// functions. The name in a definition is mentioned, too, if GCC emits the function without a call.
// In a text of C without macros, GCC drops functions whose names are never mentioned, but see
// [MayBeCalledByGCC].
type Notes struct {
	Function func(name []byte)                 // the unqualified name of every function that may be defined, and some others
	Word     func(word []byte, mentioned bool) // every word, including those of pragmas and short strings
	Label    func(name []byte)                 // every assembler name that an asm label gives to a function
	Scope    func(word []byte)                 // every class, namespace and alias template that is defined, [UnnamedClass], and some other words
	Inline   func(outer, name []byte)          // every inline namespace that is the first declaration in another namespace
	AnyScope func()                            // any word may be a class or namespace: the text has macros, or exceeds a limit
}

// Definitions finds the words of a text of C or C++ and the functions that the text may define, and
// reports both to notes.
//
// It reads the text without knowing types. If a body follows a name with parentheses, it takes the
// name for that of a function. It takes each class for one with implicit functions, such as a
// constructor. Its time is proportional to the length of the text, and its memory to the nesting of
// parentheses.
func Definitions(text []byte, notes Notes) {
	d := scanner{Lexer: cpp.NewLexer(text, 1), notes: notes}
	d.scopes.notes, d.unnamed.notes = notes, notes
	for d.token() {
	}
}

// A scanner reads a text of C or C++ token by token, and finds the functions that it may define.
type scanner struct {
	cpp.Lexer
	notes   Notes
	scopes  scopeFinder
	unnamed unnamedFinder

	prev      byte   // the first byte of the latest token; wordToken after an identifier or operator
	word      []byte // the latest identifier or operator
	class     depth  // where the names after class, struct or union are, else the zero depth
	alone     []byte // the last word between the latest pair of parentheses
	bare      bool   // there was no name before these parentheses
	qualified bool   // the latest word is const or volatile after parentheses, of a method or of a parameter in old C
	oldStyle  bool   // declarations of parameters follow the parentheses, as in old C
	assembler bool   // strings are assembler names, because asm and a parenthesis precede
	label     []byte // the strings since the parenthesis, joined

	typedefs []int // for each typedef that has not ended, the number of braces that are open around it
	naming   bool  // the class in the innermost typedef has ended, and the names of the typedef follow
	braces   int   // number of open braces
	squares  int   // number of open brackets

	defaults [][]byte // names before the latest token, if that is '='

	head declarationHead

	angles [][]byte // the identifiers before each '<' that is open
	outer  int      // how many of angles are before the innermost open parenthesis
	angle  []byte   // the identifier before the '<' that the latest '>' closed

	// These are names before pairs of parentheses that have closed. The names in names[base:] are
	// after the innermost open parenthesis. If a body follows, they are definitions of functions.
	names [][]byte
	base  int
	inner [][]byte // names in the latest pair of parentheses
	open  []openParen
}

// An openParen is an opening parenthesis whose closing one has not been read.
type openParen struct {
	name  []byte // the name before it, nil if there is none
	inner int    // position of the text after it
	base  int    // scanner.base outside of it
	outer int    // scanner.outer outside of it
}

// A depth is a nesting depth: the number of open parentheses and the number of open brackets, each
// plus one, so that the zero depth is none.
type depth struct{ round, square int }

// These limit how much of a text the scanner stores. Texts of C and C++ do not reach them.
const (
	maxOpenParens = 1 << 12
	maxOpenAngles = 1 << 6
	maxPending    = 1 << 10
)

// wordToken is the value of scanner.prev after an identifier, a keyword or the name of an operator.
const wordToken = 'a'

// token reads the next token. It returns false at the end of the text.
func (d *scanner) token() bool {
	t := d.Next()
	switch t.Kind {
	case cpp.End:
		return false
	case cpp.Directive:
		d.directive(d.Directive())
	case cpp.Word:
		if cpp.IsDigit(t.Char) {
			d.prev = '0'
			break
		}
		d.identifier(d.Name(t))
	case cpp.Literal:
		d.prev = t.Char
		if t.Char == '"' {
			d.quoted(d.Contents(t))
		}
	case cpp.Punctuation:
		d.punctuation(t.Char)
		d.prev = t.Char
	}
	return true
}

// directive reads a directive of the preprocessor. It only reports the words of pragmas, of #line
// and of #ident, and the function names in "#pragma redefine_extname".
func (d *scanner) directive(line []byte) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) > 0 && cpp.IsDigit(line[0]) {
		d.file(line)
		return
	}
	if !bytes.HasPrefix(line, []byte("pragma")) && !bytes.HasPrefix(line, []byte("line")) && !bytes.HasPrefix(line, []byte("ident")) {
		d.notes.AnyScope()
	}
	names := bytes.Contains(line, []byte("redefine_extname"))
	for word := range bytes.FieldsFuncSeq(line, isNoWordRune) {
		d.notes.Word(word, true)
		if names {
			d.labelled(word)
		}
	}
}

// file reports the name of the file in a line marker as a word, because functions that initialize
// the variables of a file may be named after it.
func (d *scanner) file(marker []byte) {
	_, name, _ := cpp.LineMarker(marker)
	if base := Cleaned(symname.Canonical(filepath.Base(name))); isWord([]byte(base)) {
		d.notes.Word([]byte(base), true)
	}
}

// quoted reads a string. A string after asm is part of the assembler name of a function. Any other
// one may be the ABI tag of a function.
func (d *scanner) quoted(text []byte, raw bool) {
	switch {
	case !d.assembler:
		if isWord(text) {
			d.notes.Word(text, true)
		}
	case len(d.label) > longestWord:
	case raw:
		d.label = append(d.label, text...)
	default:
		d.label = cpp.Unescaped(d.label, text)
	}
}

// labelled reports the assembler name that an asm label gives to a function. If the assembler name
// is mangled, labelled also reports the identifiers in it as words, because the text may not
// contain the function's classes and namespaces.
func (d *scanner) labelled(label []byte) {
	name := symname.Canonical(string(label))
	if word := Cleaned(name); isWord([]byte(word)) {
		d.notes.Word([]byte(word), true)
	}
	if !isWord([]byte(name)) {
		return
	}
	d.notes.Word([]byte(name), true)
	d.notes.Function([]byte(name))
	d.notes.Label([]byte(name))
	if IsMangled(name) {
		d.notes.Function([]byte(KeyOf(name)))
		Identifiers(name, func(word string) bool {
			d.notes.Word([]byte(word), true)
			d.notes.Scope([]byte(word))
			return true
		})
	}
}

// longestWord is the length in bytes of the longest string that is reported as a word.
const longestWord = 256

// isWord reports whether the content of a string literal may be an identifier, which is then
// reported as a word.
func isWord(text []byte) bool {
	return len(text) > 0 && len(text) <= longestWord && !bytes.ContainsFunc(text, isNoWordRune)
}

// isNoWordRune reports whether a character cannot be part of an identifier.
func isNoWordRune(r rune) bool { return r < utf8.RuneSelf && !cpp.IsWordByte(byte(r)) }

// identifier reads an identifier or a keyword of the text, and notes what it says about the
// declaration around it.
func (d *scanner) identifier(word []byte) {
	d.notes.Word(word, d.mentions(word))
	d.scopes.identifier(word, d.prev)
	d.unnamed.identifier(word, d.prev)
	if d.qualified || d.prev == ')' && len(d.names) > d.base {
		d.oldStyle = d.oldStyle || !d.inTypedef() && !cpp.FollowsParameters(word)
		d.qualified = string(word) == "const" || string(word) == "volatile"
	}
	if d.prev == '~' {
		word = append([]byte{'~'}, word...)
	}
	afterBrace := d.prev == '}'
	d.prev, d.word = wordToken, word
	switch string(word) {
	case "operator":
		d.operator()
	case "compl":
		d.prev = '~'
	case "class", "struct", "union":
		d.class = depth{len(d.open) + 1, d.squares + 1}
	case "typedef":
		if !d.inTypedef() {
			d.typedefs = append(d.typedefs, d.braces)
		}
		d.naming = d.naming || afterBrace // struct { } typedef S;
	case "default":
		d.defaulted()
	default:
		if d.naming {
			d.notes.Scope(word)
		}
		if d.class != (depth{}) || d.naming {
			d.notes.Function(word)
			d.notes.Function(append([]byte{'~'}, word...))
		}
	}
}

// defaulted reports the functions of a declaration that ends with "= default", such as "S(S &&) =
// default;".
func (d *scanner) defaulted() {
	for _, name := range d.defaults {
		d.notes.Function(name)
	}
}

// punctuation reads a character that is not part of a word or literal.
func (d *scanner) punctuation(c byte) {
	if d.endsClass(c) {
		d.class = depth{}
	}
	d.defaults, d.qualified = nil, false
	d.scopes.punctuation(c)
	d.unnamed.punctuation(c, d.prev)
	switch c {
	case '(':
		d.enter()
	case ')':
		d.leave()
	case '{':
		d.endHead(!d.head.dropsUnused())
		d.braces++
		for _, name := range d.names[d.base:] {
			d.notes.Function(name)
		}
		d.clear()
	case ';':
		d.endHead(d.head.forced)
		if !d.oldStyle {
			d.clear()
		}
		d.endTypedefs(d.braces)
		d.naming, d.squares = false, 0
	case '=':
		d.head.assigned = d.head.assigned || d.braces == 0
		if !d.compares() {
			d.defaults = append(d.defaults, d.names[d.base:]...)
			d.clear()
		}
	case '}':
		d.clear()
		d.braces--
		d.endTypedefs(d.braces + 1)
		d.naming = d.inTypedef()
	case '[':
		if d.beginsLambda(d.Text[d.Pos:]) {
			d.lambda()
		}
		d.squares++
		d.addInner()
	case ']':
		d.squares = max(d.squares-1, 0)
	case '<':
		if (d.prev == wordToken || d.prev == ']') && len(d.angles) < maxOpenAngles {
			d.angles = append(d.angles, d.word)
		}
	case '>':
		if n := len(d.angles); n > d.outer && d.prev != '-' {
			d.angle, d.angles = d.angles[n-1], d.angles[:n-1]
		}
	}
}

// inTypedef reports whether the scanner is in a typedef and has not read an opening brace since its
// beginning.
func (d *scanner) inTypedef() bool {
	n := len(d.typedefs)
	return n > 0 && d.typedefs[n-1] == d.braces
}

// endTypedefs ends typedefs at a semicolon or a closing brace: those that began where at least the
// given number of braces was open.
func (d *scanner) endTypedefs(braces int) {
	for n := len(d.typedefs); n > 0 && d.typedefs[n-1] >= braces; n-- {
		d.typedefs = d.typedefs[:n-1]
	}
}

// endsClass reports whether a character ends the names after class, struct or union. Parentheses
// and brackets, such as those of an attribute, do not.
func (d *scanner) endsClass(c byte) bool {
	switch c {
	case '(', ')', '[', ']':
		return false
	case ':':
		if d.prev == ':' || d.Pos < len(d.Text) && d.Text[d.Pos] == ':' { // a scope
			return false
		}
	}
	return c == ';' || c == '{' || c == '}' || len(d.open) < d.class.round && d.squares < d.class.square
}

// compares reports whether an '=' is part of a comparison operator. A comparison may come between a
// function's parameters and its body, and does not end the function's declaration.
func (d *scanner) compares() bool {
	if d.Pos < len(d.Text) && d.Text[d.Pos] == '=' {
		return true
	}
	return d.Pos > 1 && bytes.IndexByte([]byte("=<>!"), d.Text[d.Pos-2]) >= 0
}

// clear forgets the names before parentheses since the last declaration. No body came after them,
// so they define nothing.
func (d *scanner) clear() {
	d.names, d.angles, d.oldStyle = d.names[:d.base], d.angles[:min(d.outer, len(d.angles))], false
}

// enter reads an opening parenthesis. It stores the word before the parenthesis, because that may
// be the name of a function.
func (d *scanner) enter() {
	if len(d.open) == maxOpenParens {
		d.notes.AnyScope()
		return
	}
	var name []byte
	switch d.prev {
	case wordToken:
		name = d.word
	case '>':
		name = d.angle
	case ')':
		name = d.alone
		d.addInner()
	}
	d.assembler, d.label = d.prev == wordToken && isAsm(d.word), d.label[:0]
	d.open = append(d.open, openParen{name, d.Pos, d.base, d.outer})
	d.base, d.outer = len(d.names), len(d.angles)
}

// addInner adds names that are in the latest pair of parentheses to the possible names of
// functions. It is called if the character after the pair shows that the pair encloses the name of
// a function, as in "int (*f(int))(char)".
func (d *scanner) addInner() {
	if d.prev == ')' && len(d.names) < maxPending {
		d.names = append(d.names, d.inner...)
	}
}

// isAsm reports whether a word is the keyword asm, in one of its spellings.
func isAsm(word []byte) bool {
	return string(word) == "__asm__" || string(word) == "__asm" || string(word) == "asm"
}

// leave reads a closing parenthesis. The word before the pair of parentheses may be the name of a
// function, so leave stores it. If another parenthesis or a bracket follows, the name of the
// function may be in the pair, as in "int (*f(int))(char)". So leave also stores the names that are
// in the pair.
func (d *scanner) leave() {
	if d.assembler {
		d.labelled(d.label)
	}
	d.assembler = false
	switch {
	case d.prev == wordToken:
		d.alone = d.word
	case d.prev != ')' || !d.bare:
		d.alone = nil
	}
	if len(d.open) == 0 {
		return
	}
	p := d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	d.bare = p.name == nil
	d.inner = d.inner[:0]
	if p.name != nil {
		d.inner = append(d.inner, d.names[d.base:]...)
		d.names = d.names[:d.base]
	}
	d.base, d.outer, d.angles = p.base, p.outer, d.angles[:min(d.outer, len(d.angles))]
	if p.name != nil && d.mayName(p.name) && len(d.names) < maxPending {
		d.names = append(d.names, placed(p.name, d.Text[p.inner:d.Pos-1]))
		if p.name[0] == '~' {
			d.notes.Word([]byte{'~'}, true)
		}
	}
}

// mayName reports whether a word before parentheses may be the name of a function. After the
// parameters of a function, noexcept and throw are keywords of C++. Elsewhere these two, catch and
// others may be functions of C.
func (d *scanner) mayName(word []byte) bool {
	return !cpp.TakesNoParameters(word) || len(d.names) == d.base && !cpp.NamesNoFunction(word)
}

// maxCaptures limits the number of bytes that are searched for the end of a lambda's captures.
const maxCaptures = 1 << 12

// beginsLambda reports whether a bracket may begin a lambda. behind is the text after the bracket.
// It returns false for an index, the size of an array, an attribute and a designator of C.
func (d *scanner) beginsLambda(behind []byte) bool {
	switch d.prev {
	case wordToken:
		if !cpp.PrecedesOperand(d.word) {
			return false
		}
	case ')', ']', '[', '"', '\'', '0':
		return false
	}
	if behind = bytes.TrimLeft(behind, " \t\r\n"); len(behind) > 0 && behind[0] == '[' {
		return false
	}
	rest, ok := behindBracket(behind)
	if !ok {
		return true
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) == 0 || bytes.IndexByte([]byte("=.["), rest[0]) < 0 || bytes.HasPrefix(rest, []byte("[["))
}

// behindBracket returns the text after the bracket that closes an open one. text is the text after
// the open bracket. ok is false if no bracket nearby closes it, or if a string or a comment comes
// before that bracket.
func behindBracket(text []byte) (rest []byte, ok bool) {
	depth := 1
	for i, c := range text[:min(len(text), maxCaptures)] {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return text[i+1:], true
			}
		case '"', '\'', ';', '/':
			return nil, false
		}
	}
	return nil, false
}

// lambda reports that the text contains a lambda, by the names of the functions that each lambda
// has, such as operator().
func (d *scanner) lambda() {
	for _, name := range lambdaFunctions {
		d.notes.Function([]byte(name))
	}
}

// A declarationHead is what the scanner has read of the beginning of a declaration outside of
// functions: specifiers such as static and inline.
type declarationHead struct {
	inline, static, extern bool
	gnuInline              bool // attribute gnu_inline
	forced                 bool // an attribute makes GCC emit the function without a call
	assigned               bool // an initializer has begun
}

// dropsUnused reports whether GCC drops a function with these specifiers if nothing calls it or
// takes its address. GCC then never analyses the body.
func (h *declarationHead) dropsUnused() bool {
	return h.inline && (h.static || h.extern && h.gnuInline) && !h.forced && !h.assigned
}

// specifier reads a word of a declaration, and notes it if it is a specifier such as static or
// inline.
func (h *declarationHead) specifier(word []byte) {
	switch string(bytes.Trim(word, "_")) {
	case "inline":
		h.inline = true
	case "static":
		h.static = true
	case "extern":
		h.extern = true
	case "gnu_inline":
		h.gnuInline = true
	case "used", "constructor", "destructor":
		h.forced = true
	}
}

// outermost reports whether no parenthesis, bracket or brace is open.
func (d *scanner) outermost() bool { return d.braces == 0 && len(d.open) == 0 && d.squares == 0 }

// mentions reports whether the word before the current position counts as mentioned. It does unless
// it is the name of a function in a declaration outside of functions.
func (d *scanner) mentions(word []byte) bool {
	if d.braces != 0 {
		return true
	}
	d.head.specifier(word)
	if !d.outermost() || d.head.assigned {
		return true
	}
	next := bytes.TrimLeft(d.Text[d.Pos:], " \t\r\n")
	return len(next) == 0 || next[0] != '('
}

// endHead ends a declaration outside of functions, at a semicolon or at the brace of a body. If
// kept is true, GCC emits the functions that it declares even if nothing uses them, so endHead
// reports their names as mentioned.
func (d *scanner) endHead(kept bool) {
	if d.braces != 0 {
		return
	}
	if kept || !d.outermost() {
		for _, name := range d.names[d.base:] {
			d.notes.Word(name, true)
		}
	}
	if d.outermost() && (!d.head.assigned || d.Text[d.Pos-1] == ';') {
		d.head = declarationHead{}
	}
}
