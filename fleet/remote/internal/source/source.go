// Package source defines the interface through which package remote reads a file: a Source serves
// ranges of one file, over HTTP or from an object store.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Source serves ranges of one file, such as an object of a store. A remote.File chooses the
// ranges, compares versions, reads bodies and repeats requests. The methods of a Source may be
// called from many goroutines.
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

// A Range is a request for the bytes from Low to before High, or if Low is negative for the last
// -Low bytes.
type Range struct{ Low, High int64 }

// String returns the range as the HTTP header Range contains it.
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

// Strong reports whether requests may demand a file with this ETag (RFC 9110, 8.8.1).
func (v Version) Strong() bool { return v.ETag != "" && !strings.HasPrefix(v.ETag, "W/") }

// A Part is the bytes that a source has sent for a requested [Range], with the size and version of
// the file.
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

// Options are the options of package remote, which documents them.
type Options struct {
	Source  Source // nil for the URL that is opened
	Client  *http.Client
	MaxSize int64
	Tail    int64
	Block   int64
	Blocks  int
	Tries   int
	Wait    time.Duration
	Timeout time.Duration
	Rate    int64 // bytes per second
}

// ContentRange parses a Content-Range header and sets the bounds of the part and the size of the
// file.
func (p *Part) ContentRange(text string) error {
	bounds, ok := strings.CutPrefix(text, "bytes ")
	place, size, ok2 := strings.Cut(bounds, "/")
	from, to, ok3 := strings.Cut(place, "-")
	low, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	total, err3 := strconv.ParseInt(size, 10, 64)
	if !ok || !ok2 || !ok3 || errors.Join(err1, err2, err3) != nil {
		return fmt.Errorf("Content-Range is %q", text)
	}
	p.Low, p.High, p.Size = low, last+1, total
	return nil
}

// Fits returns an error unless the part is the requested range, which may be cut off at the end of
// the file.
func (p *Part) Fits(r Range) error {
	want := r
	if r.Low < 0 {
		want = Range{max(p.Size+r.Low, 0), p.Size}
	}
	want.High = min(want.High, p.Size)
	if p.Low != want.Low || p.High != want.High || want.Low >= want.High {
		return fmt.Errorf("bytes %d to %d of %d where %q was requested", p.Low, p.High, p.Size, r)
	}
	return nil
}

// Use returns the option of package remote that reads from a Source in place of a URL. Closing the
// remote.File closes the Source. If opening the file fails, that closes the Source, too.
func Use(s Source) func(*Options) { return func(o *Options) { o.Source = s } }
