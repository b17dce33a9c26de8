package main_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testenv"
)

// A URL is as good as a path, and takes few requests.
func TestURL(t *testing.T) {
	testenv.NeedSweep(t)
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, ".", "../afdo")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	const path = "../../testdata/shop.afdo"
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1); r.URL.Path == "/whole" {
			_, _ = w.Write(data)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer server.Close()
	afdo := func(args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(dir, "afdo"), args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		return string(out) + stderr.String(), err
	}
	for _, verb := range [][]string{
		{"units"}, {"lookup", "--unit", "src/cart.cc"}, {"slice", "--unit", "src/cart.cc", "--to", "text"}, {"check"}, {"convert", "--to", "text"},
	} {
		want, err := afdo(append(verb, path)...)
		require.NoError(t, err, want)
		requests.Store(0)
		got, err := afdo(append(verb, server.URL+"/shop.afdo")...)
		require.NoError(t, err, got)
		require.Equal(t, want, got)
		require.LessOrEqual(t, requests.Load(), int64(12), "%v", verb)
	}
	text, err := afdo("units", server.URL+"/whole")
	require.Error(t, err)
	require.Contains(t, text, "does not serve ranges")
}
