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
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"

	"github.com/go-afdo/afdo/fleet/remote"
)

const gsScheme = "gs"

// gsCredentials returns an error if the environment has no credentials. Without this check, gocloud
// prints a warning to standard output and continues.
func gsCredentials(ctx context.Context, u *url.URL) error {
	anonymous, _ := strconv.ParseBool(u.Query().Get("anonymous"))
	if anonymous || os.Getenv("STORAGE_EMULATOR_HOST") != "" {
		return nil
	}
	if _, err := gcp.DefaultCredentials(ctx); err != nil {
		return fmt.Errorf("no credentials (?anonymous=true reads public buckets): %w", err)
	}
	return nil
}

// gsService is Google Cloud Storage. The version is the generation.
type gsService struct{}

func (gsService) prepare(ctx context.Context, as func(any) bool, r remote.Range, known remote.Version) (bool, error) {
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
	p := remote.Part{Body: reader}
	describeGS(reader, &p)
	return true, &answered{p}
}

func (gsService) part(reader *blob.Reader, p *remote.Part) (bool, error) {
	var r *storage.Reader
	if !reader.As(&r) {
		return false, nil
	}
	describeGS(r, p)
	return true, nil
}

func describeGS(r *storage.Reader, p *remote.Part) {
	p.Low, p.Size = r.Attrs.StartOffset, r.Attrs.Size
	p.High = p.Low + r.Remain()
	p.Version = remote.Version{ETag: strconv.FormatInt(r.Attrs.Generation, 10)}
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
