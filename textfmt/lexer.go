package textfmt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/go-afdo/afdo/internal/fault"
)

// MaxName is the maximum length in bytes of a name, path or keyword that can be parsed or printed.
// It limits the memory that a missing quote can make the parser use.
const MaxName = 1 << 20

// bufferSize is the size of the lexer's buffer in bytes.
const bufferSize = 64 << 10

// eof is the result of peek at the end of the input.
const eof = -1

type position struct{ line, column int }

// lexer reads the tokens of the grammar (RFC 5.2) from a stream. It keeps the first error and then
// behaves as if the input had ended.
type lexer struct {
	src       io.Reader
	buf       []byte // buf[pos:end] has been read from src but not consumed
	pos, end  int
	line      int // from 1
	lineStart int // start of the line in buf, negative if it has left the buffer
	text      []byte
	done      bool // src has ended or err is set
	err       error
}

// fill reads more input into the buffer, whose content has been consumed. It reports whether there
// is more input.
func (l *lexer) fill() bool {
	l.lineStart -= l.end
	l.pos, l.end = 0, 0
	for range 100 {
		if l.done {
			return false
		}
		n, err := l.src.Read(l.buf)
		l.end = n
		if err == io.EOF {
			l.done = true
		} else if err != nil {
			l.stop(fmt.Errorf("textfmt: line %d: %w", l.line, err))
			return false
		}
		if n > 0 {
			return true
		}
	}
	l.stop(fmt.Errorf("textfmt: line %d: %w", l.line, io.ErrNoProgress))
	return false
}

// stop ends the input with an error, unless there is one already.
func (l *lexer) stop(err error) {
	if l.err == nil {
		l.err = err
	}
	l.lineStart -= l.pos
	l.pos, l.end, l.done = 0, 0, true
}

func (l *lexer) fail(at position, class error, format string, args ...any) {
	if l.err == nil {
		l.stop(faultAt(at, class, format, args...))
	}
}

// unexpected reports a syntax error at the next token: want was expected there.
func (l *lexer) unexpected(want string) {
	c, at := l.peek()
	if c == eof {
		l.fail(at, fault.ErrTruncated, "expected %s, found the end of the text", want)
		return
	}
	l.fail(at, fault.ErrSyntax, "expected %s, found %q", want, []byte{byte(c)})
}

func (l *lexer) here() position {
	return position{line: l.line, column: l.pos - l.lineStart + 1}
}

// peek skips white space. It returns the first byte of the next token and its position.
func (l *lexer) peek() (int, position) {
	c := l.next()
	return c, l.here()
}

// next skips white space and returns the first byte of the next token, like peek, but without its
// position.
func (l *lexer) next() int {
	for {
		for l.pos < l.end {
			switch c := l.buf[l.pos]; c {
			case '\n':
				l.pos++
				l.line++
				l.lineStart = l.pos
				l.indentation()
			case ' ', '\t', '\r', '\v', '\f':
				l.pos++
			default:
				return int(c)
			}
		}
		if !l.fill() {
			return eof
		}
	}
}

// indentation skips blanks, eight at a time.
func (l *lexer) indentation() {
	const blanks = 0x2020202020202020
	for l.end-l.pos >= 8 {
		others := binary.LittleEndian.Uint64(l.buf[l.pos:]) ^ blanks
		l.pos += bits.TrailingZeros64(others) / 8
		if others != 0 {
			return
		}
	}
}

// accept consumes the next token if it is the byte c, and reports whether it is.
func (l *lexer) accept(c byte) bool {
	if l.next() != int(c) {
		return false
	}
	l.pos++
	return true
}

// expect reads one token for each of the given characters, and reports whether each token is that
// character, such as a brace. At the first token that is not, it stores an error and stops.
func (l *lexer) expect(characters string) bool {
	for i := range len(characters) {
		if !l.accept(characters[i]) {
			l.unexpected(`"` + characters[i:i+1] + `"`)
			return false
		}
	}
	return true
}

// more consumes the separator after an element of a list. It reports whether another element
// follows.
func (l *lexer) more() bool {
	if l.accept(',') {
		return true
	}
	if !l.accept('}') {
		l.unexpected(`"," or "}"`)
	}
	return false
}

// raw returns the next byte without skipping white space. It returns false at the end.
func (l *lexer) raw() (byte, bool) {
	if l.pos == l.end && !l.fill() {
		return 0, false
	}
	return l.buf[l.pos], true
}

// number reads a number of at most width bits.
func (l *lexer) number(width uint, what string) uint64 {
	_, at := l.peek()
	var v, overflow uint64
	digits := 0
	for more := true; more; more = l.pos == l.end && l.fill() {
		start := l.pos
		for _, c := range l.buf[l.pos:l.end] {
			d := uint64(c - '0')
			if d > 9 {
				break
			}
			if v < 1<<60 {
				v = v*10 + d
			} else {
				var hi, carry uint64
				hi, v = bits.Mul64(v, 10)
				v, carry = bits.Add64(v, d, 0)
				overflow |= hi | carry
			}
			l.pos++
		}
		digits += l.pos - start
	}
	if digits == 0 {
		l.unexpected(what)
		return 0
	}
	if overflow != 0 || v > 1<<width-1 {
		l.fail(at, fault.ErrOverflow, "%s does not fit %d bits", what, width)
		return 0
	}
	return v
}

// keyword reads a word matching [a-z][a-z0-9_]* (RFC 5.1), and returns its position. The word is
// valid until the next call of keyword or quoted.
func (l *lexer) keyword(want string) ([]byte, position) {
	c, at := l.peek()
	if c < 'a' || c > 'z' {
		l.unexpected(want)
		return nil, at
	}
	l.text = l.text[:0]
	for {
		c, ok := l.raw()
		if !ok || !isWordByte(c) {
			return l.text, at
		}
		if len(l.text) == MaxName {
			l.fail(at, fault.ErrOverflow, "keyword is longer than %d bytes", MaxName)
			return nil, at
		}
		l.text = append(l.text, c)
		l.pos++
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

func (l *lexer) expectWord(word string) {
	want := `"` + word + `"`
	if found, at := l.keyword(want); string(found) != word {
		l.fail(at, fault.ErrSyntax, "expected %s, found %.80q", want, found)
	}
}

// quoted reads a quoted string. It is valid until the next call of keyword or quoted.
func (l *lexer) quoted(what string) []byte {
	c, at := l.peek()
	if c != '"' {
		l.unexpected(what)
		return nil
	}
	l.pos++
	l.text = l.text[:0]
	for {
		chunk, closed := l.untilQuote()
		if len(l.text)+len(chunk) > MaxName {
			l.fail(at, fault.ErrOverflow, "%s is longer than %d bytes", what, MaxName)
			return nil
		}
		l.text = append(l.text, chunk...)
		if closed {
			return l.text
		}
		if !l.fill() {
			l.fail(at, fault.ErrTruncated, "string without a closing quote")
			return nil
		}
	}
}

// untilQuote consumes and returns the buffered part of a quoted string. It also consumes the
// closing quote if that is in the buffer.
func (l *lexer) untilQuote() (chunk []byte, closed bool) {
	chunk = l.buf[l.pos:l.end]
	n := bytes.IndexByte(chunk, '"')
	if n >= 0 {
		chunk = chunk[:n]
	}
	if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
		l.line += bytes.Count(chunk, []byte{'\n'})
		l.lineStart = l.pos + i + 1
	}
	l.pos += len(chunk)
	if n >= 0 {
		l.pos++
	}
	return chunk, n >= 0
}

// skipSection skips the rest of an unknown section after its keyword: an equals sign and a block
// with balanced braces. Braces in quoted strings do not count (RFC 6.2, format note 23).
func (l *lexer) skipSection() {
	l.expect("=")
	_, at := l.peek()
	l.expect("{")
	for depth := 1; depth > 0; {
		switch c, quote := l.peek(); c {
		case eof:
			l.fail(at, fault.ErrTruncated, `missing "}" for this "{"`)
			return
		case '{':
			depth++
			l.pos++
		case '}':
			depth--
			l.pos++
		case '"':
			l.pos++
			l.skipString(quote)
		default:
			l.pos++
		}
	}
}

func (l *lexer) skipString(at position) {
	for {
		if _, closed := l.untilQuote(); closed {
			return
		}
		if !l.fill() {
			l.fail(at, fault.ErrTruncated, "string without a closing quote")
			return
		}
	}
}
