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

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// clangText is an LLVM sample profile, as text, of the functions in clangSource and of others.
const clangText = `main:900:1
 1: 100 work:100
 2: 700 other:3
work:500:100
 1: 400
_ZN5other4workEi:400:1
 1: 400
 2: _ZN5other4leafEv:10
  1: 10
other:5:1
 1: 5
`

const clangSource = "static int work(int x) {\nreturn x * 3;\n}\nint main(int argc, char **argv) {\nint s = 0;\nfor (int i = 0; i < argc; i++) s += work(i);\nreturn s;\n}\n"

// newClangSite returns a site with a source, its dependency file and profiles in all formats for
// clang, and the path of clang.
func newClangSite(t *testing.T) (s *site, clang string) {
	clang = llvmTool(t, "clang")
	s = newSite(t)
	s.write("a.c", clangSource)
	s.write("a.d", "a.o: a.c\n")
	s.write("p.sampletext", clangText)
	for _, format := range []string{"extbinary", "binary"} {
		require.Equal(t, cli.StatusDone, afdoRun("convert", s.path("p.sampletext"), "--to", format, "-o", s.path("p."+format)).status)
	}
	require.Equal(t, cli.StatusDone, afdoRun("convert", s.path("p.sampletext"), "--to", "extbinary", "--md5", "-o", s.path("p.md5")).status)
	return s, clang
}

// TestExecUniqueNames checks that exec warns if only one of the recorded program and this compile
// has -funique-internal-linkage-names: clang does not find static functions then.
func TestExecUniqueNames(t *testing.T) {
	t.Parallel()
	s, clang := newClangSite(t)
	const flag = "-funique-internal-linkage-names"
	s.run(clang, "-c", "a.c", "-o", "unique.o", flag)
	name := regexp.MustCompile(`\w+\.__uniq\.\d+`).FindString(s.run("nm", "unique.o"))
	require.NotEmpty(t, name)
	s.write("unique.sampletext", strings.ReplaceAll(strings.ReplaceAll(clangText, "\nwork:", "\n"+name+":"), " work:", " "+name+":"))
	for _, c := range []struct{ profile, option, says string }{
		{"p.extbinary", "-O2", ""},
		{"p.extbinary", flag, "compile without " + flag},
		{"unique.sampletext", "-O2", "compile with " + flag},
		{"unique.sampletext", flag, ""},
	} {
		s.setenv("AFDO_CACHE_DIR", t.TempDir())
		os.Remove(s.path("s.o.afdo"))
		out := s.run("afdo", "exec", "--profile", c.profile, "--", clang, "-O2", "-gmlt", c.option, "-c", "a.c", "-o", "s.o")
		assert.Equal(t, c.says != "", strings.Contains(out, "does not find static functions"), "%v: %s", c, out)
		assert.Contains(t, out, c.says)
		cut := afdoRun("convert", s.path("s.o.afdo"), "--to", "sampletext", "-o", "-").out
		want := "\nwork:"
		if strings.HasPrefix(c.profile, "unique") {
			want = "\n" + name + ":"
		}
		assert.Contains(t, cut, want)
	}
}

// TestExecClang checks that clang makes the same code with slices of sample profiles in any format
// as with the whole profile.
func TestExecClang(t *testing.T) {
	t.Parallel()
	s, clang := newClangSite(t)
	s.run(clang, "-O2", "-gmlt", "-c", "a.c", "-o", "whole.o", "-fprofile-sample-use=p.extbinary")
	s.run(clang, "-O2", "-gmlt", "-c", "a.c", "-o", "none.o")
	assert.NotEqual(t, s.read("none.o"), s.read("whole.o"))
	for i, c := range []struct{ profile, says string }{
		{"p.extbinary", "slice s.o.afdo written: "},
		{"p.extbinary", "slice s.o.afdo is up to date"},
		{"p.sampletext", "converted a copy of p.sampletext to extbinary in the cache"},
		{"p.sampletext", "slice s.o.afdo is up to date"},
		{"p.binary", "slice s.o.afdo unchanged"},
	} {
		if !testenv.Sweep() && i != 0 && i != 2 {
			continue
		}
		out := s.run("afdo", "exec", "-v", "--exact-summary", "--profile", c.profile, "--", clang, "-O2", "-gmlt", "-c", "a.c", "-o", "s.o")
		assert.Contains(t, out, c.says, c.profile)
		assert.True(t, s.read("whole.o") == s.read("s.o"), c.profile)
	}
	shown := must(t, "convert", s.path("s.o.afdo"), "--to", "sampletext")
	assert.Equal(t, "main:900:1\n 1: 100 work:100\n 2: 700 other:3\nwork:500:100\n 1: 400\n", shown)
	whole, slice := must(t, "show", s.path("p.extbinary")), must(t, "show", s.path("s.o.afdo"))
	summary := func(shown string) string {
		_, after, _ := strings.Cut(shown, "\nSummary\n")
		before, _, _ := strings.Cut(after, "\nContents\n")
		return before
	}
	assert.Equal(t, summary(whole), summary(slice), "thresholds come from the whole profile")

	// An option of the command that names a profile comes first.
	out := s.run("afdo", "exec", "-v", "--", clang, "-O2", "-gmlt", "-c", "a.c", "-o", "s.o", "-fprofile-sample-use=p.extbinary")
	assert.Contains(t, out, "slice s.o.afdo")
	assert.True(t, s.read("whole.o") == s.read("s.o"))

	// Names that are MD5s cannot be told apart.
	out = s.run("afdo", "exec", "-v", "--profile", "p.md5", "--", clang, "-O2", "-gmlt", "-c", "a.c", "-o", "md5.o")
	assert.Contains(t, out, "p.md5: no slices of this profile: sampleprof: names are known by their MD5s only: files are compiled with the whole profile")
	assert.Contains(t, out, ", the whole profile ")
	assert.True(t, s.read("whole.o") == s.read("md5.o"))
}

func TestExecClangPassesThrough(t *testing.T) {
	s, clang := newClangSite(t)
	s.inProcess = true
	s.write("none.afdo", "no profile at all\n")
	s.write("b.cc", "int f();\n")
	for _, c := range []struct{ args, says string }{
		{"--profile p.extbinary -- " + clang + " -c a.c -fprofile-generate -o x.o", "without the profile: it makes a program that counts"},
		{"-- " + clang + " -c a.c -fprofile-sample-use=none.afdo -o x.o", "without the profile: none.afdo is no profile that clang takes"},
		{"--profile p.extbinary -- " + clang + " -c a.c -include-pch x -o x.o --version", "it asks the compiler"},
		{"--profile p.extbinary -- " + clang + " -c b.cc -fmodules -o x.o", "a precompiled header or names that are guessed: slices are for plain C and C++ only"},
		{"-- " + clang + " -c a.c -o x.o", "no profile: use --profile FILE"},
		{"--profile p.extbinary --quantize 3 -- " + clang + " -c a.c -o x.o", "counts of profiles for clang cannot be rounded"},
	} {
		out := s.says(append([]string{"afdo", "exec", "-v"}, strings.Fields(c.args)...)...)
		assert.Contains(t, out, c.says, c.args)
	}
	said := s.fails(cli.StatusFault, "afdo", "exec", "--profile", "none.afdo", "--", clang, "-c", "a.c", "-o", "x.o")
	assert.Contains(t, said, "none.afdo is no profile that clang takes")
}

// TestClangSlicesOfGCOV checks that slices of a GCOV profile for clang equal those of the same
// profile as ExtBinary, made by exec and by slice.
func TestClangSlicesOfGCOV(t *testing.T) {
	t.Parallel()
	s, clang := newClangSite(t)
	require.Equal(t, cli.StatusDone, afdoRun("convert", s.path("p.extbinary"), "--to", "v4c", "-o", s.path("p.v4")).status)
	require.Equal(t, cli.StatusDone, afdoRun("convert", s.path("p.v4"), "--to", "extbinary", "-o", s.path("whole")).status)
	s.write("compile_commands.json", fmt.Sprintf(`[{"directory": %q, "file": "a.c", "arguments": [%q, "-O2", "-gmlt", "-c", "a.c", "-o", "s.o"]}]`, s.dir, clang))
	s.run(clang, "-O2", "-gmlt", "-c", "a.c", "-o", "whole.o", "-fprofile-sample-use=whole")
	s.run(clang, "-O2", "-gmlt", "-c", "a.c", "-o", "none.o")
	assert.NotEqual(t, s.read("none.o"), s.read("whole.o"))
	out := s.run("afdo", "exec", "-v", "--profile", "p.v4", "--", clang, "-O2", "-gmlt", "-c", "a.c", "-o", "s.o")
	assert.Contains(t, out, "slice s.o.afdo written: ")
	assert.True(t, s.read("whole.o") == s.read("s.o"))
	s.run("afdo", "slice", "p.v4", "--all", "-d", "all", "--compile-commands", "compile_commands.json", "--to", "extbinary")
	assert.True(t, s.read("s.o.afdo") == s.read("all/s.o.afdo"))
	s.run("afdo", "slice", "p.v4", "--unit", "a.c", "--deps", "a.d", "--to", "extbinary", "-o", "hand")
	assert.Contains(t, must(t, "convert", s.path("hand"), "--to", "sampletext"), "main:800:1\n 1: 100 work:100\n 2: 700 other:3\n")
	s.run("afdo", "exec", "--profile", "p.v4", "--quantize", "1", "--", clang, "-O2", "-c", "a.c", "-o", "s.o")
	assert.Contains(t, must(t, "convert", s.path("s.o.afdo"), "--to", "sampletext"), " 2: 512 other:4\n")
	assert.Contains(t, s.fails(cli.StatusUsage, "afdo", "slice", "p.v4", "--unit", "a.c", "--for", "gcc12", "--to", "extbinary"), "it does not read extbinary")
	assert.Contains(t, s.fails(cli.StatusFault, "afdo", "slice", "p.v4", "--unit", "a.c", "--deps", "a.d", "--to", "profdata"), "p.v4: no slices of this profile")
}

// TestSliceClang checks that the verb slice makes the slices that exec makes, for one compile and
// for a build.
func TestSliceClang(t *testing.T) {
	s, clang := newClangSite(t)
	s.inProcess = true
	s.write("compile_commands.json", fmt.Sprintf(`[{"directory": %q, "file": "a.c", "arguments": [%q, "-c", "a.c", "-o", "a.o"]}]`, s.dir, clang))
	s.run("afdo", "exec", "--profile", "p.extbinary", "--", clang, "-c", "a.c", "-o", "a.o")
	s.run("afdo", "slice", "p.extbinary", "--unit", "a.c", "--deps", "a.d", "--to", "extbinary", "-o", "hand")
	assert.True(t, s.read("a.o.afdo") == s.read("hand"))
	s.run("afdo", "slice", "p.extbinary", "--all", "-d", "all", "--compile-commands", "compile_commands.json", "--to", "extbinary")
	assert.True(t, s.read("a.o.afdo") == s.read("all/a.o.afdo"))
	require.NoError(t, os.RemoveAll(s.path("all")))
	for _, c := range []struct {
		status     int
		args, says string
	}{
		{cli.StatusUsage, "p.extbinary --unit a.c --to extbinary", "knows no files: name the source with --unit and what it includes with --deps"},
		{cli.StatusUsage, "p.extbinary --unit a.c --deps a.d --to sampletext", "a slice is a GCOV profile, extbinary or profdata"},
		{cli.StatusUsage, "p.extbinary --unit a.c --deps a.d --to profdata", "slices of p.extbinary are extbinary"},
		{cli.StatusUsage, "p.extbinary --unit a.c --deps a.d --to extbinary --quantize 2", "--quantize is for GCOV profiles"},
		{cli.StatusFault, "p.sampletext --unit a.c --deps a.d --to extbinary", "p.sampletext: no slices of this profile: it is a sample profile that is not ExtBinary"},
		{cli.StatusFault, "p.md5 --unit a.c --deps a.d --to extbinary", "known by their MD5s only"},
		{cli.StatusFault, "p.extbinary --unit a.c --deps a.d --to v2", "afdo slice --to v2 does not take LLVM sample profiles, only GCOV profiles"},
	} {
		assert.Contains(t, s.fails(c.status, append([]string{"afdo", "slice"}, strings.Fields(c.args)...)...), c.says, c.args)
	}
}
