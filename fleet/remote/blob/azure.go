package blob

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// guardedAzure returns a bucket of Azure whose client applies the limits of [guard]. The transport
// of an existing client cannot be changed. So guardedAzure makes a new client for the URL of the
// given one. The new client uses the credentials that gocloud takes from the environment.
func guardedAzure(ctx context.Context, client *container.Client, name string) (*blob.Bucket, error) {
	options := &container.ClientOptions{}
	options.Transport = &http.Client{Transport: timed{guarded(http.DefaultTransport)}}
	account, secret := os.Getenv("AZURE_STORAGE_ACCOUNT"), os.Getenv("AZURE_STORAGE_KEY")
	connection := cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING"))
	var shared *container.SharedKeyCredential
	var credential *azidentity.DefaultAzureCredential
	var err error
	switch {
	case account != "" && secret != "":
		if shared, err = container.NewSharedKeyCredential(account, secret); err == nil {
			client, err = container.NewClientWithSharedKeyCredential(client.URL(), shared, options)
		}
	case os.Getenv("AZURE_STORAGE_SAS_TOKEN") != "":
		client, err = container.NewClientWithNoCredential(client.URL(), options)
	case connection != "":
		client, err = container.NewClientFromConnectionString(connection, name, options)
	default:
		if credential, err = azidentity.NewDefaultAzureCredential(nil); err == nil {
			client, err = container.NewClient(client.URL(), credential, options)
		}
	}
	if err != nil {
		return nil, err
	}
	return azureblob.OpenBucket(ctx, client, nil)
}

// timed is an HTTP transport that adds Last-Modified and X-Ms-Creation-Time to responses without
// these headers, with the time 1970. Without them, gocloud would panic.
type timed struct{ http.RoundTripper }

func (t timed) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		for _, name := range []string{"Last-Modified", "X-Ms-Creation-Time"} {
			response.Header.Set(name, cmp.Or(response.Header.Get(name), time.Unix(0, 0).UTC().Format(http.TimeFormat)))
		}
	}
	return response, err
}

// azureService implements service for Azure Blob Storage. It does not support requests for the last
// bytes of an object.
type azureService struct{}

func (azureService) prepare(_ context.Context, as func(any) bool, r source.Range, known source.Version) (bool, error) {
	var options *azblob.DownloadStreamOptions
	if !as(&options) {
		return false, nil
	}
	if r.Low < 0 {
		return true, errNoEnd
	}
	if etag := azcore.ETag(known.ETag); etag != "" {
		options.AccessConditions = &azblob.AccessConditions{
			ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: &etag},
		}
	}
	return true, nil
}

func (azureService) part(reader *blob.Reader, p *source.Part) (bool, error) {
	var response azblob.DownloadStreamResponse
	if !reader.As(&response) || response.ETag == nil {
		return false, nil
	}
	p.Version = source.Version{ETag: string(*response.ETag)}
	return true, setRange(p, response.ContentRange, reader)
}

func (azureService) refused(err error) (int, string) {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return response.StatusCode, response.ErrorCode
	}
	return 0, ""
}
