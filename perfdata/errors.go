package perfdata

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of afdo.FormatError, beside those of package afdo.
var (
	// ErrRecord: a record is shorter than its header, or longer than what is left.
	ErrRecord = errors.New("bad record")

	// ErrEvent: a record has no event, or one that the file does not describe.
	ErrEvent = errors.New("unknown event")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not a perf.data file")

// faultAt returns an error about an offset, in compressed data that of the record that holds it.
func faultAt(offset int64, class error, format string, args ...any) *fault.FormatError {
	return &fault.FormatError{
		Format: "perf.data", Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
