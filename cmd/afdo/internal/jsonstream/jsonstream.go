// Package jsonstream writes JSON piece by piece.
package jsonstream

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-afdo/afdo/internal/stack"
)

// A Writer writes JSON piece by piece, without holding the document in memory. Nesting of any depth
// needs a few bytes per level and no recursion. Each item of an array is on its own line, and the
// members of an object are on one line. After the first error, nothing more is written;
// [Writer.Err] and [Writer.Finish] return that error.
type Writer struct {
	w     io.Writer
	buf   []byte
	open  stack.Stack[scope]
	level int // number of open arrays
	err   error
}

// Version is the version of the JSON that verbs print, see spec/schema. Each document is an object
// and has it as its first member, VersionKey.
const (
	Version    = 1
	VersionKey = "schema_version"
)

// A scope is an object or array that was begun and has not been ended.
type scope struct {
	close byte // the bracket that ends it
	begun bool // a member or item was written
}

const (
	flushAt   = 32 << 10
	maxIndent = 64 // levels that are indented; without a limit, a body nested n deep would need n*n bytes
)

var margin = "\n" + strings.Repeat("  ", maxIndent)

// New returns a Writer that writes JSON to w.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// next writes the comma, line break and name that come before a value. The value is the next member
// of an object or, if key is empty, the next item of an array.
func (j *Writer) next(key string) {
	if !j.open.Empty() {
		s := j.open.Top()
		if s.begun {
			j.buf = append(j.buf, ',')
		}
		switch {
		case s.close == ']':
			j.newLine()
		case s.begun:
			j.buf = append(j.buf, ' ')
		}
		s.begun = true
	}
	if key != "" {
		j.buf = appendString(j.buf, key)
		j.buf = append(j.buf, ": "...)
	}
	j.flushIfFull()
}

func (j *Writer) flushIfFull() {
	if len(j.buf) > flushAt {
		j.flush()
	}
}

// newLine begins a line of the document, indented by one step for each open array.
func (j *Writer) newLine() {
	j.buf = append(j.buf, margin[:1+2*min(j.level, maxIndent)]...)
}

// Object begins an object: a member with the name key or, if key is empty, an item of an array or
// the whole document.
func (j *Writer) Object(key string) { j.begin(key, '{', '}') }

// List begins a JSON document that consists of the version and an array named key. The following
// calls write the items of the array, and [Writer.FinishList] ends the document.
func (j *Writer) List(key string) {
	j.Object("")
	j.Array(key)
}

// FinishList ends a document that List has begun.
func (j *Writer) FinishList() error {
	j.End()
	j.End()
	return j.Finish()
}

// Array begins an array: a member named key or, if key is empty, an item of an array.
func (j *Writer) Array(key string) { j.begin(key, '[', ']') }

func (j *Writer) begin(key string, open, close byte) {
	document := j.open.Empty() && open == '{'
	j.next(key)
	j.buf = append(j.buf, open)
	j.open.Push(scope{close: close})
	if document {
		j.Uint(VersionKey, Version)
	}
	if close == ']' {
		j.level++
	}
}

// End completes the innermost object or array.
func (j *Writer) End() {
	s := j.open.Pop()
	if s.close == ']' {
		j.level--
		if s.begun {
			j.newLine()
		}
	}
	j.buf = append(j.buf, s.close)
	j.flushIfFull()
}

// Uint writes a number as a member named key or, if key is empty, as an item.
func (j *Writer) Uint(key string, v uint64) {
	j.next(key)
	j.buf = strconv.AppendUint(j.buf, v, 10)
}

// Float writes a floating-point number as a member or item, with as few digits as distinguish it
// from all other numbers.
func (j *Writer) Float(key string, v float64) {
	j.next(key)
	j.buf = strconv.AppendFloat(j.buf, v, 'f', -1, 64)
}

// Bool writes true or false as a member or item.
func (j *Writer) Bool(key string, v bool) {
	j.next(key)
	j.buf = strconv.AppendBool(j.buf, v)
}

// Name writes a string as a member. JSON cannot store bytes that are not UTF-8: they become U+FFFD,
// and a second member "<key>_base64" has the true bytes.
func (j *Writer) Name(key, name string) {
	j.next(key)
	j.buf = appendString(j.buf, name)
	if encoded := Base64(name); encoded != "" {
		j.next(key + "_base64")
		j.buf = appendString(j.buf, encoded)
	}
}

// Base64 returns the value of the member "<key>_base64" for a name, which is "" if the name is
// UTF-8.
func Base64(name string) string {
	if utf8.ValidString(name) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(name))
}

func (j *Writer) flush() {
	if j.err == nil && len(j.buf) > 0 {
		_, j.err = j.w.Write(j.buf)
	}
	j.buf = j.buf[:0]
}

// Err returns the first error of writing the document.
func (j *Writer) Err() error { return j.err }

// Finish ends the last line of the document, and returns the first error of writing.
func (j *Writer) Finish() error {
	j.buf = append(j.buf, '\n')
	j.flush()
	return j.err
}

// EscapeBidi escapes in JSON the characters that change the direction of a text: a terminal would
// show what follows them in another order.
func EscapeBidi(document []byte) []byte {
	if !bytes.ContainsFunc(document, isBidi) {
		return document
	}
	var out []byte
	for _, r := range string(document) { // they stand in strings alone
		if isBidi(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func isBidi(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s { // what is not UTF-8 comes as U+FFFD
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case isBidi(r):
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
