package samples

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// A textInput reads a text line by line.
type textInput struct {
	*lines.Reader
	format Format
}

func newTextInput(format Format, r io.Reader) *textInput { return &textInput{lines.New(r), format} }

// next goes to the next line. At the end it returns io.EOF, which an error of the input is not.
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

// ended turns io.EOF into an error that says what is missing.
func (t *textInput) ended(err error, missing string) error {
	if err != io.EOF {
		return err
	}
	return t.fail(0, fault.ErrTruncated, "the text ends before %s", missing)
}
