package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo"
)

// A span is what is asked for: bytes from low to high, or if low is negative the last -low bytes.
type span struct{ low, high int64 }

func (s span) String() string {
	if s.low < 0 {
		return fmt.Sprintf("bytes=%d", s.low)
	}
	return fmt.Sprintf("bytes=%d-%d", s.low, s.high-1)
}

// A version tells one version of a file from another. Either may be empty if the server does not
// say.
type version struct {
	etag     string
	modified string // counts only without an ETag
}

// strong reports whether requests may insist on the ETag (RFC 9110, 8.8.1).
func (v version) strong() bool { return v.etag != "" && !strings.HasPrefix(v.etag, "W/") }

// An answer is what a server says to a request.
type answer struct {
	data    []byte
	low     int64
	size    int64 // of the file
	version version
}

// maxWait is how long to wait at most before a request is made again, whatever the server wants.
const maxWait = 30 * time.Second

// fetch asks for a span, again if need be. It reads into buf if that is not nil.
func (f *File) fetch(ctx context.Context, s span, buf []byte) (answer, error) {
	wait := f.wait
	for try := 1; ; try++ {
		a, err := f.try(ctx, s, buf)
		var again *passing
		if err == nil || !errors.As(err, &again) {
			return a, err
		}
		if try == f.tries || ctx.Err() != nil {
			return a, again.err
		}
		pause := wait/2 + rand.N(wait/2+1)
		if again.after > 0 {
			pause = again.after
		}
		select {
		case <-time.After(min(pause, maxWait)):
		case <-ctx.Done():
			return a, f.fault(context.Cause(ctx), "")
		}
		wait = min(2*wait, maxWait)
	}
}

// passing is an error that may be over when a request is made again.
type passing struct {
	err   error
	after time.Duration // as the server wants it, 0 if it does not say
}

func (e *passing) Error() string { return e.err.Error() }

// try asks once.
func (f *File) try(ctx context.Context, s span, buf []byte) (answer, error) {
	inTime, stop := context.WithTimeout(ctx, f.timeout)
	defer stop()
	request, err := http.NewRequestWithContext(inTime, http.MethodGet, f.url.String(), nil)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Range", s.String())
	request.Header.Set("Accept-Encoding", "identity")
	switch known := f.version; {
	case known.strong():
		request.Header.Set("If-Match", known.etag)
	case known.modified != "":
		request.Header.Set("If-Unmodified-Since", known.modified)
	}
	f.requests.Add(1)
	response, err := f.client.Do(request)
	if err != nil {
		return answer{}, f.broken(ctx, err)
	}
	defer response.Body.Close()
	return f.answer(ctx, response, s, buf)
}

// broken is what a failure of the network means.
func (f *File) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return f.fault(context.Cause(ctx), "")
	}
	if inURL := (*url.Error)(nil); errors.As(err, &inURL) {
		err = inURL.Err // without the URL and its secrets
	}
	return &passing{err: f.fault(err, "")}
}

// answer reads what a server says.
func (f *File) answer(ctx context.Context, r *http.Response, s span, buf []byte) (answer, error) {
	switch code := r.StatusCode; {
	case f.size == 0 && (code == http.StatusOK && r.ContentLength == 0 || strings.HasSuffix(r.Header.Get("Content-Range"), "/0")):
		return answer{version: versionOf(r)}, nil // an empty file has no ranges
	case code == http.StatusPartialContent:
	case code == http.StatusOK:
		return answer{}, f.fault(ErrNoRanges, "")
	case code == http.StatusPreconditionFailed:
		return answer{}, f.fault(afdo.ErrChanged, "")
	case code == http.StatusRequestedRangeNotSatisfiable:
		return answer{}, f.fault(afdo.ErrChanged, "it has got shorter")
	default:
		return answer{}, f.refused(r)
	}
	a := answer{version: versionOf(r)}
	high, err := a.contentRange(r.Header.Get("Content-Range"), s)
	if err != nil {
		return answer{}, f.fault(ErrResponse, "%v", err)
	}
	if f.version != (version{}) && a.version != f.version || f.size > 0 && a.size != f.size {
		return answer{}, f.fault(afdo.ErrChanged, "")
	}
	if buf == nil {
		buf = make([]byte, high-a.low)
	}
	n, err := io.ReadFull(r.Body, buf)
	f.bytes.Add(int64(n))
	a.data = buf[:n]
	if err != nil {
		return a, f.broken(ctx, err)
	}
	return a, nil
}

func versionOf(r *http.Response) version {
	if etag := r.Header.Get("ETag"); etag != "" {
		return version{etag: etag}
	}
	return version{modified: r.Header.Get("Last-Modified")}
}

// refused is what a status other than those of answers means.
func (f *File) refused(r *http.Response) error {
	err := &StatusError{URL: shown(f.url), Code: r.StatusCode}
	switch r.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 16)
		return &passing{err: err, after: time.Duration(seconds) * time.Second}
	}
	return err
}

// contentRange reads a Content-Range, which must be what was asked for as far as the file
// reaches, and returns where it ends.
func (a *answer) contentRange(text string, s span) (high int64, err error) {
	bounds, ok := strings.CutPrefix(text, "bytes ")
	place, size, ok2 := strings.Cut(bounds, "/")
	from, to, ok3 := strings.Cut(place, "-")
	low, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	total, err3 := strconv.ParseInt(size, 10, 64)
	if !ok || !ok2 || !ok3 || errors.Join(err1, err2, err3) != nil {
		return 0, fmt.Errorf("Content-Range is %q", text)
	}
	want := s
	if s.low < 0 {
		want = span{max(total+s.low, 0), total}
	}
	want.high = min(want.high, total)
	if low != want.low || last != want.high-1 || want.low >= want.high {
		return 0, fmt.Errorf("Content-Range is %q where %q was asked for", text, s)
	}
	a.low, a.size = low, total
	return last + 1, nil
}
