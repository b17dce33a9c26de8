package outline

import "bytes"

// A token is one of C or C++. Comments and white space are none, and so are the ends of lines.
type token struct {
	kind       tokenKind
	start, end int // in the text
	line       int // physical, of its first byte, counted from 1
}

type tokenKind uint8

const (
	end         tokenKind = iota
	word                  // an identifier or number
	literal               // a string or character
	punctuation           // a single character
	directive             // the '#' of a directive of the preprocessor; what follows in its lines are tokens of it
)

// A lexer takes a text apart. It knows nothing that a text can have wrong: whatever the bytes, each
// of them is in one token, comment or space. It takes time by the length of the text.
type lexer struct {
	text        []byte
	pos, line   int
	fresh       bool // nothing but space was in this line
	inDirective bool
}

func newLexer(text []byte, line int) lexer { return lexer{text: text, line: line, fresh: true} }

// wordBytes marks the bytes of identifiers and numbers.
var wordBytes = func() (is [256]bool) {
	for c := range is {
		is[c] = 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
	}
	return is
}()

// next returns the next token.
func (l *lexer) next() token {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == '\n':
			l.newline()
		case c <= ' ':
			l.pos++
		case c == '\\' && l.continues():
		case c == '/' && l.comment():
		default:
			return l.token(c)
		}
	}
	return token{kind: end, start: l.pos, end: l.pos, line: l.line}
}

func (l *lexer) newline() {
	l.pos++
	l.line++
	l.fresh, l.inDirective = true, false
}

// continues passes over a backslash before the end of a line.
func (l *lexer) continues() bool {
	rest := l.text[l.pos+1:]
	n := 1
	if len(rest) > 0 && rest[0] == '\r' {
		rest, n = rest[1:], 2
	}
	if len(rest) == 0 || rest[0] != '\n' {
		return false
	}
	l.pos += n + 1
	l.line++
	return true
}

// comment passes over a comment if there is one.
func (l *lexer) comment() bool {
	rest := l.text[l.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		for l.pos < len(l.text) && l.text[l.pos] != '\n' {
			if l.text[l.pos] != '\\' || !l.continues() {
				l.pos++
			}
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		l.skipTo("*/", len("/*"))
	default:
		return false
	}
	return true
}

// skipTo skips to the end of the next mark that is at least from bytes ahead.
func (l *lexer) skipTo(mark string, from int) {
	stop := len(l.text)
	if at := bytes.Index(l.text[min(l.pos+from, stop):], []byte(mark)); at >= 0 {
		stop = l.pos + from + at + len(mark)
	}
	l.line += bytes.Count(l.text[l.pos:stop], []byte{'\n'})
	l.pos = stop
}

func (l *lexer) token(c byte) token {
	t := token{kind: punctuation, start: l.pos, line: l.line}
	switch {
	case wordBytes[c]:
		t.kind = word
		l.word(c)
		if quote := l.at(l.pos); quote == '"' && l.text[l.pos-1] == 'R' && l.pos-t.start <= len("u8R") {
			t.kind = literal
			l.rawString()
		}
	case c == '"' || c == '\'':
		t.kind = literal
		l.quoted(c)
	case c == '#' && l.fresh:
		t.kind = directive
		l.inDirective = true
		l.pos++
	default:
		l.pos++
	}
	l.fresh = false
	t.end = l.pos
	return t
}

func (l *lexer) at(i int) byte {
	if i >= len(l.text) {
		return 0
	}
	return l.text[i]
}

// word passes over an identifier, or a number with its points and separators.
func (l *lexer) word(first byte) {
	number := isDigit(first)
	for ; l.pos < len(l.text); l.pos++ {
		c := l.text[l.pos]
		separates := number && (c == '.' || c == '\'' && wordBytes[l.at(l.pos+1)])
		if !wordBytes[c] && !separates {
			return
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// quoted passes over a string or character, which ends with its line at the latest.
func (l *lexer) quoted(quote byte) {
	for l.pos++; l.pos < len(l.text); {
		switch c := l.text[l.pos]; {
		case c == quote:
			l.pos++
			return
		case c == '\\' && l.continues():
		case c == '\\':
			l.pos = min(l.pos+2, len(l.text))
		case c == '\n':
			return
		default:
			l.pos++
		}
	}
}

// rawString passes over a string like R"x(…)x", from the quote on.
func (l *lexer) rawString() {
	const longest = 16 // delimiter
	open := bytes.IndexByte(l.text[l.pos:min(l.pos+len(`"(`)+longest, len(l.text))], '(')
	if open < 0 {
		l.quoted('"')
		return
	}
	l.skipTo(")"+string(l.text[l.pos+1:l.pos+open])+`"`, open)
}
