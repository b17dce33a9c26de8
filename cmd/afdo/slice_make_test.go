//go:build unix

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSliceMake builds with the rules of make in docs/slices.md: a new profile compiles again just
// what has another slice.
func TestSliceMake(t *testing.T) {
	needProgram(t, "make")
	needProgram(t, "gcc")
	guide, err := os.ReadFile("../../docs/slices.md")
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
