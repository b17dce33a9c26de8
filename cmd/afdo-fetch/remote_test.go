package main_test

import (
	"bytes"
	"fmt"
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

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// An object is a file of a server, which counts requests and bytes, and may be replaced.
type object struct {
	URL             string
	data            atomic.Pointer[[]byte]
	number          atomic.Int64 // of times that it was replaced
	requests, bytes atomic.Int64
	replaceAt       atomic.Int64 // the number of the request before which it is replaced, if not 0
}

func newObject(t *testing.T, data []byte) *object {
	o := &object{}
	o.data.Store(&data)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.requests.Add(1) == o.replaceAt.Load() {
			o.number.Add(1)
		}
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(o.number.Load())))
		http.ServeContent(counting{w, &o.bytes}, r, "", time.Time{}, bytes.NewReader(*o.data.Load()))
	}))
	t.Cleanup(server.Close)
	o.URL = server.URL + "/all.afdo"
	return o
}

// replace puts another file in the place of the one that is there.
func (o *object) replace(data []byte) {
	o.data.Store(&data)
	o.number.Add(1)
}

// reset begins to count anew.
func (o *object) reset() {
	o.requests.Store(0)
	o.bytes.Store(0)
}

type counting struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// A command is afdo beside its helper.
type command struct {
	*testing.T
	program string
	dir     string
	env     []string
}

func newCommand(t *testing.T) *command {
	c := &command{T: t, program: afdoPath(t), dir: t.TempDir()}
	c.env = append(os.Environ(), "AFDO_CACHE_DIR="+filepath.Join(c.dir, "cache"), "AFDO_PROFILE=")
	return c
}

// afdo runs the command in its folder.
func (c *command) afdo(args ...string) (string, error) {
	cmd := exec.Command(c.program, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func encode(t *testing.T, p *profile.Profile, indexed bool) []byte {
	var file bytes.Buffer
	options := builder.Options{Compact: true}
	if indexed {
		options.Index = &index.Options{Unqualified: slice.Names}
	}
	require.NoError(t, builder.Write(&file, p, options))
	return file.Bytes()
}

// Any unit with the names of its callees takes few requests, and is that of the file.
func TestUnits(t *testing.T) {
	c := newCommand(t)
	p := synth.New(synth.Medium)
	for _, indexed := range []bool{false, true} {
		data := encode(t, p, indexed)
		path := filepath.Join(c.dir, "all.afdo")
		require.NoError(t, os.WriteFile(path, data, 0o666))
		o := newObject(t, data)
		units := p.NumUnits()
		var most, mostBytes int64
		for f := 1; f < units; f += units / 40 {
			unit := p.UnitPath(profile.UnitRef(f))
			want, err := c.afdo("lookup", path, "--unit", unit)
			require.NoError(t, err, want)
			o.reset()
			got, err := c.afdo("lookup", o.URL, "--unit", unit)
			require.NoError(t, err, got)
			require.Equal(t, want, got)
			require.LessOrEqual(t, o.requests.Load(), int64(12), unit)
			most, mostBytes = max(most, o.requests.Load()), max(mostBytes, o.bytes.Load())
		}
		t.Logf("%d bytes, index %v: at most %d requests and %d bytes a unit", len(data), indexed, most, mostBytes)
	}
}

// A file that is replaced between two requests is an error, wherever that happens.
func TestReplaced(t *testing.T) {
	c := newCommand(t)
	p := synth.New(synth.Medium)
	o := newObject(t, encode(t, p, false))
	unit := p.UnitPath(profile.UnitRef(p.NumUnits() / 2))
	whole, err := c.afdo("lookup", o.URL, "--unit", unit)
	require.NoError(t, err, whole)
	requests := o.requests.Load()
	require.Greater(t, requests, int64(1))
	for at := int64(2); at <= requests; at++ {
		o.reset()
		o.replaceAt.Store(at)
		out, err := c.afdo("lookup", o.URL, "--unit", unit)
		require.Error(t, err, "before request %d: %s", at, out)
		require.Contains(t, out, "changed")
	}
}

// exec downloads a profile once and asks whether it is still the same.
func TestExec(t *testing.T) {
	c := newCommand(t)
	gcc := testenv.Tool(t, "gcc")
	profileOf := func(count uint64) []byte {
		p := synth.New(synth.Small)
		var body profile.Body
		body.Count(1, 0, count)
		p.AddFunction(p.AddSymbol(p.AddUnit("a.c"), "only_here"), profile.Function{HeadCount: count, Records: body.Records()})
		return encode(t, p, true)
	}
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "a.c"), []byte("int only_here(int x) { return x + 1; }\n"), 0o666))
	compile := func(from string) string {
		out, err := c.afdo("exec", "-v", "--profile", from, "--", gcc, "-O2", "-c", "a.c", "-o", "a.o")
		require.NoError(t, err, out)
		part, err := os.ReadFile(filepath.Join(c.dir, "a.o.afdo"))
		require.NoError(t, err)
		require.NotContains(t, out, "secret")
		if strings.Contains(out, "downloading") {
			return "downloaded " + string(part)
		}
		return string(part)
	}
	file := filepath.Join(c.dir, "all.afdo")
	data := profileOf(100)
	require.NoError(t, os.WriteFile(file, data, 0o666))
	want := compile(file)

	o := newObject(t, data)
	url := o.URL + "?secret"
	require.Equal(t, "downloaded "+want, compile(url))
	o.reset()
	require.Equal(t, want, compile(url))
	require.Equal(t, []int64{1, 1}, []int64{o.requests.Load(), o.bytes.Load()}, "requests and bytes")

	o.replace(profileOf(1_000_000))
	renewed := compile(url)
	require.True(t, strings.HasPrefix(renewed, "downloaded "))
	require.NotEqual(t, "downloaded "+want, renewed)

	o.reset()
	o.number.Add(1)
	o.replaceAt.Store(2)
	out, err := c.afdo("exec", "--profile", url, "--", gcc, "-c", "a.c")
	require.Error(t, err)
	require.Contains(t, out, "changed")
	c.env = append(c.env, "AFDO_CACHE_DIR=/dev/null/none")
	out, err = c.afdo("exec", "--profile", url, "--", gcc, "-c", "a.c")
	require.Error(t, err)
	require.Contains(t, out, "no cache")
}

// A server without ranges is an error of every verb, and so is one whose files have no version of
// exec.
func TestServers(t *testing.T) {
	c := newCommand(t)
	gcc := testenv.Tool(t, "gcc")
	data := encode(t, synth.New(synth.Small), true)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "a.c"), []byte("int f(void) { return 1; }\n"), 0o666))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/whole" {
			_, _ = w.Write(data)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data)) // neither ETag nor time
	}))
	defer server.Close()
	for _, args := range [][]string{{"units", "URL"}, {"lookup", "URL", "--unit", "x.c"}, {"slice", "URL", "--unit", "x.c", "--to", "v2"}, {"exec", "--profile", "URL", "--", gcc, "-c", "a.c"}} {
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "URL", server.URL+"/whole")
		}
		out, err := c.afdo(args...)
		require.Error(t, err, "%s: %s", args, out)
		require.Contains(t, out, "does not serve ranges")
	}
	out, err := c.afdo("exec", "--profile", server.URL+"/all", "--", gcc, "-c", "a.c")
	require.Error(t, err)
	require.Contains(t, out, "neither an ETag nor a modification time")
}

// A server that claims more than there is, and sends the file alone or nulls behind it, makes no
// verb panic or take memory or room for what it claims.
func TestClaims(t *testing.T) {
	c := newCommand(t)
	file := encode(t, synth.New(synth.Small), false)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "a.c"), []byte("int a(void) { return 1; }\n"), 0o666))
	for _, size := range []int64{5 << 30, 1 << 62} {
		for _, nulls := range []int64{0, 1 << 20} {
			claims := claiming(t, file, size, nulls)
			for _, args := range [][]string{
				{"show", claims}, {"lookup", claims, "--unit", "x.c"}, {"convert", claims, "--to", "v3", "-o", "out"},
				{"exec", "--profile", claims, "--", "gcc", "-O2", "-c", "a.c"},
			} {
				t.Run(fmt.Sprint(args[0], size, nulls), func(t *testing.T) {
					defer os.Remove(filepath.Join(c.dir, "out"))
					out, err := c.afdo(args...)
					require.NotContains(t, out, "goroutine")
					require.NotContains(t, out, "out of memory")
					require.Error(t, err, out)
					require.NoFileExists(t, filepath.Join(c.dir, "out"))
					require.Contains(t, out, fmt.Sprintf("the server reports %d bytes, the limit is 1073741824", size))
				})
			}
		}
	}
}

// No verb prints what is secret in a URL, whether it reads URLs or not.
func TestSecrets(t *testing.T) {
	c := newCommand(t)
	data := encode(t, synth.New(synth.Small), true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data[:len(data)-7]))
	}))
	defer server.Close()
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "a.c"), []byte("int a(void) { return 1; }\n"), 0o666))
	for _, url := range []string{
		strings.Replace(server.URL, "://", "://user:secret@", 1) + "/all?secret=secret#secret", "http://user:secret@[::1/", "http://user:secret/@host/",
	} {
		for _, line := range []string{
			"check URL", "check --json URL", "show URL", "diff URL URL", "index URL", "convert URL --to v4 -o URL", "create --binary URL --profile URL -o out",
			"explain URL -- gcc -O2 -c a.c", "exec --profile URL -- gcc -O2 -c a.c",
		} {
			out, _ := c.afdo(strings.Fields(strings.ReplaceAll(line, "URL", url))...)
			require.NotContains(t, out, "secret", line)
		}
	}
}

// The flags of the command reach the program that fetches.
func TestLimits(t *testing.T) {
	c := newCommand(t)
	file := encode(t, synth.New(synth.Small), false)
	url := claiming(t, file, int64(len(file)), 0)
	out, err := c.afdo("show", url, "--max-download", "1K")
	require.Error(t, err)
	require.Contains(t, out, "the limit is 1024 (--max-download sets the limit")
	_, err = c.afdo("show", url, "--max-download", "1G", "--timeout", "10s")
	require.NoError(t, err)
}

// claiming returns the URL of a file whose server claims another size, and sends at most so many
// nulls for what is not there.
func claiming(t *testing.T, file []byte, size, nulls int64) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var from, to int64
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n == 1 {
			from, to = size+from, size-1
		}
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, size))
		w.WriteHeader(http.StatusPartialContent)
		there := file[min(from, int64(len(file))):min(to+1, int64(len(file)))]
		_, _ = w.Write(there)
		_, _ = w.Write(make([]byte, min(nulls, to+1-from-int64(len(there)))))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A verb that goes through all of a file fetches each byte of it once, in few requests.
func TestWholeFile(t *testing.T) {
	c := newCommand(t)
	for _, indexed := range []bool{false, true} {
		p := synth.New(synth.Medium)
		data := encode(t, p, indexed)
		path := filepath.Join(c.dir, "all.afdo")
		require.NoError(t, os.WriteFile(path, data, 0o666))
		o := newObject(t, data)
		for _, verb := range [][]string{
			{"top"}, {"units"}, {"fingerprint"}, {"check"}, {"convert", "--to", "v3", "-o", "-"}, {"slice", "--to", "v2", "-o", "-", "--unit", p.UnitPath(1)},
		} {
			t.Run(fmt.Sprintf("%s indexed=%v", verb[0], indexed), func(t *testing.T) {
				want, err := c.afdo(append(verb, path)...)
				require.NoError(t, err, want)
				o.reset()
				got, err := c.afdo(append(verb, o.URL)...)
				require.NoError(t, err, got)
				require.Equal(t, want, strings.ReplaceAll(got, o.URL, path))
				require.LessOrEqual(t, o.requests.Load(), int64(5))
				require.LessOrEqual(t, o.bytes.Load(), int64(len(data)+len(data)/100))
				t.Logf("%d of %d bytes in %d requests", o.bytes.Load(), len(data), o.requests.Load())
			})
		}
	}
}

// A merge of instrumentation profiles, which goes through each file several times, fetches it once,
// with what is secret in its URL.
func TestMergeFetchesOnce(t *testing.T) {
	c := newCommand(t)
	temps := t.TempDir()
	c.env = append(c.env, "TMPDIR="+temps)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "a.proftext"), []byte(":ir\nmain\n1\n2\n5\n7\n\nother\n2\n1\n3\n"), 0o666))
	out, err := c.afdo("convert", "a.proftext", "--to", "profdata", "-o", "a.profdata")
	require.NoError(t, err, out)
	for _, name := range []string{"a.proftext", "a.profdata"} {
		path := filepath.Join(c.dir, name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var sent atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "secret" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(counting{w, &sent}, r, "", time.Time{}, bytes.NewReader(data))
		}))
		t.Cleanup(server.Close)
		want, err := c.afdo("merge", path, path+"=2", "--to", "proftext", "-o", "-")
		require.NoError(t, err, want)
		for _, flags := range [][]string{nil, {"--keep-going"}} {
			sent.Store(0)
			got, err := c.afdo(append([]string{"merge", server.URL + "/a?secret", path + "=2", "--to", "proftext", "-o", "-"}, flags...)...)
			require.NoError(t, err, got)
			require.Equal(t, want, got)
			require.LessOrEqual(t, sent.Load(), int64(len(data)+1), "%s %v", name, flags)
		}
	}
	left, err := os.ReadDir(temps)
	require.NoError(t, err)
	require.Empty(t, left)
}
