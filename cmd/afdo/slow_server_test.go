//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
)

// slowServer serves a file that begins like data and is a gigabyte large. After the first bytes it
// sends nothing. most counts the bytes that were requested at once.
func slowServer(t *testing.T, data []byte) (url string, requests, most *atomic.Int64) {
	t.Helper()
	const size = 1 << 30
	requests, most = new(atomic.Int64), new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		var low, high int64
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=-%d", &high); err == nil {
			low, high = size-high, size-1
		} else {
			_, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &low, &high)
			assert.NoError(t, err)
		}
		most.Store(max(most.Load(), high+1-low))
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", low, high, size))
		w.WriteHeader(http.StatusPartialContent)
		if high+1-low <= 4<<10 {
			body := make([]byte, high+1-low)
			copy(body, data[min(low, int64(len(data))):])
			_, _ = w.Write(body)
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server.URL + "/all.v4", requests, most
}

// TestExecSlowServer checks that a compile whose profile is on a slow server goes on without the
// profile and warns once. Later compiles do not ask the server.
func TestExecSlowServer(t *testing.T) {
	t.Parallel() // it waits
	s := newSite(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f(void) { return 1; }\n")
	url, requests, _ := slowServer(t, []byte(must(t, "convert", example(".afdo"), "--to", "v4", "-o", "-")))
	args := []string{"afdo", "exec", "--timeout", "100ms", "--profile", url, "--", gcc, "-c", "a.c"}
	out := s.run(args...)
	assert.Contains(t, out, "afdo: "+url+": the server is too slow: files are compiled without the profile\n")
	assert.True(t, strings.HasSuffix(out, "-c a.c\n"), out)
	asked := requests.Load()
	out = s.run(args...)
	assert.NotContains(t, out, "too slow")
	assert.True(t, strings.HasSuffix(out, "-c a.c\n"), out)
	assert.Equal(t, asked, requests.Load())
}

// TestFirstBytesOfServer checks that most of a file is requested only after its first bytes were
// recognised as those of a profile.
func TestFirstBytesOfServer(t *testing.T) {
	url, _, most := slowServer(t, []byte("\x7fELF\x02\x01\x01\n"))
	out := filepath.Join(t.TempDir(), "out")
	r := afdoRun("convert", "--to", "text", url, "-o", out)
	require.Equal(t, cli.StatusFault, r.status, r.err)
	assert.Contains(t, r.err, "not a profile")
	assert.LessOrEqual(t, most.Load(), int64(4<<10))
}
