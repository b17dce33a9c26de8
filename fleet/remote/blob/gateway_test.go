package blob_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// start runs a server until the test ends. It returns the server's address once the server accepts
// connections.
func start(t testing.TB, command func(address, port string) *exec.Cmd) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	cmd := command(address, port)
	log, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	for range 300 {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return address
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not listen: %s", cmd.Path, text)
	return ""
}

// A proxy forwards requests to a server and counts the requests that read objects.
type proxy struct {
	*httptest.Server
	requests atomic.Int64
	latency  time.Duration
	before   func(http.ResponseWriter, *http.Request) bool // answers itself if it returns true
}

func before(t testing.TB, address string) *proxy {
	t.Helper()
	p := &proxy{}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host // which is signed
	}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		time.Sleep(p.latency)
		if p.before == nil || !p.before(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// optional returns the path of a server program. It skips the test if the program is not installed.
func optional(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// quiet sets the environment so that the stores' libraries do not search the machine for
// credentials.
func quiet(t testing.TB) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"GOOGLE_APPLICATION_CREDENTIALS": "", "HOME": t.TempDir(), "STORAGE_EMULATOR_HOST": "",
	} {
		t.Setenv(name, value)
	}
}

// An s3 is a running versitygw, which is a server for S3's protocol, with a proxy in front of it.
type s3 struct {
	*proxy
	address string
}

// startS3 starts an S3 server with one bucket, and sets the credentials for it in the environment.
func startS3(t testing.TB) *s3 {
	t.Helper()
	program := testenv.Tool(t, "versitygw")
	quiet(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "us-east-1")
	dir, aside := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/bucket", 0o700))
	address := start(t, func(address, _ string) *exec.Cmd {
		return exec.Command(program, "--access", "someone", "--secret", "secret", "--port", address, "--quiet",
			"posix", "--sidecar", aside, dir)
	})
	return &s3{before(t, address), address}
}

// url returns the URL of an object, through the proxy.
func (s *s3) url(key string) string {
	return "s3://bucket/" + key + "?" + url.Values{"endpoint": {s.URL}, "use_path_style": {"true"}}.Encode()
}

// direct returns the URL of the bucket on the server itself, without the proxy.
func (s *s3) direct() string {
	return "s3://bucket?" + url.Values{"endpoint": {"http://" + s.address}, "use_path_style": {"true"}}.Encode()
}
