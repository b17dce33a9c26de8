package driver

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/format/gcda"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
)

// arcSource is a program with a static function, whose identifier in GCC's counters depends on the
// name of the object.
const arcSource = `static int rare(int n) { return n * 3; }
static int often(int n)
{
  int sum = 0;
  for (int i = 0; i < n; i++)
    if (i % 100 == 99)
      sum += rare(i);
    else
      sum ^= i;
  return sum;
}
int (*pointer)(int) = often;
`

// arcEvidence returns the evidence of a run of arcSource in which the loop ran 1,000 times.
func arcEvidence() *profile.Evidence {
	at := func(count uint64, line, column uint32) profile.CodeBlock {
		p := profile.Position{File: "a.c", Line: line, Column: column}
		return profile.CodeBlock{Count: count, Size: 2, Places: []profile.Place{{Position: p, Factor: 1}}}
	}
	return &profile.Evidence{Copies: []profile.CodeCopy{{
		Symbol: "often", Unit: "a.c", Frames: []profile.InlineFrame{{Parent: -1, Function: "often", Declared: 2}},
		Blocks: []profile.CodeBlock{at(1, 4, 7), at(1000, 6, 11), at(990, 9, 11), at(10, 7, 11), at(1000, 5, 26), at(1, 10, 10)},
	}}}
}

// An arcProject is a folder with arcSource and a profile of it.
type arcProject struct {
	*testing.T
	dir      string
	launcher *Launcher
	said     []string
}

func newArcProject(t *testing.T, e *profile.Evidence) *arcProject {
	p := &arcProject{T: t, dir: t.TempDir()}
	whole := profile.New()
	whole.AddFunction(whole.AddSymbol(whole.AddUnit("a.c"), "often"), profile.Function{HeadCount: 1, Records: []profile.Record{{Kind: profile.KindCount, Line: 4, Count: 1000}}})
	whole.SetEvidence(e)
	var sources rebase.Sources
	sources.AddFile("a.c", []byte(arcSource))
	sources.Remember(whole, func(string, string) (rebase.Declaration, bool) {
		return rebase.Declaration{Symbol: "often", File: "a.c", Line: 2}, true
	})
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, whole, builder.Options{}))
	p.write("p.afdo", file.String())
	p.write("a.c", arcSource)
	testenv.Settle() // nothing is kept of a compile whose source has just changed
	cache, err := OpenCacheIn(filepath.Join(p.dir, "cache"))
	require.NoError(t, err)
	say := func(text string) { p.said = append(p.said, text) }
	p.launcher = &Launcher{Profile: filepath.Join(p.dir, "p.afdo"), Arcs: true, Cache: cache, Warn: say, Trace: say}
	return p
}

func (p *arcProject) write(name, text string) {
	path := filepath.Join(p.dir, name)
	require.NoError(p, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(p, os.WriteFile(path, []byte(text), 0o666))
}

func (p *arcProject) prepare(argv ...string) *Plan {
	p.said = nil
	plan, err := p.launcher.Prepare(p.Context(), argv, p.dir)
	require.NoError(p, err)
	return plan
}

// compile runs the compiler as a plan says. It fails the test unless the compiler finds the
// counters and prints no warning.
func (p *arcProject) compile(plan *Plan) {
	cmd := exec.Command(plan.Argv[0], append(plan.Argv[1:], "-Wmissing-profile", "-Wcoverage-mismatch")...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	require.NoError(p, err, "%s", out)
	assert.Empty(p, string(out), "%q", plan.Argv)
}

func (p *arcProject) has(text string) bool {
	return slices.ContainsFunc(p.said, func(said string) bool { return strings.Contains(said, text) })
}

// TestArcsFollowText compiles a source again after a change that alters the preprocessed text, but
// no file. The counters must be inferred from the new text.
func TestArcsFollowText(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	p := newArcProject(t, arcEvidence())
	p.write("a.c", strings.Replace(arcSource, "  return sum;\n}\n", "#ifdef MORE\n  while (sum > n) sum /= 2;\n#endif\n  return sum;\n}\n", 1))
	p.write("gcc", "#!/bin/sh\n[ d -ef e ] && set -- -DMORE \"$@\"\nexec "+gcc+" \"$@\"\n")
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "gcc"), 0o755))
	p.write("d/o", "")
	p.write("e/o", "")
	testenv.Settle()
	first := p.prepare("./gcc", "-O2", "-c", "a.c")
	p.compile(first)
	require.NoError(t, os.RemoveAll(filepath.Join(p.dir, "e")))
	require.NoError(t, os.Symlink("d", filepath.Join(p.dir, "e")))
	testenv.Settle()
	second := p.prepare("./gcc", "-O2", "-c", "a.c")
	assert.NotEqual(t, first.Argv, second.Argv)
	p.compile(second)
}

// However a command names its object, the compiler finds the counters that the launcher writes.
func TestArcs(t *testing.T) {
	for _, compiler := range []string{"gcc", "gcc-16"} {
		path, ok := testenv.Find(compiler)
		if !ok {
			continue
		}
		p := newArcProject(t, arcEvidence())
		p.write("sub/empty", "")
		p.write("unity.c", "#include \"a.c\"\n")
		p.write("b.c", "int main(void) { return 0; }\n")
		var report arcs.Report
		p.launcher.OnArcs = func(r *arcs.Report) {
			if r.Inferred > 0 { // b.c has no counters
				report = *r
			}
		}
		commands := []string{"-c a.c -o sub/x.y.o -g -fPIC -fstack-usage -fsave-optimization-record", "-c a.c", "-c a.c -o ./a.o", "-c a.c -o " + p.dir + "/sub/abs.o", "-flto -c a.c -o sub/../lto.o", "-S a.c -Werror -Wall", "-c unity.c", "a.c b.c -o sub/program", "-c b.c a.c"}
		for _, args := range testenv.Some(commands, 2) {
			plan := p.prepare(append([]string{path, "-O2"}, strings.Fields(args)...)...)
			require.Contains(t, []Outcome{OutcomeSliced, OutcomeSame}, plan.Outcome, "%s: %q", args, p.said)
			written, err := filepath.Glob(filepath.Join(p.dir, "*", "x.y.*"))
			require.NoError(t, err)
			assert.Empty(t, written)
			if !strings.Contains(args, "b.c") {
				p.compile(plan)
			}
			written, err = filepath.Glob(filepath.Join(p.dir, "*", "x.y.*"))
			require.NoError(t, err)
			for _, path := range written {
				require.NoError(t, os.Remove(path))
			}
			again := p.prepare(append([]string{path, "-O2"}, strings.Fields(args)...)...)
			assert.Equal(t, plan.Argv, again.Argv)
			assert.True(t, p.has("the counters are in the cache"))
			p.checkCounters(plan)
			assert.Equal(t, 1, report.Inferred)
			assert.Equal(t, 7, report.Blocks)
			assert.Zero(t, report.Moved)
		}
	}
}

func (p *arcProject) checkCounters(plan *Plan) {
	data, err := os.ReadFile(plan.Slice)
	require.NoError(p, err)
	c, err := gcda.ReadCounters(data)
	require.NoError(p, err)
	require.Len(p, c.Functions, 1)
	assert.Equal(p, int64(990), slices.Max(c.Functions[0].Counters[0].Values)/1024, "with a floor for blocks that did not run")
}

// The cached .gcno file of a source is reused with a new profile, but not with another option. An
// empty cache gives the same counters under the same name, so build caches and debug info do not
// depend on when the notes were written.
func TestNotesAreKept(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	p := newArcProject(t, arcEvidence())
	first := p.prepare(gcc, "-O2", "-c", "a.c")
	e := arcEvidence()
	e.Copies[0].Blocks[3].Count = 20
	p.launcher.Profile = newArcProject(t, e).launcher.Profile
	second := p.prepare(gcc, "-O2", "-c", "a.c")
	assert.True(t, p.has("the notes are in the cache"))
	assert.NotEqual(t, first.Argv, second.Argv)
	p.prepare(gcc, "-O3", "-c", "a.c")
	assert.False(t, p.has("the notes are in the cache"))
	cache := p.launcher.Cache.files()
	n, bytes, err := cache.Usage()
	require.NoError(t, err)
	removed, freed, err := cache.Remove(0, 0)
	require.NoError(t, err)
	assert.Equal(t, n, removed)
	assert.Equal(t, bytes, freed)
	n, _, err = cache.Usage()
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.Equal(t, second.Argv, p.prepare(gcc, "-O2", "-c", "a.c").Argv)
}

// The notes are not reused if a response file has changed, or an environment variable that a
// compiler script may read.
func TestNotesOfOtherOptions(t *testing.T) {
	p := newArcProject(t, arcEvidence())
	p.write("options", "-O2")
	p.write("gcc", "#!/bin/sh\nexec "+testenv.Tool(t, "gcc")+" \"$@\" $EXTRA\n")
	require.NoError(t, os.Chmod(filepath.Join(p.dir, "gcc"), 0o777))
	testenv.Settle()
	kept := func() bool {
		p.prepare("./gcc", "@options", "-c", "a.c")
		return p.has("the counters are in the cache")
	}
	assert.False(t, kept())
	assert.True(t, kept())
	p.write("options", "-O2 -fno-early-inlining")
	assert.False(t, kept())
	t.Setenv("EXTRA", "-fno-early-inlining")
	assert.False(t, kept())
}

// The counters of all compiles of a build can be in one folder, which all compiles get by the same
// option.
func TestArcsFolder(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	p := newArcProject(t, arcEvidence())
	p.write("b.c", "int b;")
	p.launcher.ArcsFolder = filepath.Join(p.dir, "counters")
	plan := p.prepare(gcc, "-O2", "-c", "a.c")
	assert.Equal(t, append([]string{gcc, "--param=tracer-min-branch-ratio=100", "--param=max-rtl-if-conversion-predictable-cost=40", "-O2", "-c", "a.c"}, counterOptions(p.launcher.ArcsFolder)...), plan.Argv)
	assert.ElementsMatch(t, plan.Argv, append([]string{gcc, "-O2", "-c", "a.c"}, ArcOptions(p.launcher.ArcsFolder)...))
	p.compile(plan)
	p.prepare(gcc, "-O2", "-c", "b.c")
	entries, err := os.ReadDir(p.launcher.ArcsFolder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, countersName("a", p.dir), entries[0].Name())
}

// Compiles that cannot get counts of arcs get counts by lines.
func TestWithoutArcs(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	p := newArcProject(t, arcEvidence())
	p.prepare(gcc, "-O2", "-fprofile-use", "-c", "a.c")
	assert.True(t, p.has("a.c: the command reads counters itself; it gets its counts by lines"))
	p = newArcProject(t, arcEvidence())
	p.prepare(testenv.Tool(t, "clang-22"), "-O2", "-c", "a.c")
	assert.True(t, p.has("a.c: clang reads no counts of arcs; it gets its counts by lines"))
	p = newArcProject(t, arcEvidence())
	p.write("b.c", "int b;")
	plan := p.prepare(gcc, "-O2", "-c", "b.c")
	assert.Equal(t, OutcomeNothing, plan.Outcome)
	assert.Equal(t, []string{gcc, "-O2", "-c", "b.c"}, plan.Argv)
}

// The evidence for a source that was edited is moved to the new lines.
func TestArcsOfEditedSource(t *testing.T) {
	p := newArcProject(t, arcEvidence())
	var report arcs.Report
	p.launcher.OnArcs = func(r *arcs.Report) { report = *r }
	gcc := testenv.Tool(t, "gcc")
	p.prepare(gcc, "-O2", "-c", "a.c")
	before := report
	p.write("a.c", "int more;\n\n"+strings.Replace(arcSource, "  int sum = 0;\n", "  int sum = 0;\n  more++;\n", 1))
	plan := p.prepare(gcc, "-O2", "-c", "a.c")
	p.compile(plan)
	p.checkCounters(plan)
	assert.Equal(t, before.Owned, report.Owned)
	p.launcher.NoRebase = true
	p.prepare(gcc, "-O2", "-c", "a.c")
	assert.Less(t, report.Owned, before.Owned)
}

// Without evidence in the profile, counters are inferred from its counts of lines.
func TestArcsOfLines(t *testing.T) {
	p := newArcProject(t, nil)
	plan := p.prepare(testenv.Tool(t, "gcc"), "-O2", "-c", "a.c")
	require.Equal(t, OutcomeSliced, plan.Outcome, "%q", p.said)
	p.compile(plan)
	assert.True(t, p.has("counts of arcs for 1 of 1 functions; 100% of the counts have an owner"), "%q", p.said)
}

// prepareWith prepares a compile of i.c, which has the given source, with a profile.
func (p *arcProject) prepareWith(whole *profile.Profile, source, compiler string) *Plan {
	var file bytes.Buffer
	require.NoError(p.T, builder.Write(&file, whole, builder.Options{}))
	p.write("p.afdo", file.String())
	p.write("i.c", source)
	return p.prepare(compiler, "-O2", "-c", "i.c")
}

// Calls through pointers become direct calls of their most frequent target. Without counters of the
// division, GCC 12 crashes.
func TestArcsOfIndirectCalls(t *testing.T) {
	const source = `static int twice(int n) { return 2 * n; }
static int thrice(int n) { return 3 * n; }
int (*operation)(int) = twice, (*other)(int) = thrice;
int sum(int n)
{
  int s = 0;
  for (int i = 0; i < n; i++)
    s += operation(i) / n;
  return s;
}
`
	for _, compiler := range []string{"gcc", "gcc-16"} {
		path, ok := testenv.Find(compiler)
		if !ok {
			continue
		}
		p := newArcProject(t, nil)
		whole := profile.New()
		unit := whole.AddUnit("i.c")
		var body profile.Body
		body.Count(3, 0, 1000)
		body.Count(4, 0, 1000)
		body.Call(4, 0, whole.AddSymbol(unit, "twice"), 20)
		body.Call(4, 0, whole.AddSymbol(unit, "thrice"), 980)
		whole.AddFunction(whole.AddSymbol(unit, "sum"), profile.Function{HeadCount: 1, Records: body.Records()})
		plan := p.prepareWith(whole, source, path)
		cmd := exec.Command(plan.Argv[0], append(plan.Argv[1:], "-fdump-ipa-profile-details=dump")...)
		cmd.Dir = p.dir
		require.NoError(t, cmd.Run())
		dump, err := os.ReadFile(filepath.Join(p.dir, "dump"))
		require.NoError(t, err)
		assert.Regexp(t, `direct call.* => thrice`, string(dump))
	}
}

// A call of memcpy that mostly copies one byte becomes a branch with a move. Without counters of
// the indirect call, GCC 12 crashes.
func TestArcsOfSizes(t *testing.T) {
	const source = `#include <string.h>
void put(char *to, const char *from, unsigned n, void (*done)(int))
{
  memcpy(to, from, n);
  memset(from + 9, 0, n);
  done(n % to[1]);
}
`
	for _, compiler := range []string{"gcc", "gcc-16"} {
		path, ok := testenv.Find(compiler)
		if !ok {
			continue
		}
		p := newArcProject(t, nil)
		whole := profile.New()
		var body profile.Body
		body.Count(2, 0, 1000)
		whole.AddFunction(whole.AddSymbol(whole.AddUnit("i.c"), "put"), profile.Function{HeadCount: 1, Records: body.Records()})
		at := func(line uint32) profile.Place {
			return profile.Place{Position: profile.Position{File: "i.c", Line: line, Column: 3}, Factor: 1}
		}
		whole.SetEvidence(&profile.Evidence{Fraction: 8, Copies: []profile.CodeCopy{{
			Symbol: "put", Unit: "i.c", Frames: []profile.InlineFrame{{Parent: -1, Function: "put", Declared: 2}},
			Blocks: []profile.CodeBlock{{Count: 1000 << 8, Size: 9, Places: []profile.Place{at(4), at(5)}}},
			Sizes:  []profile.CallSize{{Place: at(4), Bytes: 1, Count: 900}, {Place: at(4), Bytes: 3, Count: 100}, {Place: at(5), Bytes: 40, Count: 90}, {Place: at(5), Bytes: profile.OtherSizes, Count: 100}},
		}}})
		plan := p.prepareWith(whole, source, path)
		cmd := exec.Command(plan.Argv[0], append(plan.Argv[1:], "-w", "-fopt-info-optimized")...)
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "i.c:4:3: optimized: Transformation done: single value 1 stringop for BUILT_IN_MEMCPY", compiler)
		assert.NotContains(t, string(out), "BUILT_IN_MEMSET", "less than half of its calls have one size")
	}
}

func TestCountersName(t *testing.T) {
	for name, want := range map[string]string{"x": "#b#x.gcda", "sub/x.y": "#b#sub#x.y.gcda", "../o/x": "#b#^#o#x.gcda", "/o/x": "/o/x.gcda"} {
		assert.Equal(t, want, countersName(name, "/b/"))
	}
}

func TestCommandWords(t *testing.T) {
	words, _ := command.SplitWords(` /x/cc1 -dumpdir "a b/" q\" "" end` + "\n")
	assert.Equal(t, []string{"/x/cc1", "-dumpdir", "a b/", `q"`, "", "end"}, words)
}
