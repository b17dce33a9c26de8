package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
)

// ErrNoRanges is matched by the error for a server that can only send whole files.
var ErrNoRanges = errors.New("the server does not serve ranges of bytes")

// ErrResponse is matched by the error for a server's answer that does not fit the request.
var ErrResponse = errors.New("bad response")

// ErrTooLarge is matched by the error for a file that is larger than [MaxSize] allows.
var ErrTooLarge = errors.New("the file is too large")

// A StatusError is the error for an answer with the HTTP status of an error. Under errors.Is it
// matches fs.ErrNotExist (404, 410) or fs.ErrPermission (401, 403).
type StatusError struct {
	URL  string // without user, password and query, which may hold secrets
	Code int    // such as 404
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("remote: %s: %d %s", e.URL, e.Code, http.StatusText(e.Code))
}

// Is reports whether target is the file system error that corresponds to the HTTP status, such as
// fs.ErrNotExist for 404.
func (e *StatusError) Is(target error) bool {
	switch e.Code {
	case http.StatusNotFound, http.StatusGone:
		return target == fs.ErrNotExist
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == fs.ErrPermission
	}
	return false
}

// faultAt returns an error that wraps err and contains the name of the file and a detail.
func faultAt(name string, err error, detail string) error {
	if detail != "" {
		detail = ": " + detail
	}
	return fmt.Errorf("remote: %s: %w%s", name, err, detail)
}
