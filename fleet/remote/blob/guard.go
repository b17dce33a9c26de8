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

// Limits in bytes on what a server can send besides the content of an object. The stores' libraries
// read error responses, and descriptions of objects, completely into memory.
const (
	maxErrorBody = 64 << 10
	maxHeader    = 256 << 10
)

// guardedS3 replaces the client of a bucket of S3. The new client applies the limits of [guard] and
// follows no redirects. The store's library would follow them without end. A user's URL can make
// the library connect to any server, so servers are not trusted.
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

// A guard is an HTTP transport that limits the body of each response. It does not limit responses
// that contain a range of an object.
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

// RoundTrip sends a request. The response to a successful request for a range is not limited,
// because package remote reads no more of it than the range. Azure's client requests a range with
// the header X-Ms-Range.
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
