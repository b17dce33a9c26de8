package blob

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"

	"github.com/go-afdo/afdo/fleet/remote/internal/source"
)

// s3Service implements service for S3 and compatible object stores.
type s3Service struct{}

func (s3Service) prepare(_ context.Context, as func(any) bool, r source.Range, known source.Version) (bool, error) {
	var in *s3.GetObjectInput
	if !as(&in) {
		return false, nil
	}
	in.Range = aws.String(r.String())
	if known.Strong() {
		in.IfMatch = aws.String(known.ETag)
	}
	return true, nil
}

func (s3Service) part(reader *blob.Reader, p *source.Part) (bool, error) {
	var out s3.GetObjectOutput
	if !reader.As(&out) {
		return false, nil
	}
	p.Version = source.Version{ETag: aws.ToString(out.ETag)}
	if p.Version.ETag == "" {
		p.Version = changedAt(reader.ModTime())
	}
	return true, setRange(p, out.ContentRange, reader)
}

func (s3Service) refused(err error) (int, string) {
	var response *awshttp.ResponseError
	if !errors.As(err, &response) {
		return 0, ""
	}
	var said smithy.APIError
	if errors.As(err, &said) {
		status := response.HTTPStatusCode()
		if denied[said.ErrorCode()] {
			status = http.StatusForbidden
		}
		return status, said.ErrorCode() + ": " + said.ErrorMessage()
	}
	return response.HTTPStatusCode(), response.Err.Error()
}

// denied are S3's error codes for rejected credentials. Some compatible stores report an unknown
// key with the status of a missing object.
var denied = map[string]bool{
	"AccessDenied":          true,
	"ExpiredToken":          true,
	"InvalidAccessKeyId":    true,
	"InvalidToken":          true,
	"SignatureDoesNotMatch": true,
	"XAdminUserNotFound":    true, // versitygw
}
