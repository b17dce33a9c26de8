package blob

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// openGS opens a bucket of Google Cloud Storage with the query parameters that gocloud has. It
// limits what the server can send, see [guard], except with the parameters grpc and zonal, which do
// not use HTTP requests. If the environment has no credentials, it returns an error; gocloud would
// print a warning and continue.
func openGS(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	query, client := u.Query(), gcp.NewAnonymousHTTPClient(guarded(http.DefaultTransport))
	set := func(parameter string) bool { yes, _ := strconv.ParseBool(query.Get(parameter)); return yes }
	opener := gcsblob.URLOpener{Client: client}
	if !set("anonymous") && query.Get("access_id") != "-" && os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		params := google.CredentialsParams{UniverseDomain: query.Get("universe_domain")}
		credentials, err := gcp.DefaultCredentialsWithParams(ctx, params)
		if err != nil {
			return nil, fmt.Errorf("no credentials (?anonymous=true reads public buckets): %w", err)
		}
		if domain, err := credentials.GetUniverseDomain(); err == nil {
			opener.Options.ClientOptions = append(opener.Options.ClientOptions, option.WithUniverseDomain(domain))
		}
		client.Transport = &oauth2.Transport{Base: client.Transport, Source: credentials.TokenSource}
	}
	if set("grpc") || set("zonal") {
		return blob.OpenBucket(ctx, u.String())
	}
	// For anonymous requests and for an emulator, the opener replaces its field Client. This option
	// comes later and sets the client again.
	opener.Options.ClientOptions = append(opener.Options.ClientOptions, option.WithHTTPClient(&client.Client))
	return opener.OpenBucketURL(ctx, u)
}

// gsService implements service for Google Cloud Storage. Versions of objects are generation
// numbers.
type gsService struct{}

func (gsService) prepare(ctx context.Context, as func(any) bool, r source.Range, known source.Version) (bool, error) {
	var handle **storage.ObjectHandle
	if !as(&handle) {
		return false, nil
	}
	*handle = (*handle).ReadCompressed(true) // otherwise ranges would refer to the decompressed object
	if known.ETag != "" {
		generation, err := strconv.ParseInt(known.ETag, 10, 64)
		if err != nil {
			return true, err
		}
		*handle = (*handle).If(storage.Conditions{GenerationMatch: generation})
	}
	if r.Low >= 0 {
		return true, nil
	}
	reader, err := (*handle).NewRangeReader(ctx, r.Low, -1)
	if err != nil {
		return true, err
	}
	p := source.Part{Body: reader}
	describeGS(reader, &p)
	return true, &answered{p}
}

func (gsService) part(reader *blob.Reader, p *source.Part) (bool, error) {
	var r *storage.Reader
	if !reader.As(&r) {
		return false, nil
	}
	describeGS(r, p)
	return true, nil
}

// describeGS sets the range, the size and the version of a part from the response of Google Cloud
// Storage.
func describeGS(r *storage.Reader, p *source.Part) {
	p.Low, p.Size = r.Attrs.StartOffset, r.Attrs.Size
	p.High = p.Low + r.Remain()
	p.Version = source.Version{ETag: strconv.FormatInt(r.Attrs.Generation, 10)}
}

func (gsService) refused(err error) (int, string) {
	var response *googleapi.Error
	switch {
	case errors.Is(err, storage.ErrObjectNotExist), errors.Is(err, storage.ErrBucketNotExist):
		return http.StatusNotFound, err.Error()
	case errors.As(err, &response):
		return response.Code, response.Message
	}
	return 0, ""
}
