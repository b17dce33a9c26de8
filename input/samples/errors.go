package samples

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-afdo/afdo/internal/fault"
	"github.com/go-afdo/afdo/internal/lines"
)

// ErrUnknown is the class of an afdo.FormatError for an input that is in none of the formats that
// [Read] supports.
var ErrUnknown = errors.New("not a recording of samples")

// ErrEmpty is the class of an afdo.FormatError for an empty input. It matches ErrUnknown.
var ErrEmpty = fmt.Errorf("%w", ErrUnknown)

// faultAt returns an afdo.FormatError about an offset of the decompressed data. format names the
// format of the input.
func faultAt(format string, offset int64, class error, detail string, args ...any) error {
	return &fault.FormatError{
		Format: format, Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(detail, args...),
	}
}

// ended converts io.EOF, for a text that ends too early, to an error that says what is missing. It
// returns any other error unchanged.
func ended(text *lines.Reader, err error, missing string) error {
	if err != io.EOF {
		return err
	}
	return text.Fail(0, fault.ErrTruncated, "the text ends before %s", missing)
}
