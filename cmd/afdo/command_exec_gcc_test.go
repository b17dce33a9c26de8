//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/internal/testkit/train"
	"github.com/go-afdo/afdo/profile"
)

// newTrainedSite returns a site with one of package slice's programs, and the path of a large
// profile that includes a profile of a run of the program.
func newTrainedSite(t testing.TB, program, compiler string) (s *site, p *profile.Profile, path string) {
	testenv.Tool(t, compiler)
	s = newSite(t)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS(filepath.Join("../../compile/slice/testdata", program))))
	sources, err := filepath.Glob(s.path("*.c*"))
	require.NoError(t, err)
	s.run(append([]string{compiler, "-O2", "-g", "-o", "trained"}, sources...)...)
	p = profile.New()
	require.NoError(t, train.Add(p, s.path("trained"), train.Options{}))
	p.Merge(synth.Profile(synth.Options{Seed: 1, Units: testenv.Rounds(30, 130), Functions: testenv.Rounds(500, 5_000)}))
	return s, p, writeV4(t, p)
}

// TestExecCode checks that a compiler makes the same code with a slice as with the whole profile.
func TestExecCode(t *testing.T) {
	t.Parallel()
	for program, compiler := range map[string]string{"c": "gcc", "cxx": "g++"} {
		if program == "cxx" && !testenv.Sweep() {
			continue
		}
		s, _, path := newTrainedSite(t, program, compiler)
		c, err := toolchain.Find(t.Context(), command.Parse([]string{compiler}, s.dir), nil)
		require.NoError(t, err)
		whole := s.path("whole.afdo")
		require.Equal(t, cli.StatusDone, afdoRun("convert", path, "--to", "v"+strconv.Itoa(int(c.Reads())), "-o", whole).status)
		sources, err := filepath.Glob(s.path("*.c*"))
		require.NoError(t, err)
		for _, source := range testenv.Some(sources, testenv.Rounds(1, 2)) {
			base := filepath.Base(source)
			s.run(compiler, "-O2", "-S", base, "-o", "none.s")
			s.run(compiler, "-O2", "-S", base, "-o", "whole.s", "-fauto-profile="+whole)
			assert.Empty(t, s.run("afdo", "exec", "--no-params", "--profile", path, "--", compiler, "-O2", "-S", base, "-o", "slice.s"))
			assert.True(t, s.read("whole.s") == s.read("slice.s"), base)
			assert.False(t, s.read("none.s") == s.read("slice.s"), base)
		}
	}
}

// TestExecCcache puts the launcher before a real ccache.
func TestExecCcache(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	testenv.Tool(t, "ccache")
	s, p, path := newTrainedSite(t, "c", "gcc")
	s.setenv("CCACHE_DIR", t.TempDir())
	s.setenv("CCACHE_NODIRECT", "")
	compile := func() (hits, misses int) {
		s.run("ccache", "-z")
		s.run("afdo", "exec", "--profile", path, "--", "ccache", "gcc", "-O2", "-g", "-c", "walk.c", "-o", "walk.o")
		return s.ccacheCounts()
	}
	expect := func(wantHits, wantMisses int, what string) {
		t.Helper()
		hits, misses := compile()
		assert.Equal(t, []int{wantHits, wantMisses}, []int{hits, misses}, "hits and misses %s", what)
	}

	expect(0, 1, "at first")
	object := s.read("walk.o")
	expect(1, 0, "with the same profile")
	change(t, p, s.path("main.c"))
	change(t, p, s.path("insert.c"))
	p.AddFunction(p.AddSymbol(p.AddUnit("/new.c"), "new_function"), profile.Function{HeadCount: 1 << 40})
	replaceV4(t, path, p)
	expect(1, 0, "with a profile that leaves the unit alone")
	assert.True(t, object == s.read("walk.o"))
	change(t, p, s.path("walk.c"))
	replaceV4(t, path, p)
	expect(0, 1, "with a profile that changes the unit")
}

// ccacheCounts returns the numbers of hits and misses of ccache.
func (s *site) ccacheCounts() (hits, misses int) {
	s.Helper()
	for line := range strings.Lines(s.run("ccache", "--print-stats")) {
		fields := strings.Fields(line)
		n, err := strconv.Atoi(fields[len(fields)-1])
		require.NoError(s, err)
		switch fields[0] {
		case "direct_cache_hit", "preprocessed_cache_hit":
			hits += n
		case "cache_miss":
			misses += n
		}
	}
	return hits, misses
}

// TestExecCcacheRefresh changes the profile of three of many units. With slices, ccache still has
// the objects of the other units; with the whole profile, it has none.
func TestExecCcacheRefresh(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	testenv.Tool(t, "ccache")
	needGCC(t)
	s := newSite(t)
	s.setenv("CCACHE_DIR", t.TempDir())
	var units []string
	for i := range 6 {
		units = append(units, fmt.Sprintf("u%d.c", i))
		s.write(units[i], fmt.Sprintf("static int twice(int x) { return 2 * x; }\nint f%d(int x) { return twice(x); }\n", i))
	}
	p := tinyProfile(units...)
	path := writeV4(t, p)
	build := func(launcher ...string) (hits, misses int) {
		s.run("ccache", "-z")
		for _, unit := range units {
			s.run(append(launcher, "-O2", "-g", "-c", unit, "-o", unit+".o")...)
		}
		return s.ccacheCounts()
	}
	sliced := []string{"afdo", "exec", "--profile", path, "--", "ccache", "gcc"}
	whole := []string{"ccache", "gcc", "-fauto-profile=" + s.path("whole.afdo")}
	convert := func() {
		c, err := toolchain.Find(t.Context(), command.Parse([]string{"gcc"}, s.dir), nil)
		require.NoError(t, err)
		s.run("afdo", "convert", path, "--to", "v"+strconv.Itoa(int(c.Reads())), "-o", "whole.afdo")
	}
	convert()
	expect := func(wantHits, wantMisses int, launcher []string) {
		t.Helper()
		hits, misses := build(launcher...)
		assert.Equal(t, []int{wantHits, wantMisses}, []int{hits, misses}, "hits and misses")
	}
	expect(0, 6, sliced)
	expect(6, 0, sliced)
	expect(0, 6, whole)
	for _, unit := range units[:2] {
		change(t, p, unit)
	}
	replaceV4(t, path, p)
	convert()
	expect(4, 2, sliced)
	expect(0, 6, whole)
}

// TestExecCMake builds a project of C and C++ with CMake and Ninja, several compiles at once.
func TestExecCMake(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	testenv.Tool(t, "cmake")
	testenv.Tool(t, "ninja")
	testenv.Tool(t, "g++")
	s, _, path := newTrainedSite(t, "cxx", "g++")
	require.NoError(t, os.CopyFS(s.path("c"), os.DirFS("../../compile/slice/testdata/c")))
	s.write("CMakeLists.txt", `
cmake_minimum_required(VERSION 3.16)
project(shapes C CXX)
add_executable(shapes draw.cc measure.cc main.cc)
add_executable(table c/insert.c c/walk.c c/main.c)
add_library(pieces OBJECT c/walk.c draw.cc)
`)
	launcher := "afdo;exec;-v;--profile;" + path + ";--"
	s.run("cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
		"-DCMAKE_C_COMPILER_LAUNCHER="+launcher, "-DCMAKE_CXX_COMPILER_LAUNCHER="+launcher)
	out := s.run("ninja", "-C", "build", "-j", "4", "-v")
	assert.NotContains(t, out, "as it is: it is no compiler")
	for _, object := range []string{
		"shapes.dir/draw.cc.o", "shapes.dir/measure.cc.o", "shapes.dir/main.cc.o", "pieces.dir/draw.cc.o",
		"table.dir/c/insert.c.o", "table.dir/c/walk.c.o", "table.dir/c/main.c.o", "pieces.dir/c/walk.c.o",
	} {
		part := "build/CMakeFiles/" + object + ".afdo"
		functions := functionsOf(t, s.path(part))
		if strings.HasPrefix(object, "shapes") {
			assert.NotEmpty(t, functions, object)
		}
		assert.Less(t, fileSize(t, s.path(part)), fileSize(t, path)/10)
	}
	assert.Contains(t, s.run("ninja", "-C", "build"), "no work to do")
	s.run("build/shapes", "3")
	s.run("build/table", "10")

	// All slices at once are the same ones.
	s.run("afdo", "slice", path, "--all", "-d", "all", "--compile-commands", "build/compile_commands.json", "--to", "v2")
	for _, object := range []string{"shapes.dir/draw.cc.o", "table.dir/c/walk.c.o"} {
		name := "CMakeFiles/" + object + ".afdo"
		assert.True(t, s.read("build/"+name) == s.read("all/"+name), object)
	}
}
