package samples

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
)

// ErrUnknown is the class of an [afdo.FormatError] for an input that is something else.
var ErrUnknown = errors.New("not a recording of samples")

// fault returns an error about an offset of the decompressed data, in which format it is.
func fault(format string, offset int64, class error, detail string, args ...any) error {
	return &afdo.FormatError{
		Format: format, Section: afdo.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(detail, args...),
	}
}
