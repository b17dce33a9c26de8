package perfdata

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo/internal/decode"
	"github.com/go-afdo/afdo/internal/fault"
)

// Classes of afdo.FormatError in addition to those of package afdo.
var (
	// ErrRecord: the size of a record is smaller than its header or larger than the remaining data.
	ErrRecord = errors.New("bad record")

	// ErrEvent: the event of a record is missing, or not described in the file.
	ErrEvent = errors.New("unknown event")
)

var errMagic = decode.Reworded(fault.ErrMagic, "not a perf.data file")

// faultAt returns an error about a file offset. In compressed data, this is the offset of the
// compressed record.
func faultAt(offset int64, class error, format string, args ...any) *fault.FormatError {
	return &fault.FormatError{
		Format: "perf.data", Section: fault.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
