package blob_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/blob"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// s3Store returns a store on a real S3 server.
func s3Store(t testing.TB) store { return startS3(t).store(t) }

func (s *s3) store(t testing.TB) store {
	bucket, err := gocloud.OpenBucket(t.Context(), s.direct())
	require.NoError(t, err)
	t.Cleanup(func() { _ = bucket.Close() })
	return store{
		put: func(t testing.TB, data []byte) { put(t, bucket, data) },
		open: func(ctx context.Context, opts ...remote.Option) (*remote.File, error) {
			return blob.Open(ctx, s.url(key), opts...)
		},
	}
}

// The server counts as many requests as File.Stats returns: at most three for a unit.
func TestS3Requests(t *testing.T) {
	server := startS3(t)
	s := server.store(t)
	for _, indexed := range []bool{false, true} {
		data := remotetest.Written(t, synth.Medium, indexed)
		s.put(t, data)
		for _, path := range remotetest.SomeUnits(t, data, 14) {
			server.requests.Store(0)
			require.Equal(t, readUnit(t, s, path).Requests, server.requests.Load())
			require.LessOrEqual(t, server.requests.Load(), int64(3), "%s, index %v", path, indexed)
		}
	}
}

// BenchmarkS3Unit opens an object and reads a unit, with a latency of 20 ms for each request.
func BenchmarkS3Unit(b *testing.B) {
	for name, size := range map[string]synth.Options{"medium": synth.Medium, "bootstrap": synth.Bootstrap} {
		for _, indexed := range []bool{false, true} {
			b.Run(fmt.Sprintf("profile=%s/index=%v", name, indexed), func(b *testing.B) {
				server := startS3(b)
				s := server.store(b)
				data := remotetest.Written(b, size, indexed)
				s.put(b, data)
				paths := remotetest.SomeUnits(b, data, 14)
				server.latency = 20 * time.Millisecond
				most, fetched, i := int64(0), int64(0), 0
				for b.Loop() {
					before := server.requests.Load()
					fetched += readUnit(b, s, paths[i%len(paths)]).Bytes
					most = max(most, server.requests.Load()-before)
					i++
				}
				b.ReportMetric(float64(server.requests.Load())/float64(i), "requests/op")
				b.ReportMetric(float64(most), "most-requests")
				b.ReportMetric(float64(fetched)/float64(i), "fetched-B/op")
				b.ReportMetric(float64(len(data)), "file-B")
			})
		}
	}
}

// Requests contain the ETag of the object that was opened. If the object was replaced, the server
// refuses them.
func TestS3Insists(t *testing.T) {
	server := startS3(t)
	s := server.store(t)
	s.put(t, bytesOf(1000))
	f, err := s.open(t.Context(), remote.Tail(20))
	require.NoError(t, err)
	var match, status atomic.Value
	server.before = func(_ http.ResponseWriter, r *http.Request) bool { match.Store(r.Header.Get("If-Match")); return false }
	server.Config.Handler = observed(server.Config.Handler, &status)
	s.put(t, make([]byte, 1000))
	_, err = f.ReadAt(make([]byte, 10), 100)
	require.ErrorIs(t, err, afdo.ErrChanged)
	require.NotEmpty(t, match.Load())
	require.Equal(t, http.StatusPreconditionFailed, status.Load())
}

// observed returns a handler like h that stores the status of each answer.
func observed(h http.Handler, status *atomic.Value) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&observer{w, status}, r) })
}

type observer struct {
	http.ResponseWriter
	status *atomic.Value
}

func (o *observer) WriteHeader(code int) {
	o.status.Store(code)
	o.ResponseWriter.WriteHeader(code)
}

// A request is repeated if its answer breaks off, and if the server is overloaded.
func TestS3Retries(t *testing.T) {
	server := startS3(t)
	s := server.store(t)
	data := bytesOf(100_000)
	s.put(t, data)
	for name, fail := range map[string]func(http.ResponseWriter, *http.Request){
		"503":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"broken": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half":   func(w http.ResponseWriter, r *http.Request) { half(server.address, w, r) },
	} {
		t.Run(name, func(t *testing.T) {
			server.before = nil
			f, err := s.open(t.Context(), remote.Tail(20), remote.Retry(2, 0))
			require.NoError(t, err)
			var failed atomic.Bool
			server.before = func(w http.ResponseWriter, r *http.Request) bool {
				if failed.Swap(true) {
					return false
				}
				fail(w, r)
				return true
			}
			p := make([]byte, 50_000)
			_, err = f.ReadAt(p, 1000)
			require.NoError(t, err)
			require.Equal(t, data[1000:51_000], p)
		})
	}
}

// half forwards a request to a server and answers with the first half of the server's answer.
func half(address string, w http.ResponseWriter, r *http.Request) {
	whole := httptest.NewRecorder()
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host
	}}
	forward.ServeHTTP(whole, r)
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	panic(http.ErrAbortHandler)
}

// Errors name the cause, and never contain the query of the URL.
func TestS3Errors(t *testing.T) {
	server := startS3(t)
	server.store(t).put(t, bytesOf(100))
	fails := func(url string) error {
		t.Helper()
		_, err := blob.Open(t.Context(), url)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "path_style")
		t.Log(err)
		return err
	}
	require.ErrorIs(t, fails(server.url("nothing")), fs.ErrNotExist)
	require.ErrorIs(t, fails(strings.Replace(server.url(key), "//bucket", "//elsewhere", 1)), fs.ErrNotExist)
	require.ErrorIs(t, fails(server.url(key)+"&anonymous=true"), fs.ErrPermission)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	require.ErrorIs(t, fails(server.url(key)), fs.ErrPermission)
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	require.ErrorIs(t, fails(server.url(key)), fs.ErrPermission)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	require.ErrorContains(t, fails(server.url(key)), "credentials")
	t.Setenv("AWS_REGION", "")
	require.ErrorContains(t, fails("s3://bucket/"+key), "region")
}

// The command afdo accepts the URL of an object in place of a path. It starts the helper program
// for it.
func TestCommand(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	for _, pkg := range []struct{ from, name string }{{"../../..", "./cmd/afdo"}, {".", "./cmd/afdo-fetch-blob"}} {
		build := exec.Command("go", "build", "-o", dir, pkg.name)
		build.Dir = pkg.from
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	server := startS3(t)
	const path = "../../../testdata/shop.afdo"
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	server.store(t).put(t, data)
	run := func(args ...string) (string, error) {
		out, err := exec.Command(filepath.Join(dir, "afdo"), args...).CombinedOutput()
		return string(out), err
	}
	for _, verb := range [][]string{
		{"units"}, {"lookup", "--unit", "src/cart.cc"}, {"slice", "--unit", "src/cart.cc", "--to", "text"}, {"check"},
	} {
		want, err := run(append(verb, path)...)
		require.NoError(t, err, want)
		server.requests.Store(0)
		got, err := run(append(verb, server.url(key))...)
		require.NoError(t, err, got)
		require.Equal(t, want, got)
		require.LessOrEqual(t, server.requests.Load(), int64(12), "%v", verb)
	}
	t.Setenv("AFDO_CACHE_DIR", t.TempDir())
	source := filepath.Join(dir, "a.c")
	require.NoError(t, os.WriteFile(source, []byte("int f(void) { return 1; }\n"), 0o600))
	for _, want := range []string{"downloading", ""} {
		got, err := run("exec", "-v", "--profile", server.url(key), "--", testenv.Tool(t, "gcc"), "-c", source, "-o", dir+"/a.o")
		require.NoError(t, err, got)
		require.Equal(t, want != "", strings.Contains(got, "downloading"), got)
		server.requests.Store(0)
	}
	text, err := run("units", server.url("nothing"))
	require.Error(t, err)
	require.Contains(t, text, "s3://bucket/nothing: file does not exist")
	quiet(t)
	text, err = run("units", server.url(key))
	require.Error(t, err)
	require.Contains(t, text, "credentials")
	text, err = run("units", "gs://bucket/"+key)
	require.Error(t, err)
	require.Contains(t, text, "no credentials")
}
