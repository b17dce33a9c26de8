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

// Limits on what a server of an S3 store can send beside the object. The store's library reads all
// of an error response into memory, and follows redirects without end.
const (
	maxErrorBody = 64 << 10
	maxHeader    = 256 << 10
)

// guardedS3 returns a bucket whose client applies the limits, if the bucket is in an S3 store. The
// URL of such a bucket can name any server. Objects of the other stores come from Google and
// Microsoft, unless the environment or the URL names an emulator.
func guardedS3(ctx context.Context, bucket *blob.Bucket, name string) (*blob.Bucket, error) {
	var client *s3.Client
	if !bucket.As(&client) {
		return bucket, nil
	}
	options := client.Options()
	transport := http.DefaultTransport.(*http.Transport)
	if own, ok := options.HTTPClient.(*awshttp.BuildableClient); ok {
		transport = own.GetTransport()
	}
	transport = transport.Clone()
	transport.MaxResponseHeaderBytes = maxHeader
	options.HTTPClient = &guard{http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if err := bucket.Close(); err != nil {
		return nil, err
	}
	return s3blob.OpenBucket(ctx, s3.New(options), name, nil)
}

// A guard is an HTTP client that follows no redirect and cuts the body of an error response off.
type guard struct{ client http.Client }

func (g *guard) Do(r *http.Request) (*http.Response, error) {
	response, err := g.client.Do(r)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		body := response.Body
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, maxErrorBody), body}
	}
	return response, err
}
