package outline

import (
	"bytes"
	"strconv"
)

// A numbering follows "#line", which sets the file and the number of the next line.
type numbering struct {
	own   string // the file of interest
	file  string // the file of the current line
	shift int    // from the number of a line to the one it is said to have
}

// number returns the number that a line is said to have, and whether it is of the own file.
func (n *numbering) number(line int) (int, bool) { return line + n.shift, n.file == n.own }

// read reads "#line", or the short form that preprocessors write, after its '#'. It ignores other
// directives.
func (n *numbering) read(l *lexer, line int) bool {
	rest := l.text[l.pos:]
	if stop := bytes.IndexByte(rest, '\n'); stop >= 0 {
		rest = rest[:stop]
	}
	fields := bytes.TrimLeft(rest, " \t")
	if after, ok := bytes.CutPrefix(fields, []byte("line")); ok {
		fields = bytes.TrimLeft(after, " \t")
	}
	digits := 0
	for digits < len(fields) && isDigit(fields[digits]) {
		digits++
	}
	number, err := strconv.ParseInt(string(fields[:digits]), 10, 32)
	if err != nil {
		return false
	}
	n.shift = int(number) - (line + 1)
	if name := quotedName(fields[digits:]); name != "" {
		n.file = name
	}
	l.pos += len(rest)
	return true
}

// quotedName returns the first name in quotes.
func quotedName(text []byte) string {
	open := bytes.IndexByte(text, '"')
	if open < 0 {
		return ""
	}
	name, _, closed := bytes.Cut(text[open+1:], []byte{'"'})
	if !closed {
		return ""
	}
	return string(name)
}
