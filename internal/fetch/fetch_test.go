package fetch_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/fleet/remote"
	"github.com/go-afdo/afdo/internal/fetch"
)

// TestMain runs the test program as a helper if it was started under the name of one.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "afdo-fetch") {
		if strings.HasSuffix(os.Args[1], "/dies") {
			os.Exit(3)
		}
		f, err := remote.Open(context.Background(), os.Args[1], remote.Tail(10), remote.Retry(1, 0))
		if err := fetch.Serve(os.Stdin, os.Stdout, f, err); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// withHelper adds a folder with a helper program, which is this test program, to PATH.
func withHelper(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no symbolic links here")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(dir, "afdo-fetch")))
	t.Setenv("PATH", dir)
}

func serve(t *testing.T, data *[]byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/file" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", `"`+string((*data)[:1])+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(*data))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestFile(t *testing.T) {
	withHelper(t)
	data := []byte(strings.Repeat("0123456789abcdef", 1000))
	url := serve(t, &data)
	f, err := fetch.Open(fetch.Request{URL: url + "/file?secret"})
	require.NoError(t, err)
	require.Equal(t, url+"/file", f.Name())
	require.Equal(t, int64(len(data)), f.Size())
	require.Equal(t, `"0"`, f.Tag())
	require.NoError(t, iotest.TestReader(io.NewSectionReader(f, 0, 2000), data[:2000]))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			p := make([]byte, 100)
			if _, err := f.ReadAt(p, int64(1000*i+500)); err != nil || !bytes.Equal(p, data[1000*i+500:1000*i+600]) {
				t.Errorf("at %d: %v", 1000*i+500, err)
			}
		})
	}
	all.Wait()
	_, err = f.ReadAt(make([]byte, 1), -1)
	require.Error(t, err)
	require.NoError(t, f.Close())
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, afdo.ErrClosed)

	f, err = fetch.Open(fetch.Request{URL: url + "/file"})
	require.NoError(t, err)
	data = append([]byte("X"), data[1:]...)
	_, err = f.ReadAt(make([]byte, 10), 7000)
	require.ErrorIs(t, err, afdo.ErrChanged)
	require.Contains(t, err.Error(), url)
	_, err = f.ReadAt(make([]byte, 5), f.Size()-5)
	require.NoError(t, err, "the helper goes on, and has the tail")
	require.NoError(t, f.Close())
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, afdo.ErrClosed)
	require.ErrorIs(t, f.Close(), afdo.ErrClosed)
}

func TestOpenFails(t *testing.T) {
	data := []byte("x")
	url := serve(t, &data)
	t.Setenv("PATH", "")
	_, err := fetch.Open(fetch.Request{URL: url})
	require.ErrorContains(t, err, "afdo-fetch")
	_, err = fetch.Open(fetch.Request{URL: "ftp://host/file"})
	require.Error(t, err)
	withHelper(t)
	_, err = fetch.Open(fetch.Request{URL: url + "/nothing"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = fetch.Open(fetch.Request{URL: url + "/dies"})
	require.ErrorContains(t, err, "has ended")
}

// Reads of several goroutines make their requests at the same time.
func TestTogether(t *testing.T) {
	withHelper(t)
	data := []byte(strings.Repeat("0123456789abcdef", 1000))
	var waiting sync.WaitGroup
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=1") {
			waiting.Done()
			waiting.Wait() // until the others are there
		}
		w.Header().Set("ETag", `"0"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer s.Close()
	f, err := fetch.Open(fetch.Request{URL: s.URL})
	require.NoError(t, err)
	const n = 5
	waiting.Add(n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			p := make([]byte, 50)
			if _, err := f.ReadAt(p, int64(1000+100*i)); err != nil || !bytes.Equal(p, data[1000+100*i:1050+100*i]) {
				t.Errorf("read %d: %v", i, err)
			}
		})
	}
	all.Wait()
	require.NoError(t, f.Close())
}

// After many reads of a file, the whole file is fetched.
func TestManyReads(t *testing.T) {
	withHelper(t)
	data := []byte(strings.Repeat("0123456789abcdef", 10_000))
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("ETag", `"0"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer s.Close()
	f, err := fetch.Open(fetch.Request{URL: s.URL})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for off := i * 40_000; off < (i+1)*40_000; off += 1000 {
				p := make([]byte, 100)
				if _, err := f.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+100]) {
					t.Errorf("at %d: %v", off, err)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, requests.Load(), int64(1+32+1))
	require.NoError(t, f.Close())
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, afdo.ErrClosed)
}

func TestParseArguments(t *testing.T) {
	for _, c := range []struct {
		args string
		want fetch.Request
		ok   bool
	}{
		{"u", fetch.Request{URL: "u"}, true},
		{"-whole u", fetch.Request{URL: "u", Whole: true}, true},
		{"-whole -max-size=5 -timeout=1m30s u", fetch.Request{Limits: fetch.Limits{MaxSize: 5, Timeout: 90 * time.Second}, URL: "u", Whole: true}, true},
		{"-whole", fetch.Request{}, false},
		{"u v", fetch.Request{}, false},
		{"-max-size=x u", fetch.Request{}, false},
		{"-timeout=-1s u", fetch.Request{}, false},
		{"", fetch.Request{}, false},
	} {
		got, ok := fetch.ParseArguments(strings.Fields(c.args))
		require.Equal(t, c.ok, ok, c.args)
		if ok {
			require.Equal(t, c.want, got, c.args)
		}
	}
}

// A helper ends with an error when it gets a question that does not follow the protocol.
func TestServeRefuses(t *testing.T) {
	data := []byte("0123456789")
	f := file{bytes.NewReader(data)}
	question := func(off uint64, n uint32) io.Reader {
		return bytes.NewReader(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, off), n))
	}
	for _, in := range []io.Reader{question(5, 6), question(11, 0), question(1<<63, 1), strings.NewReader("short")} {
		require.Error(t, fetch.Serve(in, io.Discard, f, nil))
	}
	var out bytes.Buffer
	require.NoError(t, fetch.Serve(nil, &out, nil, errors.New(strings.Repeat("header ", 100_000))))
	require.Less(t, out.Len(), 3_000)
	out.Reset()
	require.NoError(t, fetch.Serve(question(5, 5), &out, f, nil))
	require.Equal(t, "\x00\x04\x00\x00\x00file\x00\x01\x00\x00\x007\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x0056789", out.String())
}

type file struct{ *bytes.Reader }

func (file) Name() string { return "file" }

func (file) Tag() string { return "7" }

// Shown returns what net/url makes of a URL without the parts that may be secret.
func TestShown(t *testing.T) {
	for _, path := range []string{
		"https://host/a.afdo", "http://u:p@host:8080/a/b@c.afdo?token=x#y", "https://[::1]:80/a", "s3://bucket/key?sig=x", "gs://my_bucket/a%20b",
		"https://host", "https://u@host?x", "https://host#a/b", "http://a@b:c@host/x", "HTTPS://Host/a", "https://höst/a",
	} {
		u, err := url.Parse(path)
		require.NoError(t, err, path)
		scheme, _, _ := strings.Cut(path, "://")
		assert.Equal(t, scheme+"://"+u.Host+u.EscapedPath(), fetch.Shown(path), path)
	}
	for _, path := range []string{"http://u:pa/ss@host/a", "http://u:p/@host", "https://ho st/a", "https://u:p:q/r@host"} {
		assert.Equal(t, "a malformed URL", fetch.Shown(path), path)
	}
	for _, path := range []string{"a.afdo", "ftp://u:p@host/a", "https:/a?b"} {
		assert.Equal(t, path, fetch.Shown(path), path)
	}
}
