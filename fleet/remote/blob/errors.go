package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"gocloud.dev/gcerrors"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// refused returns the HTTP status and the text of the error response of an object store. It returns
// status 0 if err is no such response.
func refused(err error) (status int, text string) {
	for _, s := range services {
		if status, text = s.refused(err); status != 0 {
			return status, text
		}
	}
	return 0, fmt.Sprint(err)
}

// fault converts an error of an object store. The result contains the name of the object. If
// possible, it matches a class for which callers test, such as fs.ErrNotExist.
func (o *object) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &source.Transient{Err: fmt.Errorf("blob: %s: %w", o.name, ctx.Err())}
	}
	code := gcerrors.Code(err)
	err = bare(err)
	status, text := refused(err)
	switch class := classOf(err, status, code); {
	case class == afdo.ErrChanged:
		return fmt.Errorf("blob: %s: %w", o.name, class)
	case class != nil:
		return fmt.Errorf("blob: %s: %w (%s)", o.name, class, text)
	case status != 0:
		return fmt.Errorf("blob: %s: %d %s (%s)", o.name, status, http.StatusText(status), text)
	}
	return fmt.Errorf("blob: %s: %w", o.name, err)
}

// bare removes the outer error that gocloud puts around the error of an object store, with the
// object's key and an error code.
func bare(err error) error {
	if wrapped, ok := err.(interface{ Unwrap() []error }); ok {
		return wrapped.Unwrap()[0]
	}
	return err
}

// classOf returns the class of an object store's error: fs.ErrNotExist, fs.ErrPermission,
// afdo.ErrChanged, or nil for any other error. status is the HTTP status of the response, and code
// is gocloud's code.
func classOf(err error, status int, code gcerrors.ErrorCode) error {
	said := &remote.StatusError{Code: status}
	switch {
	case said.Is(fs.ErrNotExist), code == gcerrors.NotFound:
		return fs.ErrNotExist
	case said.Is(fs.ErrPermission), code == gcerrors.PermissionDenied, errors.Is(err, fs.ErrPermission):
		return fs.ErrPermission
	case status == http.StatusPreconditionFailed, status == http.StatusRequestedRangeNotSatisfiable:
		return afdo.ErrChanged
	}
	return nil
}
