package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

func TestExplainUsage(t *testing.T) {
	for _, args := range [][]string{
		{"explain"},
		{"explain", example(".v2.afdo")},
		{"explain", example(".v2.afdo"), "--binary", "x", "--", "gcc", "x.c"},
		{"explain", example(".v2.afdo"), "-j", "0", "--", "gcc", "x.c"},
	} {
		assert.Equal(t, cli.StatusUsage, afdoRun(args...).status, args)
	}
	for want, args := range map[string][]string{
		"afdo: nothing to explain: it compiles nothing\n": {"--", "gcc", "-c", "x.s"},
		"not a compilation database":                      {"--compile-commands", example(".v2.afdo")},
	} {
		r := afdoRun(append([]string{"explain", example(".v2.afdo")}, args...)...)
		assert.Equal(t, cli.StatusFault, r.status, args)
		assert.Contains(t, r.err, want)
	}
	samples, err := os.Open(writeFile(t, "samples", []byte("f:2:1\n 1: 2\n")))
	require.NoError(t, err)
	defer samples.Close()
	r := afdoWith(samples, "explain", "-", "--", "clang", "-c", "x.c")
	assert.Equal(t, cli.StatusUsage, r.status, r.err)
	assert.Contains(t, r.err, "clang reads profiles of LLVM itself: name a file")
}

// An explainedSite is a program of two files with a profile of it.
type explainedSite struct{ *site }

func newExplainedSite(t *testing.T, compiler ...string) explainedSite {
	testenv.Tool(t, compiler[0])
	s := newSite(t)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS("../../docs/guide/autofdo")))
	s.run(append(compiler, "-O2", "-g", "-o", "words", "words.c", "table.c")...)
	s.run("afdo", "create", "--binary", "words", "--profile", everyCode(t, s.path("words")), "-o", "words.afdo")
	return explainedSite{s}
}

// everyCode returns the path of address samples that cover all code of a program's functions.
func everyCode(t *testing.T, program string) string {
	f, err := symbolize.Open(program)
	require.NoError(t, err)
	defer f.Close()
	layout, err := samples.NewLayout(f.ELF())
	require.NoError(t, err)
	set := new(samples.Set)
	for s, err := range f.Symbols() {
		require.NoError(t, err)
		for _, at := range instructions(t, f.ELF(), s.Low, s.High) {
			if offset, ok := layout.Offset(at); ok {
				set.Addresses.Add(offset, 100)
			}
		}
	}
	var text bytes.Buffer
	require.NoError(t, set.Write(&text))
	return writeFile(t, "samples", text.Bytes())
}

// explain returns the JSON report of an explain run that finds some counts, and its entry for one
// function.
func (s explainedSite) explain(function string, args ...string) (compile.ExplainFacts, compile.ExplainedFunction) {
	s.Helper()
	out := s.run(append([]string{"afdo", "explain", "words.afdo", "--json"}, args...)...)
	out = out[strings.Index(out, "{"):] // after the progress, if the compiles take long
	keepJSON(s.TB.(*testing.T), "explain", out)
	var facts compile.ExplainFacts
	require.NoError(s, json.Unmarshal([]byte(out), &facts))
	for _, f := range facts.Functions {
		if f.Name == function {
			return facts, f
		}
	}
	return facts, compile.ExplainedFunction{}
}

// editHash inserts three lines into a function.
func (s explainedSite) editHash() {
	const begin = "	unsigned h = 2166136261u;\n"
	s.write("table.c", strings.Replace(s.read("table.c"), begin, "	if (!length)\n		return 0;\n	length &= 65535;\n"+begin, 1))
}

// TestExplainJSON checks the report on four reasons why a compiler silently ignores counts, by
// compiles and by a program that was built.
func TestExplainJSON(t *testing.T) {
	t.Parallel()
	s := newExplainedSite(t, "gcc")
	built, _ := s.explain("hash", "--binary", "words")
	assert.Equal(t, built.Counts, built.Found, "the program that was profiled")
	compile := []string{"--", "gcc", "-O2", "-c", "words.c", "table.c"}
	if !testenv.Sweep() {
		compile = slices.Delete(compile, 4, 5)
	}
	whole, f := s.explain("hash", compile...)
	assert.Greater(t, whole.Counts, whole.Findable, "GCC looks up no count where a function ends")
	assert.Greater(t, whole.FoundShare, 0.6)
	assert.Zero(t, whole.Reasons[explain.Edited]+whole.Reasons[explain.Nowhere])
	assert.Equal(t, explain.Found, f.Reason)
	assert.Equal(t, uint32(42), f.Line)
	assert.Equal(t, s.path("table.c"), f.File)

	s.editHash()
	facts, f := s.explain("hash", "--no-rebase", "--", "gcc", "-O2", "-c", "table.c")
	assert.Equal(t, explain.Edited, f.Reason)
	assert.NotZero(t, facts.Elsewhere)
	if !testenv.Sweep() {
		return
	}
	s.run("gcc", "-O2", "-g", "-o", "newer", "words.c", "table.c")
	_, f = s.explain("hash", "--binary", "newer")
	assert.Equal(t, explain.Edited, f.Reason)
}

// TestExplain checks the report as text, also for the profile of another program.
func TestExplain(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	s := newExplainedSite(t, "gcc")
	none := s.fails(cli.StatusFault, "afdo", "explain", "words.afdo", "--", "gcc", "-c", "table.c")
	assert.Contains(t, none, "not optimised  100.00%")
	whole := s.run("afdo", "explain", "words.afdo", "--", "gcc", "-O2", "-c", "words.c", "table.c")
	assert.Regexp(t, `\n  begin or end +[0-9.]+%  of a function, where no compiler looks up counts\n`, whole)

	s.editHash()
	moved, f := s.explain("hash", "--", "gcc", "-O2", "-c", "table.c") // as exec compiles it
	assert.Equal(t, 1, moved.Moved)
	assert.NotEqual(t, explain.Edited, f.Reason)
	assert.Contains(t, s.run("afdo", "explain", "words.afdo", "--", "gcc", "-O2", "-c", "table.c"), "\nCounts of 1 edited function were moved ")
	assert.Contains(t, s.run("afdo", "explain", "words.afdo", "--no-rebase", "--", "gcc", "-O2", "-c", "table.c"), "\nFunctions that were edited since have ")
	facts, _ := s.explain("hash", "--", "gcc", "-O2", "-c", "words.c")
	assert.NotZero(t, facts.Elsewhere)
	assert.Zero(t, facts.Reasons[explain.Nowhere])

	s.write("other.c", "int other(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i; return s; }\n")
	said := s.fails(cli.StatusFault, "afdo", "explain", "words.afdo", "--", "gcc", "-O2", "-c", "other.c")
	assert.Contains(t, said, "compiled nowhere  100.00%")
	assert.Contains(t, said, "functions none is compiled here, so it is of another program, or of other sources")

	s.write("other.c", "int other(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i; return s; }\nint main(int n, char **v) {\n	(void)v;\n	return other(n);\n}\n")
	said = s.fails(cli.StatusFault, "afdo", "explain", "words.afdo", "--", "gcc", "-O2", "-c", "other.c")
	assert.Contains(t, said, "another program  100.00%")
	assert.Regexp(t, `the profile is of another program, of whose \d+ functions only main is compiled here, and that is of .*/words\.c there and of .*/other\.c here\n$`, said)
	s.run("afdo", "convert", "words.afdo", "-o", "words.v2") // which has no units
	said = s.fails(cli.StatusFault, "afdo", "explain", "words.v2", "--", "gcc", "-O2", "-c", "other.c")
	assert.Regexp(t, `the profile is of another program, of whose \d+ functions only main is compiled here, and that has other lines\n$`, said)
}

func TestExplainDatabaseJSON(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	s := newExplainedSite(t, "gcc")
	database := func(words, table string) {
		s.write("compile_commands.json", fmt.Sprintf(`[
			{"directory": %[1]q, "file": "words.c", "command": "%[2]s gcc -O2 -c words.c -o words.o"},
			{"directory": %[1]q, "file": "table.c", "command": "%[3]s gcc -O2 -c table.c -o table.o"},
			{"directory": %[1]q, "file": "words.o", "command": "gcc -o words words.o"}]`, s.dir, words, table))
	}
	database("", "")
	facts, _ := s.explain("hash", "--compile-commands", "compile_commands.json", "-j", "2")
	assert.Zero(t, facts.Reasons[explain.Unprofiled], "nobody names a profile")
	database("/opt/afdo exec --profile x --", "")
	facts, f := s.explain("hash", "--compile-commands", "compile_commands.json")
	assert.Equal(t, explain.Unprofiled, f.Reason)
	assert.Equal(t, []explain.Reason{"", explain.Unprofiled}, []explain.Reason{facts.Units[0].Reason, facts.Units[1].Reason})
	s.write("table.o.afdo", "the slice that exec leaves")
	facts, _ = s.explain("hash", "--compile-commands", "compile_commands.json")
	assert.Zero(t, facts.Reasons[explain.Unprofiled])
}

// TestReportExplained checks that the verb report shows the JSON of explain, and refuses other
// JSON.
func TestReportExplained(t *testing.T) {
	facts := writeFile(t, "facts.json", []byte(`{"counts": 1000, "found": 250, "found_share": 0.25, "reasons": {"found": 250, "edited": 750},
		"functions": [{"name": "f", "demangled": "<f>", "file": "a.c", "line": 7, "counts": 800, "found": 50, "reason": "edited"},
			{"name": "g", "demangled": "g", "counts": 200, "found": 200, "reason": "found"}]}`))
	page := must(t, "report", example(".compact.afdo"), "-o", "-", "--explained", facts)
	assert.Contains(t, page, `<th scope="row">&lt;f&gt;</th><td>800</td><td>50</td><td>edited</td><td>a.c:7</td>`)
	assert.Contains(t, page, "Of 1,000 counts, 25.00% were found")
	assert.NotContains(t, page, `<th scope="row">g</th>`)
	assert.NotContains(t, must(t, "report", example(".compact.afdo"), "-o", "-"), `id="explained"`)
	r := afdoRun("report", example(".compact.afdo"), "-o", "-", "--explained", example(".compact.afdo"))
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "not the JSON of afdo explain")
}

// TestExplainCompilers checks that explain reports other results of the same profile for other
// compilers.
func TestExplainCompilers(t *testing.T) {
	t.Parallel()
	testenv.NeedSweep(t)
	for _, compiler := range []string{"gcc-16", "clang-22"} {
		t.Run(compiler, func(t *testing.T) {
			flags := []string{compiler}
			if strings.HasPrefix(compiler, "clang") {
				flags = append(flags, "-fdebug-info-for-profiling")
			}
			s := newExplainedSite(t, flags...)
			if strings.HasPrefix(compiler, "clang") {
				s.run("afdo", "convert", "words.afdo", "-o", "words.prof", "--to", "extbinary")
				s.run("cp", "words.prof", "words.afdo")
			}
			facts, f := s.explain("hash", "--", compiler, "-O2", "-c", "words.c", "table.c")
			assert.Greater(t, facts.FoundShare, 0.6)
			assert.NotEqual(t, explain.Edited, f.Reason)
			s.editHash()
			_, f = s.explain("hash", "--no-rebase", "--", compiler, "-O2", "-c", "words.c", "table.c")
			assert.Equal(t, explain.Edited, f.Reason)
		})
	}
}

// blocksSource has a loop whose line has several blocks, in one of which leaf is inlined.
const blocksSource = `static int leaf(int x) {
  if (x % 7 == 3)
    x = x * 5 + 1;
  else
    x = x ^ 9;
  return x;
}
int work(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += i & 1 ? leaf(i) : i;
  return s;
}
`

// TestGCC12TellsNoBlocks checks the reason "block of a line": GCC 12 uses only the last count of
// each line, and nothing of a body inlined at a call with a discriminator.
func TestGCC12TellsNoBlocks(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	s := newSite(t)
	if version := string(s.run(gcc, "-dumpversion")); !strings.HasPrefix(version, "12") {
		t.Skip("gcc is not version 12")
	}
	require.NoError(t, os.WriteFile(s.path("work.c"), []byte(blocksSource), 0o666))
	// leaf is inlined in a block of line 2 of work, unless the block is -1.
	code := func(leaf int, counts ...uint64) string {
		p := profile.New()
		var b profile.Body
		b.Count(1, 0, 1)
		b.Count(4, 0, 1)
		for block, n := range counts {
			b.Count(2, uint32(block), n)
		}
		if leaf >= 0 {
			b.Enter(2, uint32(leaf), p.AddSymbol(0, "leaf"))
			b.Count(2, 0, 50000)
			b.Leave()
		}
		p.AddFunction(p.AddSymbol(0, "work"), profile.Function{HeadCount: 1, Records: b.Records()})
		var file bytes.Buffer
		_, err := gcov.Write(&file, p, gcov.WriteOptions{Version: 2})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(s.path("work.v2"), file.Bytes(), 0o666))
		return string(s.run(gcc, "-O1", "-fno-tree-loop-vectorize", "-S", "-o", "-", "-fauto-profile=work.v2", "work.c"))
	}
	whole := code(0, 100000)
	assert.Equal(t, whole, code(0, 7, 0, 100000))
	assert.Equal(t, code(-1, 100000), code(3, 7, 100000))
	assert.Equal(t, code(-1, 0), code(-1, 100000, 0))
	assert.NotEqual(t, whole, code(3, 100000))
	assert.NotEqual(t, whole, code(0, 0))
}
