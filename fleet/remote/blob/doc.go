// Package blob reads parts of an object in an object store, for example one unit of a profile. It
// extends package remote to the stores that gocloud.dev/blob supports.
//
//	f, err := blob.Open(ctx, "s3://bucket/all.afdo?region=eu-central-1")
//	…
//	r, err := afdo.NewReader(f, f.Size())
//
// On S3, Google Cloud Storage and Azure, all requests insist on the version that was opened. Other
// stores do not support conditional requests; there, modification time and size are compared.
package blob
