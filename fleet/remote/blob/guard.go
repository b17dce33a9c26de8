package blob

import (
	"context"
	"io"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// Limits on what a server can send beside the object. The stores' libraries read all of an error
// response, and of a description of an object, into memory.
const (
	maxErrorBody = 64 << 10
	maxHeader    = 256 << 10
)

// guardedS3 returns a bucket whose client applies the limits, and follows no redirect: the store's
// library would follow them without end. The URL of such a bucket can name any server.
func guardedS3(ctx context.Context, bucket *blob.Bucket, client *s3.Client, name string) (*blob.Bucket, error) {
	options := client.Options()
	transport := http.DefaultTransport
	if own, ok := options.HTTPClient.(*awshttp.BuildableClient); ok {
		transport = own.GetTransport()
	}
	options.HTTPClient = &http.Client{
		Transport:     guarded(transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if err := bucket.Close(); err != nil {
		return nil, err
	}
	return s3blob.OpenBucket(ctx, s3.New(options), name, nil)
}

// A guard is a transport that limits the body of each response but of those with a part of an
// object.
type guard struct{ http.RoundTripper }

// guarded returns a transport that limits what a server can send, see [guard].
func guarded(transport http.RoundTripper) http.RoundTripper {
	if own, ok := transport.(*http.Transport); ok {
		own = own.Clone()
		own.MaxResponseHeaderBytes = maxHeader
		transport = own
	}
	return guard{transport}
}

// RoundTrip sends a request. A successful request for a range is not limited: package remote reads
// no more of the response than the range that it asked for. Azure's client asks in the header
// X-Ms-Range.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.RoundTripper.RoundTrip(r)
	switch {
	case err != nil:
	case response.StatusCode >= http.StatusMultipleChoices:
		body := response.Body
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, maxErrorBody), body}
	case r.Header.Get("Range")+r.Header.Get("X-Ms-Range") == "":
		response.Body = http.MaxBytesReader(nil, response.Body, maxErrorBody)
	}
	return response, err
}
