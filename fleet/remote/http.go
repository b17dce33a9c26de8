package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
	"github.com/go-afdo/afdo/internal/fault"
)

// An httpFile reads a file from an HTTP server. It implements [source.Source].
type httpFile struct {
	url    *url.URL
	client *http.Client
}

func newHTTPFile(rawURL string, client *http.Client) (*httpFile, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("remote: the URL is malformed") // the error would show its secrets
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("remote: %s: neither an http nor an https URL", bare(u))
	}
	return &httpFile{url: u, client: guarded(client)}, nil
}

func (h *httpFile) Name() string { return bare(h.url) }
func (h *httpFile) Close() error { return nil }

// Fetch requests a range of the file, see [source.Source].
func (h *httpFile) Fetch(ctx context.Context, r source.Range, known source.Version) (source.Part, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url.String(), nil)
	if err != nil {
		return source.Part{}, err
	}
	request.Header.Set("Range", r.String())
	request.Header.Set("Accept-Encoding", "identity")
	switch {
	case known.Strong():
		request.Header.Set("If-Match", known.ETag)
	case known.Modified != "":
		request.Header.Set("If-Unmodified-Since", known.Modified)
	}
	response, err := h.client.Do(request)
	if err != nil {
		if inURL := (*url.Error)(nil); errors.As(err, &inURL) {
			err = inURL.Err // without the URL and its secrets
		}
		if strings.Contains(err.Error(), "Location") { // which may have secrets, and be long
			err = fmt.Errorf("%w: its address is malformed", errRedirect)
		}
		if err = faultAt(h.Name(), err, ""); !errors.Is(err, errRedirect) {
			err = &source.Transient{Err: err}
		}
		return source.Part{}, err
	}
	part, err := h.part(response, r, known)
	if part.Body == nil {
		_ = response.Body.Close()
	}
	return part, err
}

// part converts the response to a request for a range to a Part. It returns an error if the
// response does not fit the request.
func (h *httpFile) part(r *http.Response, wanted source.Range, known source.Version) (source.Part, error) {
	opening := known == (source.Version{})
	switch code := r.StatusCode; {
	case opening && (code == http.StatusOK && r.ContentLength == 0 || strings.HasSuffix(r.Header.Get("Content-Range"), "/0")):
		return source.Part{Version: versionOf(r)}, nil // an empty file has no ranges
	case code == http.StatusPartialContent:
	case opening && code == http.StatusOK && wanted.Low < 0 && r.ContentLength > 0:
		return source.Part{Size: r.ContentLength, Version: versionOf(r)}, nil // it may know ranges from the beginning
	case opening && code == http.StatusRequestedRangeNotSatisfiable && wanted.Low < 0:
		if size := unsatisfied(r); size > 0 { // it serves no more than there is
			return source.Part{Size: size}, nil
		}
		return source.Part{}, h.refused(r)
	case code == http.StatusOK:
		return source.Part{}, faultAt(h.Name(), ErrNoRanges, "")
	case code == http.StatusPreconditionFailed:
		return source.Part{}, faultAt(h.Name(), fault.ErrChanged, "")
	case code == http.StatusRequestedRangeNotSatisfiable && !opening:
		return source.Part{}, faultAt(h.Name(), fault.ErrChanged, "it is shorter now")
	default:
		return source.Part{}, h.refused(r)
	}
	p := source.Part{Version: versionOf(r), Body: r.Body}
	if err := p.ContentRange(r.Header.Get("Content-Range")); err != nil {
		return source.Part{}, faultAt(h.Name(), ErrResponse, err.Error())
	}
	return p, nil
}

// unsatisfied returns the size of the file from a response by which a server refuses a range. It
// returns 0 if the response does not contain the size.
func unsatisfied(r *http.Response) int64 {
	text, _ := strings.CutPrefix(r.Header.Get("Content-Range"), "bytes */")
	size, _ := strconv.ParseInt(text, 10, 64)
	return size
}

// versionOf returns the version of the file that a response contains.
func versionOf(r *http.Response) source.Version {
	if etag := r.Header.Get("ETag"); etag != "" {
		return source.Version{ETag: etag}
	}
	return source.Version{Modified: r.Header.Get("Last-Modified")}
}

// refused returns the error for a response with the HTTP status of an error. It is a
// [source.Transient] if another try may succeed.
func (h *httpFile) refused(r *http.Response) error {
	err := &StatusError{URL: h.Name(), Code: r.StatusCode}
	switch r.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 16)
		return &source.Transient{Err: err, After: time.Duration(seconds) * time.Second}
	}
	return err
}

// bare returns a URL without its secrets: user, password, query and fragment.
func bare(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.ForceQuery, shown.Fragment, shown.RawFragment = nil, "", false, "", ""
	return shown.String()
}
