//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExecCorners checks that exec reports errors in what it does before and after a compile.
func TestExecCorners(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) { return 1; }\n")
	s.write("a.h", "")
	s.write("ccache", "#!/bin/sh\nCCACHE_DISABLE=1 exec \"$@\"\n")
	profile := writeV4(t, tinyProfile("/src/a.c"))
	launch := "afdo exec --no-params --profile " + profile + " -- " + gcc + " -O2"
	for script, want := range map[string]string{
		launch + " -x c /dev/stdin < a.c":                                     "afdo: a source is standard input or a pipe, which can be read once: it is compiled without the profile\n-O2 -x c /dev/stdin\n",
		"mkdir gone; cd gone; rmdir ../gone; " + launch + " -c ../a.c":        "afdo: getwd: no such file or directory: the command runs without the profile\n",
		"AFDO_CACHE_SIZE=abc " + launch + " -c a.c":                           "afdo: no cache: AFDO_CACHE_SIZE: \"abc\": want a number",
		"AFDO_CACHE_DAYS=-1 " + launch + " -c a.c":                            "afdo: no cache: AFDO_CACHE_DAYS: \"-1\": want a number of days\n",
		s.path("ccache") + " " + launch + " -c a.c; true":                     "afdo: CCACHE_DISABLE=1 is set, so nothing is cached. If ccache has set it because",
		"export CCACHE_DISABLE=1; sh -c '" + launch + " -c a.c -o b.o; true'": "-fauto-profile=b.o.afdo -O2 -c a.c -o b.o\n",
	} {
		s.setenv("AFDO_CACHE_DIR", t.TempDir())
		out := s.says("sh", "-c", script)
		assert.True(t, strings.HasPrefix(out, want), "%s: %s", script, out)
	}
}

// TestExecReplaced replaces the profile while a source is preprocessed.
func TestExecReplaced(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	s.write("a.c", "int f0(void) { return 1; }\nint f1(void) { return 1; }\n")
	s.write("a.h", "")
	old, err := os.ReadFile(writeV4(t, tinyProfile("/src/a.c")))
	require.NoError(t, err)
	other, err := os.ReadFile(writeV4(t, tinyProfile("/src/a.c", "/src/b.c")))
	require.NoError(t, err)
	s.write("prof.v4", string(old))
	s.write("new.v4", string(other))
	s.write("gcc", strings.Replace(s.read("gcc"), "case ", fmt.Sprintf("case \"$*\" in *' -E -v') [ -e copied ] || cp %s %s; : >copied ;; esac\ncase ", s.path("new.v4"), s.path("prof.v4")), 1))
	out := s.run("afdo", "exec", "-v", "--profile", "prof.v4", "--", gcc, "-c", "a.c")
	assert.Contains(t, out, "afdo: prof.v4 has been replaced meanwhile: once more\n")
	assert.Equal(t, 2, load(t, s.path("a.o.afdo")).NumFunctions())
}

// TestExecFreshCheckout compiles again after a fresh checkout, with the cache that was there.
func TestExecFreshCheckout(t *testing.T) {
	s := newSiteInProcess(t)
	gcc := s.fakeGCC("gcc", "14.2.0")
	checkout := func() {
		for name, text := range map[string]string{"a.c": "int f0(void) { return 1; }\n", "a.h": "int f1(void);\n"} {
			require.NoError(t, os.RemoveAll(s.path(name)))
			s.write(name, text)
		}
		require.NoError(t, os.RemoveAll(s.path("a.o.afdo")))
	}
	command := []string{"afdo", "exec", "-v", "--profile", writeV4(t, tinyProfile("/src/a.c")), "--", gcc, "-O2", "-c", "a.c"}
	var slices [3]string
	for i := range slices {
		checkout()
		time.Sleep(20 * time.Millisecond) // a file that is as young as the compile may change yet
		out := s.run(command...)
		assert.Equal(t, i > 0, strings.Contains(out, "afdo: the slice is in the cache\n"), out)
		slices[i] = s.read("a.o.afdo")
		assert.Equal(t, slices[0], slices[i])
	}
	assert.Equal(t, 1, strings.Count(s.read("asked"), "-E -v"))
	assert.Contains(t, s.run("afdo", "cache"), "\n66.7 % of 3 slices were kept beside the object or in the cache.\nSources were preprocessed 1 times.\n")
}
