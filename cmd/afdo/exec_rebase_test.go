//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const execRebaseHeader = `static inline int half(int x) {
  return x / 2;
}
`

const execRebaseSource = `#include "half.h"
#define TWICE(x) (2 * (x))
__attribute__((noinline)) static int loop(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += half(i) ^ TWICE(n);
  return s;
}
int main(int argc, char **argv) {
  return loop(argc * 100) & 1;
}
`

// TestExecRebases checks that exec moves the counts of a slice to edited sources: nothing changes
// while the sources do not, edits of headers and of comments are noticed, and the slice is that of
// the whole profile after its move.
func TestExecRebases(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "gcc")
	s := newSite(t)
	s.write("half.h", execRebaseHeader)
	s.write("prog.c", execRebaseSource)
	s.run("gcc", "-O2", "-g", "prog.c", "-o", "prog")
	prof := s.path("prof.v4c")
	r := afdoRun("create", "--binary", s.path("prog"), "--profile", sampled(t, s.path("prog"), "loop", 50, 7), "-o", prof)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	slice := func(flags ...string) (said string, p []byte) {
		args := append(append([]string{"afdo", "exec", "-v", "--profile", prof}, flags...), "--", "gcc", "-O2", "-c", "prog.c", "-o", "prog.o")
		said = s.run(args...)
		data, err := os.ReadFile(s.path("prog.o.afdo"))
		require.NoError(t, err)
		return said, data
	}
	_, same := slice()
	_, stale := slice("--no-rebase")
	assert.Equal(t, stale, same)

	edits := []struct{ name, file, text string }{
		{"a comment", "prog.c", strings.Replace(execRebaseSource, "  for", "  /* all\n     of them */\n  for", 1)},
		{"back again", "prog.c", execRebaseSource},
		{"a header", "half.h", strings.Replace(execRebaseHeader, "  return", "  if (x < 0)\n    return -half(-x);\n  return", 1)},
		{"a function more", "half.h", "static inline int other(void) { return 1; }\n\n" + execRebaseHeader},
	}
	if !testenv.Sweep() {
		edits = edits[2:]
	}
	for _, edit := range edits {
		s.write(edit.file, edit.text)
		said, moved := slice()
		assert.NotContains(t, said, "up to date", edit.name)
		if edit.name == "a header" {
			assert.Contains(t, said, "moved the counts of 1 function: of ")
		}
		said, again := slice()
		assert.Contains(t, said, "up to date", edit.name)
		assert.Equal(t, moved, again, edit.name)

		whole := s.path("whole.v4c")
		r := afdoRun("rebase", prof, "--source", s.dir, "-o", whole)
		require.Equal(t, cli.StatusDone, r.status, r.err)
		want := mustCreate(t, "convert", whole, "--to", "v2", "-o", "-")
		got := mustCreate(t, "convert", s.path("prog.o.afdo"), "--to", "v2", "-o", "-")
		assert.Equal(t, len(want), len(got), edit.name)
		assert.Equal(t, cli.StatusDone, afdoRun("diff", "--exit-code", writeFile(t, "a", []byte(want)), s.path("prog.o.afdo")).status, edit.name)
		cut := s.path("cut.v2")
		r = afdoRun("slice", prof, "--unit", s.path("prog.c"), "--deps", writeFile(t, "prog.d", []byte("prog.o: "+s.path("prog.c")+" "+s.path("half.h")+"\n")), "--to", "v2", "-o", cut)
		require.Equal(t, cli.StatusDone, r.status, r.err)
		assert.Equal(t, cli.StatusDone, afdoRun("diff", "--exit-code", cut, s.path("prog.o.afdo")).status, edit.name)
		if testenv.Sweep() {
			_, kept := slice("--no-rebase")
			assert.Equal(t, stale, kept, edit.name)
		}
	}
	_, last := slice()
	assert.Equal(t, same, last, "a function that is the same keeps its records")
}

// TestExecWarnsAboutStale edits the only function with samples in a profile without hashes of
// source lines. The first compile of a build warns, unless --stale-warn allows so many stale
// counts.
func TestExecWarnsAboutStale(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "gcc")
	source := strings.Replace(execRebaseSource, "  return s;", "  s += half(s);\n  s ^= half(n) << 3;\n  return s;", 1)
	s := newSite(t)
	s.write("half.h", execRebaseHeader)
	s.write("prog.c", source)
	s.run("gcc", "-O2", "-g", "prog.c", "-o", "prog")
	prof := s.path("prof.v2")
	r := afdoRun("create", "--binary", s.path("prog"), "--profile", sampled(t, s.path("prog"), "loop", 50, 7), "--to", "v2", "-o", prof)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	said := func(flags ...string) int {
		s.setenv("AFDO_CACHE_DIR", t.TempDir())
		args := append(append([]string{"afdo", "exec", "--profile", prof}, flags...), "--", "gcc", "-O2", "-c", "prog.c", "-o", "prog.o")
		return strings.Count(s.run(args...)+s.run(args...), "100% of its samples in the profile are for lines")
	}
	assert.Zero(t, said("--stale-warn", "1%"))
	s.write("prog.c", strings.Replace(source, "  int s = 0;", "  int s = 0;\n  (void)s;\n  (void)s;\n  (void)s;", 1))
	assert.Equal(t, 1, said())
	assert.Zero(t, said("--stale-warn", "100%"))
}

// TestExecFindsRenamed renames the function with the samples: the slice has its new name. A
// function that was deleted is not in the slice.
func TestExecFindsRenamed(t *testing.T) {
	t.Parallel()
	source := strings.Replace(execRebaseSource, "  return s;", "  if (s < 0)\n    s = -s;\n  s ^= n << 7;\n  while (s > 1000)\n    s /= TWICE(3);\n  s += half(s) * 5;\n  return s;", 1)
	for _, compiler := range []string{"gcc", "gcc-16"}[:testenv.Rounds(1, 2)] {
		t.Run(compiler, func(t *testing.T) {
			testenv.Tool(t, compiler)
			s := newSite(t)
			s.write("half.h", execRebaseHeader)
			s.write("prog.c", source)
			s.run(compiler, "-O2", "-g", "prog.c", "-o", "prog")
			prof := s.path("prof.v4c")
			r := afdoRun("create", "--binary", s.path("prog"), "--profile", sampled(t, s.path("prog"), "loop", 50, 7), "-o", prof)
			require.Equal(t, cli.StatusDone, r.status, r.err)
			slice := func() string {
				said := s.run("afdo", "exec", "-v", "--profile", prof, "--", compiler, "-O2", "-c", "prog.c", "-o", "prog.o")
				assert.NotContains(t, said, "up to date")
				return mustCreate(t, "convert", s.path("prog.o.afdo"), "--to", "text", "-o", "-")
			}
			before := slice()
			require.Contains(t, before, "loop")

			s.write("prog.c", strings.ReplaceAll(source, "loop(", "spin("))
			renamed := slice()
			assert.Contains(t, renamed, "spin")
			assert.NotContains(t, renamed, "loop")
			assert.Equal(t, before, strings.ReplaceAll(renamed, "spin", "loop"))

			if !testenv.Sweep() {
				return
			}
			s.write("prog.c", "#include \"half.h\"\nint main(int argc, char **argv) {\n  return half(argc * 100) & 1;\n}\n")
			assert.NotContains(t, slice(), "loop:")
			s.write("prog.c", source)
			assert.Equal(t, before, slice())
		})
	}
}

const execNamespaces = `#include "version.h"
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
namespace lib {
inline namespace JOIN(v, VERSION) {
template <class T> struct Box {
  T all = 0;
  void add(T x) {
    all += x / 2;
  }
};
__attribute__((noinline)) int loop(Box<int> &box, int n) {
  for (int i = 0; i < n; i++)
    box.add(i ^ n);
  return box.all;
}
}
}
int main(int argc, char **argv) {
  lib::Box<int> box;
  return lib::loop(box, argc * 100) & 1;
}
`

// TestExecFollowsNamespaces compiles a library whose inline namespace contains its version, made by
// macros. The slice has the compile's name of each function, although no function was edited.
func TestExecFollowsNamespaces(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	for _, compiler := range []string{"g++", "g++-16"} {
		t.Run(compiler, func(t *testing.T) {
			testenv.Tool(t, compiler)
			s := newSite(t)
			s.write("version.h", "#define VERSION 1\n")
			s.write("prog.cc", execNamespaces)
			s.run(compiler, "-O2", "-g", "prog.cc", "-o", "prog")
			prof := s.path("prof.v4c")
			r := afdoRun("create", "--binary", s.path("prog"), "--profile", sampled(t, s.path("prog"), "_ZN3lib2v14loopERNS0_3BoxIiEEi", 50, 7), "-o", prof)
			require.Equal(t, cli.StatusDone, r.status, r.err)
			slice := func(flags ...string) string {
				s.run(append(append([]string{"afdo", "exec", "--profile", prof}, flags...), "--", compiler, "-O2", "-c", "prog.cc", "-o", "prog.o")...)
				return mustCreate(t, "convert", s.path("prog.o.afdo"), "--to", "text", "-o", "-")
			}
			before := slice()
			require.Contains(t, before, "_ZN3lib2v13BoxIiE3addEi")

			s.write("version.h", "#define VERSION 22\n")
			assert.Equal(t, strings.ReplaceAll(before, "2v1", "3v22"), slice())
			cut := mustCreate(t, "slice", prof, "--unit", s.path("prog.cc"), "--to", "text", "--no-rebase", "-o", "-")
			assert.NotContains(t, cut, "3v22")
			s.write("version.h", "#define VERSION 1\n")
			assert.Equal(t, before, slice())
		})
	}
}
