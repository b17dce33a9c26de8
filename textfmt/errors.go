package textfmt

import (
	"errors"
	"fmt"
)

var (
	// ErrLimit is returned for a value that its field in the format cannot
	// hold: a number that is too wide, a name longer than [MaxName].
	ErrLimit = errors.New("value does not fit")

	// ErrQuote is returned when a name that is to be printed holds a double
	// quote, for which the text form has no escape (format note 22).
	ErrQuote = errors.New("the text form cannot express a name with a double quote")
)

// A SyntaxError says what is wrong with a text and where.
type SyntaxError struct {
	Line   int    // counted from 1
	Column int    // in bytes, counted from 1
	Msg    string // what was expected and what was found
	Err    error  // ErrLimit, io.ErrUnexpectedEOF, or nil for everything else
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("textfmt: line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Unwrap returns the class of the error, nil if it has none.
func (e *SyntaxError) Unwrap() error { return e.Err }
