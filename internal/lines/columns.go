package lines

import (
	"bytes"

	"github.com/go-afdo/afdo/internal/fault"
)

// Columns parses the current line of a Reader from left to right. It keeps the first error.
type Columns struct {
	*Reader
	At  int // index of the next byte to read
	Err error
}

// Rest returns the part of the current line that has not been parsed.
func (c *Columns) Rest() []byte { return c.Line[c.At:] }

// Fail records an error at the next byte, unless there is one already. what names what was expected
// there, such as "a number".
func (c *Columns) Fail(class error, what string) {
	if c.Err == nil {
		c.Err = c.Reader.Fail(c.At, class, "expected %s, found %s", what, Excerpt(c.Rest()))
	}
}

// Uint reads an unsigned number in the given base from the line.
func (c *Columns) Uint(base uint64) uint64 {
	n, length, ok := Number(c.Rest(), base)
	switch {
	case length == 0:
		c.Fail(fault.ErrSyntax, "a number")
	case !ok:
		c.Fail(fault.ErrOverflow, "a number of 64 bits")
	}
	if c.Err != nil {
		return 0
	}
	c.At += length
	return n
}

// Hex reads a hexadecimal number, with or without 0x, from the line.
func (c *Columns) Hex() uint64 {
	c.Accept("0x")
	return c.Uint(16)
}

// Blanks skips the blanks that come next in the line.
func (c *Columns) Blanks() {
	for c.At < len(c.Line) && IsBlank(c.Line[c.At]) {
		c.At++
	}
}

// Word skips the next word of the line, and the blanks before it.
func (c *Columns) Word() {
	c.Blanks()
	for c.At < len(c.Line) && !IsBlank(c.Line[c.At]) {
		c.At++
	}
}

// Accept skips the given text if the line continues with it, and reports whether it does.
func (c *Columns) Accept(text string) bool {
	found := bytes.HasPrefix(c.Rest(), []byte(text))
	if found {
		c.At += len(text)
	}
	return found
}

// Expect skips the given text. It records an error if the line does not continue with it.
func (c *Columns) Expect(text string) {
	if !c.Accept(text) {
		c.Fail(fault.ErrSyntax, "\""+text+"\"")
	}
}

// End records an error unless the whole line has been read.
func (c *Columns) End() {
	if c.At < len(c.Line) {
		c.Fail(fault.ErrSyntax, "the end of the line")
	}
}
