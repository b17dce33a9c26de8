package blob_test

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"

	"cloud.google.com/go/storage"

	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/blob"
)

// gsStore returns a store on an imitation of Google Cloud Storage.
func gsStore(t testing.TB) store {
	program := optional(t, "fake-gcs-server")
	quiet(t)
	address := start(t, func(address, port string) *exec.Cmd {
		return exec.Command(program, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory", "-public-host", address)
	})
	t.Setenv("STORAGE_EMULATOR_HOST", address)
	client, err := storage.NewClient(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.Bucket("bucket").Create(t.Context(), "project", nil))
	bucket, err := gocloud.OpenBucket(t.Context(), "gs://bucket")
	require.NoError(t, err)
	t.Cleanup(func() { _ = bucket.Close() })
	return store{
		put: func(t testing.TB, data []byte) { put(t, bucket, data) },
		open: func(ctx context.Context, opts ...remote.Option) (*remote.File, error) {
			return blob.Open(ctx, "gs://bucket/"+key, opts...)
		},
	}
}

func TestNoCredentialsGS(t *testing.T) {
	quiet(t)
	_, err := blob.Open(t.Context(), "gs://bucket/"+key)
	require.ErrorContains(t, err, "no credentials")
	t.Log(err)
}
