package textfmt

import (
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// errQuote is returned when a name to be printed contains a double quote, for which the text form
// has no escape (format note 22). It matches afdo.ErrUnrepresentable.
var errQuote = decode.Reworded(fault.ErrUnrepresentable, "the text form cannot express a name with a double quote")

// faultAt returns an error about a position in a text. Its class is afdo.ErrSyntax,
// afdo.ErrOverflow or afdo.ErrTruncated.
func faultAt(at position, class error, format string, args ...any) error {
	return &fault.FormatError{
		Format: "textfmt", Section: fault.HeaderSection, Offset: -1, Line: at.line, Column: at.column,
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
