//go:build linux

package main

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/internal/bbmap"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/launch/laidout"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A laidOutSite is a program of two files and a layout list of its functions, with hashes of their
// blocks.
type laidOutSite struct {
	*site
	clang string
}

const (
	laidOutF = "int g(int); __attribute__((noinline)) int f(int n) { if (n) return g(n) + 1; return 3; }\n"
	laidOutG = "__attribute__((noinline)) int g(int n) { while (n > 3) n = f(n); return n; }\n"
	laidOutH = "int g(int); int h(int n) { if (n > 5) return g(n) * 2; return n; }\n"
)

func newLaidOutSite(t *testing.T) laidOutSite {
	s := laidOutSite{newSite(t), llvmTool(t, "clang")}
	s.setenv("AFDO_CACHE_DIR", s.path("cache"))
	s.write("a.c", laidOutF+laidOutG+"asm(\".globl plain\\n.type plain,@function\\nplain: ret\\n\");\n")
	s.write("b.c", laidOutH)
	s.write("p_cc_profile.txt", "v1\n"+s.entries("a.c")+s.entries("b.c")+"f plain\nc 0\nf other\nc 0\n")
	return s
}

// entries compiles a source and returns the list of its functions, with all blocks in the order of
// their addresses.
func (s laidOutSite) entries(source string, flags ...string) string {
	s.Helper()
	t := s.TB.(*testing.T)
	toolOutput(t, s.dir, s.clang, append([]string{"-O1", "-fbasic-block-address-map", "-mllvm", "-emit-bb-hash", "-c", source, "-o", "map.o"}, flags...)...)
	file, err := elf.Open(s.path("map.o"))
	require.NoError(t, err)
	defer file.Close()
	type place struct {
		section int
		offset  uint64
	}
	names := make(map[place]string)
	symbols, err := file.Symbols()
	require.NoError(t, err)
	for _, symbol := range symbols {
		if elf.ST_TYPE(symbol.Info) == elf.STT_FUNC {
			names[place{int(symbol.Section), symbol.Value}] = symbol.Name
		}
	}
	m, err := bbmap.New(file)
	require.NoError(t, err)
	var text strings.Builder
	for one, err := range m.Functions() {
		require.NoError(t, err)
		ids, hashes := "", ""
		for _, b := range one.Ranges[0].Blocks {
			ids += fmt.Sprintf(" %d", b.ID)
			hashes += fmt.Sprintf(" %d:%x", b.ID, b.Hash&bbmap.SteadyMask)
		}
		fmt.Fprintf(&text, "f %s\nc%s\nh%s\n", names[place{one.Ranges[0].Section, one.Ranges[0].Address}], ids, hashes)
	}
	return text.String()
}

// explain returns the JSON report of explain --layout, and the reason for each function.
func (s laidOutSite) explain(status int, args ...string) (compile.ExplainLayoutFacts, map[string]laidout.Reason) {
	s.Helper()
	r := afdoRun(append([]string{"explain", "--layout", s.path("p"), "--json"}, args...)...)
	require.Equal(s, status, r.status, r.err)
	keepJSON(s.TB.(*testing.T), "explain_layout", r.out)
	var facts compile.ExplainLayoutFacts
	require.NoError(s, json.Unmarshal([]byte(r.out), &facts))
	reasons := make(map[string]laidout.Reason)
	for _, f := range facts.Functions {
		reasons[f.Name] = f.Reason
	}
	return facts, reasons
}

// TestExplainLayoutJSON explains a command with two sources, in which each function has another
// reason.
func TestExplainLayoutJSON(t *testing.T) {
	s := newLaidOutSite(t)
	t.Chdir(s.dir)
	both := []string{"--", s.clang, "-O1", "-c", "a.c", "b.c"}
	facts, reasons := s.explain(0, both...)
	fresh := map[string]laidout.Reason{"f": laidout.LaidOut, "g": laidout.LaidOut, "h": laidout.LaidOut, "plain": laidout.NoMap}
	assert.Equal(t, fresh, reasons)
	assert.Equal(t, 1, facts.Elsewhere)
	assert.Equal(t, "plain", facts.Functions[0].Name, "what is not laid out comes first")
	assert.NoFileExists(t, s.path("a.o"))

	s.write("a.c", laidOutF+strings.Replace(laidOutG, "n > 3", "n % 3 && f(n + 1)", 1))
	s.write("p_cc_profile.txt", regexp.MustCompile(`f f\nc 0 .*`).ReplaceAllString(s.read("p_cc_profile.txt"), "m elsewhere.c\nf f\nc 0")+"f unhashed\nc 0\n")
	s.write("b.c", laidOutH+"int unhashed(int n) { return n; }\n")
	facts, reasons = s.explain(0, both...)
	assert.Equal(t, map[string]laidout.Reason{
		"f": laidout.Refused, "g": laidout.Stale, "h": laidout.LaidOut, "unhashed": laidout.NotChecked,
	}, reasons)
	assert.Equal(t, [2]int{4, 2}, [2]int{facts.Listed, facts.LaidOut})
	text := s.run(append([]string{"afdo", "explain", "--layout", "p"}, both...)...)
	assert.Regexp(t, `^2 of 4 functions laid out; not compiled here: 2 other functions of the list\n`, text)
	assert.Regexp(t, `\n +stale +g +a\.c\n`, text)
	assert.Contains(t, text, "\nstale: compile as the recorded program was")
	few := s.fails(cli.StatusFault, append([]string{"afdo", "explain", "--layout", "p", "--min-found", "60%"}, both...)...)
	assert.Contains(t, few, "50.00% of the functions are laid out, --min-found is 60%")
}

// TestExplainLayoutDatabaseJSON explains all compiles of a program: a compile without the layout is
// the reason for its functions, and functions of the list may be missing.
func TestExplainLayoutDatabaseJSON(t *testing.T) {
	testenv.NeedSweep(t)
	gcc := testenv.Tool(t, "gcc")
	s := newLaidOutSite(t)
	database := func(a, b string) {
		s.write("compile_commands.json", fmt.Sprintf(`[
			{"directory": %[1]q, "file": "a.c", "command": "afdo exec --layout p -- %[2]s -O1 -c a.c -o a.o"},
			{"directory": %[1]q, "file": "b.c", "command": "%[3]s -O1 -c b.c -o b.o"}]`, s.dir, a, b))
	}
	for why, b := range map[string]string{"not a command of clang": gcc, "the linker takes the list": s.clang + " -flto", "itself": s.clang + " -fbasic-block-sections=all"} {
		database(s.clang, b)
		facts, reasons := s.explain(0, "--compile-commands", s.path("compile_commands.json"), "-j", "2")
		assert.Equal(t, map[string]laidout.Reason{
			"f": laidout.LaidOut, "g": laidout.LaidOut, "h": laidout.Without, "plain": laidout.NoMap, "other": laidout.Nowhere,
		}, reasons)
		assert.Contains(t, facts.Units[1].Why, why)
	}
	database(gcc, gcc)
	_, reasons := s.explain(cli.StatusFault, "--compile-commands", s.path("compile_commands.json"))
	assert.Equal(t, laidout.Without, reasons["f"])
}

// TestExplainLayoutProfile checks that a layout of a program that was compiled with a profile is
// stale without the profile, because block numbers depend on it.
func TestExplainLayoutProfile(t *testing.T) {
	testenv.NeedSweep(t)
	s := newLaidOutSite(t)
	var body strings.Builder // too much to be inlined without a profile
	for k := range 20 {
		fmt.Fprintf(&body, "  while (n %% %d) n = h(n + %d);\n", 2*k+3, k)
	}
	s.write("a.c", "int h(int);\nint big(int n) {\n"+body.String()+"  return n;\n}\nint f(int n) {\n  if (n % 77)\n    n = big(n);\n  return h(n) + 2;\n}\n")
	s.write("profile", "f:900000:1000\n 1: 1000\n 3: 1000\n 2: big:800000\n  1: 100000\n  2: 100000\n  3: 100000\n")
	s.write("p_cc_profile.txt", "v1\n"+s.entries("a.c", "-g1", "-fprofile-sample-use=profile"))
	plain := []string{s.clang, "-O1", "-g1", "-c", s.path("a.c")}
	_, reasons := s.explain(0, append([]string{"--"}, plain...)...)
	require.Equal(t, laidout.Stale, reasons["f"])
	_, reasons = s.explain(0, append([]string{s.path("profile"), "--"}, plain...)...)
	assert.Equal(t, laidout.LaidOut, reasons["f"])
	_, reasons = s.explain(0, append(append([]string{"--"}, plain...), "-fprofile-sample-use="+s.path("profile"))...)
	assert.Equal(t, laidout.LaidOut, reasons["f"])
}

func TestExplainLayoutRefuses(t *testing.T) {
	list := writeFile(t, "p_cc_profile.txt", []byte("v1\nf f\nc 0 0\n"))
	prefix := strings.TrimSuffix(list, "_cc_profile.txt")
	for _, args := range [][]string{
		{}, {"a", "b", "--", "clang", "-c", "x.c"}, {"--binary", "x"},
		{"--compile-commands", "y", "--", "clang", "-c", "x.c"}, {"-j", "0", "--", "clang", "-c", "x.c"},
	} {
		assert.Equal(t, cli.StatusUsage, afdoRun(append([]string{"explain", "--layout", prefix}, args...)...).status, args)
	}
	r := afdoRun("explain", "--layout", prefix, "--", "gcc", "-c", "x.c")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "p_cc_profile.txt")
	assert.Contains(t, r.err, "line 2")
	r = afdoRun("explain", "--layout", prefix, "--", "gcc", "-c", "x.s")
	assert.Contains(t, r.err, "nothing to explain")
}
