package remote

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Source hands out ranges of one file, such as an object of a store. [OpenSource] makes a File of
// it, which decides how much to ask for, compares versions, reads bodies and asks again. Its
// methods may be called from many goroutines.
type Source interface {
	// Name returns what messages call the file, without secrets.
	Name() string

	// Fetch asks once for a range of the known version, or of any if that is empty. Its errors
	// name the file; they match afdo.ErrChanged where the server does not have that version any
	// more, and are a *Transient if asking again may help.
	//
	// A source that cannot tell where the end of a file begins answers a Range of the last bytes
	// with the size and the version alone. So does each for an empty file.
	Fetch(ctx context.Context, r Range, known Version) (Part, error)

	// Close ends what the source has opened. It is called once.
	Close() error
}

// A Range is a request for the bytes from Low up to High, or if Low is negative for the last -Low
// bytes.
type Range struct{ Low, High int64 }

// String returns the range as a Range header has it.
func (r Range) String() string {
	if r.Low < 0 {
		return fmt.Sprintf("bytes=%d", r.Low)
	}
	return fmt.Sprintf("bytes=%d-%d", r.Low, r.High-1)
}

// A Version tells one version of a file from another. Either may be empty if the server does not
// say.
type Version struct {
	ETag     string // or what else the server has for it
	Modified string // counts only without an ETag
}

// Strong reports whether requests may insist on the ETag (RFC 9110, 8.8.1).
func (v Version) Strong() bool { return v.ETag != "" && !strings.HasPrefix(v.ETag, "W/") }

// A Part is the answer of a source to a [Range].
type Part struct {
	Low, High int64 // which bytes Body has
	Size      int64 // of the file
	Version   Version
	Body      io.ReadCloser // nil if there are only size and version
}

// A Transient is an error of a request that may succeed when it is made again.
type Transient struct {
	Err   error
	After time.Duration // when, as the server wants it; 0 if it does not say
}

func (e *Transient) Error() string { return e.Err.Error() }
