package blob

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // for file://
	"gocloud.dev/blob/gcsblob"

	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// Open opens the object with the given URL: scheme, bucket and key, for example
// s3://bucket/dir/all.afdo. Supported schemes are s3, gs, azblob and file. The query configures the
// bucket, as in the packages s3blob, gcsblob, azureblob and fileblob of gocloud.dev. The stores'
// libraries find the credentials.
//
// The context also applies to all reads. All options of package remote apply except Client. The
// stores' libraries retry failed requests by their own rules; interrupted reads are retried as in
// package remote.
//
// Errors match fs.ErrNotExist, fs.ErrPermission or remote.ErrResponse, or are errors of the
// context.
func Open(ctx context.Context, rawURL string, opts ...remote.Option) (*remote.File, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("blob: the URL is malformed") // the error would show its secrets
	}
	name := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	bucketURL, key := split(u)
	if key == "" || u.Scheme != "file" && u.Host == "" {
		return nil, fmt.Errorf("blob: %s: no bucket and key", name)
	}
	bucket, err := openBucket(ctx, bucketURL)
	if err != nil {
		text := strings.ReplaceAll(err.Error(), bucketURL.String(), bucketURL.Scheme+"://"+bucketURL.Host) // without the query
		return nil, fmt.Errorf("blob: %s: %s", name, text)
	}
	return open(ctx, &object{name: name, bucket: bucket, key: key, own: true}, opts)
}

// split splits the URL of an object into the URL of its bucket and the key. The bucket of a file is
// its folder.
func split(u *url.URL) (bucket *url.URL, key string) {
	b := *u
	b.Path, b.RawPath, b.User, b.Fragment = "", "", nil, ""
	if u.Scheme != "file" {
		return &b, strings.TrimPrefix(u.Path, "/")
	}
	b.Path, key = path.Split(u.Path)
	return &b, key
}

// openBucket opens the bucket with the given URL, with limits on what its server can send.
func openBucket(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	if u.Scheme == gcsblob.Scheme {
		return openGS(ctx, u)
	}
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, err
	}
	var amazon *s3.Client
	var azure *container.Client
	switch {
	case bucket.As(&amazon):
		return guardedS3(ctx, bucket, amazon, u.Host)
	case bucket.As(&azure):
		return guardedAzure(ctx, azure, u.Host) // closing a bucket of Azure does nothing
	}
	return bucket, nil
}

// OpenObject opens an object in a bucket. Closing the file does not close the bucket. The name is
// used in messages. Otherwise it works like Open.
func OpenObject(ctx context.Context, bucket *blob.Bucket, key, name string, opts ...remote.Option) (*remote.File, error) {
	return open(ctx, &object{name: name, bucket: bucket, key: key}, opts)
}

func open(ctx context.Context, o *object, opts []remote.Option) (*remote.File, error) {
	return remote.Open(ctx, o.name, append([]remote.Option{source.Use(o)}, opts...)...)
}
