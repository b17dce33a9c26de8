//go:build linux

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/testkit/gen"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// serverLines are verbs that read a profile of a server.
var serverLines = []string{
	"show FILE", "units FILE", "lookup FILE -u hostile.c", "convert FILE --to v3 -o OUT", "check FILE", "top FILE",
	"merge FILE FILE --to v4 -o OUT", "slice FILE --unit hostile.c --to v2 -o OUT",
}

// A hostile server answers a request for a part of a file.
type hostileServer func(w http.ResponseWriter, r *http.Request, file []byte)

// partOf answers a request for a part of a file, but claims that the file has the given size, and
// sends nulls zero bytes after its end.
func partOf(w http.ResponseWriter, r *http.Request, file []byte, size, nulls int64) {
	var from, to int64
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n == 1 {
		from, to = max(size+from, 0), size-1
	}
	to = min(to, size-1)
	w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, size))
	w.WriteHeader(http.StatusPartialContent)
	there := file[min(from, int64(len(file))):min(to+1, int64(len(file)))]
	_, _ = w.Write(there)
	_, _ = w.Write(make([]byte, max(0, min(nulls, to+1-from-int64(len(there))))))
}

// hostileServers returns servers that claim wrong sizes or send too much.
func hostileServers() map[string]hostileServer {
	var requests atomic.Int64
	claims := func(size, nulls int64) hostileServer {
		return func(w http.ResponseWriter, r *http.Request, file []byte) {
			w.Header().Set("ETag", `"1"`)
			partOf(w, r, file, size, nulls)
		}
	}
	return map[string]hostileServer{
		"claims 2^42 bytes":           claims(1<<42, 0),
		"claims 2^62 bytes":           claims(1<<62, 0),
		"claims 2^62 and sends nulls": claims(1<<62, 1<<20),
		"has another file each time": func(w http.ResponseWriter, r *http.Request, file []byte) {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, requests.Add(1)))
			partOf(w, r, file, int64(len(file)), 0)
		},
		"ends each answer too early": func(w http.ResponseWriter, r *http.Request, file []byte) {
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(file)))
			partOf(w, r, file[:len(file)/2], int64(len(file)), 0)
		},
		"sends without end": func(w http.ResponseWriter, r *http.Request, file []byte) {
			w.Header().Set("ETag", `"1"`)
			partOf(w, r, file, int64(len(file)), 0)
			for junk := make([]byte, 1<<16); r.Context().Err() == nil; {
				if _, err := w.Write(junk); err != nil {
					return
				}
			}
		},
		"says nothing but headers": func(w http.ResponseWriter, _ *http.Request, _ []byte) {
			for i := range 1_000 {
				w.Header().Add("X-Header", fmt.Sprint(i, strings.Repeat("x", 12_000)))
			}
		},
	}
}

// TestMemoryOfServers runs verbs on files of hostile servers. None may use more memory or time than
// for the real file. The program that fetches the file is not measured.
func TestMemoryOfServers(t *testing.T) {
	testenv.NeedSweep(t)
	file := gen.Nested(20_000, true)
	for name, answer := range hostileServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is that between two attempts
			out := filepath.Join(t.TempDir(), "out")
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, file) }))
			defer server.Close()
			for _, line := range serverLines {
				_ = os.Remove(out)
				start := time.Now()
				c := costOf(t, strings.Fields(strings.NewReplacer("FILE", server.URL, "OUT", out).Replace(line)))
				limit := freeMemory + memoryPerByte*int64(strings.Count(line, "FILE")*len(file))
				t.Logf("%-42s status %d %5.2f s %6.1f MB of %6.1f %.150s", line, c.status, c.spent.Seconds(), float64(c.most)/1e6, float64(limit)/1e6, c.said)
				assert.Less(t, c.most, limit, line)
				assert.Less(t, c.spent, mostTime, line)
				assert.Less(t, time.Since(start), 5*time.Minute, line)
				assert.NotContains(t, c.said, "goroutine", line)
				if c.status != 0 {
					assert.NoFileExists(t, out, line)
					continue
				}
				if info, err := os.Stat(out); err == nil {
					assert.NotZero(t, info.Size(), line)
				}
			}
		})
	}
}
