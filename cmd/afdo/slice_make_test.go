//go:build unix

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestSliceMake builds with the rules for make in docs/guide/slices.md. After a new profile, only
// sources whose slice has changed are compiled.
func TestSliceMake(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "make")
	testenv.Tool(t, "gcc")
	guide, err := os.ReadFile("../../docs/guide/slices.md")
	require.NoError(t, err)
	rules := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(string(guide), -1)
	s := newSite(t)
	makefile := "OBJS = a.o b.o\nall: $(OBJS)\n"
	for _, block := range rules {
		if strings.Contains(block, "slices.stamp") {
			for line := range strings.Lines(block) {
				makefile += strings.TrimPrefix(line, "    ")
			}
		}
	}
	require.Contains(t, makefile, "--all -d slices")
	s.write("Makefile", makefile)
	s.write("a.c", "int f0(int x) { return x; }\n")
	s.write("b.c", "int f1(int x) { return x; }\n")
	s.write("compile_commands.json", fmt.Sprintf(`[
		{"directory": %[1]q, "file": "a.c", "command": "gcc -c a.c -o a.o"},
		{"directory": %[1]q, "file": "b.c", "command": "gcc -c b.c -o b.o"}
	]`, s.dir))
	p := tinyProfile("/elsewhere/a.c", "/elsewhere/b.c")
	replaceV4(t, s.path("prof.v4"), p)
	compiled := func() (sources []string) {
		said := s.run("make", "CC=gcc", "CFLAGS=-O2")
		for _, match := range regexp.MustCompile(`-c (\w\.c) -o`).FindAllStringSubmatch(said, -1) {
			sources = append(sources, match[1])
		}
		return sources
	}
	assert.Equal(t, []string{"a.c", "b.c"}, compiled())
	assert.Empty(t, compiled())
	change(t, p, "/elsewhere/b.c")
	replaceV4(t, s.path("prof.v4"), p)
	assert.Equal(t, []string{"b.c"}, compiled())
	assert.Empty(t, compiled())
}

// TestSliceCMake builds with the afdo.cmake of docs/guide/slices.md, two targets that share a
// source.
func TestSliceCMake(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	testenv.Tool(t, "cmake")
	testenv.Tool(t, "ninja")
	testenv.Tool(t, "gcc")
	guide, err := os.ReadFile("../../docs/guide/slices.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```cmake\n(.*?)```").FindSubmatch(guide)
	require.NotNil(t, block)
	s := newSite(t)
	s.write("afdo.cmake", string(block[1]))
	s.write("CMakeLists.txt", `
cmake_minimum_required(VERSION 3.16)
project(pieces C)
include(afdo.cmake)
add_library(pieces OBJECT a.c sub/b.c)
add_library(others OBJECT a.c c.c)
afdo_slices(pieces others)
`)
	for i, source := range []string{"a.c", "sub/b.c", "c.c"} {
		s.write(source, fmt.Sprintf("#include \"h.h\"\nint f%d(int x) { return x; }\n", i))
	}
	s.write("h.h", "")
	s.write("sub/h.h", "")
	p := tinyProfile("/elsewhere/a.c", "/elsewhere/b.c", "/elsewhere/c.c")
	path := writeV4(t, p)
	s.run("cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DCMAKE_C_COMPILER=gcc", "-DAFDO_PROFILE="+path)
	compiled := func() (objects []string) {
		said := s.run("ninja", "-C", "build")
		for _, match := range regexp.MustCompile(`Building C object CMakeFiles/(\S+)\.o`).FindAllStringSubmatch(said, -1) {
			objects = append(objects, strings.Replace(match[1], ".dir", "", 1))
		}
		return objects
	}
	assert.ElementsMatch(t, []string{"pieces/a.c", "pieces/sub/b.c", "others/a.c", "others/c.c"}, compiled())
	assert.Empty(t, compiled())
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now()))
	assert.Empty(t, compiled(), "a profile that is only newer")
	change(t, p, "/elsewhere/b.c")
	replaceV4(t, path, p)
	assert.Equal(t, []string{"pieces/sub/b.c"}, compiled())
	assert.Empty(t, compiled())
	change(t, p, "/elsewhere/a.c")
	replaceV4(t, path, p)
	assert.ElementsMatch(t, []string{"pieces/a.c", "others/a.c"}, compiled())
	assert.Empty(t, compiled())
}
