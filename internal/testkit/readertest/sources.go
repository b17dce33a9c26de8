// Package readertest contains helpers for tests of package afdo and of packages that use it:
// opening a file in every way, converting everything that a Reader returns to the form of the naive
// decoder, and checking files.
package readertest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

// Sources opens data in each of the three ways.
func Sources(t *testing.T, data []byte, opts ...afdo.Option) map[string]*afdo.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.afdo")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	mapped, err := afdo.Open(path, opts...)
	require.NoError(t, err)
	inMemory, err := afdo.OpenBytes(data, opts...)
	require.NoError(t, err)
	readerAt, err := afdo.NewReader(bytes.NewReader(data), int64(len(data)), opts...)
	require.NoError(t, err)
	readers := map[string]*afdo.Reader{"mmap": mapped, "bytes": inMemory, "readerat": readerAt}
	t.Cleanup(func() {
		for _, r := range readers {
			_ = r.Close()
		}
	})
	return readers
}

// A CountingReaderAt records which bytes were read.
type CountingReaderAt struct {
	io.ReaderAt
	mu    sync.Mutex
	Reads int
	Bytes int64
	Spans [][2]int64
}

func (c *CountingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Reads++
	c.Bytes += int64(len(p))
	c.Spans = append(c.Spans, [2]int64{off, off + int64(len(p))})
	return c.ReaderAt.ReadAt(p, off)
}

// Within reports whether a range is covered by sections, which may be several adjacent ones.
func Within(span [2]int64, allowed [][2]int64) bool {
	for at := span[0]; at < span[1]; {
		next := at
		for _, a := range allowed {
			if a[0] <= at && at < a[1] {
				next = a[1]
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}
