package memprof

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/fault"
)

// A scanner reads the subset of YAML that memory profiles use: block and flow style, plain and
// quoted scalars on one line, and comments. The caller asks for each construct it expects, so the
// scanner keeps nothing but the current line, and nests only as deep as the caller's requests.
type scanner struct {
	r      *bufio.Reader
	line   []byte
	number int   // line number, from 1
	start  int64 // offset of the line
	col    int   // current column, from 0
	first  bool  // only blanks and dashes precede col
	value  int   // column at which the last scalar began
	flow   int   // number of open braces and brackets
	ended  bool
	err    error
}

// fail records an error at the current position, unless there is one already.
func (s *scanner) fail(class error, format string, args ...any) {
	if s.err == nil {
		s.err = &fault.FormatError{
			Format: "memprof", Section: fault.HeaderSection, Offset: s.start + int64(s.col), Line: max(s.number, 1), Column: s.col + 1,
			Err: class, Detail: fmt.Sprintf(format, args...),
		}
	}
}

// bad records that the value of the scalar read last is invalid, unless there is an error already.
func (s *scanner) bad(format string, args ...any) {
	if s.err == nil {
		s.col = s.value
		s.fail(errValue, format, args...)
	}
}

func (s *scanner) syntax(format string, args ...any) { s.fail(fault.ErrSyntax, format, args...) }

// read reads the next line.
func (s *scanner) read() {
	line, err := s.r.ReadSlice('\n')
	if len(line) == 0 {
		s.ended = true
		if err != io.EOF && s.err == nil {
			s.err = err
		}
		return
	}
	s.start += int64(len(s.line))
	s.line = append(s.line[:0], line...)
	for err == bufio.ErrBufferFull {
		line, err = s.r.ReadSlice('\n')
		s.line = append(s.line, line...)
	}
	if err != nil && err != io.EOF && s.err == nil {
		s.err = err
	}
	s.number++
	s.col, s.first = 0, true
}

// rest returns the rest of the line without the line break.
func (s *scanner) rest() []byte { return bytes.TrimRight(s.line[s.col:], "\r\n") }

// blanks skips spaces and tabs, and a comment that ends the line.
func (s *scanner) blanks() {
	from := s.col
	for s.col < len(s.line) && (s.line[s.col] == ' ' || s.line[s.col] == '\t' && !s.first) {
		s.col++
	}
	if s.col < len(s.line) && s.line[s.col] == '#' && (s.col == 0 || s.col > from) {
		s.col = len(s.line)
	}
}

// next moves to the next key, value or punctuation mark, on this line or a later one. It returns
// false at the end of the document.
func (s *scanner) next() bool {
	for s.err == nil && !s.ended {
		s.blanks()
		if len(s.rest()) > 0 {
			if s.line[s.col] == '\t' {
				s.syntax("a tab in front of a line")
			}
			return s.err == nil && !s.marker()
		}
		s.read()
	}
	return false
}

// marker reports whether a document marker, "---" or "...", is at the current position.
func (s *scanner) marker() bool {
	if s.col > 0 || s.flow > 0 {
		return false
	}
	rest := string(s.rest())
	return rest == "..." || rest == "---" || strings.HasPrefix(rest, "--- ") || strings.HasPrefix(rest, "... ")
}

// peek returns the character at the current position, which [scanner.next] has found.
func (s *scanner) peek() byte { return s.line[s.col] }

// indicator reports whether the character c, for example the "-" of a list element, is at the
// current position, with a blank or the end of the line after it.
func (s *scanner) indicator(c byte) bool {
	rest := s.rest()
	return len(rest) > 0 && rest[0] == c && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t')
}

// mapping reads a map that is indented more than parent. For each key, it calls each with the key
// and its indentation. each reads the value.
func (s *scanner) mapping(parent int, each func(key string, indent int)) {
	switch {
	case !s.next():
		s.syntax("want a map, found the end of the text")
	case s.peek() == '{':
		s.flowList('}', func() { s.pair(each, 0) })
	case s.flow > 0 || !s.first || s.col <= parent:
		s.syntax("want a map")
	default:
		for indent := s.col; s.next() && s.inBlock(indent); {
			s.pair(each, indent)
		}
	}
}

// inBlock reports whether the key or list element at the current position belongs to the map or
// list that is being read, whose indentation is indent. A deeper indentation is an error.
func (s *scanner) inBlock(indent int) bool {
	switch {
	case !s.first:
		s.syntax("want the end of the line")
	case s.col > indent:
		s.syntax("indented by %d, not %d", s.col, indent)
	}
	return s.err == nil && s.col == indent
}

// pair reads a key of a map. Then it calls each with the key and its indentation, to read the
// value.
func (s *scanner) pair(each func(key string, indent int), indent int) {
	key := s.scalar()
	s.blanks()
	if s.err == nil && !s.indicator(':') {
		s.syntax("want a colon after %q", key)
	}
	if s.err != nil {
		return
	}
	s.col++
	s.first = false
	each(key, indent)
}

// sequence reads a list that is indented at least as much as parent, the indentation of its key. It
// calls each to read every element.
func (s *scanner) sequence(parent int, each func(indent int)) {
	switch {
	case !s.next():
		s.syntax("want a list, found the end of the text")
	case s.peek() == '[':
		s.flowList(']', func() { each(0) })
	case s.flow > 0 || !s.first || s.col < parent || !s.indicator('-'):
		s.syntax("want a list")
	default:
		for indent := s.col; s.next() && (s.col > indent || s.indicator('-')) && s.inBlock(indent); {
			s.col++
			each(indent)
		}
	}
}

// flowList reads a list in braces or brackets, which ends with the character end. For every
// element, it calls each, which reads the element.
func (s *scanner) flowList(end byte, each func()) {
	s.col++
	s.first = false
	s.flow++
	for due := true; ; {
		if !s.next() {
			s.syntax("want %q, found the end of the text", end)
			return
		}
		s.first = false
		switch c := s.peek(); {
		case c == end:
			s.col++
			s.flow--
			return
		case c == ',' && !due:
			s.col++
			due = true
		case !due:
			s.syntax("want a comma or %q", end)
			return
		default:
			each()
			due = false
		}
		if s.err != nil {
			return
		}
	}
}

// scalar reads a quoted or unquoted string or number, which must begin on this line.
func (s *scanner) scalar() string {
	s.blanks()
	rest := s.rest()
	if s.err != nil || len(rest) == 0 {
		s.syntax("want a value")
		return ""
	}
	s.first, s.value = false, s.col
	switch c := rest[0]; {
	case c == '\'':
		return s.single(rest[1:])
	case c == '"':
		return s.double(rest[1:])
	case strings.IndexByte("&*!|>%@`[]{},", c) >= 0, s.indicator('-'), s.indicator('?'):
		s.syntax("want a value, found %q", c)
		return ""
	}
	rest = bytes.TrimRight(rest[:plainLength(rest, s.flow > 0)], " \t")
	s.col += len(rest)
	return string(rest)
}

// plainLength returns the length of the scalar without quotes at the start of rest. flow says
// whether it is inside of braces or brackets, where a comma ends it.
func plainLength(rest []byte, flow bool) int {
	for i, c := range rest {
		switch {
		case c == ':' && (i+1 == len(rest) || rest[i+1] == ' ' || rest[i+1] == '\t'),
			c == '#' && i > 0 && (rest[i-1] == ' ' || rest[i-1] == '\t'),
			flow && strings.IndexByte(",[]{}", c) >= 0:
			return i
		}
	}
	return len(rest)
}

// single reads a scalar in single quotes. rest is the text after the opening quote.
func (s *scanner) single(rest []byte) string {
	var b []byte
	for i := 0; i < len(rest); i++ {
		if rest[i] != '\'' {
			b = append(b, rest[i])
			continue
		}
		if i+1 == len(rest) || rest[i+1] != '\'' {
			s.col += i + 2
			return string(b)
		}
		b = append(b, '\'')
		i++
	}
	s.syntax("a quoted value has no end on its line")
	return ""
}

// double reads a scalar in double quotes. rest is the text after the opening quote.
func (s *scanner) double(rest []byte) string {
	var b []byte
	for i := 0; i < len(rest); {
		switch c := rest[i]; c {
		case '"':
			s.col += i + 2
			return string(b)
		case '\\':
			r, n := unescape(rest[i+1:])
			if n == 0 {
				s.col += i + 1
				s.syntax("an invalid escape")
				return ""
			}
			b = utf8.AppendRune(b, r)
			i += 1 + n
		default:
			b = append(b, c)
			i++
		}
	}
	s.syntax("a quoted value has no end on its line")
	return ""
}

// unescape decodes an escape sequence. s begins after the backslash. It returns the character, and
// the length of the sequence without the backslash, or 0 if it is invalid.
func unescape(s []byte) (rune, int) {
	if len(s) == 0 {
		return 0, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 {
		for r, c := range escapes {
			if c == s[0] {
				return r, 1
			}
		}
		if s[0] == '/' || s[0] == ' ' {
			return rune(s[0]), 1
		}
		return 0, 0
	}
	if len(s) <= digits {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(s[1:1+digits]), 16, 32)
	if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, 0
	}
	return rune(v), 1 + digits
}
