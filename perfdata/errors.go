package perfdata

import (
	"errors"
	"fmt"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/decode"
)

// Classes of [afdo.FormatError], beside those of package afdo.
var (
	// ErrRecord: a record is shorter than its header, or longer than what is left.
	ErrRecord = errors.New("bad record")

	// ErrEvent: a record has no event, or one that the file does not describe.
	ErrEvent = errors.New("unknown event")
)

var errMagic = decode.Reworded(afdo.ErrMagic, "not a perf.data file")

// fault returns an error about an offset, in compressed data that of the record that holds it.
func fault(offset int64, class error, format string, args ...any) *afdo.FormatError {
	return &afdo.FormatError{
		Format: "perf.data", Section: afdo.HeaderSection, Offset: offset, Err: class, Detail: fmt.Sprintf(format, args...),
	}
}
