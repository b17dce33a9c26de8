package blob

import (
	"context"
	"errors"
	"net/http"
	"time"

	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"github.com/go-afdo/afdo/remote"
)

// An object is the source for an object of a bucket.
type object struct {
	name   string
	bucket *blob.Bucket
	key    string
	own    bool // the bucket is to be closed, too
}

func (o *object) Name() string { return o.name }

func (o *object) Close() error {
	if o.own {
		return o.bucket.Close()
	}
	return nil
}

// A service is what gocloud does not have in common for all stores.
type service interface {
	// prepare makes a request one for the range and the known version, if it is of this service.
	// It returns an *answered if it has made the request itself.
	prepare(ctx context.Context, as func(any) bool, r remote.Range, known remote.Version) (ok bool, err error)

	// part tells what a reader of the service has but for the body, which may include its bounds.
	part(reader *blob.Reader, p *remote.Part) (ok bool, err error)

	// refused is the status of the service's response in an error, 0 if there is none, and what
	// the service says.
	refused(err error) (status int, text string)
}

var services = []service{s3Service{}, gsService{}, azureService{}}

// answered says that the answer is here already.
type answered struct{ part remote.Part }

func (*answered) Error() string { return "answered" }

// errNoEnd is what prepare says where ranges cannot count from the end.
var errNoEnd = errors.New("no ranges from the end")

// Fetch asks for a range.
func (o *object) Fetch(ctx context.Context, r remote.Range, known remote.Version) (remote.Part, error) {
	offset, length := r.Low, r.High-r.Low
	if r.Low < 0 {
		offset, length = 0, -1 // prepare sets what gocloud cannot say
	}
	reader, err := o.bucket.NewRangeReader(ctx, o.key, offset, length, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return prepare(ctx, as, r, known) },
	})
	var done *answered
	switch {
	case errors.As(err, &done):
		return withoutNothing(done.part), nil
	case r.Low < 0 && (errors.Is(err, errNoEnd) || isStatus(err, http.StatusRequestedRangeNotSatisfiable)):
		return o.size(ctx)
	case err != nil:
		return remote.Part{}, o.fault(ctx, err)
	}
	p := remote.Part{Low: r.Low, High: min(r.High, reader.Size()), Size: reader.Size(), Body: reader}
	if err := describe(reader, &p); err != nil {
		_ = reader.Close()
		return remote.Part{}, o.fault(ctx, err)
	}
	return withoutNothing(p), nil
}

// withoutNothing drops the body of an empty object.
func withoutNothing(p remote.Part) remote.Part {
	if p.Size == 0 {
		_ = p.Body.Close()
		p.Body = nil
	}
	return p
}

func prepare(ctx context.Context, as func(any) bool, r remote.Range, known remote.Version) error {
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

// describe completes a part.
func describe(reader *blob.Reader, p *remote.Part) error {
	for _, s := range services {
		if ok, err := s.part(reader, p); ok {
			return err
		}
	}
	p.Version = changedAt(reader.ModTime())
	return nil
}

// changedAt is the version of an object of a store that does not serve conditions.
func changedAt(t time.Time) remote.Version {
	return remote.Version{Modified: t.UTC().Format(time.RFC3339Nano)}
}

// size asks for size and version alone.
func (o *object) size(ctx context.Context) (remote.Part, error) {
	a, err := o.bucket.Attributes(ctx, o.key)
	if err != nil {
		return remote.Part{}, o.fault(ctx, err)
	}
	p := remote.Part{Size: a.Size, Version: changedAt(a.ModTime)}
	if insists(a) {
		p.Version = remote.Version{ETag: a.ETag}
	}
	return p, nil
}

// insists reports whether requests can insist on the ETag.
func insists(a *blob.Attributes) bool {
	return a.As(new(s3.HeadObjectOutput)) || a.As(new(azblob.GetPropertiesResponse))
}
