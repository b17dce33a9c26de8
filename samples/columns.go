package samples

import (
	"bytes"
	"io"

	"github.com/go-afdo/afdo"
)

// columns reads the current line from left to right. Its first error stays.
type columns struct {
	*lines
	at  int // index of what is not read yet
	err error
}

func (c *columns) rest() []byte { return c.line[c.at:] }

// number reads a number without sign.
func (c *columns) number(base uint64) uint64 {
	if c.err != nil {
		return 0
	}
	n, length, ok := digits(c.rest(), base)
	switch {
	case length == 0:
		c.err = c.fail(c.at, ErrSyntax, "a number is due, not %s", excerpt(c.rest()))
	case !ok:
		c.err = c.fail(c.at, ErrRange, "%s is more than 64 bits hold", excerpt(c.rest()[:length]))
	}
	c.at += length
	return n
}

// literal reads a text that has to be there.
func (c *columns) literal(text string) {
	if c.err != nil {
		return
	}
	if !bytes.HasPrefix(c.rest(), []byte(text)) {
		c.err = c.fail(c.at, ErrSyntax, "%q is due, not %s", text, excerpt(c.rest()))
		return
	}
	c.at += len(text)
}

// end makes sure that nothing is left.
func (c *columns) end() {
	if c.err == nil && c.at < len(c.line) {
		c.err = c.fail(c.at, ErrSyntax, "the end of the line is due, not %s", excerpt(c.rest()))
	}
}

// ended makes io.EOF an error that says what is missing.
func (l *lines) ended(err error, missing string) error {
	if err != io.EOF {
		return err
	}
	l.number++
	l.line = nil
	return l.fail(0, afdo.ErrTruncated, "the text ends before %s", missing)
}
