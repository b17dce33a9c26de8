// Package cpp splits C and C++ source text into tokens and classifies keywords. It knows no types
// and builds no trees. It takes time proportional to the length of the text.
package cpp

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// A Token is a token of C or C++. Comments, white space and the ends of lines are not tokens.
type Token struct {
	Kind       Kind
	Char       byte // the first byte; '"' for a raw string, and the character that a digraph stands for
	escaped    bool // an identifier with universal character names, such as \u00e9
	Start, End int  // offsets in the text
	Line       int  // number of the line of the first byte; #line does not change it
}

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End         Kind = iota // of the text
	Word                    // an identifier, keyword or number
	Literal                 // a string or character, without prefix unless it is a raw string
	Punctuation             // a single character, or a digraph
	Directive               // the '#' that begins a line; see Lexer.Directive
)

// A Lexer splits a text into tokens. Any text is valid: each byte is in a token, a comment or white
// space. Copy a Lexer to look ahead.
type Lexer struct {
	Text  []byte
	Pos   int  // the end of the latest token
	Line  int  // the number of the line at Pos
	fresh bool // no token has been read in this line
}

// NewLexer returns a Lexer for a text whose first line has the number line.
func NewLexer(text []byte, line int) Lexer { return Lexer{Text: text, Line: line, fresh: true} }

// Next returns the next token.
func (l *Lexer) Next() Token {
	for {
		l.space()
		switch {
		case l.Pos == len(l.Text):
			return Token{Kind: End, Start: l.Pos, End: l.Pos, Line: l.Line}
		case l.Text[l.Pos] != '\n':
			return l.token()
		}
		l.Pos++
		l.Line++
		l.fresh = true
	}
}

// Directive skips the rest of a preprocessor directive and returns it. Call it after the token '#',
// which the result does not contain. A backslash or a comment can continue the directive in the
// next line.
func (l *Lexer) Directive() []byte {
	start := l.Pos
	for l.space(); l.Peek() != '\n' && l.Pos < len(l.Text); l.space() {
		l.token()
	}
	return l.Text[start:l.Pos]
}

// Peek returns the byte after the latest token, or 0 at the end of the text.
func (l *Lexer) Peek() byte {
	if l.Pos == len(l.Text) {
		return 0
	}
	return l.Text[l.Pos]
}

// SkipPast skips to the end of the next occurrence of mark. It searches from Pos+from on. If there
// is none, it skips to the end of the text.
func (l *Lexer) SkipPast(mark string, from int) {
	stop := len(l.Text)
	if at := bytes.Index(l.Text[l.Pos+from:], []byte(mark)); at >= 0 {
		stop = l.Pos + from + at + len(mark)
	}
	l.Line += bytes.Count(l.Text[l.Pos:stop], []byte{'\n'})
	l.Pos = stop
}

// space skips comments, white space and continued line ends. It stops at the end of a line.
func (l *Lexer) space() {
	for l.Pos < len(l.Text) {
		switch c := l.Text[l.Pos]; {
		case c <= ' ' && c != '\n':
			l.Pos++
		case c == '\\' && l.continues():
		case c == '/' && l.comment():
		default:
			return
		}
	}
}

// continues skips a backslash and the line end directly after it, which together continue a line.
// It returns false, and skips nothing, if the text at Pos is something else.
func (l *Lexer) continues() bool {
	rest := bytes.TrimPrefix(l.Text[l.Pos+1:], []byte{'\r'})
	if len(rest) == 0 || rest[0] != '\n' {
		return false
	}
	l.Pos = len(l.Text) - len(rest) + 1
	l.Line++
	return true
}

// comment skips a comment that begins at Pos. It returns false, and skips nothing, if there is
// none.
func (l *Lexer) comment() bool {
	rest := l.Text[l.Pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		for l.Pos < len(l.Text) && l.Text[l.Pos] != '\n' {
			if l.Text[l.Pos] != '\\' || !l.continues() {
				l.Pos++
			}
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		l.SkipPast("*/", len("/*"))
	default:
		return false
	}
	return true
}

// token reads the token that begins at Pos.
func (l *Lexer) token() Token {
	c := l.Text[l.Pos]
	t := Token{Kind: Punctuation, Char: c, Start: l.Pos, Line: l.Line}
	switch {
	case IsWordByte(c), c == '\\' && escapeLength(l.Text[l.Pos:]) > 0:
		l.word(&t)
	case c == '"' || c == '\'':
		t.Kind = Literal
		l.quoted(c)
	case c == '#' && l.fresh:
		t.Kind = Directive
		l.Pos++
	default:
		t.Char = l.digraph(c)
		l.Pos++
	}
	l.fresh = false
	t.End = l.Pos
	return t
}

// IsWordByte reports whether a byte can be part of an identifier.
func IsWordByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || IsDigit(c) || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// HasWord reports whether a text contains a word as a whole: neither the byte before it nor the
// byte after it can be part of an identifier.
func HasWord(text []byte, word string) bool {
	for from := 0; word != ""; from++ {
		at := bytes.Index(text[from:], []byte(word))
		if at < 0 {
			break
		}
		from += at
		end := from + len(word)
		if (from == 0 || !IsWordByte(text[from-1])) && (end == len(text) || !IsWordByte(text[end])) {
			return true
		}
	}
	return false
}

// IsDigit reports whether a byte is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// WordLength returns the length of the identifier or number at the beginning of a text.
func WordLength(text []byte) int {
	n := 0
	for n < len(text) && IsWordByte(text[n]) {
		n++
	}
	return n
}

// word reads a token that begins with a letter or a digit: an identifier, a number with its decimal
// points and digit separators, or a raw string with its prefix.
func (l *Lexer) word(t *Token) {
	t.Kind = Word
	number := IsDigit(t.Char)
	for {
		l.Pos += WordLength(l.Text[l.Pos:])
		switch c := l.Peek(); {
		case number && (c == '.' || c == '\'' && l.Pos+1 < len(l.Text) && IsWordByte(l.Text[l.Pos+1])):
			l.Pos++
		case !number && c == '\\' && escapeLength(l.Text[l.Pos:]) > 0:
			l.Pos += escapeLength(l.Text[l.Pos:])
			t.escaped = true
		case c == '"' && isRawPrefix(l.Text[t.Start:l.Pos]):
			l.rawString(t)
			return
		default:
			return
		}
	}
}

// isRawPrefix reports whether a word before a quote begins a raw string.
func isRawPrefix(word []byte) bool {
	switch string(word) {
	case "R", "LR", "uR", "UR", "u8R":
		return true
	}
	return false
}

// rawString reads a raw string, such as R"x(…)x", from its quote on. If the delimiter is not
// valid, the token is only the word before the quote, which is then a macro.
func (l *Lexer) rawString(t *Token) {
	const longest = len(`"0123456789abcdef(`)
	open := l.Text[l.Pos:min(l.Pos+longest, len(l.Text))]
	n := bytes.IndexAny(open[1:], "( )\\\"\t\v\f\r\n") + 1
	if n == 0 || open[n] != '(' {
		return
	}
	t.Kind, t.Char = Literal, '"'
	l.SkipPast(")"+string(open[1:n])+`"`, n)
}

// quoted skips a string or character literal. A missing closing quote ends it at the end of the
// line.
func (l *Lexer) quoted(quote byte) {
	for l.Pos++; l.Pos < len(l.Text); {
		switch c := l.Text[l.Pos]; {
		case c == quote:
			l.Pos++
			return
		case c == '\\' && l.continues():
		case c == '\\':
			l.Pos = min(l.Pos+2, len(l.Text))
		case c == '\n':
			return
		default:
			l.Pos++
		}
	}
}

// digraph returns the character for which the digraph at Pos is another spelling, such as '{' for
// "<%", and moves to the second character of the digraph. If there is no digraph, it returns c, the
// character at Pos. Preprocessors leave digraphs in their output.
func (l *Lexer) digraph(c byte) byte {
	rest := l.Text[l.Pos+1:]
	if len(rest) == 0 || c != '<' && c != '%' && c != ':' {
		return c
	}
	char := c
	switch string(l.Text[l.Pos : l.Pos+2]) {
	case "<%":
		char = '{'
	case "%>":
		char = '}'
	case "<:":
		if len(rest) > 2 && rest[1] == ':' && rest[2] != ':' && rest[2] != '>' {
			return c // before a name from the outermost scope
		}
		char = '['
	case ":>":
		char = ']'
	default:
		return c
	}
	l.Pos++
	return char
}

// Name returns the text of a word. In place of universal character names, such as \u00e9, it has
// the characters themselves, as assembler names have.
func (l *Lexer) Name(t Token) []byte {
	text := l.Text[t.Start:t.End:t.End]
	if !t.escaped {
		return text
	}
	name := make([]byte, 0, len(text))
	for len(text) > 0 {
		if n := escapeLength(text); n > 0 {
			name, text = utf8.AppendRune(name, escapedRune(text[:n])), text[n:]
			continue
		}
		name, text = append(name, text[0]), text[1:]
	}
	return name
}

// Contents returns the text between the quotes of a string, without the delimiters of a raw string.
// raw reports whether it is a raw string, in which backslashes are literal.
func (l *Lexer) Contents(t Token) (text []byte, raw bool) {
	text = l.Text[t.Start:t.End]
	if raw = text[0] != t.Char; raw {
		_, text, _ = bytes.Cut(text, []byte{t.Char})
		delimiter, rest, _ := bytes.Cut(text, []byte{'('})
		return bytes.TrimSuffix(rest, []byte(")"+string(delimiter)+`"`)), true
	}
	return bytes.TrimSuffix(text[1:], []byte{t.Char}), false
}

// Unescaped appends the text of a string literal to a buffer. It decodes universal character names,
// and octal and hexadecimal escapes. Of any other escape it appends the character after the
// backslash.
func Unescaped(to, text []byte) []byte {
	for len(text) > 0 {
		if text[0] != '\\' || len(text) == 1 {
			to, text = append(to, text[0]), text[1:]
			continue
		}
		if n := escapeLength(text); n > 0 {
			to, text = utf8.AppendRune(to, escapedRune(text[:n])), text[n:]
			continue
		}
		digits, base := text[1:], 8
		switch text[1] {
		case 'x':
			digits, base = text[2:], 16
		case 'o':
			digits = text[2:]
		}
		braced := len(digits) > 0 && digits[0] == '{'
		if braced {
			digits = digits[1:]
		}
		n := digitsOf(digits, base)
		if base == 8 {
			n = min(n, 3)
		}
		v, err := strconv.ParseUint(string(digits[:n]), base, 8)
		if err != nil { // not a number
			to, text = append(to, text[1]), text[2:]
			continue
		}
		to, text = append(to, byte(v)), digits[n:]
		if braced {
			text = bytes.TrimPrefix(text, []byte{'}'})
		}
	}
	return to
}

// digitsOf returns how many bytes at the beginning of a text are digits of a number in the given
// base.
func digitsOf(text []byte, base int) int {
	n := 0
	for n < len(text) {
		if _, err := strconv.ParseUint(string(text[n:n+1]), base, 8); err != nil {
			break
		}
		n++
	}
	return n
}

// maxEscape limits the length in bytes of a universal character name such as \u{0000e9}, leading
// zeros included.
const maxEscape = 32

// escapeLength returns the length of the universal character name at the beginning of a text:
// \u1234, \U00012345 or \u{1234}. It returns 0 if there is none.
func escapeLength(text []byte) int {
	if len(text) < len(`\u{1}`) || text[0] != '\\' {
		return 0
	}
	n := len(`\u1234`)
	switch {
	case text[1] == 'u' && text[2] == '{':
		n = bytes.IndexByte(text[:min(len(text), maxEscape)], '}') + 1
	case text[1] == 'U':
		n = len(`\U00012345`)
	case text[1] != 'u':
		return 0
	}
	if n == 0 || n > len(text) || escapedRune(text[:n]) == utf8.RuneError {
		return 0
	}
	return n
}

// escapedRune returns the character of a universal character name, such as \u00e9.
func escapedRune(escape []byte) rune {
	n, err := strconv.ParseUint(string(bytes.Trim(escape[len(`\u`):], "{}")), 16, 32)
	if err != nil || n > utf8.MaxRune {
		return utf8.RuneError
	}
	return rune(n)
}

// LineMarker parses a line directive without its '#': "line 5", or "5" as preprocessors write it.
// It returns the number of the next line, and its file if the directive names one. ok is false for
// other directives.
func LineMarker(directive []byte) (line int, file string, ok bool) {
	l := NewLexer(directive, 1)
	t := l.Next()
	if string(l.Name(t)) == "line" {
		t = l.Next()
	}
	number, err := strconv.ParseInt(string(l.Name(t)), 10, 32)
	if err != nil {
		return 0, "", false
	}
	if t = l.Next(); t.Kind == Literal && bytes.HasSuffix(directive[t.Start+1:t.End], []byte{'"'}) {
		name, _ := l.Contents(t)
		file = string(name)
	}
	return int(number), file, true
}

// A class is a set of properties of a keyword.
type class uint8

const (
	parenthesised class = 1 << iota // parentheses after it are not the parameters of a function
	typeName
	qualifier // of a function, after its parameters
	operator  // an operand follows
	plusPlus  // not in C, where it may be the name of a function
)

// classOf returns the properties of a keyword. For all other words it returns 0.
func classOf(word []byte) class {
	switch string(word) {
	case "throw":
		return parenthesised | operator | plusPlus
	case "catch", "explicit", "requires", "noexcept", "decltype":
		return parenthesised | plusPlus
	case "return", "case", "sizeof", "else", "do":
		return parenthesised | operator
	case "co_return", "co_yield", "co_await", "in",
		"and", "or", "not", "xor", "bitand", "bitor", "compl", "and_eq", "or_eq", "xor_eq", "not_eq":
		return operator
	case "if", "for", "while", "switch", "alignof", "alignas", "_Alignas",
		"typeof", "__typeof__", "__typeof", "typeof_unqual", "static_assert", "_Static_assert", "_Atomic", "_BitInt",
		"__attribute__", "__attribute", "__declspec", "__asm__", "__asm", "asm", "_Pragma":
		return parenthesised
	case "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto":
		return typeName
	case "const", "volatile", "override", "final", "try", "mutable", "constexpr", "__extension__", "__restrict", "__restrict__":
		return qualifier
	}
	return 0
}

// NamesNoFunction reports whether a word is a keyword of both C and C++ that may precede
// parentheses, such as if, so that no function can have this name.
func NamesNoFunction(word []byte) bool {
	return classOf(word)&(parenthesised|plusPlus) == parenthesised
}

// TakesNoParameters reports whether parentheses after a C++ keyword are not the parameters of a
// function, as after if.
func TakesNoParameters(word []byte) bool { return classOf(word)&parenthesised != 0 }

// IsTypeName reports whether a word is a fundamental type of C++ or part of one, such as unsigned.
func IsTypeName(word []byte) bool { return classOf(word)&typeName != 0 }

// FollowsParameters reports whether a word can be between the parameters and the body of a
// function, such as const.
func FollowsParameters(word []byte) bool { return classOf(word)&(parenthesised|qualifier) != 0 }

// PrecedesOperand reports whether a word is a keyword after which an operand follows, such as
// return. A bracket after it is not an index, but begins a lambda.
func PrecedesOperand(word []byte) bool { return classOf(word)&operator != 0 }

// BeginsStatement reports whether a keyword begins a statement or is one, such as if and break.
func BeginsStatement(word []byte) bool {
	switch string(word) {
	case "if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto", "throw":
		return true
	}
	return false
}
