package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/rank"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

// A servedFile is a file on a disk and on a server, which counts requests and the bytes of answers.
type servedFile struct {
	path, url       string
	size            int64
	requests, bytes atomic.Int64
}

func serveFile(t testing.TB, data []byte) *servedFile {
	f := &servedFile{path: writeFile(t, "all.afdo", data), size: int64(len(data))}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(countedWriter{w, &f.bytes}, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(server.Close)
	f.url = server.URL + "/all.afdo"
	return f
}

type countedWriter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (w countedWriter) Write(p []byte) (int, error) {
	w.bytes.Add(int64(len(p)))
	return w.ResponseWriter.Write(p)
}

// progressLine matches the progress message that a verb prints after ten seconds.
var progressLine = regexp.MustCompile(`(?m)^afdo: reading .*\n`)

// run runs a verb on the file of the server, and returns the requests and bytes that it took.
// Output and status must be those for the file on the disk. FILE in the arguments is the file.
func (f *servedFile) run(t testing.TB, args ...string) (requests, bytes int64) {
	t.Helper()
	on := func(path string) result {
		args := slices.Clone(args)
		args[slices.Index(args, "FILE")] = path
		return afdoRun(args...)
	}
	want := on(f.path)
	f.requests.Store(0)
	f.bytes.Store(0)
	got := on(f.url)
	got.out, got.err = strings.ReplaceAll(got.out, f.url, f.path), strings.ReplaceAll(got.err, f.url, f.path)
	want.err = progressLine.ReplaceAllString(want.err, "")
	got.err = progressLine.ReplaceAllString(got.err, "")
	require.Equal(t, want, got, "%q", args)
	return f.requests.Load(), f.bytes.Load()
}

// indexedData encodes a profile as "afdo convert --to v4c --index" does.
func indexedData(t testing.TB, p *profile.Profile) []byte {
	var file bytes.Buffer
	o := builder.Options{Compact: true, Index: gcovkind.NewIndexOptions(slice.FromProfile(p))}
	require.NoError(t, builder.Write(&file, p, o))
	return file.Bytes()
}

// questions are command lines, grouped by the kind of question that they answer.
type questions map[string][][]string

// askedOf returns questions about n symbols and units of a profile, and about as many that it
// lacks.
func askedOf(p *profile.Profile, n int) questions {
	q := make(questions)
	ask := func(kind string, args ...string) { q[kind] = append(q[kind], args) }
	symbol := func(kind string, name string) { ask(kind, "lookup", "FILE", "--symbol", name) }
	sampled := make(map[profile.SymbolRef]bool)
	for s := range p.Functions() {
		sampled[s] = true
	}
	const step = 7919 // a prime number, so that each symbol comes once
	for i := range p.NumSymbols() {
		s, kind := profile.SymbolRef(i*step%p.NumSymbols()), "symbol without samples"
		if sampled[s] {
			kind = "symbol with samples"
		}
		if len(q[kind]) < n {
			symbol(kind, p.SymbolName(s))
		}
	}
	for i := range n {
		symbol("missing symbol", fmt.Sprintf("no_such_%d", i))
		symbol("missing symbol", fmt.Sprintf("none::such_%d(int)", i))
		symbol("missing symbol", fmt.Sprintf("_ZN4none6such_%dEv", i))
		ask("missing unit", "lookup", "FILE", "--unit", fmt.Sprintf("no/such_%d.cc", i))
	}
	hottest, _ := rank.Hottest(p, rank.New(p), n)
	for _, s := range hottest {
		symbol("hottest symbol", p.SymbolName(s))
	}
	for _, args := range [][]string{{"show", "FILE"}, {"show", "--json", "FILE"}, {"units", "FILE"}, {"top", "FILE"}, {"top", "-n", "7", "--json", "FILE"}} {
		ask(args[0], args...)
	}
	return q
}

// A limit says how much 19 of 20 questions of one kind may cost on an indexed file: a number of
// requests, and a number of bytes, which is freeBytes and a percentage of the file's size. One
// question of 20 may cost more, because the index's filter does not reject every missing name.
type limit struct{ requests, percent int64 }

// freeBytes are allowed for any file: the end of the file, which is fetched to open it, and as many
// bytes again.
const freeBytes = 256 << 10

var requestLimits = map[string]limit{
	"missing symbol":         {2, 2},
	"missing unit":           {2, 1},
	"symbol with samples":    {8, 20},
	"symbol without samples": {16, 45},
	"hottest symbol":         {16, 65},
	"show":                   {2, 1},
	"units":                  {2, 1},
	"top":                    {2, 1},
}

// TestRequests counts the requests and bytes that verbs need for an indexed file on a server. The
// output must be that for the file on disk.
func TestRequests(t *testing.T) {
	profiles := map[string]func(*testing.T) *profile.Profile{
		"medium": func(*testing.T) *profile.Profile { return synth.Profile(synth.Medium) },
	}
	if testenv.Sweep() {
		for name, o := range map[string]synth.Options{"android": synth.Android, "bootstrap": synth.Bootstrap} {
			profiles[name] = func(*testing.T) *profile.Profile { return synth.Profile(o) }
		}
		for _, name := range []string{"libart_arm", "keystore2"} {
			profiles[name] = func(t *testing.T) *profile.Profile {
				p, err := gcov.ParseBytes(testenv.CorpusData(t, name+".v3"))
				require.NoError(t, err)
				return p
			}
		}
	}
	for name, made := range profiles {
		t.Run(name, func(t *testing.T) {
			p := made(t)
			f := serveFile(t, indexedData(t, p))
			asked := askedOf(p, testenv.Rounds(2, 20, 100))
			for _, kind := range slices.Sorted(maps.Keys(asked)) {
				var requests, sizes []int64
				for _, args := range asked[kind] {
					r, b := f.run(t, args...)
					requests, sizes = append(requests, r), append(sizes, b)
				}
				slices.Sort(requests)
				slices.Sort(sizes)
				t.Logf("%s, %d bytes: %s: %.1f requests, 19 of 20 at most %d, all at most %d; %d bytes, 19 of 20 at most %d, all at most %d",
					name, f.size, kind, mean(requests), most(requests), slices.Max(requests), int64(mean(sizes)), most(sizes), slices.Max(sizes))
				limit := requestLimits[kind]
				assert.LessOrEqual(t, most(requests), limit.requests, "requests of %s: %s", name, kind)
				assert.LessOrEqual(t, most(sizes), freeBytes+limit.percent*f.size/100, "bytes of %s: %s", name, kind)
			}
		})
	}
}

// most returns the largest of sorted numbers, without the largest twentieth of them.
func most(numbers []int64) int64 { return numbers[(len(numbers)*19+19)/20-1] }

func mean(numbers []int64) float64 {
	sum := int64(0)
	for _, n := range numbers {
		sum += n
	}
	return float64(sum) / float64(len(numbers))
}

// TestOverviewUnused checks that the whole file is read if its overview has another scheme or is
// malformed.
func TestOverviewUnused(t *testing.T) {
	var file bytes.Buffer
	for scheme, data := range map[string][]byte{"another": nil, gcovkind.OverviewScheme: {1, 2, 3}} {
		file.Reset()
		o := builder.Options{Compact: true, Index: &index.Options{
			OverviewScheme: scheme, Overview: func(*afdo.Reader) ([]byte, error) { return data, nil },
		}}
		require.NoError(t, builder.Write(&file, synth.Profile(synth.Small), o))
		f := serveFile(t, file.Bytes())
		for _, verb := range []string{"show", "units", "top"} {
			requests, size := f.run(t, verb, "FILE")
			require.LessOrEqual(t, requests, int64(3))
			require.Equal(t, f.size, size)
		}
	}
}

// TestOverviewOfCompressed checks that a compressed file is fetched once, with an overview or
// without.
func TestOverviewOfCompressed(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(indexedData(t, synth.Profile(synth.Small)))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	f := serveFile(t, packed.Bytes())
	for _, verb := range []string{"show", "units", "top"} {
		_, size := f.run(t, verb, "FILE")
		require.Equal(t, f.size, size)
	}
}

// TestRequestsWithoutIndex looks up a symbol in a file without an index on a server: each byte is
// fetched once, in few requests.
func TestRequestsWithoutIndex(t *testing.T) {
	p := synth.Profile(synth.Small)
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Compact: true}))
	f := serveFile(t, file.Bytes())
	for _, name := range []string{p.SymbolName(7), "no_such_symbol"} {
		requests, size := f.run(t, "lookup", "FILE", "--symbol", name)
		require.LessOrEqual(t, requests, int64(5))
		require.LessOrEqual(t, size, f.size)
	}
}
