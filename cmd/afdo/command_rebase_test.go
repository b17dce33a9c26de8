package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

const rebaseOld = `int price(int net, int vat)
{
	int sum = net;
	if (vat)
		sum += sum * vat / 100;
	return sum;
}

int total(const int *net, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += price(net[i], 19);
	return sum;
}
`

const rebaseProfile = `total:900:0
 2: 100
 3: 300
 5: 100
 4: price:400
  1: 0
  2: 200
  4: 150
  5: 50
gone:7:0
 1: 7
`

// rebaseFolders makes a folder with the old sources, one with the new ones, and a sample profile.
func rebaseFolders(t *testing.T, edited string) (old, new, prof string) {
	t.Helper()
	dir := t.TempDir()
	old, new, prof = filepath.Join(dir, "old"), filepath.Join(dir, "new"), filepath.Join(dir, "p.sampletext")
	for folder, text := range map[string]string{old: rebaseOld, new: edited} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "src"), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "src", "cart.c"), []byte(text), 0o666))
	}
	require.NoError(t, os.WriteFile(prof, []byte(rebaseProfile), 0o666))
	return old, new, prof
}

var rebaseEdited = strings.NewReplacer("\tint sum = net;\n", "\tint sum = net;\n\n\tcheck(vat);\n", "\tfor", "\t/* all */\n\tfor").Replace(rebaseOld)

// TestRebase moves the counts of a sample profile, and of the same profile in version 4, and checks
// the reports.
func TestRebase(t *testing.T) {
	old, new, prof := rebaseFolders(t, rebaseEdited)
	out := filepath.Join(t.TempDir(), "out")
	r := afdoRun("rebase", prof, "--old-source", old, "--source", new, "-o", out)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, `total:900:0
 2: 100
 4: 300
 6: 100
 5: price:400
  1: 0
  2: 200
  6: 150
  7: 50
gone:7:0
 1: 7
`, string(text))
	assert.Equal(t, `Outcome  Functions  Samples  With a line
unknown          1        7      100.00%
moved            2      900      100.00%
all              3      907      100.00%

500  100.00%  moved  total
400  100.00%  moved  price
`, r.out)

	four, moved := filepath.Join(t.TempDir(), "four"), filepath.Join(t.TempDir(), "moved")
	require.Equal(t, cli.StatusDone, afdoRun("convert", prof, "--to", "v4", "-o", four).status)
	r = afdoRun("rebase", four, "--old-source", old, "--source", new, "-o", moved, "--to", "text")
	require.Equal(t, cli.StatusDone, r.status, r.err)
	assert.Equal(t, cli.StatusDone, afdoRun("diff", "--exit-code", moved, out).status)
}

// TestRebaseSame checks that the output equals the input if the sources are unchanged.
func TestRebaseSame(t *testing.T) {
	old, _, prof := rebaseFolders(t, "")
	for _, format := range []string{"v4", "v4c", "v3", "v2", "text", "extbinary", "sampletext"} {
		in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
		require.Equal(t, cli.StatusDone, afdoRun("convert", prof, "--to", format, "-o", in).status)
		r := afdoRun("rebase", in, "--old-source", old, "--source", old, "-o", out)
		require.Equal(t, cli.StatusDone, r.status, r.err)
		want, err := os.ReadFile(in)
		require.NoError(t, err)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), format)
	}
}

func TestRebaseJSON(t *testing.T) {
	old, new, prof := rebaseFolders(t, strings.ReplaceAll(rebaseEdited, "\tif (vat)\n", ""))
	r := afdoRun("rebase", prof, "--old-source", old, "--source", new, "--dry-run", "--json")
	require.Equal(t, cli.StatusDone, r.status, r.err)
	keepJSON(t, "rebase", r.out)
	var report struct {
		Samples, Kept uint64
		Functions     []struct {
			Name, Outcome string
			Samples, Kept uint64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.EqualValues(t, 907, report.Samples)
	assert.EqualValues(t, 907, report.Kept)
	assert.Equal(t, "total", report.Functions[0].Name)
}

// TestRebaseRefuses checks that rebase reports invalid input, and writes no file then.
func TestRebaseRefuses(t *testing.T) {
	old, new, prof := rebaseFolders(t, "int other(void)\n{\n\treturn 1;\n}\n")
	out := filepath.Join(t.TempDir(), "out")
	probes := writeFile(t, "probes", []byte("main:10:0\n 1: 10\n !CFGChecksum: 12\n"))
	for name, c := range map[string]struct {
		args   []string
		status int
		said   string
	}{
		"nothing matches": {[]string{prof, "--old-source", old, "--source", new, "-o", out}, cli.StatusFault, "no function of the profile is in both sources"},
		"no old sources":  {[]string{prof, "--source", new, "-o", out}, cli.StatusFault, "name them with --old-source"},
		"no new sources":  {[]string{prof, "--old-source", new, "-o", out}, cli.StatusUsage, "missing flag --source, --compile-commands or --binary"},
		"no output":       {[]string{prof, "--old-source", old, "--source", new}, cli.StatusUsage, "missing flag -o or --dry-run"},
		"two answers":     {[]string{prof, "--old-source", old, "--source", new, "-o", out, "--dry-run"}, cli.StatusUsage, "--dry-run"},
		"no such folder":  {[]string{prof, "--old-source", old + "er", "--source", new, "-o", out}, cli.StatusFault, "no such file"},
		"no such binary":  {[]string{prof, "--old-source", old, "--binary", prof, "-o", out}, cli.StatusFault, "ELF"},
		"probes":          {[]string{probes, "--old-source", old, "--source", new, "-o", out}, cli.StatusFault, "pseudo-probes"},
	} {
		r := afdoRun(append([]string{"rebase"}, c.args...)...)
		assert.Equal(t, c.status, r.status, name)
		assert.Contains(t, r.err, c.said, name)
		assert.NoFileExists(t, out, name)
	}
}

// TestRebaseOfBuild gives rebase the new sources by the compilation database of a build, and by the
// program that was built.
func TestRebaseOfBuild(t *testing.T) {
	gcc := testenv.Tool(t, "gcc")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	old, new, prof := rebaseFolders(t, rebaseEdited+"int main(void) { int net[] = {1, 2}; return total(net, 2); }\n")
	object := filepath.Join(t.TempDir(), "cart.o")
	source := filepath.Join(new, "src", "cart.c")
	out, err := exec.Command(gcc, "-Wno-implicit-function-declaration", "-g", "-O1", "-c", "-o", object, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	database, err := json.Marshal([]map[string]any{{
		"directory": new, "file": "src/cart.c", "arguments": []string{gcc, "-O2", "-c", "src/cart.c", "-o", "cart.o"},
	}})
	require.NoError(t, err)
	var moved []string
	for name, args := range map[string][]string{
		"sources":  {"--source", new},
		"database": {"--compile-commands", writeFile(t, "compile_commands.json", database)},
		"binary":   {"--binary", object},
		"both":     {"--binary", object, "--source", new},
	} {
		path := filepath.Join(t.TempDir(), "out")
		r := afdoRun(append([]string{"rebase", prof, "--old-source", old, "-o", path}, args...)...)
		require.Equal(t, cli.StatusDone, r.status, "%s: %s", name, r.err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), " 4: 300\n", name)
		moved = append(moved, string(text))
	}
	assert.Len(t, slices.Compact(moved), 1)

	database = bytes.ReplaceAll(database, []byte(gcc), []byte("/nowhere/gcc"))
	r := afdoRun("rebase", prof, "--old-source", old, "--dry-run", "--compile-commands", writeFile(t, "compile_commands.json", database))
	require.Equal(t, cli.StatusDone, r.status, r.err)
	assert.Contains(t, r.err, "src/cart.c: exec: \"/nowhere/gcc\": stat /nowhere/gcc: no such file or directory: its headers are not looked at")
}

// TestRebaseOfCreated moves the counts of a profile that contains hashes of its source lines. All
// verbs keep the hashes, and the result is the same as with the old sources.
func TestRebaseOfCreated(t *testing.T) {
	t.Parallel()
	program := compileC(t, createdProgram, "-g")
	dir := filepath.Dir(program)
	in := sampled(t, program, "loop", 50, 7)
	prof := filepath.Join(t.TempDir(), "prof.v4c")
	r := afdoRun("create", "--binary", program, "--profile", in, "-o", prof)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	assert.NotContains(t, r.err, "no source information")
	r = afdoRun("show", prof)
	assert.Contains(t, r.out, "Remembered of the sources\n")
	assert.NotContains(t, r.out, "unknown)")
	assert.Equal(t, cli.StatusDone, afdoRun("check", prof).status)

	new := t.TempDir()
	edited := strings.NewReplacer("  int s = 0;\n", "  int s = 0;\n\n  if (n < 0) abort();\n", "return x / 2;", "/* half */\n  return x / 2;").Replace(createdProgram)
	require.NoError(t, os.WriteFile(filepath.Join(new, "prog.c"), []byte(edited), 0o666))
	want := mustCreate(t, "rebase", prof, "--old-source", dir, "--source", new, "--to", "text", "-o", "-")
	assert.NotEqual(t, want, mustCreate(t, "convert", prof, "--to", "text"))

	verbs := map[string][]string{
		"convert": {"convert", prof, "--to", "v4"}, "index": {"convert", prof, "--to", "v4c", "--index"},
		"merge": {"merge", prof, "--to", "v4"}, "slice": {"slice", prof, "--unit", "prog.c", "--to", "v4"},
	}
	for name, args := range verbs {
		kept := filepath.Join(t.TempDir(), "kept")
		r := afdoRun(append(args, "-o", kept)...)
		require.Equal(t, cli.StatusDone, r.status, r.err)
		assert.Equal(t, want, mustCreate(t, "rebase", kept, "--source", new, "--to", "text", "-o", "-"), name)
		dropped := filepath.Join(t.TempDir(), "dropped")
		r = afdoRun("convert", kept, "--no-sources", "--to", "v4", "-o", dropped)
		require.Equal(t, cli.StatusDone, r.status, r.err)
		r = afdoRun("rebase", dropped, "--source", new, "--dry-run")
		assert.Equal(t, cli.StatusFault, r.status, name)
		assert.Contains(t, r.err, "does not remember", name)
	}
	for _, format := range []string{"v3", "v2", "text"} {
		r := afdoRun("convert", prof, "--to", format, "-o", filepath.Join(t.TempDir(), "x"))
		assert.Contains(t, r.err, "the record of the sources dropped", format)
	}

	moved, back := filepath.Join(t.TempDir(), "moved.v4c"), filepath.Join(t.TempDir(), "back.v4c")
	require.Equal(t, cli.StatusDone, afdoRun("rebase", prof, "--source", new, "-o", moved).status)
	assert.Equal(t, cli.StatusDone, afdoRun("check", moved).status)
	require.Equal(t, cli.StatusDone, afdoRun("rebase", moved, "--source", dir, "-o", back).status)
	assert.Equal(t, mustRead(t, prof), mustRead(t, back), "there and back again")
}

// TestRebaseThenMerge merges profiles of two versions of the sources, as docs/guide/rebase.md says:
// the counts of the older profile are moved first.
func TestRebaseThenMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	folders := make(map[string]string)
	for name, text := range map[string]string{"old.v4c": createdProgram, "new.v4c": editedProgram} {
		program := compileC(t, text, "-g")
		folders[name] = filepath.Dir(program)
		r := afdoRun("create", "--binary", program, "--profile", sampled(t, program, "loop", 50, 7),
			"--map-prefix", folders[name]+"=src", "--source", folders[name], "-o", path(name))
		require.Equal(t, cli.StatusDone, r.status, r.err)
	}
	same := func(sum string) string {
		r := afdoRun("rebase", sum, "--source", folders["new.v4c"], "--dry-run", "--json")
		return r.out
	}
	must(t, "rebase", path("old.v4c"), "--source", folders["new.v4c"], "-o", path("moved.v4c"))
	must(t, "merge", path("moved.v4c"), path("new.v4c"), "-o", path("sum.v4c"))
	assert.Contains(t, same(path("sum.v4c")), `"outcome": "unchanged"`)
	assert.NotContains(t, same(path("sum.v4c")), `"unknown"`, "all lines are remembered")
	must(t, "merge", path("old.v4c"), path("new.v4c"), "-o", path("mixed.v4c"))
	assert.Contains(t, same(path("mixed.v4c")), `"unknown"`, "a function of two states is left alone")
}

func mustRead(t *testing.T, path string) []byte {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// TestCreateWithoutSources checks that create reports for which sources it stores no hashes of
// lines, and why.
func TestCreateWithoutSources(t *testing.T) {
	t.Parallel()
	program := compileOwn(t, createdProgram, "-g")
	in := sampled(t, program, "loop", 50, 7)
	source := filepath.Join(filepath.Dir(program), "prog.c")
	out := filepath.Join(t.TempDir(), "out.v4c")
	future := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(source, future, future))
	r := afdoRun("create", "--binary", program, "--profile", in, "-o", out)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	assert.Contains(t, r.err, "; 1 file newer than the program, such as "+source)
	moved := t.TempDir()
	require.NoError(t, os.Rename(source, filepath.Join(moved, "prog.c")))
	r = afdoRun("create", "--binary", program, "--profile", in, "-o", out)
	assert.Contains(t, r.err, "; 1 file cannot be read, such as "+source)
	r = afdoRun("create", "--binary", program, "--profile", in, "-o", out, "--source", moved, "--json")
	assert.NotContains(t, r.err, "no source information")
	keepJSON(t, "create", r.out)
	assert.Contains(t, r.out, `"known": 2`)
	r = afdoRun("create", "--binary", program, "--profile", in, "-o", out, "--no-sources")
	assert.NotContains(t, r.err, "no source information")
}
