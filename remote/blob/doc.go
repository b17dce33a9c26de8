// Package blob reads an object of an object store in pieces, such as a profile of which one unit is
// wanted: package remote for the stores that gocloud.dev/blob knows.
//
//	f, err := blob.Open(ctx, "s3://bucket/all.afdo?region=eu-central-1")
//	…
//	r, err := afdo.NewReader(f, f.Size())
//
// On S3, Google Cloud Storage and Azure, all requests insist on the version that was opened. Other
// stores do not serve conditions: there the time of the last change and the size are compared.
package blob
