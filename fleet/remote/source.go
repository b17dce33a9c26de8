package remote

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Source serves ranges of one file, such as an object of a store. [OpenSource] makes a File of
// it. The File chooses the ranges, compares versions, reads bodies and repeats requests. The
// methods of a Source may be called from many goroutines.
type Source interface {
	// Name returns the name of the file for messages, without secrets.
	Name() string

	// Fetch makes one request for a range of the known version, or of any version if known is
	// empty. Its errors name the file. They match afdo.ErrChanged if the server no longer has that
	// version, and are a *Transient if another try may succeed.
	//
	// A source that cannot serve the last bytes of a file of unknown size answers a request for
	// them with the size and the version, without a Body. Every source does so for an empty file.
	Fetch(ctx context.Context, r Range, known Version) (Part, error)

	// Close releases what the source has opened. It is called once.
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

// A Version distinguishes one version of a file from another. Either field may be empty if the
// server does not send it.
type Version struct {
	ETag     string // or the equivalent of another protocol
	Modified string // counts only without an ETag
}

// Strong reports whether requests may insist on the ETag (RFC 9110, 8.8.1).
func (v Version) Strong() bool { return v.ETag != "" && !strings.HasPrefix(v.ETag, "W/") }

// A Part is the answer of a source to a [Range].
type Part struct {
	Low, High int64 // the bytes in Body
	Size      int64 // of the file
	Version   Version
	Body      io.ReadCloser // nil if the answer is only size and version
}

// A Transient is the error of a request that may succeed when it is repeated.
type Transient struct {
	Err   error
	After time.Duration // the pause that the server asks for, or 0
}

func (e *Transient) Error() string { return e.Err.Error() }
