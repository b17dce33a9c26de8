package blob_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/fleet/remote/blob"
	"github.com/go-afdo/afdo/internal/testkit/remotetest"
	"github.com/go-afdo/afdo/internal/testkit/synth"
)

// hostileStore starts a server with S3's protocol whose answers come from a handler. It returns the
// URL of an object there.
func hostileStore(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	quiet(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "topsecret")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_MAX_ATTEMPTS", "2")
	server := httptest.NewServer(answer)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(func() { go server.Close() })
	return "s3://bucket/" + key + "?" + url.Values{"endpoint": {server.URL}, "use_path_style": {"true"}}.Encode()
}

// hostileGS is like hostileStore for Google Cloud Storage, where a generation number takes the
// place of the ETag.
func hostileGS(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	quiet(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(withGeneration{w}, r) }))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(func() { go server.Close() })
	t.Setenv("STORAGE_EMULATOR_HOST", strings.TrimPrefix(server.URL, "http://"))
	return "gs://bucket/" + key
}

// hostileAzure is like hostileStore for Azure Storage, which requests ranges in a header of its
// own.
func hostileAzure(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	quiet(t)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "someone")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("topsecret")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			r.Header.Set("Range", r.Header.Get("X-Ms-Range"))
		}
		answer(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(func() { go server.Close() })
	return "azblob://bucket/" + key + "?" + url.Values{"domain": {strings.TrimPrefix(server.URL, "http://")}, "protocol": {"http"}}.Encode()
}

type withGeneration struct{ http.ResponseWriter }

func (w withGeneration) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w withGeneration) WriteHeader(code int) {
	tag := strings.Trim(w.Header().Get("ETag"), `"`)
	generation, named := map[string]string{"": "0", "one": "1000", "two": "1001"}[tag]
	if !named {
		generation = tag
	}
	w.Header().Set("X-Goog-Generation", generation)
	w.ResponseWriter.WriteHeader(code)
}

// honest answers a request with the range of data that it asks for.
func honest(w http.ResponseWriter, r *http.Request, data []byte) {
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// part answers a request with the given range and body, whatever the request asks for.
func part(w http.ResponseWriter, contentRange string, body []byte) {
	w.Header().Set("ETag", `"one"`)
	w.Header().Set("Content-Range", contentRange)
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body)
}

// endless writes a body until the client closes the connection.
func endless(w http.ResponseWriter) {
	block := make([]byte, 1<<20)
	for range 4 << 10 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// falseAnswers are handlers of servers that give wrong answers. n is the number of the request.
var falseAnswers = map[string]func(w http.ResponseWriter, r *http.Request, n int64, data []byte){
	"another range": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) {
		part(w, fmt.Sprintf("bytes 5-14/%d", len(data)), data[5:15])
	},
	"a range of 2^62 bytes": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) {
		part(w, fmt.Sprintf("bytes 0-%d/%d", 1<<62-1, 1<<62), make([]byte, 100))
	},
	"negative numbers": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) {
		part(w, "bytes -5--1/-7", data[:5])
	},
	"numbers above 2^64": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) {
		part(w, "bytes 0-99999999999999999999/999999999999999999999", data)
	},
	"no numbers": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) { part(w, "octets a-b/c", data) },
	"no range":   func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) { part(w, "", data) },
	"an unknown size": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) {
		part(w, fmt.Sprintf("bytes 0-%d/*", len(data)-1), data)
	},
	"the whole object for each range": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) {
		w.Header().Set("ETag", `"one"`)
		_, _ = w.Write(data)
	},
	"an endless body": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) { endless(w) },
	"an endless part": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		if n == 1 {
			honest(w, r, data)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(data)-1, len(data)))
		w.WriteHeader(http.StatusPartialContent)
		endless(w)
	},
	"a body shorter than the part": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		if n == 1 {
			honest(w, r, data)
			return
		}
		var low, high int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &low, &high)
		part(w, fmt.Sprintf("bytes %d-%d/%d", low, high, len(data)), data[low:low+(high-low)/2])
	},
	"another version each time": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(n)))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	},
	"another size each time": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		honest(w, r, append(bytes.Clone(data), make([]byte, n)...))
	},
	"another object under the same version": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		if n > 1 {
			data = make([]byte, len(data))
		}
		honest(w, r, data)
	},
	"compressed": func(w http.ResponseWriter, r *http.Request, _ int64, data []byte) {
		w.Header().Set("Content-Encoding", "gzip")
		honest(w, r, data)
	},
	"a wrong checksum": func(w http.ResponseWriter, r *http.Request, _ int64, data []byte) {
		w.Header().Set("X-Amz-Checksum-Crc32", "AAAAAA==")
		honest(w, r, data)
	},
	"an endless error": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>")
		endless(w)
	},
	"an endless error in place of a part": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		w.Header().Set("X-Ms-Creation-Time", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		if n == 1 {
			honest(w, r, data)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		endless(w)
	},
	"an endless description": func(w http.ResponseWriter, r *http.Request, _ int64, _ []byte) {
		if r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		w.Header().Set("ETag", `"one"`)
		_, _ = io.WriteString(w, `{"name": "`)
		endless(w)
	},
	"an error with escapes": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "<Error><Code>X&#27;[2J</Code><Message>\x1b]0;title\a</Message></Error>")
	},
	"an error in HTML": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html><head><title>502</title></head><body>"+strings.Repeat("<p>&nbsp;topsecret", 10_000))
	},
	"HTML in place of a part": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		if n == 1 {
			honest(w, r, data)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Log in first</body></html>")
	},
	"a Content-Length that is too large": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		w.Header().Set("Content-Length", "1000000")
		honest(w, r, data)
	},
	"a Content-Length that is too small": func(w http.ResponseWriter, _ *http.Request, _ int64, data []byte) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 206 Partial Content\r\nETag: \"one\"\r\nContent-Range: bytes 0-%d/%d\r\nContent-Length: 10\r\n\r\n%s", len(data)-1, len(data), data)
		_ = conn.Close()
	},
	"another object in the middle": func(w http.ResponseWriter, r *http.Request, n int64, data []byte) {
		w.Header().Set("ETag", `"one"`)
		if n > 2 {
			w.Header().Set("ETag", `"two"`)
			data = append(bytes.Clone(data[:len(data)/2]), make([]byte, len(data)-len(data)/2)...)
		}
		r.Header.Del("If-Match")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	},
	"nothing": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) { w.WriteHeader(http.StatusNoContent) },
	"no status": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = io.WriteString(conn, "HTTP/1.1 999999999999 \r\n\r\n")
		_ = conn.Close()
	},
	"10 MB of headers": func(w http.ResponseWriter, r *http.Request, _ int64, data []byte) {
		for i := range 1_000 {
			w.Header().Add("X-Amz-Meta-"+fmt.Sprint(i), strings.Repeat("x", 10_000))
		}
		honest(w, r, data)
	},
	"a redirect without end": func(w http.ResponseWriter, r *http.Request, _ int64, _ []byte) {
		http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
	},
	"a redirect to a bucket elsewhere": func(w http.ResponseWriter, _ *http.Request, _ int64, _ []byte) {
		w.Header().Set("X-Amz-Bucket-Region", "../../elsewhere")
		w.WriteHeader(http.StatusMovedPermanently)
		_, _ = io.WriteString(w, "<Error><Code>PermanentRedirect</Code><Endpoint>169.254.169.254</Endpoint></Error>")
	},
}

// symbolsOf returns the symbols of units as text.
func symbolsOf(r *afdo.Reader, paths []string) (text []string, err error) {
	for _, path := range paths {
		u, err := r.Unit(path)
		if err != nil {
			return nil, err
		}
		for s, err := range u.Symbols() {
			if err != nil {
				return nil, err
			}
			if !s.HasInfo() {
				continue
			}
			info, err := s.Info()
			if err != nil {
				return nil, err
			}
			samples, cursor := uint64(0), info.Cursor()
			for cursor.Next() {
				samples += cursor.Location().Count
			}
			if cursor.Err() != nil {
				return nil, cursor.Err()
			}
			text = append(text, fmt.Sprint(path, s.Name(), info.HeadCount, samples))
		}
	}
	return text, nil
}

// readRemote opens an object and returns the symbols of units as text.
func readRemote(ctx context.Context, url string, paths []string) ([]string, error) {
	f, err := blob.Open(ctx, url, remote.Retry(2, 0), remote.Tail(1<<10), remote.Timeout(2*time.Second))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := afdo.NewReader(f, f.Size())
	if err != nil {
		return nil, err
	}
	return symbolsOf(r, paths)
}

// For a store with wrong answers, reading returns an error or the right symbols, and uses no more
// memory than the limit.
func TestS3FalseAnswers(t *testing.T) { testFalseAnswers(t, hostileStore) }

func TestGSFalseAnswers(t *testing.T) { testFalseAnswers(t, hostileGS) }

func TestAzureFalseAnswers(t *testing.T) { testFalseAnswers(t, hostileAzure) }

// The client for Azure that limits the server's answers uses the credentials of the environment.
func TestAzureConnectionString(t *testing.T) {
	var authorized atomic.Value
	data := bytesOf(1000)
	open := hostileAzure(t, func(w http.ResponseWriter, r *http.Request) {
		authorized.Store(r.Header.Get("Authorization"))
		honest(w, r, data)
	})
	u, err := url.Parse(open)
	require.NoError(t, err)
	t.Setenv("AZURE_STORAGE_KEY", "")
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=other;AccountKey=AAAA;BlobEndpoint=http://"+u.Query().Get("domain")+"/other")
	f, err := blob.Open(t.Context(), open)
	require.NoError(t, err)
	got := make([]byte, len(data))
	_, err = f.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, data, got)
	require.Contains(t, authorized.Load(), "SharedKey other:")
}

func testFalseAnswers(t *testing.T, start func(*testing.T, http.HandlerFunc) string) {
	const mostMemory = 96 << 20 // allocated, not held
	data := remotetest.Written(t, synth.Small, true)
	paths := remotetest.SomeUnits(t, data, 3)
	r, err := afdo.OpenBytes(data)
	require.NoError(t, err)
	want, err := symbolsOf(r, paths)
	require.NoError(t, err)
	for name, answer := range falseAnswers {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			url := start(t, func(w http.ResponseWriter, r *http.Request) { answer(w, r, requests.Add(1), data) })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := readRemote(ctx, url, paths)
			runtime.ReadMemStats(&after)
			t.Logf("%d requests, %.1f MB: %v", requests.Load(), float64(after.TotalAlloc-before.TotalAlloc)/1e6, err)
			require.NoError(t, ctx.Err(), "it hangs")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mostMemory))
			require.Less(t, requests.Load(), int64(50))
			if err == nil {
				require.Equal(t, want, got)
				return
			}
			require.NotContains(t, err.Error(), "topsecret")
			require.NotContains(t, err.Error(), "use_path_style")
			require.Less(t, len(err.Error()), 2_000)
		})
	}
}
