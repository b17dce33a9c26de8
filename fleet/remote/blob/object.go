package blob

import (
	"context"
	"errors"
	"net/http"
	"time"

	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// An object reads an object of a bucket (S3, Google Cloud Storage or Azure) in ranges of bytes. It
// is a source.Source, from which package remote reads.
type object struct {
	name   string
	bucket *blob.Bucket
	key    string
	own    bool // Close also closes the bucket
}

func (o *object) Name() string { return o.name }

func (o *object) Close() error {
	if o.own {
		return o.bucket.Close()
	}
	return nil
}

// A service does what differs between the object stores and gocloud does not hide, such as a
// request for one version of an object.
type service interface {
	// prepare changes a request to use the range and the known version, if the request belongs to
	// this service. If it has already made the request itself, it returns an *answered.
	prepare(ctx context.Context, as func(any) bool, r source.Range, known source.Version) (ok bool, err error)

	// part fills in the part except its body, if the reader belongs to this service.
	part(reader *blob.Reader, p *source.Part) (ok bool, err error)

	// refused returns the status and the text of the service's error response, or status 0 for
	// another error.
	refused(err error) (status int, text string)
}

var services = []service{s3Service{}, gsService{}, azureService{}}

// answered is an error by which the method prepare of a service reports that it has already made
// the request. It contains the part of the object that the store has sent.
type answered struct{ part source.Part }

func (*answered) Error() string { return "answered" }

// errNoEnd is returned by prepare if the service does not support requests for the last bytes of an
// object.
var errNoEnd = errors.New("no ranges from the end")

// Fetch requests a range of the object, see [source.Source].
func (o *object) Fetch(ctx context.Context, r source.Range, known source.Version) (source.Part, error) {
	offset, length := r.Low, r.High-r.Low
	if r.Low < 0 {
		offset, length = 0, -1 // gocloud cannot express this range, so prepare sets it
	}
	reader, err := o.bucket.NewRangeReader(ctx, o.key, offset, length, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return prepare(ctx, as, r, known) },
	})
	var done *answered
	status, _ := refused(err)
	switch {
	case errors.As(err, &done):
		return withoutEmptyBody(done.part), nil
	case r.Low < 0 && (errors.Is(err, errNoEnd) || status == http.StatusRequestedRangeNotSatisfiable):
		return o.size(ctx)
	case err != nil:
		return source.Part{}, o.fault(ctx, err)
	}
	p := source.Part{Low: r.Low, High: min(r.High, reader.Size()), Size: reader.Size(), Body: reader}
	if err := describe(reader, &p); err != nil {
		_ = reader.Close()
		return source.Part{}, o.fault(ctx, err)
	}
	return withoutEmptyBody(p), nil
}

// withoutEmptyBody returns the part p without its body if the object is empty. It returns other
// parts unchanged.
func withoutEmptyBody(p source.Part) source.Part {
	if p.Size == 0 {
		_ = p.Body.Close()
		p.Body = nil
	}
	return p
}

// prepare changes gocloud's request for an object, so that it asks for the range r and insists on
// the version known. It works for all object stores. as gives access to the request in the form of
// the store's own library.
func prepare(ctx context.Context, as func(any) bool, r source.Range, known source.Version) error {
	for _, s := range services {
		if ok, err := s.prepare(ctx, as, r, known); ok {
			return err
		}
	}
	if r.Low < 0 {
		return errNoEnd
	}
	return nil
}

// describe sets the fields of a part, except its body, from the response of the object store.
func describe(reader *blob.Reader, p *source.Part) error {
	for _, s := range services {
		if ok, err := s.part(reader, p); ok {
			return err
		}
	}
	p.Version = changedAt(reader.ModTime())
	return nil
}

// setRange sets the range and the size of a part from the header Content-Range of a response. A
// response without the header is the whole object.
func setRange(p *source.Part, header *string, reader *blob.Reader) error {
	if header == nil {
		p.Low, p.High = 0, reader.Size()
		return nil
	}
	return p.ContentRange(*header)
}

// changedAt returns the version of an object that was modified at time t. It is for stores without
// conditional requests.
func changedAt(t time.Time) source.Version {
	return source.Version{Modified: t.UTC().Format(time.RFC3339Nano)}
}

// size requests the size and the version of the object. It is for object stores that do not support
// requests for the last bytes.
func (o *object) size(ctx context.Context) (source.Part, error) {
	a, err := o.bucket.Attributes(ctx, o.key)
	if err != nil {
		return source.Part{}, o.fault(ctx, err)
	}
	p := source.Part{Size: a.Size, Version: changedAt(a.ModTime)}
	if a.As(new(s3.HeadObjectOutput)) || a.As(new(azblob.GetPropertiesResponse)) { // If-Match is possible
		p.Version = source.Version{ETag: a.ETag}
	}
	return p, nil
}
