//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// fakeGCC writes a script that answers --version like a version of GCC, and otherwise prints its
// arguments.
func (s *site) fakeGCC(name, version string) string {
	s.write(name, fmt.Sprintf(`#!/bin/sh
case "$*" in
--version) echo "gcc (GCC) %[1]s"; echo "Copyright (C) Free Software Foundation, Inc."; exit ;;
-dumpfullversion*) echo %[1]s; exit ;;
*" -E -v") echo "$*" >> %[2]s
	for file in a.c a.h; do echo "# 1 \"$file\""; while IFS= read -r line; do printf '%%s\n' "$line"; done <$file; done; exit ;;
*--fail*) exit 7 ;;
*--kill*) kill -TERM $$ ;;
esac
printf '%%s\n' "$*"
`, version, s.path("asked")))
	return s.path(name)
}

func TestExecPassesThrough(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("bin/gcc", "14.2.0")
	icc := s.path("bin/icc")
	s.write("bin/icc", "#!/bin/sh\ncase $1 in --version) echo icc 2021; echo Copyright Intel;; *) echo \"$*\";; esac\n")
	colors := s.fakeGCC("bin/colors", "14.2.0") // it runs what is behind it, and by itself gcc
	old := s.fakeGCC("bin/gcc-11", "11.3.0")
	none := filepath.Join(s.dir, "bin/cc")
	s.fakeGCC("bin/launched", "14.2.0")
	s.write("bin/cc", "#!/bin/sh\ncase $1 in --version) echo other version 14;; -dump*) echo 14;; *) echo \"$*\";; esac\n")
	v2 := s.path("v2.afdo")
	s.write("v2.afdo", "adcg\x02\x00\x00\x00\x00\x00\x00\x00")
	for _, c := range []struct{ args, reason string }{
		{gcc + " a.o b.o -o prog", "it compiles nothing"},
		{gcc + " -E a.c", "it only preprocesses"},
		{gcc + " -c x.S", "it compiles nothing"},
		{gcc + " -c conftest.c", "it is a check of a configure step"},
		{gcc + " -dumpmachine", "it asks the compiler for information"},
		{gcc + " -c a.c -fno-auto-profile", "it has -fno-auto-profile"},
		{gcc + " -c a.c -fauto-profile=" + v2, "the compiler reads its -fauto-profile=" + v2 + " itself"},
		{gcc + " -c a.c -fauto-profile=missing", "its -fauto-profile=missing is no profile that can be read"},
		{icc + " -c a.c", "it is not a compiler of GCC or clang"},
		{colors + " gcc -c a.c", "it is not a compiler of GCC or clang"},
		{colors + " a.o -o prog", "it is not a compiler of GCC or clang"},
		{old + " -c a.c", old + ": not GCC 12 or later"},
		{none + " -c a.c", none + ": not GCC 12 or later"},
		{"/bin/echo -c a.c", "it is not a compiler of GCC or clang"},
	} {
		args := strings.Fields(c.args)
		want := strings.Join(args[1:], " ") + "\n"
		profile := []string{"--profile", "/nonexistent"}
		if strings.HasPrefix(c.reason, "it") {
			profile = nil // exec does not look for a profile then
		}
		out := s.run(append(append([]string{"afdo", "exec"}, append(profile, "--")...), args...)...)
		assert.True(t, strings.HasSuffix(out, want), "%s: %s", c.args, out)
		assert.Equal(t, "afdo: running "+filepath.Base(args[0])+" without the profile: "+c.reason+"\n"+want,
			s.run(append(append([]string{"afdo", "exec", "-v"}, append(profile, "--")...), args...)...), c.args)
	}
	assert.Equal(t, "-O2 -c conftest.c\n", s.run("afdo", "exec", "--", gcc, "-O2", "-fauto-profile=prog.v4", "-c", "conftest.c"), "GCC would refuse the profile")
}

func TestExecFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f(void) { return 1; }\n")
	s.write("a.h", "\n")
	s.write("bad.v4", "gcov\x00\x00\x00\x04short")
	for _, c := range []struct {
		status int
		args   string
		err    string
	}{
		{2, "--profile p", "afdo: missing argument COMPILER: afdo exec [--profile FILE] -- COMPILER ARGS...\n"},
		{2, "-- " + gcc + " -c a.c", "afdo: no profile: use --profile FILE or set AFDO_PROFILE\n"},
		{1, "--profile missing -- " + gcc + " -c a.c", "afdo: open "},
		{1, "--profile bad.v4 -- " + gcc + " -c a.c", "afdo: bad.v4: "},
		{1, "--profile a.c -- " + gcc + " -c a.c", "afdo: a.c: not a profile: it begins with"},
		{127, "--profile missing -- ./nosuch-gcc -c a.c", "afdo: exec: "},
		{126, "--profile missing -- ./a.c -o b", "afdo: exec "},
		{127, "-- nosuch a b", "afdo: exec: \"nosuch\": executable file not found in $PATH\n"},
		{7, "-- " + gcc + " --fail", ""},
		{7, gcc + " --fail", ""},
	} {
		out := s.fails(c.status, append([]string{"afdo", "exec"}, strings.Fields(c.args)...)...)
		assert.True(t, strings.HasPrefix(out, c.err), "%s: %s", c.args, out)
	}
	err := s.command("afdo", "exec", "--", gcc, "--kill").Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, syscall.SIGTERM, exit.Sys().(syscall.WaitStatus).Signal())
}

// TestExecCommands checks the command lines that compilers get, and their slices.
func TestExecCommands(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	gcc16 := s.fakeGCC("gcc-16", "16.1.0")
	mpicc := s.fakeGCC("bin/mpicc", "14.2.0")
	ccache := s.path("ccache")
	s.write("ccache", "#!/bin/sh\necho ccache \"$*\"\n")
	s.write("a.c", "#include \"a.h\"\nint f0(void) {}\n")
	s.write("a.h", "int f1(void) {}\n")
	require.NoError(t, os.Mkdir(s.path("sub"), 0o777))
	s.write("sub/a.c", "int f0(void) {}\n")
	s.write("sub/a.h", "")
	s.write("args", "-O2 -c a.c -fauto-profile=own.v4\n")
	profile := writeV4(t, tinyProfile("/src/a.c", "/src/a.h", "/src/b.c"))
	own, err := os.ReadFile(profile)
	require.NoError(t, err)
	s.write("own.v4", string(own))
	s.write("own.v3", must(t, "convert", profile, "-o", "-", "--to", "v3"))

	for _, c := range []struct {
		args, want, slice string
		functions         []string
	}{
		{gcc + " -O2 -c a.c", "-fauto-profile=a.o.afdo -O2 -c a.c", "a.o.afdo", []string{"f0", "f1"}},
		{mpicc + " -O2 -c a.c", "-fauto-profile=a.o.afdo -O2 -c a.c", "a.o.afdo", []string{"f0", "f1"}},
		{gcc + " -O2 -c a.c -o sub/x.o", "-fauto-profile=sub/x.o.afdo -O2 -c a.c -o sub/x.o", "sub/x.o.afdo", []string{"f0", "f1"}},
		{gcc16 + " -O2 -c a.c", "-fauto-profile=a.o.afdo -O2 -c a.c", "a.o.afdo", []string{"f0", "f1"}},
		{gcc + " -O2 a.c -o prog", "-fauto-profile=prog.exec.afdo -O2 a.c -o prog", "prog.exec.afdo", []string{"f0", "f1"}},
		{gcc + " -c a.c -fauto-profile=own.v4 -O2", "-c a.c -fauto-profile=a.o.afdo -O2", "a.o.afdo", []string{"f0", "f1"}},
		{gcc + " -c a.c -fauto-profile=own.v3 -O2", "-c a.c -fauto-profile=a.o.afdo -O2", "a.o.afdo", []string{"f0", "f1"}},
		{gcc16 + " -c a.c -fauto-profile=own.v3 -O2", "-c a.c -fauto-profile=own.v3 -O2", "", nil}, // which that compiler reads
		{gcc + " @args", "@args -fauto-profile=a.o.afdo", "a.o.afdo", []string{"f0", "f1"}},
		{"env -C sub -u CPATH " + gcc + " -O2 -c a.c", "-fauto-profile=a.o.afdo -O2 -c a.c", "sub/a.o.afdo", []string{"f0"}},
		{ccache + " " + gcc + " -O2 -c a.c", "ccache " + gcc + " -fauto-profile=a.o.afdo -O2 -c a.c", "a.o.afdo", []string{"f0", "f1"}},
	} {
		if c.slice != "" {
			os.Remove(s.path(c.slice))
		}
		out := s.run(append([]string{"afdo", "exec", "--no-params", "--profile", profile, "--"}, strings.Fields(c.args)...)...)
		assert.True(t, out == c.want+"\n" || strings.HasPrefix(out, "afdo: indexed a copy of own.v3") && strings.HasSuffix(out, "\n"+c.want+"\n"), "%s: %s", c.args, out)
		if c.slice == "" {
			continue
		}
		assert.ElementsMatch(t, c.functions, functionsOf(t, s.path(c.slice)), c.args)
		want := anyprof.V2
		if strings.HasPrefix(c.args, gcc16) {
			want = anyprof.V3
		}
		assert.Equal(t, want, formatOf(t, s.path(c.slice)), c.args)
	}

	// What is thrown away has its slice elsewhere.
	out := s.run("afdo", "exec", "--no-params", "--profile", profile, gcc, "-O2", "-c", "a.c", "-o", "/dev/null")
	option, rest, _ := strings.Cut(out, " ")
	assert.Equal(t, "-O2 -c a.c -o /dev/null\n", rest)
	assert.Contains(t, option, "/slices/")
	assert.ElementsMatch(t, []string{"f0", "f1"}, functionsOf(t, strings.TrimPrefix(option, "-fauto-profile=")))

	// sccache compares only the names of files, so with it as well a new slice gets a new name.
	sccache := s.path("bin/sccache")
	s.write("bin/sccache", "#!/bin/sh\nprintf '%s\\n' \"$*\"\n")
	byContent := func() string {
		out := s.run("afdo", "exec", "--no-params", "--profile", profile, "--", sccache, gcc, "-O2", "-c", "a.c")
		option, rest, _ := strings.Cut(strings.TrimPrefix(out, gcc+" "), " ")
		assert.Equal(t, "-O2 -c a.c\n", rest)
		return option
	}
	first := byContent()
	assert.Contains(t, first, "/slices/")
	assert.Equal(t, first, byContent())
	other := tinyProfile("/src/a.c", "a.h")
	change(t, other, "/src/a.c")
	kept := load(t, profile)
	replaceV4(t, profile, other)
	assert.NotEqual(t, first, byContent())
	replaceV4(t, profile, kept)
	assert.Equal(t, first, byContent())

	// The environment has the profile, and LTO links none.
	s.setenv("AFDO_PROFILE", profile)
	assert.Equal(t, "-fauto-profile=a.o.afdo -O2 -c a.c\n", s.run("afdo", "exec", "--no-params", gcc, "-O2", "-c", "a.c"))
	assert.Equal(t, "a.o -flto\n", s.run("afdo", "exec", "--no-params", "--", gcc, "a.o", "-fauto-profile=own.v4", "-flto"))
	assert.Equal(t, "a.o -fauto-profile=own.v4\n", s.run("afdo", "exec", "--no-params", "--", gcc, "a.o", "-fauto-profile=own.v4"))
}

// TestExecCaches counts how often the compiler is asked for its version and paths, and checks the
// modification time of the slice.
func TestExecCaches(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "#include \"a.h\"\nint f0(int x) { return x; }\n")
	s.write("a.h", "int f1(int x) { return x; }\n")
	p := tinyProfile("/src/a.c", "/src/a.h", "/src/b.c")
	profile := writeV4(t, p)
	exec := func() string {
		return s.run("afdo", "exec", "-v", "--profile", profile, "--", gcc, "-O2", "-c", "a.c")
	}
	asked := func() int {
		data, err := os.ReadFile(s.path("asked"))
		if errors.Is(err, fs.ErrNotExist) {
			return 0
		}
		return bytes.Count(data, []byte("\n"))
	}

	testenv.Settle() // nothing is kept of a compile whose source has just changed
	assert.Contains(t, exec(), "from the compiler's -E")
	assert.Equal(t, 1, asked())
	first := modTime(t, s.path("a.o.afdo"))
	assert.Contains(t, exec(), "up to date")

	// A profile that brings nothing new for this file.
	change(t, p, "/src/b.c")
	replaceV4(t, profile, p)
	assert.Contains(t, exec(), "a.o.afdo unchanged")
	assert.Equal(t, first, modTime(t, s.path("a.o.afdo")))

	// One that does.
	change(t, p, "/src/a.h")
	replaceV4(t, profile, p)
	assert.Contains(t, exec(), "a.o.afdo written")
	assert.Contains(t, exec(), "up to date")

	// Somebody touches the slice.
	s.write("a.o.afdo", "nonsense")
	assert.Contains(t, exec(), "a.o.afdo written")

	assert.Equal(t, 1, asked())

	// Zeros of the same size and time.
	info, err := os.Stat(s.path("a.o.afdo"))
	require.NoError(t, err)
	s.write("a.o.afdo", string(make([]byte, info.Size())))
	require.NoError(t, os.Chtimes(s.path("a.o.afdo"), info.ModTime(), info.ModTime()))
	assert.Contains(t, exec(), "a.o.afdo written")

	// A FIFO.
	require.NoError(t, os.Remove(s.path("a.o.afdo")))
	require.NoError(t, syscall.Mkfifo(s.path("a.o.afdo"), 0o666))
	assert.Contains(t, exec(), "a.o.afdo written")

	// A profile that differs, of the same size and time.
	info, err = os.Stat(profile)
	require.NoError(t, err)
	other := tinyProfile("/src/a.c", "/src/a.h", "/src/b.c")
	change(t, other, "/src/a.c")
	replaceV4(t, profile, other)
	require.NoError(t, os.Truncate(profile, info.Size()))
	require.NoError(t, os.Chtimes(profile, info.ModTime(), info.ModTime()))
	assert.NotContains(t, s.says("afdo", "exec", "-v", "--profile", profile, "--", gcc, "-O2", "-c", "a.c"), "up to date")
	replaceV4(t, profile, p)

	// A change of the source.
	s.write("a.c", "#include \"a.h\"\nint g(int x) { return x; }\n")
	assert.Contains(t, exec(), "from the compiler's -E")
	assert.Equal(t, 2, asked())

	// Another version of the compiler.
	s.fakeGCC("gcc", "16.2.0-r1")
	assert.Contains(t, exec(), "GCC 16.2.0-r1, slice a.o.afdo written")
	assert.Equal(t, 3, asked())

	// No cache at all.
	for _, dir := range []string{"/dev/null/nowhere", ""} {
		s.setenv("AFDO_CACHE_DIR", dir)
		s.setenv("HOME", "")
		s.setenv("XDG_CACHE_HOME", "")
		s.setenv("TMPDIR", t.TempDir())
		assert.Contains(t, exec(), "from the compiler's -E")
		out := s.run("afdo", "exec", "--profile", profile, "--", gcc, "-O2", "-c", "a.c", "-o", "/dev/null")
		assert.Regexp(t, "-fauto-profile=.*/afdo-[0-9]+/[0-9a-f]+.afdo -O2 -c a.c -o /dev/null\n$", out)
	}
}

// TestExecKeepsTheProfile checks that exec does not overwrite a profile of the program that a
// command makes, such as prog.afdo for "gcc a.c -o prog", in whatever format. The same is true of
// the profile of the compile, even if it has the path of the slice.
func TestExecKeepsTheProfile(t *testing.T) {
	for _, given := range []string{"prog.afdo", "copy.afdo", "prog.exec.afdo"} {
		s := newSiteInProcess(t)
		gcc := s.fakeGCC("gcc", "14.2.0")
		s.write("a.c", "int f0(int x) { return x; }\n")
		s.write("a.h", "")
		profile, err := os.ReadFile(writeV4(t, tinyProfile("/src/a.c")))
		require.NoError(t, err)
		s.write(given, string(profile))
		if given != "prog.afdo" {
			s.run("afdo", "convert", given, "-o", "prog.afdo", "--to", "v2")
		}
		kept := s.read("prog.afdo")
		for _, args := range [][]string{{"a.c", "-o", "prog"}, {"-shared", "a.c", "-o", "prog"}, {"-c", "a.c", "-o", "prog"}} {
			out := s.run(append([]string{"afdo", "exec", "--profile", given, "--", gcc}, args...)...)
			want := "-fauto-profile=prog.exec.afdo"
			if given == "prog.exec.afdo" {
				want = `-fauto-profile=\S+/slices/`
			}
			assert.Regexp(t, want, out)
			assert.Equal(t, kept, s.read("prog.afdo"))
			assert.Equal(t, string(profile), s.read(given))
		}
	}
}

// TestExecPrivate checks that exec does not use a cache that others may write to.
func TestExecPrivate(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	s.setenv("AFDO_CACHE_DIR", dir)
	out := s.run("afdo", "exec", "-v", "--profile", writeV4(t, tinyProfile("a.c")), "--", gcc, "-O2", "-c", "a.c")
	assert.Contains(t, out, "other users can write to the folder")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestExecThrownAway compiles into /dev/null with two profiles at once.
func TestExecThrownAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) {} int f1(void) {}\n")
	s.write("a.h", "\n")
	profiles := []string{writeV4(t, tinyProfile("a.c")), writeV4(t, tinyProfile("a.c", "b.c"))}
	var running sync.WaitGroup
	for i := range testenv.Rounds(8, 24) {
		running.Go(func() {
			out, err := s.command("afdo", "exec", "--no-params", "--profile", profiles[i%2], "--", gcc, "-O2", "-c", "a.c", "-o", "/dev/null").CombinedOutput()
			assert.NoError(t, err)
			option, _, _ := strings.Cut(string(out), " ")
			assert.Len(t, functionsOf(t, strings.TrimPrefix(option, "-fauto-profile=")), 1+i%2)
		})
	}
	running.Wait()
}

// TestExecWarnings checks that a warning about the profile or the compiler is printed once in a
// build of three compiles.
func TestExecWarnings(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("mycompiler", "#!/bin/sh\necho mine\n")
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	profile := writeV4(t, tinyProfile("a.c"))
	bare := s.path("bare.v2")
	s.run("afdo", "convert", profile, "--to", "v2", "-o", bare)
	build := func(args ...string) (said int) {
		for range 3 {
			said += strings.Count(s.run(append([]string{"afdo", "exec"}, args...)...), "afdo: ")
		}
		return said
	}
	assert.Equal(t, 0, build("--profile", profile, "--", gcc, "-O2", "-c", "a.c"))
	assert.Equal(t, 0, build("--profile", profile, "--", "nice", gcc, "-O2", "-c", "a.c"))
	assert.Equal(t, 1, build("--profile", bare, "--", gcc, "-O2", "-c", "a.c"), "without an index")
	assert.Equal(t, 1, build("--profile", profile, "--", "./mycompiler", "-c", "a.c"), "a compiler that is not known")
	s.write("a.c", "int other(void) {}\n")
	assert.Equal(t, 1, build("--profile", profile, "--", gcc, "-O2", "-c", "a.c"), "nothing in the profile")

	out := s.run("afdo", "cache")
	for _, want := range []string{"sliced", "up to date", "nothing in the profile", "it is not a compiler of GCC or clang", "of slices to read", "/a.c: nothing in the profile\n"} {
		assert.Contains(t, out, want)
	}
}

// TestExecInParallel runs many compiles at the same time, as make -j does.
func TestExecInParallel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	profile := writeV4(t, tinyProfile("/src/a.c", "/src/b.c"))
	var running sync.WaitGroup
	objects := testenv.Rounds(4, 12)
	for i := range 2 * objects {
		running.Go(func() {
			object := fmt.Sprintf("obj%d.o", i%objects)
			out, err := s.command("afdo", "exec", "--no-params", "--profile", profile, "--", gcc, "-O2", "-c", "a.c", "-o", object).CombinedOutput()
			assert.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("-fauto-profile=%[1]s.afdo -O2 -c a.c -o %[1]s\n", object), string(out))
		})
	}
	running.Wait()
	for i := range objects {
		assert.Equal(t, []string{"f0"}, functionsOf(t, s.path(fmt.Sprintf("obj%d.o.afdo", i))))
	}
	left, err := filepath.Glob(s.path(".afdo-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}
