//go:build linux

package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestExecLayout checks that a compile gets only the entries of the layout list for functions that
// it defines, and that the object is the same as with the whole list. The name of the reduced list
// depends on its contents.
func TestExecLayout(t *testing.T) {
	clang := llvmTool(t, "clang")
	s := newSite(t)
	s.setenv("AFDO_CACHE_DIR", s.path("cache"))
	s.write("a.c", "int g(int); int f(int n) { if (n) return g(n) + 1; return 3; }\n")
	s.write("b.c", "int f(int); int unlisted(int n) { return f(n) * 2; }\n")
	s.write("p_cc_profile.txt", "v1\nf f\nc 0 1\nf h\nc 0 2 1\n")
	compile := func(args ...string) string {
		return s.run(append([]string{"afdo", "exec", "-v", "--layout", "p", "--"}, args...)...)
	}
	assert.Contains(t, compile(clang, "-O1", "-c", "a.c", "-o", "a.o"), "layout of 13 bytes")
	toolOutput(t, s.dir, clang, "-O1", "-fbasic-block-sections=list=p_cc_profile.txt", "-c", "a.c", "-o", "whole.o")
	assert.Equal(t, s.read("whole.o"), s.read("a.o"))
	slices, err := filepath.Glob(s.path("cache/slices/*"))
	require.NoError(t, err)
	require.Len(t, slices, 1)
	part, err := os.ReadFile(slices[0])
	require.NoError(t, err)
	assert.Equal(t, "v1\nf f\nc 0 1\n", string(part))

	s.write("p_cc_profile.txt", "v1\nf h\nc 0 1\nf f\nc 0 1\n") // nothing changes for a.c
	compile(clang, "-O1", "-c", "a.c", "-o", "a.o")
	compile(clang, "-O1", "-c", "b.c", "-o", "b.o")
	compile(clang, "-O1", "--target=armv7-linux-gnueabi", "-c", "a.c", "-o", "arm.o")
	assert.Contains(t, compile(clang, "-O1", "-flto", "-c", "a.c", "-o", "a.o"), "the linker takes the list")
	assert.Contains(t, compile(clang, "-O1", "-fbasic-block-sections=none", "-c", "a.c", "-o", "a.o"), "itself")
	slices, err = filepath.Glob(s.path("cache/slices/*"))
	require.NoError(t, err)
	assert.Len(t, slices, 1)

	s.write("p_cc_profile.txt", "v1\nf f\nc 0 0\n")
	said := s.fails(1, "afdo", "exec", "--layout", "p", "--", clang, "-c", "a.c", "-o", "a.o") // clang would crash
	assert.Contains(t, said, "p_cc_profile.txt")
	assert.Contains(t, said, "line 2")
	s.fails(1, "afdo", "exec", "--layout", "nowhere", "--", clang, "-c", "a.c", "-o", "a.o")
}

// TestExecLayoutProjects checks for all sources of projects that the object is the same with the
// reduced layout list as with the whole one. The list has an entry for each function that an object
// defines.
func TestExecLayoutProjects(t *testing.T) {
	testenv.NeedSweep(t)
	clang, nm := llvmTool(t, "clang"), llvmTool(t, "llvm-nm")
	for _, p := range []*project{
		{folder: "lua5.4*", sources: "src/l*.c", not: "luac.c", defines: []string{"-O2"}, files: map[string]string{"src/lua5.4-deb-multiarch.h": "#define DEB_HOST_MULTIARCH \"any\"\n"}},
		{folder: "leveldb*", sources: "db/*.cc table/*.cc util/*.cc", not: "*_test.cc testutil.cc *_bench.cc *windows* leveldbutil.cc",
			defines: []string{"-O2", "-std=c++17", "-DLEVELDB_PLATFORM_POSIX=1", "-Iinclude", "-I.", "-Iport/generated"}, files: map[string]string{"port/generated/port/port_config.h": portConfig, "port/port_config.h": portConfig}},
	} {
		t.Run(p.folder, func(t *testing.T) {
			s := newProjectSite(t, p, sourcesOf(t, p))
			s.setenv("AFDO_CACHE_DIR", s.path("cache"))
			sources := testenv.Some(s.files(p.sources, p.not), 3)
			text, seen := "v1\n", map[string]bool{}
			for _, source := range sources {
				toolOutput(t, s.dir, clang, append(p.defines, "-c", source, "-o", "x.o")...)
				for line := range strings.Lines(toolOutput(t, s.dir, nm, "--defined-only", "--format=just-symbols", "x.o")) {
					if name := strings.TrimSpace(line); name != "" && !seen[name] {
						seen[name] = true
						text += "f " + name + "\nc 0\n"
					}
				}
			}
			s.write("p_cc_profile.txt", text)
			listed := 0
			for _, source := range sources {
				toolOutput(t, s.dir, clang, append(p.defines, "-fbasic-block-sections=list=p_cc_profile.txt", "-c", source, "-o", "whole.o")...)
				s.run(append([]string{"afdo", "exec", "--layout", "p", "--", clang}, append(p.defines, "-c", source, "-o", "part.o")...)...)
				require.Equal(t, s.read("whole.o") == s.read("part.o"), true, source)
			}
			slices, err := filepath.Glob(s.path("cache/slices/*"))
			require.NoError(t, err)
			for _, path := range slices {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				listed += strings.Count(string(data), "\nf ")
			}
			t.Logf("%d units, %d functions, %d entries in slices", len(sources), len(seen), listed)
		})
	}
}

// TestExecLayoutBackends checks the reduced layout list for the backend compiles of distributed
// ThinLTO, which append a suffix to the names of static functions. A function that has changed
// since the list was made is compiled without its entry.
func TestExecLayoutBackends(t *testing.T) {
	testenv.NeedSweep(t)
	clang, nm := llvmTool(t, "clang"), llvmTool(t, "llvm-nm")
	testenv.Tool(t, "ld.lld-22")
	s := newSite(t)
	s.setenv("AFDO_CACHE_DIR", s.path("cache"))
	s.write("a.c", `int g(int); int h(int);
static __attribute__((noinline)) int helper(int n) { if (n % 7) return g(n) + 1; return h(n + 3); }
int f(int n) { if (n > 3) return helper(n) + g(n); return 2; }
int only(int n) { return n ? h(n) : g(n); }
`)
	s.write("b.c", "int f(int); int only(int); int g(int n) { return n > 5 ? f(n - 3) : 1; } int h(int n) { return n ? g(n) : 9; } int main(void) { return f(8) + only(3); }\n")
	for _, unit := range []string{"a", "b"} {
		toolOutput(t, s.dir, clang, "-O2", "-flto=thin", "-c", unit+".c", "-o", unit+".bc.o")
	}
	toolOutput(t, s.dir, clang, "-O2", "-fuse-ld=lld-22", "-flto=thin", "a.bc.o", "b.bc.o", "-Wl,--thinlto-index-only", "-o", "prog")
	backend := func(unit, out string, flags ...string) []string {
		return append([]string{clang, "-O2", "-x", "ir", unit + ".bc.o", "-fthinlto-index=" + unit + ".bc.o.thinlto.bc", "-c", "-o", out}, flags...)
	}
	text := "v1\n"
	for _, unit := range []string{"a", "b"} {
		toolOutput(t, s.dir, clang, backend(unit, "x.o")[1:]...)
		for name := range strings.FieldsSeq(toolOutput(t, s.dir, nm, "--defined-only", "--format=just-symbols", "x.o")) {
			text += "f " + name + "\nc 0\nh 0:ffff0000ffff0000\n"
		}
	}
	assert.Contains(t, text, "f helper.llvm.", "ThinLTO exports the static function")
	s.write("p_cc_profile.txt", text)
	for _, unit := range []string{"a", "b"} {
		toolOutput(t, s.dir, clang, backend(unit, "whole.o", "-fbasic-block-sections=list=p_cc_profile.txt")[1:]...)
		s.run(append([]string{"afdo", "exec", "--no-layout-check", "--layout", "p", "--"}, backend(unit, "part.o")...)...)
		assert.True(t, s.read("whole.o") == s.read("part.o"), unit)
		said := s.run(append([]string{"afdo", "exec", "--layout", "p", "--"}, backend(unit, "part.o")...)...)
		assert.Contains(t, said, unit+".bc.o: 3 functions of the layout changed")
	}
	slices, err := filepath.Glob(s.path("cache/slices/*"))
	require.NoError(t, err)
	require.Len(t, slices, 2)
	for _, path := range slices {
		part, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, 3, strings.Count(string(part), "\nf "), "%s", part)
	}
}

// TestExecStaleLayout checks that a function that has changed since the list was made is compiled
// without its entry, and other functions with theirs. Two compiles give the same object.
func TestExecStaleLayout(t *testing.T) {
	clang := llvmTool(t, "clang")
	s := newSite(t)
	const f, g = "int h(int); int f(int n) { if (n) return h(n) + 1; return 3; }\n", "int g(int n) { while (n > 3) n = h(n); return n; }\n"
	s.write("a.c", f+g)
	toolOutput(t, s.dir, clang, "-O1", "-fbasic-block-address-map", "-mllvm", "-emit-bb-hash", "-c", "a.c", "-o", "map.o")
	file, err := elf.Open(s.path("map.o"))
	require.NoError(t, err)
	defer file.Close()
	m, err := bbmap.New(file)
	require.NoError(t, err)
	var text strings.Builder
	text.WriteString("v1\n")
	names := []string{"f", "g"}
	for one, err := range m.Functions() {
		require.NoError(t, err)
		fmt.Fprintf(&text, "f %s\nc 0 1\nh", names[0])
		for _, b := range one.Ranges[0].Blocks[:2] {
			fmt.Fprintf(&text, " %d:%x", b.ID, b.Hash&bbmap.SteadyMask)
		}
		text.WriteString("\n")
		names = names[1:]
	}
	s.write("p_cc_profile.txt", text.String())
	compile := func(flags ...string) string {
		return s.run(append(append([]string{"afdo", "exec", "--layout", "p"}, flags...), "--", clang, "-O1", "-c", "a.c", "-o", "a.o")...)
	}
	parts := func() string { return toolOutput(t, s.dir, llvmTool(t, "llvm-nm"), "a.o") }
	assert.Empty(t, compile())
	assert.Contains(t, parts(), "f.cold")
	assert.Contains(t, parts(), "g.cold")
	first := s.read("a.o")
	compile()
	assert.True(t, first == s.read("a.o"), "hashes differ from run to run")

	s.write("a.c", f+strings.Replace(g, "n > 3", "n % 3 && h(n + 1)", 1))
	assert.Contains(t, compile(), "1 function of the layout changed since the recording, such as g")
	assert.Contains(t, parts(), "f.cold")
	assert.NotContains(t, parts(), "g.cold")
	sections := func() string { return toolOutput(t, s.dir, llvmTool(t, "llvm-readobj"), "--sections", "a.o") }
	assert.Contains(t, sections(), " .text.g ", "the linker moves nothing else with it")
	assert.Empty(t, compile(), "the cache knows it")
	assert.NotContains(t, parts(), "g.cold")
	assert.Contains(t, sections(), " .text.g ")
	assert.Empty(t, compile("--no-layout-check"))
	assert.Contains(t, parts(), "g.cold")
}

// TestExecStaleLayoutDoesNoHarm checks that exec drops stale entries: without the check, a program
// takes twice as many jumps, because the list orders the blocks of its loop by the numbers of other
// blocks.
func TestExecStaleLayoutDoesNoHarm(t *testing.T) {
	testenv.NeedSweep(t)
	clang, valgrind := llvmTool(t, "clang"), testenv.Tool(t, "valgrind")
	testenv.Tool(t, "ld.lld-22")
	s := newSite(t)
	before, after := "    if (k == 55) { s ^= rare(s); if (s & 1) s = rare(s + 3); }\n", "    if (k == 56) { s ^= rare(s); if (s & 1) s = rare(s + 3); if (s > 5) s += rare(8); }\n"
	s.write("old.c", fmt.Sprintf(movedBlocks, before, ""))
	s.write("new.c", fmt.Sprintf(movedBlocks, "", after))
	link := func(program string, args ...string) {
		toolOutput(t, s.dir, clang, append([]string{"-O2", "-no-pie", "-fuse-ld=lld-22", "-o", program}, args...)...)
	}
	taken := func(program string) (sum int) {
		s.run(valgrind, "-q", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--callgrind-out-file="+program+".out", "./"+program)
		for _, jump := range regexp.MustCompile(`(?m)^(?:jump|jcnd)=(\d+)`).FindAllStringSubmatch(s.read(program+".out"), -1) {
			n, err := strconv.Atoi(jump[1])
			require.NoError(t, err)
			sum += n
		}
		return sum
	}
	link("map", "-fbasic-block-address-map", "-mllvm", "-emit-bb-hash", "old.c")
	taken("map")
	s.run("afdo", "layout", "--binary", "map", "--profile", "map.out", "-o", "p")
	order := "-Wl,--symbol-ordering-file=p_ld_profile.txt,--no-warn-symbol-ordering"
	link("none", "new.c")
	link("stale", "new.c", "-fbasic-block-sections=list=p_cc_profile.txt", order)
	s.run("afdo", "exec", "--layout", "p", "--", clang, "-O2", "-c", "new.c", "-o", "new.o")
	link("checked", "new.o", order)
	none, stale, checked := taken("none"), taken("stale"), taken("checked")
	t.Logf("jumps taken: %d without a list, %d with a stale one, %d with the check", none, stale, checked)
	assert.Greater(t, stale, none*3/2)
	assert.Less(t, checked, none*101/100)
}

// movedBlocks is a program whose hot loop has a rare branch at its beginning, or another at its
// end.
const movedBlocks = `
#include <stdlib.h>
__attribute__((noinline)) int rare(int n) { return n ? abs(n) * 3 : 1; }
__attribute__((noinline)) int step(int n, int *a) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    int k = a[i];
    if (k > 990) { s += rare(k); if (s == 3) s += rare(s); if (s == 9) s -= rare(9); }
%s    if (k & 1) s += rare(k); else s ^= k;
    if (k & 2) s -= k * 3;
    if (s == 77777) abort();
%s  }
  return s;
}
int main(void) {
  static int a[1000];
  int s = 0;
  for (int i = 0; i < 1000; i++) a[i] = i * 7919 %% 997;
  for (int i = 0; i < 100; i++) s += step(1000, a);
  return s == 12345;
}
`
