package textfmt

import (
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/decode"
)

// ErrQuote is returned when a name that is to be printed holds a double quote, for which the text
// form has no escape (format note 22). It matches [afdo.ErrUnrepresentable].
var ErrQuote = decode.Reworded(afdo.ErrUnrepresentable, "the text form cannot express a name with a double quote")

// fault returns the error about a place of a text. Its class is [afdo.ErrSyntax],
// [afdo.ErrOverflow] or [afdo.ErrTruncated].
func fault(at position, class error, format string, args ...any) error {
	return &afdo.FormatError{
		Format: "textfmt", Section: afdo.HeaderSection, Offset: -1, Line: at.line, Column: at.column,
		Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
