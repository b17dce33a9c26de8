//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A team is two checkouts of the same sources, each with its own ccache, and a storage that both
// ccaches share.
type team struct {
	*site
	units   []string
	profile string
	whole   string
}

const (
	teamUnits     = 8
	teamRefreshed = 3
)

// newTeam returns a team whose profile has a function of each unit.
func newTeam(t *testing.T, storage string) *team {
	testenv.NeedSweep(t)
	testenv.Tool(t, "ccache")
	needGCC(t)
	tm := &team{site: newSite(t)}
	tm.setenv("CCACHE_REMOTE_STORAGE", storage)
	for i := range teamUnits {
		unit := fmt.Sprintf("src/u%d.c", i)
		tm.units = append(tm.units, unit)
		for _, checkout := range []string{"a", "b"} {
			tm.write(checkout+"/"+unit, fmt.Sprintf("static int twice(int x) { return 2 * x; }\nint f%d(int x) { return twice(x); }\n", i))
			require.NoError(t, os.MkdirAll(tm.path(checkout+"/build"), 0o777))
		}
	}
	tm.profile, tm.whole = tm.path("prof.v4"), tm.path("whole.afdo")
	tm.refresh(0)
	return tm
}

// refresh writes the profile, with other counts for the first few units.
func (tm *team) refresh(changed int) {
	p := tinyProfile(tm.units...)
	for _, unit := range tm.units[:changed] {
		change(tm, p, unit)
	}
	replaceV4(tm, tm.profile, p)
	c, err := toolchain.Find(tm.Context(), command.Parse([]string{"gcc"}, tm.dir), nil)
	require.NoError(tm, err)
	tm.run("afdo", "convert", tm.profile, "--to", "v"+strconv.Itoa(int(c.Reads())), "-o", tm.whole)
}

// build compiles all units of a checkout, and returns how many objects came from ccache. args
// returns the compile of a unit.
func (tm *team) build(checkout string, args func(dir, unit string) []string) (hits int) {
	tm.Helper()
	s := &site{TB: tm, dir: tm.path(checkout), env: append(tm.env, "CCACHE_DIR="+tm.path("ccache-"+checkout), "CCACHE_BASEDIR="+tm.path(checkout))}
	s.run("ccache", "-z")
	for _, unit := range tm.units {
		s.run(args(s.dir, unit)...)
	}
	hits, misses := s.ccacheCounts()
	require.Equal(tm, teamUnits, hits+misses)
	return hits
}

// sliced returns a function that returns the command line by which the launcher compiles a unit.
// paths returns the paths in that command line.
func (tm *team) sliced(paths func(dir, unit string) []string) func(dir, unit string) []string {
	return func(dir, unit string) []string {
		return append([]string{"afdo", "exec", "--profile", tm.profile, "--", "ccache", "gcc", "-O2"}, paths(dir, unit)...)
	}
}

func relativePaths(_, unit string) []string {
	return []string{"-c", unit, "-o", "build/" + filepath.Base(unit) + ".o"}
}

// test builds the first checkout, then the second one, and the second one again after a refresh of
// the profile.
func (tm *team) test(t *testing.T) {
	whole := func(dir, unit string) []string {
		return append([]string{"ccache", "gcc", "-O2", "-fauto-profile=" + tm.whole}, relativePaths(dir, unit)...)
	}
	slices := tm.sliced(relativePaths)
	assert.Zero(t, tm.build("a", slices), "the first build")
	assert.Equal(t, teamUnits, tm.build("b", slices), "another checkout")
	assert.Zero(t, tm.build("a", whole), "the first build with the whole profile")
	assert.Equal(t, teamUnits, tm.build("b", whole), "another checkout with the whole profile")
	tm.refresh(teamRefreshed)
	assert.Equal(t, teamUnits-teamRefreshed, tm.build("b", slices), "after the refresh")
	assert.Equal(t, teamUnits, tm.build("a", slices), "after the refresh, where another checkout has compiled")
	assert.Zero(t, tm.build("b", whole), "after the refresh with the whole profile")
}

// TestTeamHTTP shares objects through an HTTP server, as docs/guide/slices.md describes.
func TestTeamHTTP(t *testing.T) {
	newTeam(t, newStorage(t).URL+"/ccache").test(t)
}

// TestTeamRedis shares objects through a Redis server.
func TestTeamRedis(t *testing.T) {
	testenv.NeedSweep(t)
	newTeam(t, newRedis(t)).test(t)
}

// TestTeamAbsolutePaths compiles by absolute paths of a checkout, also from other folders.
func TestTeamAbsolutePaths(t *testing.T) {
	for name, paths := range map[string]func(dir, unit string) []string{
		"object": func(dir, unit string) []string {
			return []string{"-c", unit, "-o", filepath.Join(dir, "build", filepath.Base(unit)+".o")}
		},
		"source and object": func(dir, unit string) []string {
			return []string{"-c", filepath.Join(dir, unit), "-o", filepath.Join(dir, "build", filepath.Base(unit)+".o")}
		},
		"debug information": func(dir, unit string) []string {
			return []string{"-g", "-fdebug-prefix-map=" + dir + "=.", "-c", filepath.Join(dir, unit), "-o", filepath.Join(dir, "build", filepath.Base(unit)+".o")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, newStorage(t).URL+"/ccache")
			build := tm.sliced(paths)
			assert.Zero(t, tm.build("a", build))
			assert.Equal(t, teamUnits, tm.build("b", build))
			tm.refresh(teamRefreshed)
			assert.Equal(t, teamUnits-teamRefreshed, tm.build("b", build))
		})
	}
}

// newStorage starts an HTTP server that stores what clients put to it.
func newStorage(t *testing.T) *httptest.Server {
	var kept sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPut:
			data, err := io.ReadAll(r.Body)
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			kept.Store(r.URL.Path, data)
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			kept.Delete(r.URL.Path)
		default:
			data, ok := kept.Load(r.URL.Path)
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(data.([]byte))
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// newRedis starts a Redis server and returns its URL.
func newRedis(t *testing.T) string {
	server := testenv.Tool(t, "redis-server")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, _ := strings.Cut(address, ":")
	s := &site{TB: t, dir: t.TempDir()}
	cmd := s.command(server, "--bind", "127.0.0.1", "--port", port, "--save", "")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
	return "redis://" + address
}
