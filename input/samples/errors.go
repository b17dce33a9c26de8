package samples

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/fault"
)

// ErrUnknown is the class of an afdo.FormatError for an input that is not a recording in a format
// of [Format].
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
