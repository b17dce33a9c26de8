package blob_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/blob"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
)

const key = "day/all.afdo"

// A store is an object store for tests. They put an object into it and open the object.
type store struct {
	put  func(t testing.TB, data []byte)
	open func(ctx context.Context, opts ...remote.Option) (*remote.File, error)
	plus int64 // requests that opening takes beside one
}

// memory returns a store in the memory of the test process.
func memory(t testing.TB) store {
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	return store{
		put: func(t testing.TB, data []byte) { put(t, bucket, data) },
		open: func(ctx context.Context, opts ...remote.Option) (*remote.File, error) {
			return blob.OpenObject(ctx, bucket, key, "mem", opts...)
		},
		plus: 1,
	}
}

func put(t testing.TB, bucket *gocloud.Bucket, data []byte) {
	t.Helper()
	require.NoError(t, bucket.WriteAll(t.Context(), key, data, nil))
}

// folder returns a store whose objects are files in a folder.
func folder(t testing.TB) store {
	path := filepath.Join(t.TempDir(), "all.afdo")
	return store{
		put: func(t testing.TB, data []byte) { require.NoError(t, os.WriteFile(path, data, 0o600)) },
		open: func(ctx context.Context, opts ...remote.Option) (*remote.File, error) {
			return blob.Open(ctx, "file://"+filepath.ToSlash(path), opts...)
		},
		plus: 1,
	}
}

// stores are the stores with which each test runs.
var stores = map[string]func(testing.TB) store{"memory": memory, "folder": folder, "s3": s3Store, "gs": gsStore, "azure": azureStore}

func onStores(t *testing.T, test func(t *testing.T, s store)) {
	t.Helper()
	for name, start := range stores {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

// bytesOf returns n bytes for the content of an object.
func bytesOf(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * i >> 5)
	}
	return data
}

// A File is a correct io.ReaderAt, for objects that are shorter and longer than the tail that Open
// fetches.
func TestReadAt(t *testing.T) {
	onStores(t, func(t *testing.T, s store) {
		for _, size := range []int{0, 1, 19, 20, 21, 500} {
			for _, options := range [][]remote.Option{{}, {remote.Cache(64, 4)}} {
				data := bytesOf(size)
				s.put(t, data)
				f, err := s.open(t.Context(), append(options, remote.Tail(20))...)
				require.NoError(t, err, "%d bytes", size)
				require.Equal(t, int64(size), f.Size())
				require.NoError(t, iotest.TestReader(io.NewSectionReader(f, 0, f.Size()), data), "%d bytes", size)
				require.NoError(t, f.Close())
			}
		}
	})
}

// Reading returns an error if the object was replaced, by one of the same or of another size, or
// removed.
func TestChanged(t *testing.T) {
	onStores(t, func(t *testing.T, s store) {
		for _, size := range []int{1000, 999, 1001, 10, 0} {
			data := bytesOf(1000)
			s.put(t, data)
			f, err := s.open(t.Context(), remote.Tail(20))
			require.NoError(t, err)
			p := make([]byte, 100)
			_, err = f.ReadAt(p, 200)
			require.NoError(t, err)
			require.Equal(t, data[200:300], p)
			time.Sleep(20 * time.Millisecond) // the clock of a file system is coarse
			s.put(t, make([]byte, size))
			_, err = f.ReadAt(p, 400)
			require.ErrorIs(t, err, afdo.ErrChanged, "%d bytes", size)
			require.NoError(t, f.Close())
		}
	})
}

func TestMissing(t *testing.T) {
	onStores(t, func(t *testing.T, s store) {
		_, err := s.open(t.Context())
		require.ErrorIs(t, err, fs.ErrNotExist)
		t.Log(err)
	})
}

func TestContext(t *testing.T) {
	onStores(t, func(t *testing.T, s store) {
		s.put(t, bytesOf(1000))
		ctx, cancel := context.WithCancel(t.Context())
		f, err := s.open(ctx, remote.Tail(20))
		require.NoError(t, err)
		cancel()
		_, err = f.ReadAt(make([]byte, 10), 100)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Opening an object and reading a unit takes three requests in all, if the store supports requests
// for the last bytes of an object.
func TestUnitRequests(t *testing.T) {
	onStores(t, func(t *testing.T, s store) {
		for _, indexed := range []bool{false, true} {
			data := remotetest.Written(t, synth.Medium, indexed)
			s.put(t, data)
			for _, path := range remotetest.SomeUnits(t, data, 14) {
				stats := readUnit(t, s, path)
				require.LessOrEqual(t, stats.Requests, 3+s.plus, "%s, index %v", path, indexed)
				require.Less(t, stats.Bytes, int64(len(data)/4), "%s, index %v", path, indexed)
			}
		}
	})
}

// readUnit opens an object, reads a unit and its symbols, and returns the number of requests and
// bytes.
func readUnit(t testing.TB, s store, path string) remote.Stats {
	t.Helper()
	f, err := s.open(t.Context())
	require.NoError(t, err)
	defer f.Close()
	r, err := afdo.NewReader(f, f.Size(), afdo.TrustIndex())
	require.NoError(t, err)
	u, err := r.Unit(path)
	require.NoError(t, err)
	require.NoError(t, u.Load())
	for _, err := range u.Symbols() {
		require.NoError(t, err)
	}
	return f.Stats()
}

func TestURLs(t *testing.T) {
	for _, bad := range []string{"all.afdo", "s3://bucket", "s3://bucket/", "s3:///all.afdo", "gs://", "ftp://host/a", "s3://[::1/a", "s3://b/a?nonsense=1", "file:///"} {
		_, err := blob.Open(t.Context(), bad)
		require.ErrorContains(t, err, "blob: ", bad)
	}
	_, err := blob.Open(t.Context(), "s3://user:secret@b/a?profile=secret&nonsense=1")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}
