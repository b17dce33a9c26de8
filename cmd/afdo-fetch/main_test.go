package main_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A URL is as good as a path, whatever the format is, and takes few requests.
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
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(r.URL.Path)))
		if err != nil {
			http.NotFound(w, r)
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
	for _, to := range []string{"v4", "v4c", "v3", "text", "sampletext", "extbinary"} {
		out, err := afdo("convert", path, "--to", to, "-o", filepath.Join(dir, to))
		require.NoError(t, err, out)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(data)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "packed"), packed.Bytes(), 0o666))
	for _, format := range []string{"v4", "v4c", "v3", "text", "packed", "sampletext", "extbinary"} {
		for _, verb := range [][]string{
			{"units"}, {"lookup", "--symbol", "main"}, {"slice", "--unit", "src/cart.cc", "--to", "text", "-o", "-"}, {"check"}, {"convert", "--to", "v3", "-o", "-"}, {"top"}, {"report", "-o", "-"},
		} {
			want, wantErr := afdo(append(verb, filepath.Join(dir, format))...)
			requests.Store(0)
			url := server.URL + "/" + format
			got, err := afdo(append(verb, url)...)
			require.Equal(t, wantErr == nil, err == nil, "%s %v: %s and %s", format, verb, want, got)
			require.Equal(t, strings.ReplaceAll(want, filepath.Join(dir, format), url), got, "%s %v", format, verb)
			require.LessOrEqual(t, requests.Load(), int64(12), "%s %v", format, verb)
		}
	}
	text, err := afdo("units", server.URL+"/whole")
	require.Error(t, err)
	require.Contains(t, text, "does not serve ranges")
}
