package slice

import "bytes"

// Definitions calls yield for the unqualified name of every function that a
// source file of C or C++ may define, and for some others. The bytes are valid
// until yield returns. A name may come more than once.
//
// It reads the text as it stands, without macros and without knowing types:
// a name before parentheses that a body follows, the names of classes, which
// have functions that nobody writes down, and "operator()" for lambdas. A
// function whose name only a macro puts together is missed. It takes time by the
// length of the text, and memory by the nesting of its parentheses.
func Definitions(text []byte, yield func(name []byte)) {
	d := definer{text: text, yield: yield, lineStart: true}
	for d.pos < len(text) {
		d.token()
	}
}

// A definer goes through a text token by token.
type definer struct {
	text  []byte
	pos   int
	yield func([]byte)

	lineStart bool   // there was no token in this line yet
	prev      byte   // the first byte of the latest token; wordToken after an identifier or operator
	word      []byte // that identifier or operator
	class     bool   // it follows class, struct or union

	angles [][]byte // the identifiers before a '<' that is open
	angle  []byte   // the one before the '<' that the latest '>' closed

	// Names before parentheses that have closed. A body after those of the
	// innermost open parenthesis, names[base:], makes them definitions.
	names [][]byte
	base  int
	open  []openParen
}

// An openParen is a parenthesis that has not closed.
type openParen struct {
	name []byte // before it
	base int    // outside of it
}

// More than this of a text that is none of C is not remembered.
const (
	maxOpenParens = 1 << 12
	maxOpenAngles = 1 << 6
	maxPending    = 1 << 10
)

const wordToken = 'a'

var callOperator = []byte("operator()")

// wordBytes are the bytes of identifiers and numbers.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
	}
	return is
}()

// token passes over one token, comment or white space.
func (d *definer) token() {
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
		case wordBytes[c]:
			d.identifier()
		case c == '"', c == '\'':
			d.quoted(c)
		default:
			d.pos++
			d.punctuation(c)
			d.prev = c
		}
	}
}

// directive passes over a directive of the preprocessor and the lines that continue it.
func (d *definer) directive() {
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
func (d *definer) comment() bool {
	rest := d.text[d.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		d.directive()
		d.lineStart = true
	case bytes.HasPrefix(rest, []byte("/*")):
		d.skipPast("*/", len("/*"))
	default:
		return false
	}
	return true
}

// skipPast goes behind the next end, from some bytes on.
func (d *definer) skipPast(end string, from int) {
	at := bytes.Index(d.text[d.pos+from:], []byte(end))
	if at < 0 {
		d.pos = len(d.text)
		return
	}
	d.pos += from + at + len(end)
}

// number passes over a number, digit separators and suffixes included.
func (d *definer) number() {
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
func (d *definer) quoted(quote byte) {
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
func (d *definer) rawString() {
	d.prev = '"'
	open := bytes.IndexByte(d.text[d.pos:], '(')
	if open < 0 || open > len(`"`)+16 {
		d.quoted('"')
		return
	}
	delimiter := string(d.text[d.pos+1 : d.pos+open])
	d.skipPast(")"+delimiter+`"`, open)
}

func (d *definer) identifier() {
	start := d.pos
	for d.pos++; d.pos < len(d.text) && wordBytes[d.text[d.pos]]; d.pos++ {
	}
	word := d.text[start:d.pos]
	if word[len(word)-1] == 'R' && len(word) <= len("u8R") && d.pos < len(d.text) && d.text[d.pos] == '"' {
		d.rawString()
		return
	}
	if d.prev == '~' {
		word = d.text[bytes.LastIndexByte(d.text[:start], '~'):d.pos]
	}
	d.prev, d.word = wordToken, word
	switch string(word) {
	case "operator":
		d.operator(start)
	case "class", "struct", "union":
		d.class = true
	default:
		if d.class {
			d.yield(word)
			d.yield(append([]byte{'~'}, word...))
		}
	}
}

// operator reads what follows the word operator, which stands at start.
func (d *definer) operator(start int) {
	rest := bytes.TrimLeft(d.text[d.pos:], " ")
	n := len(rest) - len(bytes.TrimLeft(rest, "+-*/%^&|~!=<>,"))
	switch {
	case bytes.HasPrefix(rest, []byte("()")), bytes.HasPrefix(rest, []byte("[]")), bytes.HasPrefix(rest, []byte(`""`)):
		n = 2
	case n == 0:
		return // a conversion: its name ends with a type
	}
	d.pos = len(d.text) - len(rest) + n
	d.word = append([]byte("operator"), rest[:n]...)
}

// isKeyword tells whether parentheses after a word are not a function's.
func isKeyword(word []byte) bool {
	switch string(word) {
	case "if", "for", "while", "switch", "catch", "return", "sizeof", "alignas", "alignof",
		"decltype", "noexcept", "requires", "__attribute__", "__declspec":
		return true
	}
	return false
}

func (d *definer) punctuation(c byte) {
	d.class = d.class && (c == '(' || c == ')') // of an attribute
	switch c {
	case '(':
		d.enter()
	case ')':
		d.leave()
	case '{':
		if d.prev == ']' {
			d.yield(callOperator)
		}
		for _, name := range d.names[d.base:] {
			d.yield(name)
		}
		d.clear()
	case ';', '}', '=':
		d.clear()
	case '<':
		if d.prev == wordToken && len(d.angles) < maxOpenAngles {
			d.angles = append(d.angles, d.word)
		}
	case '>':
		if n := len(d.angles); n > 0 && d.prev != '-' {
			d.angle, d.angles = d.angles[n-1], d.angles[:n-1]
		}
	}
}

// clear forgets names that define nothing.
func (d *definer) clear() {
	d.names, d.angles = d.names[:d.base], d.angles[:0]
}

// enter opens a parenthesis.
func (d *definer) enter() {
	if len(d.open) == maxOpenParens {
		return
	}
	var name []byte
	switch d.prev {
	case wordToken:
		name = d.word
	case '>':
		name = d.angle
	case ']':
		name = callOperator
	}
	d.open = append(d.open, openParen{name, d.base})
	d.base = len(d.names)
}

// leave closes a parenthesis.
func (d *definer) leave() {
	if len(d.open) == 0 {
		return
	}
	p := d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	d.names, d.base = d.names[:d.base], p.base
	if p.name != nil && !isKeyword(p.name) && len(d.names) < maxPending {
		d.names = append(d.names, p.name)
	}
}
