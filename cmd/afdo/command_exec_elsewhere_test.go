//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// TestExecIcecc checks that exec makes icecc compile on this machine, where the slice is.
func TestExecIcecc(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) {}\n")
	s.write("a.h", "\n")
	s.write("bin/icecc", "#!/bin/sh\necho \"$ICECC\"\n")
	s.write("bin/ccache", "#!/bin/sh\necho \"$ICECC\"\n")
	profile := writeV4(t, tinyProfile("/src/a.c"))
	run := func(args ...string) string {
		return s.run(append([]string{"afdo", "exec", "--profile", profile, "--"}, args...)...)
	}
	const warning = "afdo: icecc compiles files with a profile on this machine, as others do not have it\n"
	icecc := s.path("bin/icecc")
	assert.Equal(t, warning+"no\n", run(icecc, gcc, "-O2", "-c", "a.c"))
	s.setenv("ICECC", "yes")
	assert.Equal(t, "no\n", run(icecc, gcc, "-O2", "-c", "a.c"), "it is said once")
	assert.Equal(t, "yes\n", run(icecc, gcc, "a.o"), "links may go where they like")
	s.setenv("ICECC", "disable")
	assert.Equal(t, "disable\n", run(icecc, gcc, "-O2", "-c", "a.c"))

	s.setenv("AFDO_CACHE_DIR", t.TempDir())
	s.setenv("CCACHE_PREFIX", "icecc")
	assert.Equal(t, warning+"disable\n", run(s.path("bin/ccache"), gcc, "-O2", "-c", "a.c"))
}

// TestExecDistcc compiles by the launcher and a real distcc for which no machine is available.
func TestExecDistcc(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "distcc")
	testenv.Tool(t, "gcc")
	s := newSite(t)
	s.write("walk.c", "int f0(int x) { return x; }\n")
	path := writeV4(t, tinyProfile("/src/walk.c"))
	s.setenv("DISTCC_DIR", t.TempDir())
	s.setenv("DISTCC_HOSTS", "127.0.0.1:1")
	s.setenv("DISTCC_FALLBACK", "0")
	assert.Error(t, s.command("distcc", "gcc", "-O2", "-c", "walk.c").Run(), "it goes to another machine")
	s.run("afdo", "exec", "--profile", path, "--", "gcc", "-O2", "-c", "walk.c", "-o", "alone.o")
	out := s.run("afdo", "exec", "--profile", path, "--", "distcc", "gcc", "-O2", "-c", "walk.c", "-o", "walk.o")
	assert.Equal(t, "afdo: distcc compiles files with a profile on this machine, as others do not have it\n", out)
	assert.True(t, s.read("alone.o") == s.read("walk.o"))
}
