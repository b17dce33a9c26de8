package blob

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // for azblob://
	_ "gocloud.dev/blob/fileblob"  // for file://
	_ "gocloud.dev/blob/gcsblob"   // for gs://
	_ "gocloud.dev/blob/s3blob"    // for s3://

	"github.com/go-afdo/afdo/remote"
)

// Open opens the object of a URL: scheme, bucket and key, such as s3://bucket/dir/all.afdo. The
// schemes are s3, gs, azblob and file. The query is for the bucket, as the packages s3blob,
// gcsblob, azureblob and fileblob of gocloud.dev have it. Credentials come from where the libraries
// of the stores look for them.
//
// The context is that of all reads, too. Options are those of package remote; its Client does not
// count. What fails in the libraries' hands is tried again by them, as often as they do, and what
// breaks while it is read as package remote says.
//
// The error matches fs.ErrNotExist, fs.ErrPermission or remote.ErrResponse for what they say, and
// context's errors.
func Open(ctx context.Context, rawURL string, opts ...remote.Option) (*remote.File, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
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
	return remote.OpenSource(ctx, &object{name: name, bucket: bucket, key: key, own: true}, opts...)
}

// split takes the URL of an object apart into that of its bucket and the key. The bucket of a file
// is its folder.
func split(u *url.URL) (bucket *url.URL, key string) {
	b := *u
	b.Path, b.RawPath, b.User, b.Fragment = "", "", nil, ""
	if u.Scheme != "file" {
		return &b, strings.TrimPrefix(u.Path, "/")
	}
	b.Path, key = path.Split(u.Path)
	return &b, key
}

func openBucket(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	if u.Scheme == gsScheme {
		if err := gsCredentials(ctx, u); err != nil {
			return nil, err
		}
	}
	return blob.OpenBucket(ctx, u.String())
}

// OpenObject opens an object of a bucket, which stays open when the file is closed. The name is for
// messages. All else is as Open has it.
func OpenObject(ctx context.Context, bucket *blob.Bucket, key, name string, opts ...remote.Option) (*remote.File, error) {
	return remote.OpenSource(ctx, &object{name: name, bucket: bucket, key: key}, opts...)
}
