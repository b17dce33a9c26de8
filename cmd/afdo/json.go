package main

import (
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A jsonWriter writes JSON piece by piece: nesting of any depth takes a few
// bytes a level and no machine stack, and nothing is held in memory. Items
// of an array stand on lines of their own, members of an object in one line. Its first error sticks.
type jsonWriter struct {
	w     io.Writer
	buf   []byte
	open  []jsonScope
	level int // arrays among them
	err   error
}

// A jsonScope is an object or array that is not complete.
type jsonScope struct {
	close byte // the bracket that ends it
	begun bool // it has a member or item
}

const (
	jsonFlush     = 32 << 10
	maxJSONIndent = 64 // in levels: else a body nested n deep took n*n bytes
)

var jsonMargin = "\n" + strings.Repeat("  ", maxJSONIndent)

// next begins a member, or an item if the key is empty.
func (j *jsonWriter) next(key string) {
	if len(j.open) > 0 {
		s := &j.open[len(j.open)-1]
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
		j.buf = appendJSONString(j.buf, key)
		j.buf = append(j.buf, ": "...)
	}
	if len(j.buf) > jsonFlush {
		j.flush()
	}
}

// newLine begins a line. Each array is a level.
func (j *jsonWriter) newLine() {
	j.buf = append(j.buf, jsonMargin[:1+2*min(j.level, maxJSONIndent)]...)
}

func (j *jsonWriter) object(key string) { j.begin(key, '{', '}') }
func (j *jsonWriter) array(key string)  { j.begin(key, '[', ']') }

func (j *jsonWriter) begin(key string, open, close byte) {
	j.next(key)
	j.buf = append(j.buf, open)
	j.open = append(j.open, jsonScope{close: close})
	if close == ']' {
		j.level++
	}
}

// end completes the innermost object or array.
func (j *jsonWriter) end() {
	s := j.open[len(j.open)-1]
	j.open = j.open[:len(j.open)-1]
	if s.close == ']' {
		j.level--
		if s.begun {
			j.newLine()
		}
	}
	j.buf = append(j.buf, s.close)
}

func (j *jsonWriter) uint(key string, v uint64) {
	j.next(key)
	j.buf = strconv.AppendUint(j.buf, v, 10)
}

func (j *jsonWriter) bool(key string, v bool) {
	j.next(key)
	j.buf = strconv.AppendBool(j.buf, v)
}

// name writes a name. JSON has no way to write bytes that are not UTF-8: those
// become U+FFFD, and another member gives the true bytes in base64.
func (j *jsonWriter) name(key, name string) {
	j.next(key)
	j.buf = appendJSONString(j.buf, name)
	if !utf8.ValidString(name) {
		j.next(key + "_base64")
		j.buf = append(j.buf, '"')
		j.buf = base64.StdEncoding.AppendEncode(j.buf, []byte(name))
		j.buf = append(j.buf, '"')
	}
}

func (j *jsonWriter) flush() {
	if j.err == nil && len(j.buf) > 0 {
		_, j.err = j.w.Write(j.buf)
	}
	j.buf = j.buf[:0]
}

// finish ends the last line and returns the first error.
func (j *jsonWriter) finish() error {
	j.buf = append(j.buf, '\n')
	j.flush()
	return j.err
}

func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s { // what is not UTF-8 comes as U+FFFD
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
