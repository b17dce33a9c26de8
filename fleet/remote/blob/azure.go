package blob

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"gocloud.dev/blob"

	"github.com/go-afdo/afdo/fleet/remote"
)

// azureService is Azure Blob Storage. It does not support ranges that count from the end.
type azureService struct{}

func (azureService) prepare(_ context.Context, as func(any) bool, r remote.Range, known remote.Version) (bool, error) {
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

func (azureService) part(reader *blob.Reader, p *remote.Part) (bool, error) {
	var response azblob.DownloadStreamResponse
	if !reader.As(&response) || response.ETag == nil {
		return false, nil
	}
	p.Version = remote.Version{ETag: string(*response.ETag)}
	if response.ContentRange == nil {
		p.Low, p.High = 0, reader.Size()
		return true, nil
	}
	return true, p.ContentRange(*response.ContentRange)
}

func (azureService) refused(err error) (int, string) {
	var response *azcore.ResponseError
	if errors.As(err, &response) {
		return response.StatusCode, response.ErrorCode
	}
	return 0, ""
}
