//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/textfmt"
)

// A codeCheck compares what explain reports of each function with the code: does the code change if
// the profile lacks the function's counts?
type codeCheck struct {
	*site
	checkedCompiler
	flags   []string
	sources []string
	share   int // one in share functions with found counts is checked
}

// A checkedCompiler is a compiler with the format of its profiles, and the options by which "afdo
// exec" gives it a profile.
type checkedCompiler struct{ c, cxx, format, options string }

const (
	inlinesMore = "--param=max-early-inliner-iterations=10 "
	branches    = "-fno-tracer --param=max-rtl-if-conversion-predictable-cost=40 -fauto-profile="
)

var checkedCompilers = []checkedCompiler{
	{"gcc", "g++", "v2", inlinesMore + "-fno-unroll-loops " + branches},
	{"gcc-13", "g++-13", "v2", inlinesMore + branches},
	{"gcc-14", "g++-14", "v2", branches},
	{"gcc-15", "g++-15", "v2", branches},
	{"gcc-16", "g++-16", "v3", branches},
	{"clang-22", "clang++-22", "extbinary", "-fprofile-sample-use="},
}

// A checkedProgram is a program whose code is compared.
type checkedProgram struct {
	name      string
	files     string // patterns; those after the first folder are below AFDO_SOURCES
	not       string // patterns of files to leave out
	flags     string
	arguments string
	header    string // path of an empty header that Debian's build would generate
	main      string // the text of main.c
	cxx       bool
	share     int // as in codeCheck
}

const benchPrograms = "../../bench/pays/programs/"

var checkedPrograms = []checkedProgram{
	{name: "branches", arguments: "1000", share: 1},
	{name: "words", files: "../../docs/guide/autofdo/*.[ch]", share: 1},
	{name: "calc", files: benchPrograms + "calc.c", share: 1},
	{name: "shapes", files: "../../input/symbolize/testdata/*.cc ../../input/symbolize/testdata/*.h", flags: "-DWITHOUT_LIBRARY", cxx: true, share: 1},
	{name: "lz4", files: "$AFDO_SOURCES/lz4-*/lib/lz4*.[ch]", not: "lz4file.* lz4frame*", main: packsNumbers, share: 1000},
	{name: "lua", files: "$AFDO_SOURCES/lua5.4-*/src/*.[ch] " + benchPrograms + "train.lua", not: "luac.c onelua.c ltests.c", flags: "-DLUA_USE_POSIX -DDEB_HOST_MULTIARCH=\"none\"", header: "lua5.4-deb-multiarch.h", arguments: "train.lua", share: 1000},
}

// packsNumbers is a program that compresses numbers with LZ4, by its fast method and by its strong
// one, and decompresses them.
const packsNumbers = `#include <stdio.h>
#include <string.h>
#include "lz4.h"
#include "lz4hc.h"
static char text[20000], packed[30000], back[20000];
int main(void) {
	int n = 0, sum = 0;
	for (int i = 0; n < 19900; i++)
		n += sprintf(text + n, "%d,", i % 97 * (i & 7));
	for (int level = 0; level < 10; level += 3) {
		int m = level ? LZ4_compress_HC(text, packed, n, sizeof packed, level) : LZ4_compress_default(text, packed, n, sizeof packed);
		sum += m + (LZ4_decompress_safe(packed, back, m, sizeof back) == n && !memcmp(text, back, n));
	}
	return sum == 1;
}
`

// copyFiles copies the files of a program. It skips the test if there are no Debian sources.
func (c *codeCheck) copyFiles(t *testing.T, p checkedProgram) {
	if p.files == "" {
		c.write("prog.c", randomBranches)
	}
	if p.header != "" {
		c.write(p.header, "")
	}
	if p.main != "" {
		c.write("main.c", p.main)
	}
	if strings.Contains(p.files, "$AFDO_SOURCES") && os.Getenv("AFDO_SOURCES") == "" {
		t.Skip("AFDO_SOURCES is not set: there are no source packages")
	}
	for pattern := range strings.FieldsSeq(os.ExpandEnv(p.files)) {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, path := range found {
			if text, err := os.ReadFile(path); !matchesAny(filepath.Base(path), p.not) && assert.NoError(t, err) {
				c.write(filepath.Base(path), string(text))
			}
		}
	}
	c.sources = c.files("*.c *.cc", "")
}

// without returns a profile without the counts of a function, also where it is inlined.
func without(t *testing.T, text, name string) string {
	t.Helper()
	p, err := textfmt.Parse(strings.NewReader(text))
	require.NoError(t, err)
	for s, f := range p.Functions() {
		bodies := []bool{create.SelectedSuffixes.Name(p.SymbolName(s)) == name}
		if bodies[0] {
			f.HeadCount = 0
		}
		var b profile.Body
		last := 0
		records := profile.Walk(f.Records)
		for r, depth, ok := records.Next(); ok; r, depth, ok = records.Next() {
			for ; last > depth; last-- {
				b.Leave()
			}
			bodies = bodies[:depth+1]
			switch {
			case r.Kind == profile.KindInlined:
				b.Enter(r.Line, r.Discriminator, r.Callee)
				bodies = append(bodies, p.SymbolName(r.Callee) == name)
				last++
			case bodies[depth]:
			case r.Kind == profile.KindCount:
				b.Count(r.Line, r.Discriminator, r.Count)
			default:
				b.Call(r.Line, r.Discriminator, r.Callee, r.Count)
			}
		}
		for ; last > 0; last-- {
			b.Leave()
		}
		f.Records = b.Records()
	}
	p, _ = p.KeepFunctions(func(s profile.SymbolRef) bool { return len(p.Function(s).Records) > 0 })
	var out strings.Builder
	require.NoError(t, textfmt.PrintProfile(&out, p))
	return out.String()
}

// code returns the assembly of the sources that mention a name, compiled with a profile.
func (c *codeCheck) code(text, name string) map[string]string {
	c.write("profile.txt", text)
	c.run("afdo", "convert", "profile.txt", "--to", c.format, "-o", "profile")
	all := make(map[string]string)
	for _, source := range c.sources {
		if !strings.HasPrefix(name, "_Z") && !strings.Contains(c.read(source), name) {
			continue
		}
		args := slices.Concat([]string{"-O2", "-S", "-o", "-", source}, strings.Fields(c.options+c.path("profile")), c.flags)
		cmd := exec.Command(c.c, args...)
		cmd.Dir = c.dir
		out, err := cmd.Output()
		require.NoError(c, err)
		all[source] = string(out)
	}
	return all
}

// compare checks functions, and returns the number of functions with each result.
func (c *codeCheck) compare(t *testing.T, arguments ...string) map[string]int {
	c.run(slices.Concat([]string{c.c, "-O2", "-gdwarf-4", "-o", "prog"}, c.flags, c.sources, []string{"-lm"})...)
	c.run(slices.Concat([]string{testenv.Tool(t, "valgrind"), "--tool=callgrind", "--dump-instr=yes", "--callgrind-out-file=counts", "./prog"}, arguments)...)
	text := mustCreate(t, "create", "--binary", c.path("prog"), "--profile", c.path("counts"), "--to", "text")
	whole := c.code(text, "")
	var facts compile.ExplainFacts
	out := c.run(slices.Concat([]string{"afdo", "explain", "profile", "--json", "--", c.c, "-O2", "-c"}, c.flags, c.sources)...)
	require.NoError(t, json.Unmarshal([]byte(out[strings.Index(out, "{"):]), &facts))
	kinds := make(map[string]int)
	for i, f := range facts.Functions {
		if f.Found > 0 && i%c.share > 0 {
			continue
		}
		changed := false
		for source, code := range c.code(without(t, text, f.Name), f.Name) {
			changed = changed || code != whole[source]
		}
		kind := map[bool]string{true: "code changes, ", false: "code is the same, "}[changed]
		switch {
		case f.Found > 0:
			kind += "counts found"
		case f.EntryUsed:
			kind += "entry used"
		case f.Counts == 0: // it did not run, and explain does not count that
			kind += "no counts"
		default:
			kind += "nothing used"
			assert.False(t, changed, "%s: %s", c.c, f.Name)
		}
		kinds[kind]++
		if kind != "code changes, counts found" {
			t.Logf("%s: %s: %s, %d of %d counts, %s", c.c, f.Name, kind, f.Found, f.Counts, f.Reason)
		}
	}
	return kinds
}

// TestExplainAgreesWithCode compares what explain reports with the compiled code: the code may
// depend on the counts of a function only if explain reports that the compiler used some of them.
// The opposite is not required, because counts that are used need not change the code.
// AFDO_SWEEP=all checks all programs with all compilers.
func TestExplainAgreesWithCode(t *testing.T) {
	testenv.NeedSweep(t)
	for _, program := range checkedPrograms[:testenv.Rounds(1, 1, len(checkedPrograms))] {
		for _, compiler := range checkedCompilers[:testenv.Rounds(1, 1, len(checkedCompilers))] {
			t.Run(program.name+"/"+compiler.c, func(t *testing.T) {
				t.Parallel()
				if program.cxx {
					compiler.c = compiler.cxx
				}
				c := &codeCheck{site: newSite(t), checkedCompiler: compiler, share: program.share}
				c.c = testenv.Optional(t, compiler.c)
				c.copyFiles(t, program)
				c.flags = append(strings.Fields(program.flags), "-w")
				if strings.HasPrefix(compiler.c, "clang") {
					c.flags = append(c.flags, "-fdebug-info-for-profiling")
				}
				kinds := c.compare(t, strings.Fields(program.arguments)...)
				if program.share == 1 {
					assert.Positive(t, kinds["code changes, counts found"])
				}
				t.Logf("%s: %v", compiler.c, kinds)
			})
		}
	}
}
