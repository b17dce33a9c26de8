package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
)

// ErrNoRanges is matched by errors that say that a server only serves whole files.
var ErrNoRanges = errors.New("the server does not serve ranges of bytes")

// ErrResponse is matched by errors that say that the answer of a server does not fit the request.
var ErrResponse = errors.New("bad response")

// A StatusError is an answer of a server with an HTTP status that is an error. It matches
// fs.ErrNotExist (404, 410) or fs.ErrPermission (401, 403) under errors.Is.
type StatusError struct {
	URL  string // without user, password and query, which may hold secrets
	Code int    // such as 404
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("remote: %s: %d %s", e.URL, e.Code, http.StatusText(e.Code))
}

// Is reports whether target is what the code means.
func (e *StatusError) Is(target error) bool {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return target == fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == fs.ErrPermission
	}
	return false
}

// shown returns a URL without what may be secret in it.
func shown(u *url.URL) string {
	bare := *u
	bare.User, bare.RawQuery, bare.Fragment = nil, "", ""
	return bare.String()
}

// fault makes an error about a file.
func fault(name string, err error, detail string) error {
	if detail != "" {
		detail = ": " + detail
	}
	return fmt.Errorf("remote: %s: %w%s", name, err, detail)
}
