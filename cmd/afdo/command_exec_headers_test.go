//go:build unix

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestExecHeaders checks that compiles of headers get the same options from exec as compiles of
// sources.
func TestExecHeaders(t *testing.T) {
	s := newSiteInProcess(t)
	s.write("a.h", "int f0(void);\n")
	path := writeV4(t, tinyProfile("/src/a.c"))
	const branches = "-fno-tracer --param=max-rtl-if-conversion-predictable-cost=40 "
	const options = "--param=max-early-inliner-iterations=10 -fno-unroll-loops " + branches
	old, recent := s.fakeGCC("bin/12/gcc", "12.2.0"), s.fakeGCC("bin/14/gcc", "14.2.0")
	run := func(args ...string) string {
		return s.run(append([]string{"afdo", "exec", "--profile", path}, args...)...)
	}
	for _, line := range []string{"-O2 a.h", "-O2 -c a.hpp", "-x c++-header -c pch.cxx -o pch.gch"} {
		args := strings.Fields(line)
		assert.Equal(t, options+line+"\n", run(append([]string{"--", old}, args...)...))
		assert.Equal(t, branches+line+"\n", run(append([]string{"--", recent}, args...)...))
		assert.Equal(t, strings.Replace(branches, "-fno-tracer", "--param=tracer-min-branch-ratio=100", 1)+line+"\n", run(append([]string{"--as", "arcs", "--", old}, args...)...))
		assert.Equal(t, line+"\n", run(append([]string{"--no-params", "--", old}, args...)...))
	}
	for _, line := range []string{"-fno-auto-profile a.h", "-E a.h", "a.o -o a", "-fsyntax-only a.h", "a.h -fno-unroll-loops -fno-tracer --param max-early-inliner-iterations=3 --param max-rtl-if-conversion-predictable-cost=9"} {
		assert.Equal(t, line+"\n", run(append([]string{"--", old}, strings.Fields(line)...)...))
	}
}

// TestExecPrecompiledHeaders builds with CMake's target_precompile_headers. The calls in the source
// need three rounds of early inlining, and GCC 12 does only one unless exec adds
// --param=max-early-inliner-iterations.
func TestExecPrecompiledHeaders(t *testing.T) {
	testenv.NeedSweep(t)
	testenv.Tool(t, "cmake")
	testenv.Tool(t, "make")
	gcc := testenv.Tool(t, "gcc-12")
	s := newSite(t)
	s.write("all.h", "#include <stdlib.h>\n")
	s.write("a.c", `static int g(int x) { return x * 3; }
static int apply(int (*f)(int), int x) { return f(x); }
static int again(int (*f)(int (*)(int), int), int (*h)(int), int x) { return f(h, x); }
int top(int x) { return again(apply, g, x) + (int) sizeof(div_t); }
`)
	s.write("CMakeLists.txt", `cmake_minimum_required(VERSION 3.16)
project(p C)
add_library(a STATIC a.c)
target_precompile_headers(a PRIVATE all.h)
target_compile_options(a PRIVATE -Winvalid-pch -Werror -fdump-tree-einline)
`)
	path := writeV4(t, tinyProfile("/src/a.c"))
	s.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER="+gcc,
		"-DCMAKE_C_COMPILER_LAUNCHER=afdo;exec;--profile;"+path+";--")
	s.run("cmake", "--build", "build")
	dumps, err := filepath.Glob(s.path("build/CMakeFiles/a.dir/a.c.*.einline"))
	require.NoError(t, err)
	require.Len(t, dumps, 1)
	dump := s.read(strings.TrimPrefix(dumps[0], s.dir+"/"))
	assert.Regexp(t, regexp.MustCompile(`(?s)top.*Iterations: 3\n`), dump)
}
