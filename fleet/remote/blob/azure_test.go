package blob_test

import (
	"context"
	"os/exec"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/azureblob"

	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/blob"
)

// azureStore returns a store on Azurite, the emulator of Azure Storage.
func azureStore(t testing.TB) store {
	program := optional(t, "azurite-blob")
	quiet(t)
	dir := t.TempDir()
	address := start(t, func(_, port string) *exec.Cmd {
		return exec.Command(program, "--blobHost", "127.0.0.1", "--blobPort", port, "--location", dir, "--silent", "--skipApiVersionCheck")
	})
	// The account and the key of every Azurite.
	connection := "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=" +
		"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;" +
		"BlobEndpoint=http://" + address + "/devstoreaccount1;"
	client, err := azblob.NewClientFromConnectionString(connection, nil)
	require.NoError(t, err)
	_, err = client.CreateContainer(t.Context(), "bucket", nil)
	require.NoError(t, err)
	// Not by a URL, since gocloud keeps the account of the first one that a process opens.
	bucket, err := azureblob.OpenBucket(t.Context(), client.ServiceClient().NewContainerClient("bucket"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = bucket.Close() })
	return store{
		put: func(t testing.TB, data []byte) {
			_, err := client.UploadBuffer(t.Context(), "bucket", key, data, nil)
			require.NoError(t, err)
		},
		open: func(ctx context.Context, opts ...remote.Option) (*remote.File, error) {
			return blob.OpenObject(ctx, bucket, key, "azblob://bucket/"+key, opts...)
		},
		plus: 1,
	}
}
