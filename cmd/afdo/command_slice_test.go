package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/synth"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
	"github.com/go-afdo/afdo/profile/index"
)

func needGCC(t testing.TB) string { return testenv.Tool(t, "gcc") }

// writeV4 writes a profile as a version 4 file into a new folder.
func writeV4(t testing.TB, p *profile.Profile) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.v4")
	replaceV4(t, path, p)
	return path
}

func replaceV4(t testing.TB, path string, p *profile.Profile) {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, builder.Write(&file, p, builder.Options{Index: &index.Options{Unqualified: slice.Names}}))
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o666))
}

// small returns a new synthetic profile of a few units, which the test may change, and the path of
// one of its units.
func small() (p *profile.Profile, source string) {
	p = synth.New(synth.Options{Seed: 1, Units: 60, Functions: testenv.Rounds(400, 2_250)})
	for f := range p.NumUnits() {
		if path := p.UnitPath(profile.UnitRef(f)); filepath.Ext(path) == ".cc" {
			return p, path
		}
	}
	panic("there is no source")
}

// change adds a sample to a function of a unit.
func change(t testing.TB, p *profile.Profile, unit string) {
	t.Helper()
	for s := range p.Functions() {
		if p.UnitPath(p.SymbolUnit(s)) == unit {
			p.AddFunction(s, profile.Function{HeadCount: 1})
			return
		}
	}
	t.Fatalf("%s has no functions", unit)
}

func TestSliceFormats(t *testing.T) {
	p, source := small()
	path := writeV4(t, p)
	whole := slice.FromProfile(load(t, path))
	for _, f := range allFormats {
		target := slice.Version3
		if f == anyprof.V2 {
			target = slice.Version2
		}
		want, err := whole.Select(slice.Request{Units: []string{source}, Target: target})
		require.NoError(t, err)
		out := filepath.Join(t.TempDir(), "slice")
		must(t, "slice", path, "--unit", source, "-o", out, "--to", f.String())
		got := load(t, out)
		if f == anyprof.V2 {
			assert.Equal(t, want.NumFunctions(), got.NumFunctions())
		} else {
			assert.NoError(t, profile.Compare(want, got), f.String())
			assert.Equal(t, slice.Steady(want.Summary), got.Summary)
			must(t, "slice", path, "--unit", source, "-o", out, "--to", f.String(), "--exact-summary")
			assert.Equal(t, want.Summary, load(t, out).Summary)
		}
	}
	assert.Less(t, len(must(t, "slice", path, "--unit", source, "--to", "v2")), int(fileSize(t, path)/2))
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// TestSliceInputs makes slices of the same profile in each format.
func TestSliceInputs(t *testing.T) {
	p, source := small()
	path := writeV4(t, p)
	want := must(t, "slice", path, "--unit", source, "--to", "v3")
	for _, f := range []anyprof.Format{anyprof.V4Compact, anyprof.V3, anyprof.Text} {
		other := filepath.Join(t.TempDir(), "other")
		require.Equal(t, cli.StatusDone, afdoRun("convert", path, "-o", other, "--to", f.String()).status)
		assert.True(t, want == must(t, "slice", other, "--unit", source, "--to", "v3"), f.String())
	}
}

func TestSliceQuantize(t *testing.T) {
	p, source := small()
	path := writeV4(t, p)
	out := filepath.Join(t.TempDir(), "out")
	must(t, "slice", path, "--unit", source, "--to", "v4", "-o", out, "--quantize", "2")
	seen := 0
	for _, f := range load(t, out).Functions() {
		for _, r := range f.Records {
			if r.Kind != profile.KindInlined && r.Count > 0 {
				count := r.Count
				for count%2 == 0 {
					count /= 2
				}
				require.LessOrEqual(t, count, uint64(3))
				seen++
			}
		}
	}
	assert.NotZero(t, seen)
}

// tinyProfile returns a profile with one function in each unit: f0, f1 and so on.
func tinyProfile(units ...string) *profile.Profile {
	p := profile.New()
	for i, unit := range units {
		var body profile.Body
		body.Count(1, 0, uint64(i+1))
		p.AddFunction(p.AddSymbol(p.AddUnit(unit), fmt.Sprintf("f%d", i)), profile.Function{HeadCount: 5, Records: body.Records()})
	}
	return p
}

// functionsOf returns the functions of tinyProfile that a file contains.
func functionsOf(t *testing.T, path string) (names []string) {
	t.Helper()
	p := load(t, path)
	for s := range p.Functions() {
		names = append(names, p.SymbolName(s))
	}
	return names
}

func TestSliceMatching(t *testing.T) {
	path := writeV4(t, tinyProfile("/src/a.c", "/src/x/b.c", "/lib/b.c", "include/c.h", "", "/usr/include/stdio.h"))
	deps := writeFile(t, "a.d", []byte("a.o: ../src/a.c \\\n ../include/c.h /usr/include/stdio.h b.c nothing.h\n"))
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args      []string
		functions []string
		err       string
	}{
		{[]string{"--unit", "/src/a.c"}, []string{"f4", "f0"}, ""},
		{[]string{"--unit", "a.c"}, []string{"f4", "f0"}, ""},
		{[]string{"--unit", "src/a.c", "--unit", "x/b.c"}, []string{"f4", "f0", "f1"}, ""},
		{[]string{"--unit", "c.h"}, []string{"f4", "f3"}, ""},
		{[]string{"--unit", "rc/a.c"}, []string{"f4"}, "afdo: unit rc/a.c is not in the profile\n"},
		{
			[]string{"--unit", "src/a.c", "--deps", deps},
			[]string{"f3", "f0", "f5"},
			"afdo: file b.c is ambiguous and left out: /lib/b.c, /src/x/b.c\n" +
				"afdo: 1 of 5 files in --deps are not in the profile\n",
		},
	} {
		r := afdoRun(append([]string{"slice", path, "--to", "v4", "-o", out}, c.args...)...)
		assert.Equal(t, result{err: c.err}, r, "%v", c.args)
		assert.ElementsMatch(t, c.functions, functionsOf(t, out), "%v", c.args)
	}
}

// TestSliceLook slices a profile with static functions of the same name in two files, one of which
// has no samples.
func TestSliceLook(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("b.c", []byte("static int f0(int x) { return x; }\n"), 0o666))
	require.NoError(t, os.WriteFile("c.c", []byte("int f0(int x);\nint g(int x) { return f0(x); }\n"), 0o666))
	path := writeV4(t, tinyProfile("/src/a.c", "/src/b.c", "/src/c.c"))
	out := filepath.Join(dir, "out")
	deps := func(source string) string {
		return writeFile(t, "x.d", []byte("x.o: "+source+" /missing/include/stdio.h\n"))
	}
	r := afdoRun("slice", path, "--unit", "b.c", "--deps", deps("b.c"), "--to", "v2", "-o", out)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	assert.ElementsMatch(t, []string{"f0", "f1"}, functionsOf(t, out))
	r = afdoRun("slice", path, "--unit", "c.c", "--deps", deps("c.c"), "--to", "v2", "-o", out)
	require.Equal(t, cli.StatusDone, r.status, r.err)
	assert.ElementsMatch(t, []string{"f2"}, functionsOf(t, out))
}

func TestSliceErrors(t *testing.T) {
	path := writeV4(t, tinyProfile("/src/a.c", "/lib/a.c"))
	notDeps := writeFile(t, "a.d", []byte("hello\n"))
	database := writeFile(t, "compile_commands.json", []byte("[{}]"))
	nothing := writeFile(t, "nothing.json", []byte(`[{"directory": "/", "file": "a.o", "command": "ld a.o"}]`))
	for _, c := range []struct {
		args   []string
		status int
		err    string
	}{
		{[]string{path, "--to", "v2"}, cli.StatusUsage, "missing flag --unit"},
		{[]string{path, "--unit", "a"}, cli.StatusUsage, `missing flag --to`},
		{[]string{"--unit", "a", "--to", "v2"}, cli.StatusUsage, "missing argument FILE"},
		{[]string{path, "--unit", "a", "--to", "v2", "--for", "clang"}, cli.StatusUsage, "want gcc10 or a later one"},
		{[]string{path, "--unit", "a", "--to", "v2", "--for", "gcc9"}, cli.StatusUsage, "want gcc10 or a later one"},
		{[]string{path, "--unit", "a", "--to", "v2", "--for", "gcc16"}, cli.StatusUsage, "that compiler reads v3, not v2"},
		{[]string{path, "--unit", "a", "--to", "v3", "--for", "gcc-12"}, cli.StatusUsage, "that compiler reads v2, not v3"},
		{[]string{path, "--unit", "a", "--to", "v2", "--quantize", "0"}, cli.StatusUsage, "want 1 to 64"},
		{[]string{path, "--unit", "a", "--to", "v2", "--quantize", "65"}, cli.StatusUsage, "want 1 to 64"},
		{[]string{path, "--unit", "a", "--to", "v2", "-d", "x"}, cli.StatusUsage, "go with --all"},
		{[]string{path, "--all", "--to", "v2"}, cli.StatusUsage, "-d DIR"},
		{[]string{path, "--all", "-d", "x", "--to", "v2"}, cli.StatusUsage, "--compile-commands"},
		{[]string{path, "--all", "-d", "x", "--compile-commands", "x", "--unit", "y", "--to", "v2"}, cli.StatusUsage, "without --unit"},
		{[]string{path, "--all", "-d", "x", "--compile-commands", "x", "-o", "y", "--to", "v2"}, cli.StatusUsage, "not to -o"},
		{[]string{path, "--unit", "a.c", "--to", "v2"}, cli.StatusFault, "unit a.c is ambiguous: /lib/a.c, /src/a.c"},
		{[]string{path, "--unit", "a", "--to", "v2", "--deps", "missing.d"}, cli.StatusFault, "missing.d: no such file"},
		{[]string{path, "--unit", "a", "--to", "v2", "--deps", notDeps}, cli.StatusFault, "a.d: not a dependency file: line 1 has no colon"},
		{[]string{notDeps, "--unit", "a", "--to", "v2"}, cli.StatusFault, "not a profile"},
		{[]string{path, "--all", "-d", "x", "--compile-commands", "missing", "--to", "v2"}, cli.StatusFault, "missing: no such file"},
		{[]string{path, "--all", "-d", "x", "--compile-commands", nothing, "--to", "v2"}, cli.StatusFault, "none of 1 command compiles anything"},
		{[]string{path, "--all", "-d", "x", "--compile-commands", database, "--to", "v2"}, cli.StatusFault, "command 1, : the command is empty"},
	} {
		t.Run(c.err, func(t *testing.T) {
			r := afdoRun(append([]string{"slice"}, c.args...)...)
			assert.Equal(t, c.status, r.status, "%v", c.args)
			assert.Contains(t, r.err, c.err, "%v", c.args)
			assert.Empty(t, r.out, "%v", c.args)
		})
	}
}

func TestSliceAll(t *testing.T) {
	t.Setenv("AFDO_CACHE_DIR", t.TempDir())
	build := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(build, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	write("src/a.c", "#include \"a.h\"\nint f0(int x) { return x; }\n")
	write("src/a.h", "int f0(int);\n")
	write("src/b.c", "static int f0(int x) { return x; }\n")
	write("obj/other", "")
	write("sub/c.c", "int f4(int x) { return x; }\n")
	write("compile_commands.json", fmt.Sprintf(`[
		{"directory": %q, "file": "src/a.c", "command": "gcc -MD -c src/a.c -o obj/a.o"},
		{"directory": %q, "file": "b.c", "arguments": ["nosuch-gcc", "-c", "b.c"]},
		{"directory": %q, "file": "../sub/c.c", "command": "/x/afdo exec -v -- gcc -c ../sub/c.c -o /elsewhere/c.o"},
		{"directory": %q, "file": "src/a.c", "command": "gcc -O3 -c src/a.c -o obj/a.o"},
		{"directory": %q, "file": "x.S", "command": "gcc -c x.S"}
	]`, build, filepath.Join(build, "src"), filepath.Join(build, "obj"), build, build))

	p := tinyProfile("/old/src/a.c", "/old/src/a.h", "/old/src/b.c", "/old/src/z.c")
	path := writeV4(t, p)
	dir := filepath.Join(t.TempDir(), "slices")
	args := []string{"slice", path, "--all", "-d", dir, "--compile-commands", filepath.Join(build, "compile_commands.json"), "--to", "v2"}
	needGCC(t)
	r := afdoRun(args...)
	require.Equal(t, cli.StatusFault, r.status, r.err)
	assert.Contains(t, r.err, "obj/a.o is compiled twice")
	assert.Contains(t, r.err, "the profile has nothing of 1 of 3 sources: ../sub/c.c\n")
	assert.Contains(t, r.err, "b.c: exec: \"nosuch-gcc\": executable file not found")
	assert.Contains(t, r.err, "1 of 3 commands have no slice")
	assert.NoFileExists(t, filepath.Join(dir, "src/b.o.afdo"))

	slices := map[string][]string{
		"obj/a.o.afdo":       {"f0"},
		"elsewhere/c.o.afdo": nil,
	}
	times := make(map[string]time.Time)
	for name, functions := range slices {
		assert.ElementsMatch(t, functions, functionsOf(t, filepath.Join(dir, name)), name)
		times[name] = modTime(t, filepath.Join(dir, name))
	}
	change(t, p, "/old/src/b.c")
	change(t, p, "/old/src/a.c")
	replaceV4(t, path, p)
	require.Equal(t, cli.StatusFault, afdoRun(args...).status)
	for name, before := range times {
		assert.Equal(t, name != "obj/a.o.afdo", before.Equal(modTime(t, filepath.Join(dir, name))), name)
	}
}

// TestSliceAllStaysInItsFolder slices a build whose compilation database was made to write
// elsewhere: by a path with "..", and by a symbolic link in the folder.
func TestSliceAllStaysInItsFolder(t *testing.T) {
	needGCC(t)
	top := t.TempDir()
	dir := filepath.Join(top, "deep", "slices")
	require.NoError(t, os.MkdirAll(dir, 0o777))
	source := writeFile(t, "a.c", []byte("int f0(int x) { return x; }\n"))
	slice := func(object string) result {
		database := writeFile(t, "compile_commands.json", fmt.Appendf(nil, `[{"directory": %q, "file": %q, "arguments": ["gcc", "-c", %q, "-o", %q]}]`, top, source, source, object))
		return afdoRun("slice", writeV4(t, tinyProfile("/old/a.c")), "--all", "-d", dir, "--compile-commands", database, "--to", "v2")
	}
	r := slice("/a/../../../out.o")
	require.Zero(t, r.status, r.err)
	assert.FileExists(t, filepath.Join(dir, "out.o.afdo"))
	assert.NoFileExists(t, filepath.Join(top, "out.o.afdo"))

	require.NoError(t, os.Symlink(top, filepath.Join(dir, "link")))
	r = slice("/link/b.o")
	assert.Equal(t, cli.StatusFault, r.status)
	assert.Contains(t, r.err, "link")
	assert.NoFileExists(t, filepath.Join(top, "b.o.afdo"))
}

func modTime(t testing.TB, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.ModTime()
}
