package main_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// binaries is the folder of the programs that the tests run.
var binaries string

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "afdo-fetch"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(binaries)
	os.Exit(status)
}

// build builds afdo and its helper, once for all tests.
var build = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-o", binaries, ".", "../afdo").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// afdoPath returns the path of afdo, which has its helper beside it.
func afdoPath(t *testing.T) string {
	t.Helper()
	testenv.NeedSweep(t)
	require.NoError(t, build())
	return filepath.Join(binaries, "afdo")
}

// A URL is as good as a path, whatever the format is, and takes few requests.
func TestURL(t *testing.T) {
	program, dir := afdoPath(t), t.TempDir()
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
		cmd := exec.Command(program, args...)
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
