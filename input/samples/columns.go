package samples

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// columns parses the current line from left to right. It keeps the first error.
type columns struct {
	*textInput
	at  int // index of the next byte to read
	err error
}

func (c *columns) rest() []byte { return c.Line[c.at:] }

// number reads a number without sign.
func (c *columns) number(base uint64) uint64 {
	if c.err != nil {
		return 0
	}
	n, length, ok := lines.Number(c.rest(), base)
	switch {
	case length == 0:
		c.err = c.fail(c.at, fault.ErrSyntax, "a number is due, not %s", lines.Excerpt(c.rest()))
	case !ok:
		c.err = c.fail(c.at, fault.ErrOverflow, "%s is more than 64 bits hold", lines.Excerpt(c.rest()[:length]))
	}
	c.at += length
	return n
}

// numberOrHex reads a number that is hexadecimal if it begins with 0x.
func (c *columns) numberOrHex() uint64 {
	if bytes.HasPrefix(c.rest(), []byte("0x")) {
		c.at += 2
		return c.number(16)
	}
	return c.number(10)
}

// hex reads a hexadecimal number, which may have 0x before it.
func (c *columns) hex() uint64 {
	if bytes.HasPrefix(c.rest(), []byte("0x")) {
		c.at += len("0x")
	}
	return c.number(16)
}

// blanks skips blanks.
func (c *columns) blanks() {
	for c.at < len(c.Line) && lines.IsBlank(c.Line[c.at]) {
		c.at++
	}
}

// word skips blanks and a word.
func (c *columns) word() {
	c.blanks()
	for c.at < len(c.Line) && !lines.IsBlank(c.Line[c.at]) {
		c.at++
	}
}

// literal reads the given text, and fails if the line does not continue with it.
func (c *columns) literal(text string) {
	if c.err != nil {
		return
	}
	if !bytes.HasPrefix(c.rest(), []byte(text)) {
		c.err = c.fail(c.at, fault.ErrSyntax, "%q is due, not %s", text, lines.Excerpt(c.rest()))
		return
	}
	c.at += len(text)
}

// end fails if a part of the line has not been read.
func (c *columns) end() {
	if c.err == nil && c.at < len(c.Line) {
		c.err = c.fail(c.at, fault.ErrSyntax, "the end of the line is due, not %s", lines.Excerpt(c.rest()))
	}
}

// A textInput reads a text line by line.
type textInput struct {
	*lines.Reader
	format Format
}

func newTextInput(format Format, r io.Reader) *textInput { return &textInput{lines.New(r), format} }

// next reads the next line. It returns io.EOF after the last one.
func (t *textInput) next() error {
	err := t.Next()
	if errors.Is(err, lines.ErrTooLong) {
		return t.fail(lines.MaxLength, fault.ErrLimit, "%v", err)
	}
	return err
}

// fail returns an error about the byte at an index of the current line.
func (t *textInput) fail(index int, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: t.format.String(), Section: fault.HeaderSection, Line: t.Number, Column: index + 1, Offset: t.Offset + int64(index),
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}

// ended converts io.EOF to an error that says what is missing, and returns any other error
// unchanged.
func (t *textInput) ended(err error, missing string) error {
	if err != io.EOF {
		return err
	}
	return t.fail(0, fault.ErrTruncated, "the text ends before %s", missing)
}
