package cxx

import (
	"bytes"
	"path/filepath"

	"github.com/go-afdo/afdo/internal/symname"
)

// Notes receives what a text contains. The bytes are valid until a call returns. A name may come
// more than once.
//
// A word is mentioned unless it is the name of a function in a declaration outside of functions.
// The name in a definition is mentioned, too, if GCC emits the function without a call. In a text
// of C without macros, GCC drops functions whose names are never mentioned, but see
// [MayBeCalledByGCC].
type Notes struct {
	Function func(name []byte)                 // the unqualified name of every function that may be defined, and some others
	Word     func(word []byte, mentioned bool) // every word, those of pragmas and of short strings included
	Label    func(name []byte)                 // every name that a function is given for the assembler
	Scope    func(word []byte)                 // every class, namespace and template of aliases that is defined, [UnnamedClass], and some other words
	Inline   func(outer, name []byte)          // every inline namespace that is the first thing in another one
	AnyScope func()                            // there are macros, or too much at once: other words may be scopes, too
}

// Definitions takes note of the functions that a text of C or C++ may define, and of its words.
//
// It takes the text as it is, without knowing types: a name before parentheses that a body follows,
// and the names of classes, which have implicit functions. It takes time by the length of the text,
// and memory by the nesting of its parentheses.
func Definitions(text []byte, notes Notes) {
	d := scanner{text: text, notes: notes, lineStart: true}
	d.scopes.notes, d.unnamed.notes = notes, notes
	for d.pos < len(text) {
		d.token()
	}
}

// A scanner goes through a text token by token.
type scanner struct {
	text    []byte
	pos     int
	notes   Notes
	scopes  scopeFinder
	unnamed unnamedFinder

	lineStart bool   // there was no token in this line yet
	prev      byte   // the first byte of the latest token; wordToken after an identifier or operator
	word      []byte // that identifier or operator
	class     depth  // it follows class, struct or union there
	alone     []byte // the last word between the parentheses that were closed just now
	bare      bool   // there was no name before these
	qualified bool   // const or volatile follow parentheses, of a method or of an old parameter
	oldStyle  bool   // declarations of parameters follow the parentheses, as in the C of old
	assembler bool   // strings are names for the assembler
	label     []byte // those since a parenthesis was opened, joined

	typedefs []int // how many braces are open around each typedef that has not ended
	naming   bool  // a class of the innermost one has ended, and its names follow
	braces   int
	squares  int

	defaults [][]byte // names before the latest token, which is an '='

	head declarationHead

	angles [][]byte // the identifiers before a '<' that is open
	outer  int      // how many of them are before the innermost open parenthesis
	angle  []byte   // the one before the '<' that the latest '>' closed

	// Names before parentheses that have closed. If a body follows the names of the innermost open
	// parenthesis, names[base:], they are definitions.
	names [][]byte
	base  int
	inner [][]byte // in the parentheses that were closed just now
	open  []openParen
}

// An openParen is a parenthesis that has not closed.
type openParen struct {
	name  []byte // before it
	inner int    // where what is in it begins
	base  int    // outside of it
	outer int    // likewise
}

// A depth says how many parentheses and brackets are open around something, each plus one.
type depth struct{ round, square int }

// More than this of a text that is none of C is not remembered.
const (
	maxOpenParens = 1 << 12
	maxOpenAngles = 1 << 6
	maxPending    = 1 << 10
)

const wordToken = 'a'

// wordBytes are the bytes of identifiers and numbers.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
	}
	return is
}()

// IsWordByte reports whether a byte may be one of an identifier.
func IsWordByte(c byte) bool { return wordBytes[c] }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// token passes over one token, comment or white space.
func (d *scanner) token() {
	switch c := d.text[d.pos]; {
	case c == '\n':
		d.pos++
		d.lineStart = true
	case c <= ' ':
		d.pos++
	case c == '#' && d.lineStart:
		d.directive()
	case c == '/' && d.comment():
	default:
		d.lineStart = false
		switch {
		case isDigit(c):
			d.number()
		case wordBytes[c], c == '\\' && escapedRune(d.text[d.pos:]) > 0:
			d.identifier()
		case c == '"', c == '\'':
			d.quoted(c)
		default:
			c = d.digraph(c)
			d.pos++
			d.punctuation(c)
			d.prev = c
		}
	}
}

// directive skips a directive of the preprocessor, except for words that may come out of a macro,
// and for function names in "#pragma redefine_extname".
func (d *scanner) directive() {
	start := d.pos
	d.skipLines()
	line := bytes.TrimLeft(d.text[start+1:d.pos], " \t")
	if len(line) > 0 && isDigit(line[0]) {
		d.file(line)
		return
	}
	if !bytes.HasPrefix(line, []byte("pragma")) && !bytes.HasPrefix(line, []byte("line")) && !bytes.HasPrefix(line, []byte("ident")) {
		d.notes.AnyScope()
	}
	names := bytes.Contains(line, []byte("redefine_extname"))
	for word := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r < 0x80 && !wordBytes[r] }) {
		d.notes.Word(word, true)
		if names {
			d.labelled(word)
		}
	}
}

// file takes note of the name of a file in a line marker: what initializes a file may be named
// after that.
func (d *scanner) file(marker []byte) {
	_, name, _ := bytes.Cut(marker, []byte{'"'})
	name = name[:max(bytes.LastIndexByte(name, '"'), 0)]
	if base := Cleaned(symname.Canonical(filepath.Base(string(name)))); isWord([]byte(base)) {
		d.notes.Word([]byte(base), true)
	}
}

// skipLines passes over a line and those that continue it.
func (d *scanner) skipLines() {
	for d.pos < len(d.text) {
		line := d.text[d.pos:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		d.pos += len(line)
		if !bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte{'\\'}) {
			return
		}
	}
}

// comment passes over a comment if there is one.
func (d *scanner) comment() bool {
	rest := d.text[d.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		d.skipLines()
		d.lineStart = true
	case bytes.HasPrefix(rest, []byte("/*")):
		d.skipPast("*/", len("/*"))
	default:
		return false
	}
	return true
}

// skipPast skips to the end of the next occurrence of end that is at least from bytes ahead.
func (d *scanner) skipPast(end string, from int) {
	at := bytes.Index(d.text[d.pos+from:], []byte(end))
	if at < 0 {
		d.pos = len(d.text)
		return
	}
	d.pos += from + at + len(end)
}

// number passes over a number, digit separators and suffixes included.
func (d *scanner) number() {
	d.prev = '0'
	for d.pos++; d.pos < len(d.text); d.pos++ {
		c := d.text[d.pos]
		separator := c == '\'' && d.pos+1 < len(d.text) && wordBytes[d.text[d.pos+1]]
		if !wordBytes[c] && c != '.' && !separator {
			return
		}
	}
}

// quoted passes over a string or character, which ends in its line at the latest.
// Strings can be the tags and the assembler names of functions.
func (d *scanner) quoted(quote byte) {
	start := d.pos + 1
	d.skipQuoted(quote)
	end := max(start, d.pos-1)
	text := d.text[min(start, end):end]
	switch {
	case quote != '"':
	case d.assembler && len(d.label) <= longestWord:
		d.label = unescaped(d.label, text)
	case isWord(text):
		d.notes.Word(text, true)
	}
}

// labelled notes the name that a function is given for the assembler. A C++ name is noted by its
// parts, because its scopes need not be in the text.
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

const longestWord = 256

// isWord reports whether a string may be an identifier.
func isWord(text []byte) bool {
	return len(text) > 0 && len(text) <= longestWord && !bytes.ContainsFunc(text, func(r rune) bool { return r < 0x80 && !wordBytes[r] })
}

func (d *scanner) skipQuoted(quote byte) {
	d.prev = quote
	for d.pos++; d.pos < len(d.text); d.pos++ {
		switch d.text[d.pos] {
		case quote:
			d.pos++
			return
		case '\\':
			d.pos++
		case '\n':
			return
		}
	}
	d.pos = len(d.text) // a backslash at the end leads beyond it
}

// rawString passes over a string like R"x(…)x", from the quote on.
func (d *scanner) rawString() {
	d.prev = '"'
	const longest = 16 // delimiter
	open := bytes.IndexByte(d.text[d.pos:min(d.pos+len(`"(`)+longest, len(d.text))], '(')
	if open < 0 {
		d.quoted('"')
		return
	}
	delimiter, start := string(d.text[d.pos+1:d.pos+open]), d.pos+open+1
	d.skipPast(")"+delimiter+`"`, open)
	if end := d.pos - len(delimiter) - len(`)"`); d.assembler && end >= start && len(d.label) <= longestWord {
		d.label = append(d.label, d.text[start:end]...)
	}
}

func (d *scanner) identifier() {
	word := d.readWord()
	if word[len(word)-1] == 'R' && len(word) <= len("u8R") && d.pos < len(d.text) && d.text[d.pos] == '"' {
		d.rawString()
		return
	}
	d.notes.Word(word, d.mentions(word))
	d.scopes.identifier(word, d.prev)
	d.unnamed.identifier(word, d.prev)
	if d.qualified || d.prev == ')' && len(d.names) > d.base {
		d.oldStyle = d.oldStyle || !d.inTypedef() && !followsParameters(word)
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

// defaulted takes note of a function that is declared as default.
func (d *scanner) defaulted() {
	for _, name := range d.defaults {
		d.notes.Function(name)
	}
}

// isKeyword reports whether parentheses after a word are not a function's.
func isKeyword(word []byte) bool {
	switch string(word) {
	case "if", "for", "while", "switch", "case", "catch", "return", "sizeof", "alignas", "alignof", "throw",
		"decltype", "noexcept", "requires", "explicit", "__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm",
		"typeof", "__typeof__", "__typeof", "typeof_unqual", "_Alignas", "_Atomic", "_BitInt", "_Static_assert", "static_assert":
		return true
	}
	return false
}

// followsParameters reports whether a word may come between the parameters and the body of a
// function.
func followsParameters(word []byte) bool {
	switch string(word) {
	case "const", "volatile", "override", "final", "try", "mutable", "__extension__", "__restrict", "__restrict__":
		return true
	}
	return isKeyword(word)
}

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
		if d.beginsLambda(d.text[d.pos:]) {
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

// inTypedef reports whether a typedef has begun, and no brace has been opened since.
func (d *scanner) inTypedef() bool {
	n := len(d.typedefs)
	return n > 0 && d.typedefs[n-1] == d.braces
}

// endTypedefs forgets those inside of some braces.
func (d *scanner) endTypedefs(braces int) {
	for n := len(d.typedefs); n > 0 && d.typedefs[n-1] >= braces; n-- {
		d.typedefs = d.typedefs[:n-1]
	}
}

// endsClass reports whether the names of a class end before some punctuation, none of an attribute.
func (d *scanner) endsClass(c byte) bool {
	switch c {
	case '(', ')', '[', ']':
		return false
	case ':':
		if d.prev == ':' || d.pos < len(d.text) && d.text[d.pos] == ':' { // a scope
			return false
		}
	}
	return c == ';' || c == '{' || c == '}' || len(d.open) < d.class.round && d.squares < d.class.square
}

// compares reports whether an '=' belongs to a comparison, which may come between a function's
// parameters and its body.
func (d *scanner) compares() bool {
	if d.pos < len(d.text) && d.text[d.pos] == '=' {
		return true
	}
	return d.pos > 1 && bytes.IndexByte([]byte("=<>!"), d.text[d.pos-2]) >= 0
}

// clear forgets names that define nothing.
func (d *scanner) clear() {
	d.names, d.angles, d.oldStyle = d.names[:d.base], d.angles[:min(d.outer, len(d.angles))], false
}

// enter opens a parenthesis.
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
	d.open = append(d.open, openParen{name, d.pos, d.base, d.outer})
	d.base, d.outer = len(d.names), len(d.angles)
}

// addInner adds the names in the parentheses that were closed just now: what follows shows that
// they are around the function's name.
func (d *scanner) addInner() {
	if d.prev == ')' && len(d.names) < maxPending {
		d.names = append(d.names, d.inner...)
	}
}

func isAsm(word []byte) bool {
	return string(word) == "__asm__" || string(word) == "__asm" || string(word) == "asm"
}

// leave closes a parenthesis. If others follow, or brackets, a name in the first may be the
// function, as in "int (*f(int))(char)".
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
	if p.name != nil && !isKeyword(p.name) && len(d.names) < maxPending {
		d.names = append(d.names, placed(p.name, d.text[p.inner:d.pos-1]))
		if p.name[0] == '~' {
			d.notes.Word([]byte{'~'}, true)
		}
	}
}
