//go:build unix

package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// TestExecParams checks that exec adds the options that each version of GCC needs, unless the
// command sets them itself.
func TestExecParams(t *testing.T) {
	s := newSiteInProcess(t)
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	profile := writeV4(t, tinyProfile("/src/a.c"))
	const param = "--param=max-early-inliner-iterations=10 "
	const branches = "-fno-tracer --param=max-rtl-if-conversion-predictable-cost=40 "
	for version, want := range map[string]string{
		"12.2.0": param + "-fno-unroll-loops " + branches, "13.3.0": param + branches, "14.2.0": branches, "16.1.0": branches,
	} {
		if !testenv.Sweep() && version == "16.1.0" {
			continue // like 14.2.0
		}
		gcc := s.fakeGCC("bin/"+version+"/gcc", version)
		run := func(args ...string) string {
			return s.run(append([]string{"afdo", "exec", "--profile", profile}, args...)...)
		}
		assert.Equal(t, want+"-fauto-profile=a.o.afdo -O2 -c a.c\n", run("--", gcc, "-O2", "-c", "a.c"), version)
		assert.Equal(t, want+"-fauto-profile=a.o.afdo -O2 -c a.c\n", run("--", gcc, "-O2", "-c", "a.c"), "again, with the slice of the last run")
		assert.Equal(t, "-fauto-profile=a.o.afdo -O2 -c a.c\n", run("--no-params", "--", gcc, "-O2", "-c", "a.c"), version)
		assert.Equal(t, strings.TrimPrefix(want, param)+"-fauto-profile=a.o.afdo -O2 --param max-early-inliner-iterations=3 -c a.c\n",
			run("--", gcc, "-O2", "--param", "max-early-inliner-iterations=3", "-c", "a.c"), version)
		assert.Equal(t, strings.Replace(want, "-fno-unroll-loops ", "", 1)+"-fauto-profile=a.o.afdo -O2 -funroll-loops -c a.c\n",
			run("--", gcc, "-O2", "-funroll-loops", "-c", "a.c"), version)
		assert.Equal(t, strings.TrimSuffix(want, branches)+"-fauto-profile=a.o.afdo -O2 -ftracer --param=max-rtl-if-conversion-predictable-cost=20 -c a.c\n",
			run("--", gcc, "-O2", "-ftracer", "--param=max-rtl-if-conversion-predictable-cost=20", "-c", "a.c"), version)
		assert.Equal(t, "a.o -o a\n", run("--", gcc, "a.o", "-o", "a"), version)
	}
}

// TestExecOfBuild checks that exec prints a warning if its command is a build, such as make,
// because the compiles of the build get no profile.
func TestExecOfBuild(t *testing.T) {
	s := newSiteInProcess(t)
	s.write("bin/make", "#!/bin/sh\necho made\n")
	require.NoError(t, os.Chmod(s.path("bin/make"), 0o700))
	s.setenv("PATH", s.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	assert.Equal(t, "afdo: make is not GCC or clang that afdo knows; running it without a profile\nmade\n",
		s.run("afdo", "exec", "--profile", writeV4(t, tinyProfile("/src/a.c")), "--", "make"))
}

// TestExecSpeaksUp checks that exec warns once per build about reasons why the profile has no
// effect.
func TestExecSpeaksUp(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	path := writeV4(t, tinyProfile("/src/a.c"))
	run := func(args ...string) string {
		return s.run(append([]string{"afdo", "exec", "--no-params", "--profile", path, "--", gcc}, args...)...)
	}
	const warning = "afdo: a.c is compiled without optimisation, where a profile does nothing\n"
	assert.Equal(t, warning+"-fauto-profile=a.o.afdo -O2 -O0 -c a.c\n", run("-O2", "-O0", "-c", "a.c"))
	assert.Equal(t, "-fauto-profile=b.o.afdo -c a.c -o b.o\n", run("-c", "a.c", "-o", "b.o"), "it is said once")
	s.write("a.c", "int renamed(void) {}\n")
	assert.Contains(t, run("-O2", "-c", "a.c"), "afdo: the profile has functions of a.c, but this compile defines none of them")

	named := profile.New()
	named.AddSymbol(named.AddUnit("/src/a.c"), "renamed")
	path = writeV4(t, named)
	const nothing = "the profile has nothing of"
	assert.NotContains(t, run("-c", "a.c", "-o", "c.o"), nothing, "without optimisation")
	works := s.read("gcc")
	s.write("gcc", strings.Replace(works, "case ", "case \"$*\" in *-fsyntax-only) exit 1 ;; esac\ncase ", 1))
	assert.NotContains(t, run("-O2", "-c", "a.c", "-o", "d.o"), nothing, "a source with an error")
	s.write("gcc", works)
	assert.Contains(t, run("-O2", "-c", "a.c"), "afdo: the profile has nothing of a.c", "a name alone is no function")
}

// TestExecFallback checks that exec compiles without the profile if the compiler crashes with it,
// and fails if the compiler fails for another reason.
func TestExecFallback(t *testing.T) {
	s := newSiteInProcess(t)
	s.fakeGCC("real/gcc", "14.2.0")
	s.write("gcc", `#!/bin/sh
case "$*" in
*--wrong*) echo "a.c:1: error: wrong" >&2; exit 3 ;;
*-fauto-profile=*--kill*) kill -KILL $$ ;;
*-fauto-profile=*" -c "*) echo "during IPA pass: inline" >&2; echo "a.c:1:1: internal compiler error: in foo, at bar.cc:1" >&2; exit 1 ;;
esac
exec ./real/gcc "$@"
`)
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	gcc, profile := s.path("gcc"), writeV4(t, tinyProfile("/src/a.c"))
	for range 3 { // the third run finds all that exec keeps of a compile
		out := s.run("afdo", "exec", "--profile", profile, "--", gcc, "-O2", "-c", "a.c")
		assert.Contains(t, out, "internal compiler error")
		assert.Contains(t, out, "\n-O2 -c a.c\nafdo: the compiler fails with the profile and not without it, so this file is compiled without: "+gcc+" -O2 -c a.c\n")
	}
	assert.Equal(t, "a.c:1: error: wrong\n", s.fails(3, "afdo", "exec", "--profile", profile, "--", gcc, "-O2", "-c", "a.c", "--wrong"))
	s.fails(128+9, "afdo", "exec", "--profile", profile, "--", gcc, "-O2", "-c", "a.c", "--kill")

	s.write("broken", "gcov, and then nothing of it")
	out := s.run("afdo", "exec", "--fallback", "--profile", "broken", "--", gcc, "-O2", "-c", "a.c")
	assert.Contains(t, out, ": compiling without the profile\n-O2 -c a.c\n")
	s.fails(cli.StatusFault, "afdo", "exec", "--profile", "broken", "--", gcc, "-O2", "-c", "a.c")
}

// TestExecFewFiles checks that a limit on open files, with which the compiler alone works, does not
// make exec fail.
func TestExecFewFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the numbers are those of Linux")
	}
	s := newSite(t)
	s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) {}\n")
	profile := writeV4(t, tinyProfile("/src/a.c"))
	for _, limit := range []string{"12", "16", "24"} {
		out := s.run("sh", "-c", "ulimit -n "+limit+"; exec afdo exec --profile "+profile+" -- ./gcc -O2 -c a.c")
		assert.Contains(t, out, "-O2 -c a.c\n", limit)
	}
}

// TestCreateSaysWhatReadsIt checks that create says how to use a version 4 profile, which no
// compiler reads yet.
func TestCreateSaysWhatReadsIt(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "gcc")
	program := compileC(t, createdProgram, "-g")
	in := sampled(t, program, "loop", 50, 7)
	for format, said := range map[string]bool{"v4c": true, "v4": true, "v3": false, "v2": false} {
		r := afdoRun("create", "--binary", program, "--profile", in, "--to", format, "-o", t.TempDir()+"/out")
		assert.Equal(t, cli.StatusDone, r.status, r.err)
		if said {
			assert.Contains(t, r.err, "; no GCC reads "+format+" itself yet: compile behind afdo exec")
		} else {
			assert.NotContains(t, r.err, "reads")
		}
	}
}
