package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
)

// A server serves a file over HTTP and counts the requests.
type server struct {
	*httptest.Server
	data     []byte
	etag     atomic.Value // string
	requests atomic.Int64
	latency  time.Duration
	before   func(http.ResponseWriter, *http.Request) bool // answers itself if it returns true
}

func serve(t testing.TB, data []byte) *server {
	t.Helper()
	s := &server{data: data}
	s.etag.Store(`"1"`)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	time.Sleep(s.latency)
	if s.before != nil && s.before(w, r) {
		return
	}
	if etag := s.etag.Load().(string); etag != "" {
		w.Header().Set("ETag", etag)
	}
	http.ServeContent(w, r, "", time.Unix(1<<30, 0), bytes.NewReader(s.data))
}

func random(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

func open(t testing.TB, s *server, options ...remote.Option) *remote.File {
	t.Helper()
	f, err := remote.Open(t.Context(), s.URL, append([]remote.Option{remote.Retry(3, 0)}, options...)...)
	require.NoError(t, err)
	return f
}

// A File is a correct io.ReaderAt, for files that are shorter and longer than the tail that Open
// fetches.
func TestReadAt(t *testing.T) {
	for _, size := range []int{0, 1, 9, 10, 11, 25, 29, 30, 31, 1000} {
		for _, options := range [][]remote.Option{{}, {remote.Cache(7, 5)}, {remote.Cache(64, 1)}} {
			s := serve(t, random(size))
			f := open(t, s, append(options, remote.Tail(20))...)
			require.Equal(t, int64(size), f.Size())
			require.NoError(t, iotest.TestReader(io.NewSectionReader(f, 0, f.Size()), s.data), "%d bytes", size)
			n, err := f.ReadAt(make([]byte, 5), int64(size))
			require.Zero(t, n)
			require.Equal(t, io.EOF, err)
			_, err = f.ReadAt(nil, -1)
			require.Error(t, err)
			require.NoError(t, f.Close())
			_, err = f.ReadAt(make([]byte, 1), 0)
			require.ErrorIs(t, err, afdo.ErrClosed)
			require.ErrorIs(t, f.Close(), afdo.ErrClosed)
		}
	}
}

// Open makes one request. Reading the tail that Open has fetched makes none, and another read makes
// one.
func TestRequests(t *testing.T) {
	s := serve(t, random(100_000))
	f := open(t, s, remote.Tail(2_000))
	require.Equal(t, int64(1), s.requests.Load())
	read := func(off, n int) {
		t.Helper()
		p := make([]byte, n)
		_, err := f.ReadAt(p, int64(off))
		require.NoError(t, err)
		require.True(t, bytes.Equal(s.data[off:off+n], p))
	}
	read(98_000, 2_000)
	require.Equal(t, int64(1), s.requests.Load())
	read(500, 99_000)
	require.Equal(t, int64(2), s.requests.Load())
	require.Equal(t, remote.Stats{Requests: 2, Bytes: 2_000 + 97_500}, f.Stats())
}

// A block in the cache is not requested again. Adjacent blocks are requested with one request.
func TestCache(t *testing.T) {
	s := serve(t, random(100_000))
	f := open(t, s, remote.Tail(1), remote.Cache(1_000, 10))
	read := func(off, n int) {
		t.Helper()
		p := make([]byte, n)
		_, err := f.ReadAt(p, int64(off))
		require.NoError(t, err)
		require.True(t, bytes.Equal(s.data[off:off+n], p))
	}
	for _, step := range []struct{ off, n, requests int }{
		{5_500, 10, 1}, {5_000, 1_000, 0}, {5_900, 200, 1}, {4_000, 4_000, 2}, {4_000, 4_000, 0},
		{20_000, 10_000, 1}, {20_000, 10_000, 0}, {5_000, 1, 1}, {29_000, 1, 0}, {20_000, 1, 1}, {99_500, 499, 1},
	} {
		before := s.requests.Load()
		read(step.off, step.n)
		require.Equal(t, int64(step.requests), s.requests.Load()-before, "%d bytes at %d", step.n, step.off)
	}
}

// If the cache has room for the whole file, no byte is fetched twice, whatever is read and however
// long the tail is.
func TestCacheFetchesOnce(t *testing.T) {
	s := serve(t, random(10_000))
	r := rand.New(rand.NewPCG(45, 3))
	for range 200 {
		f := open(t, s, remote.Tail(1+r.IntN(4_000)), remote.Cache(1+r.IntN(2_000), 10_000))
		for range 30 {
			off := r.IntN(10_000)
			p := make([]byte, 1+r.IntN(10_000-off))
			_, err := f.ReadAt(p, int64(off))
			require.NoError(t, err)
			require.True(t, bytes.Equal(s.data[off:off+len(p)], p))
		}
		require.LessOrEqual(t, f.Stats().Bytes, int64(10_000))
	}
}

// If many goroutines read the same blocks at the same time, each block is requested once.
func TestCacheTogether(t *testing.T) {
	s := serve(t, random(100_000))
	f := open(t, s, remote.Tail(1), remote.Cache(1_000, 1_000))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for off := 1_000; off < 90_000; off += 1_000 {
				p := make([]byte, 1_500)
				if _, err := f.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, s.data[off:off+1_500]) {
					t.Errorf("at %d: %v", off, err)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, s.requests.Load(), int64(1+91))
}

// Reading a file that was replaced on the server returns afdo.ErrChanged, for each way in which
// servers identify a version.
func TestChanged(t *testing.T) {
	for name, s := range map[string]struct {
		etag   string
		change func(*server)
	}{
		"ETag":          {`"1"`, func(s *server) { s.etag.Store(`"2"`) }},
		"weak ETag":     {`W/"1"`, func(s *server) { s.etag.Store(`W/"2"`) }},
		"last modified": {"", func(s *server) { s.before = modified }},
		"size":          {`"1"`, func(s *server) { s.data = append(s.data, 1) }},
		"shorter":       {`"1"`, func(s *server) { s.data = s.data[:10] }},
	} {
		for _, options := range [][]remote.Option{{}, {remote.Cache(100, 10)}} {
			srv := serve(t, random(1_000))
			srv.etag.Store(s.etag)
			f := open(t, srv, append(options, remote.Tail(10))...)
			_, err := f.ReadAt(make([]byte, 10), 200)
			require.NoError(t, err, name)
			s.change(srv)
			_, err = f.ReadAt(make([]byte, 10), 400)
			require.ErrorIs(t, err, afdo.ErrChanged, name)
		}
	}
}

func modified(w http.ResponseWriter, r *http.Request) bool {
	http.ServeContent(w, r, "", time.Unix(1<<30+5, 0), bytes.NewReader(random(1_000)))
	return true
}

// A request is repeated after a transient error, and not after other errors.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		fail  func(http.ResponseWriter, *server)
		tries int64 // of the third request
		want  error
	}{
		"503":              {status(503), 3, nil},
		"429":              {status(429), 3, nil},
		"500":              {status(500), 3, nil},
		"broken":           {func(http.ResponseWriter, *server) { panic(http.ErrAbortHandler) }, 3, nil},
		"half":             {half, 3, nil},
		"404":              {status(404), 1, fs.ErrNotExist},
		"403":              {status(403), 1, fs.ErrPermission},
		"400":              {status(400), 1, new(remote.StatusError)},
		"no ranges":        {status(200), 1, remote.ErrNoRanges},
		"other range":      {ranged("bytes 201-210/1000"), 1, remote.ErrResponse},
		"no size":          {ranged("bytes 200-209/*"), 1, remote.ErrResponse},
		"no range":         {ranged(""), 1, remote.ErrResponse},
		"negative numbers": {ranged("bytes -5--1/-1"), 1, remote.ErrResponse},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, random(1_000))
			f := open(t, s, remote.Tail(10))
			var asked atomic.Int64
			s.before = func(w http.ResponseWriter, _ *http.Request) bool {
				if asked.Add(1) == 3 {
					return false
				}
				c.fail(w, s)
				return true
			}
			p := make([]byte, 10)
			n, err := f.ReadAt(p, 200)
			require.Equal(t, c.tries, asked.Load())
			if c.want == nil {
				require.NoError(t, err)
				require.Equal(t, s.data[200:210], p)
				return
			}
			require.Zero(t, n)
			if as := new(remote.StatusError); errors.As(c.want, &as) {
				require.ErrorAs(t, err, &as)
				require.Equal(t, 400, as.Code)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}

func status(code int) func(http.ResponseWriter, *server) {
	return func(w http.ResponseWriter, _ *server) {
		w.WriteHeader(code)
		fmt.Fprint(w, "body")
	}
}

func half(w http.ResponseWriter, s *server) {
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("Content-Range", "bytes 200-209/1000")
	w.Header().Set("Content-Length", "10")
	w.WriteHeader(206)
	_, _ = w.Write(s.data[200:205])
}

func ranged(text string) func(http.ResponseWriter, *server) {
	return func(w http.ResponseWriter, s *server) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Range", text)
		w.WriteHeader(206)
		_, _ = w.Write(s.data[:10])
	}
}

// After the last try, the error of that try is returned. It does not contain the query of the URL,
// which may be secret.
func TestGivingUp(t *testing.T) {
	s := serve(t, random(10))
	s.before = func(w http.ResponseWriter, _ *http.Request) bool { status(503)(w, s); return true }
	_, err := remote.Open(t.Context(), s.URL+"/p?token=secret", remote.Retry(2, 0))
	var e *remote.StatusError
	require.ErrorAs(t, err, &e)
	require.Equal(t, 503, e.Code)
	require.NotContains(t, err.Error(), "secret")
	s.Close()
	_, err = remote.Open(t.Context(), s.URL+"/p?token=secret", remote.Retry(2, 0))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
	for _, bad := range []string{"ftp://host/a", "http:///a", "a.afdo", "http://[::1/", "http://user:secret@[::1/", "http://user:secret/@host/"} {
		_, err = remote.Open(t.Context(), bad)
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "secret")
	}
}

// Cancelling the context ends the current read, and later reads fail.
func TestContext(t *testing.T) {
	s := serve(t, random(1_000))
	ctx, cancel := context.WithCancel(t.Context())
	f, err := remote.Open(ctx, s.URL, remote.Tail(10))
	require.NoError(t, err)
	asked := make(chan struct{})
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		close(asked)
		<-r.Context().Done()
		return true
	}
	go func() {
		<-asked
		cancel()
	}()
	_, err = f.ReadAt(make([]byte, 10), 500)
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.ReadAt(make([]byte, 10), 500)
	require.ErrorIs(t, err, context.Canceled)
}

// A request is repeated if the server sends nothing for too long.
func TestTimeout(t *testing.T) {
	s := serve(t, random(1_000))
	f := open(t, s, remote.Tail(10), remote.Timeout(50*time.Millisecond))
	var asked atomic.Int64
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if asked.Add(1) > 1 {
			return false
		}
		<-r.Context().Done()
		return true
	}
	_, err := f.ReadAt(make([]byte, 10), 500)
	require.NoError(t, err)
	require.Equal(t, int64(2), asked.Load())
}
