package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// fromEnd reports whether a request asks for the last bytes of a file.
func fromEnd(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Range"), "bytes=-") }

// Servers answer requests for ranges in different ways. Open accepts those that serve ranges, and
// returns the right class of error for the others.
func TestServers(t *testing.T) {
	const size = 200
	content := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Unix(1<<30, 0), bytes.NewReader(random(size)))
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    error
	}{
		"as they should be": {content, nil},
		"no ranges from the end, as of busybox": {func(w http.ResponseWriter, r *http.Request) {
			if fromEnd(r) {
				r.Header.Del("Range")
			}
			content(w, r)
		}, nil},
		"no more from the end than there is": {func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") == "bytes=-2000" {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", size))
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			content(w, r)
		}, nil},
		"no ranges, as of Python": {func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			content(w, r)
		}, remote.ErrNoRanges},
		"no ranges, and no length": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(random(size))
			w.(http.Flusher).Flush()
		}, remote.ErrNoRanges},
		"in chunks": {func(w http.ResponseWriter, r *http.Request) {
			content(chunked{w}, r)
		}, nil},
		"no range is right": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, new(remote.StatusError)},
		"no size": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-9/*")
			w.WriteHeader(http.StatusPartialContent)
		}, remote.ErrResponse},
		"one connection for each request": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			content(w, r)
		}, nil},
		"redirects to a signed URL": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, r.URL.Path+"?signature=secret", http.StatusTemporaryRedirect)
				return
			}
			content(w, r)
		}, nil},
		"redirects without end": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/secret", http.StatusFound)
		}, new(url.Error)},
		"packed on the way, as stored": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			content(w, r)
		}, nil},
	} {
		for _, options := range [][]remote.Option{{remote.Tail(2000)}, {remote.Tail(20)}}[:testenv.Rounds(1, 2)] {
			server := httptest.NewServer(c.handler)
			f, err := remote.Open(t.Context(), server.URL, append(options, remote.Retry(1, 0))...)
			if c.want == nil {
				require.NoError(t, err, name)
				require.NoError(t, iotest.TestReader(io.NewSectionReader(f, 0, f.Size()), random(size)), name)
			} else {
				require.Error(t, err, name)
				require.NotContains(t, err.Error(), "secret", name)
			}
			switch c.want.(type) {
			case *remote.StatusError:
				require.ErrorAs(t, err, new(*remote.StatusError), name)
			case *url.Error:
			default:
				require.ErrorIs(t, err, c.want, name)
			}
			server.Close()
		}
	}
}

// chunked is a response writer that omits the Content-Length header.
type chunked struct{ http.ResponseWriter }

func (c chunked) WriteHeader(code int) {
	c.Header().Del("Content-Length")
	c.ResponseWriter.WriteHeader(code)
}

// A server that keeps sending may take longer for its answer than the timeout for silence.
func TestSlow(t *testing.T) {
	t.Parallel() // it waits
	s := serve(t, random(1_000))
	f := open(t, s, remote.Tail(10), remote.Timeout(2*time.Second), remote.Retry(4, 0))
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Range", "bytes 0-9/1000")
		w.WriteHeader(http.StatusPartialContent)
		for i := range 10 {
			_, _ = w.Write(s.data[i : i+1])
			w.(http.Flusher).Flush()
			time.Sleep(80 * time.Millisecond)
		}
		return true
	}
	_, err := f.ReadAt(make([]byte, 10), 0)
	require.NoError(t, err)
	require.Equal(t, int64(2), f.Stats().Requests)
}

// If the server sends nothing in all tries, the error says that it is silent.
func TestSilent(t *testing.T) {
	t.Parallel() // it waits
	s := serve(t, random(1_000))
	f := open(t, s, remote.Tail(10), remote.Timeout(time.Second), remote.Retry(2, 0))
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}
	_, err := f.ReadAt(make([]byte, 10), 0)
	require.ErrorContains(t, err, "is silent")
}

// A request ends if the server only sends a byte now and then.
func TestDripping(t *testing.T) {
	t.Parallel() // it waits
	s := serve(t, random(1_000))
	f := open(t, s, remote.Tail(10), remote.Timeout(300*time.Millisecond), remote.Retry(2, 0))
	var sent atomic.Int64
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Range", "bytes 0-899/1000")
		w.WriteHeader(http.StatusPartialContent)
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte{0})
			w.(http.Flusher).Flush()
			sent.Add(1)
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}
	_, err := f.ReadAt(make([]byte, 900), 0)
	require.ErrorContains(t, err, "too slow")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, sent.Load(), int64(900))
}

// The target of a redirect does not get the previous URL. A redirect from another machine to this
// machine is refused.
func TestRedirect(t *testing.T) {
	var referers []string
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Referer())
		http.ServeContent(w, r, "", time.Unix(1<<30, 0), bytes.NewReader(random(1_000)))
	}))
	defer inside.Close()
	var target string
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target, http.StatusFound)
	})
	front := httptest.NewServer(redirect)
	defer front.Close()

	target = inside.URL + "/file"
	f, err := remote.Open(t.Context(), front.URL+"/all?signature=secret", remote.Retry(1, 0))
	require.NoError(t, err) // from this machine to this machine
	require.NoError(t, f.Close())
	require.Equal(t, []string{""}, referers)

	// A local port may be forwarded to a server elsewhere.
	for _, target = range []string{"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://[64:ff9b::a9fe:a9fe]/"} {
		_, err := remote.Open(t.Context(), front.URL, remote.Retry(1, 0), remote.Timeout(time.Second))
		require.ErrorContains(t, err, "the redirect is not followed", target)
	}

	// A client that has the answer of a host elsewhere.
	elsewhere := &http.Client{Transport: answers(redirect)}
	port := inside.Listener.Addr().(*net.TCPAddr).Port
	for _, target = range []string{
		inside.URL, fmt.Sprintf("http://localhost:%d/", port), fmt.Sprintf("http://[::ffff:127.0.0.1]:%d/", port),
		"http://0.0.0.0/", "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
		"http://[fd00:ec2::23]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a9fe:a9fe]/", "http://[::169.254.169.254]/", "http://[2002:a9fe:a9fe::]/",
		"http://x%zz?signature=secret", "http://[::1?secret",
	} {
		t.Run(target, func(t *testing.T) {
			_, err := remote.Open(t.Context(), "http://192.0.2.1/all?signature=secret", remote.Client(elsewhere))
			require.ErrorContains(t, err, "the redirect is not followed")
			require.NotContains(t, err.Error(), "secret")
		})
	}
	require.Len(t, referers, 1)
	for _, target = range []string{"http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://%E2%91%A0%E2%91%A1%E2%91%A6.0.0.1/"} {
		_, err := remote.Open(t.Context(), "http://192.0.2.1/all", remote.Client(elsewhere))
		require.ErrorContains(t, err, "not in ASCII", target)
	}
}

// answers is an HTTP transport that passes requests for any host to one handler.
type answers func(http.ResponseWriter, *http.Request)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w, r)
	return w.Result(), nil
}

// Open refuses a server that claims a file above the limit, before it reads any of the file.
func TestMaxSize(t *testing.T) {
	for _, c := range []struct {
		size    int64
		options []remote.Option
	}{
		{1 << 62, nil},
		{remote.DefaultMaxSize + 1, nil},
		{1_000, []remote.Option{remote.MaxSize(999)}},
	} {
		s := serve(t, random(1_000))
		s.before = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", c.size-10, c.size-1, c.size))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(make([]byte, 10))
			return true
		}
		_, err := remote.Open(t.Context(), s.URL, append(c.options, remote.Tail(10))...)
		require.ErrorIs(t, err, remote.ErrTooLarge)
		require.ErrorContains(t, err, fmt.Sprintf("the server reports %d bytes", c.size))
	}
}

// All tries of a request to a silent server together take no longer than the timeout.
func TestTimeoutOfAllTries(t *testing.T) {
	t.Parallel() // it waits
	s := serve(t, random(1_000))
	var tries atomic.Int64
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		tries.Add(1)
		<-r.Context().Done()
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := remote.Open(ctx, s.URL, remote.Timeout(400*time.Millisecond), remote.Retry(4, 0))
	require.ErrorContains(t, err, "the server is silent")
	require.NoError(t, ctx.Err())
	require.Equal(t, int64(4), tries.Load())
}

// A server that asks for a pause before each try gets no more time than a silent server.
func TestPatience(t *testing.T) {
	s := serve(t, random(1_000))
	f := open(t, s, remote.Tail(10), remote.Timeout(5*time.Second))
	var tries atomic.Int64
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		tries.Add(1)
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	_, err := f.ReadAt(make([]byte, 10), 0)
	require.ErrorContains(t, err, "503")
	require.Equal(t, int64(1), tries.Load())
}
