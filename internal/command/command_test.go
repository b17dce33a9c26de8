package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(line string) *Line { return Parse(strings.Fields(line), "/build") }

func TestParseCommand(t *testing.T) {
	for line, want := range map[string]Line{
		"gcc -c a.c -fprofile-generate=dir":             {Sources: []string{"a.c"}, Object: "a.o", Reason: Instruments},
		"gcc -c a.c --coverage":                         {Sources: []string{"a.c"}, Object: "a.o", Reason: Instruments},
		"gcc -O2 -c src/a.c":                            {Sources: []string{"src/a.c"}, Object: "a.o"},
		"gcc -O2 -c src/a.c -o out/a.o":                 {Sources: []string{"src/a.c"}, Object: "out/a.o"},
		"g++-12 -oout/a.o -S a.cc":                      {Sources: []string{"a.cc"}, Object: "out/a.o"},
		"c++ -S a.cpp":                                  {Sources: []string{"a.cpp"}, Object: "a.s"},
		"cc a.c b.c lib.a -lm":                          {Sources: []string{"a.c", "b.c"}, Object: "a.out"},
		"gcc -c a.c -fauto-profile=p.afdo":              {Sources: []string{"a.c"}, Object: "a.o", Profile: "p.afdo"},
		"gcc -c a.c -fauto-profile":                     {Sources: []string{"a.c"}, Object: "a.o", Profile: "fbdata.afdo"},
		"gcc -fno-auto-profile -c a.c -fauto-profile=p": {Sources: []string{"a.c"}, Object: "a.o", Profile: "p"},
		"gcc -x c -c a.txt -x none b.s":                 {Sources: []string{"a.txt"}, Object: "a.o"},
		"gcc -xc++ -c a.c -flto":                        {Sources: []string{"a.c"}, Object: "a.o", LTO: true},
		"gcc -flto=auto -c a.C -D X -include y.c":       {Sources: []string{"a.C"}, Object: "a.o", LTO: true},
		"gcc -c a.c -flto -fno-lto":                     {Sources: []string{"a.c"}, Object: "a.o"},
		"g++-16 -fmodules -c a.cppm b.ixx":              {Sources: []string{"a.cppm", "b.ixx"}, Object: "a.o"},
		"gcc -c -o a.o":                                 {Object: "a.o", Reason: "it compiles nothing"},
		"gcc a.o b.o -o prog -flto":                     {Object: "prog", LTO: true, Reason: "it compiles nothing"},
		"gcc -c a.S -o a.o":                             {Object: "a.o", Reason: "it compiles nothing"},
		"gcc -x assembler -c a.c -o a.o":                {Object: "a.o", Reason: "it compiles nothing"},
		"gcc -x c++-header -c a.h -o a.gch":             {Object: "a.gch", Reason: "it compiles nothing"},
		"gcc -E -c a.c":                                 {Sources: []string{"a.c"}, Object: "a.out", Reason: "it only preprocesses"},
		"gcc -MM a.c":                                   {Sources: []string{"a.c"}, Object: "a.out", Reason: "it only preprocesses"},
		"gcc -fsyntax-only -c a.c":                      {Sources: []string{"a.c"}, Object: "a.out", Reason: "it only checks the syntax"},
		"gcc -c -g -O2 conftest.c":                      {Sources: []string{"conftest.c"}, Object: "conftest.o", Reason: "it is a check of a configure step"},
		"gcc -c /b/CMakeFiles/CMakeScratch/T/src.c":     {Sources: []string{"/b/CMakeFiles/CMakeScratch/T/src.c"}, Object: "src.o", Reason: "it is a check of a configure step"},
		"gcc -c -x c -":                                 {Reason: "its source is standard input or a pipe"},
		"gcc -c -x c /dev/stdin -o a.o":                 {Sources: []string{"/dev/stdin"}, Object: "a.o", Reason: "its source is standard input or a pipe"},
		"gcc --version":                                 {Reason: "it asks the compiler for information"},
		"gcc -dumpfullversion -dumpversion":             {Reason: "it asks the compiler for information"},
		"gcc -print-file-name=libc.a":                   {Reason: "it asks the compiler for information"},
		"gcc -### -c a.c":                               {Sources: []string{"a.c"}, Object: "a.o", Reason: "it asks the compiler for information"},
		"gcc -c a.c -fauto-profile=p -fno-auto-profile": {Sources: []string{"a.c"}, Object: "a.o", Reason: "it has -fno-auto-profile"},
		"gfortran -c -J mods a.F90 -o a.o":              {Sources: []string{"a.F90"}, Object: "a.o"},
		"gcc -c pack.adb":                               {Sources: []string{"pack.adb"}, Object: "pack.o"},
		"gcc -x f95 -c a.inc -x none -o a.o":            {Sources: []string{"a.inc"}, Object: "a.o"},
		"gcc -shared a.o a.def -o a.dll":                {Object: "a.dll", Reason: "it compiles nothing"},
		"clang -c a.f90":                                {Reason: "it compiles nothing"},
		"gcc -c a.c -dumpbase x.c":                      {Sources: []string{"a.c"}, Object: "a.o"},
	} {
		got := parse(line)
		words := strings.Fields(line)
		assert.Equal(t, words[0], got.Compiler, line)
		assert.Equal(t, words[1:], got.Args, line)
		assert.Equal(t, words, got.Argv(), line)
		assert.Equal(t, want.Sources, got.Sources, line)
		assert.Equal(t, want.Object, got.Object, line)
		assert.Equal(t, want.Profile, got.Profile, line)
		assert.Equal(t, want.LTO, got.LTO, line)
		assert.Equal(t, want.Reason, got.Reason, line)
	}
}

func TestCompilerNames(t *testing.T) {
	for name, want := range map[string]bool{
		"gcc": true, "/usr/bin/g++": true, "cc": true, "c++": true, "gcc-12": true, "g++-12.2": true,
		"x86_64-linux-gnu-gcc-12": true, "arm-none-eabi-g++": true, "gcc.exe": true, `C:\mingw\bin\gcc.exe`: true,
		"clang": false, "clang++": false, "icc": false, "gfortran": true, "x86_64-linux-gnu-gfortran-12": true, "gdc": true, "ld": false, "gcc-ar": false, "": false, "tcc": false,
	} {
		assert.Equal(t, want, (&Line{Compiler: name, Dir: "/nowhere"}).isNamed(hasCompilerName), name)
	}
}

func TestLaunchers(t *testing.T) {
	c := parse("/usr/bin/ccache CCACHE_DEBUG=1 distcc gcc -c a.c")
	assert.Equal(t, []string{"/usr/bin/ccache", "CCACHE_DEBUG=1", "distcc"}, c.Launcher)
	assert.Equal(t, "gcc", c.Compiler)
	assert.Equal(t, strings.Fields("/usr/bin/ccache CCACHE_DEBUG=1 distcc gcc -fauto-profile=p -c a.c"), c.WithProfile("p"))

	for _, line := range []string{"ccache", "ccache --show-stats", "make -j", "icc -c a.c", ""} {
		c := parse(line)
		assert.Equal(t, NoGCC, c.Reason, line)
	}
}

func TestWithProfile(t *testing.T) {
	for line, want := range map[string]string{
		"gcc -c a.c":                                   "gcc -fauto-profile=p -c a.c",
		"gcc -c a.c -fauto-profile=x -O2":              "gcc -c a.c -fauto-profile=p -O2",
		"gcc -fauto-profile -c a.c":                    "gcc -fauto-profile=p -c a.c",
		"gcc -fauto-profile=x -c a.c -fauto-profile=y": "gcc -fauto-profile=x -c a.c -fauto-profile=p",
	} {
		assert.Equal(t, want, strings.Join(parse(line).WithProfile("p"), " "), line)
	}
	assert.Equal(t, "gcc a.o -flto", strings.Join(parse("gcc a.o -fauto-profile=x -flto").WithProfile(""), " "))
}

func TestPreprocessArgs(t *testing.T) {
	c := parse("gcc -O2 -Iinc -D X=1 -MD -MF a.d -MT x -MP -c a.c b.o y.i -o a.o -fauto-profile=p -Wp,-MD,x.d -x c z -save-temps -include pre.h -P -dM")
	assert.Equal(t, strings.Fields("-O2 -Iinc -D X=1 a.c -x c z -include pre.h"), c.PreprocessArgs())
	c = parse("clang -c -Wp,-MMD,x.d -Wp,-MD,x.d,-DX -iwithsysroot i -- a.c")
	assert.Equal(t, strings.Fields("-Wp,-MD,x.d,-DX -iwithsysroot i a.c"), c.PreprocessArgs())
	c = parse("gcc -O2 -fdiagnostics-add-output=sarif -fopt-info-all=x -fsave-optimization-record -fdump-tree-all -ftime-trace -time=x -c a.c")
	assert.Equal(t, strings.Fields("-O2 a.c"), c.PreprocessArgs(), "options that write other files")
}

func TestWrappers(t *testing.T) {
	for line, want := range map[string]string{
		"nice gcc -c a.c":                            "gcc",
		"nice -n 5 gcc -c a.c":                       "gcc",
		"nice -10 ionice -c 3 gcc -c a.c":            "gcc",
		"env A=1 B=2 gcc -c a.c":                     "gcc",
		"/usr/bin/env -u X -- A=1 ccache gcc -c a.c": "gcc",
		"time -p g++ -c a.cc":                        "g++",
		"timeout -k 5 60s gcc -c a.c":                "gcc",
		"taskset 3 gcc -c a.c":                       "gcc",
		"nice":                                       "nice", "env A=1": "A=1", "nice -n": "nice", "timeout 5": "timeout", "nice -n 5": "nice",
	} {
		c := parse(line)
		assert.Equal(t, want, c.Compiler, line)
		assert.Equal(t, line, strings.Join(c.Argv(), " "))
	}
}

// The arguments of env change the environment and the folder of the compiler. With other options,
// env is in the place of the compiler, so the command runs without a profile.
func TestEnv(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin/gcc"), nil, 0o777))
	t.Setenv("AFDO_A", "1")
	t.Setenv("AFDO_B", "2")
	for line, want := range map[string]struct{ a, b, dir string }{
		"env gcc -c a.c":                             {"1", "2", ""},
		"env -i gcc -c a.c":                          {"", "", ""},
		"env - AFDO_A=3 gcc -c a.c":                  {"3", "", ""},
		"env -u AFDO_A gcc -c a.c":                   {"", "2", ""},
		"env -uAFDO_A -uAFDO_B AFDO_B=4 gcc -c a.c":  {"", "4", ""},
		"env -u AFDO_B -- gcc -c a.c":                {"1", "", ""},
		"env --unset AFDO_B --unset=AFDO_A gcc a.c":  {"", "", ""},
		"env --ignore-environment --chdir=bin ./gcc": {"", "", "bin"},
		"env AFDO_A=3 nice env -u AFDO_B gcc a.c":    {"3", "", ""},
		"nice ccache AFDO_A=3 gcc -c a.c":            {"3", "2", ""},
		"env -C bin ./gcc -c a.c":                    {"1", "2", "bin"},
		"nice env -Cbin env -C .. AFDO_B= bin/gcc":   {"1", "", ""},
	} {
		c := Parse(strings.Fields(line), dir)
		assert.Contains(t, []string{"gcc", "./gcc", "bin/gcc"}, c.Compiler, line)
		assert.Equal(t, want.a, Getenv(c.Env, "AFDO_A"), line)
		assert.Equal(t, want.b, Getenv(c.Env, "AFDO_B"), line)
		assert.Equal(t, filepath.Join(dir, want.dir), c.Dir, line)
		assert.Equal(t, line, strings.Join(c.Argv(), " "))
	}
	path, err := Parse([]string{"env", "PATH=bin", "gcc", "-c", "a.c"}, dir).CompilerPath()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "bin/gcc"), path)
	for _, line := range []string{"env -S gcc gcc -c a.c", "env -iu AFDO_A gcc -c a.c", "env --argv0=x gcc -c a.c", "env -u"} {
		assert.Equal(t, NoGCC, Parse(strings.Fields(line), dir).Reason, line)
	}
}

// The last -O option of a command line is its level.
func TestLevel(t *testing.T) {
	for level, line := range map[string]string{"": "gcc -c a.c", "-O0": "gcc -O2 -c a.c -O0", "-O2": "gcc -O1 -O2 -c a.c -o -O3", "-O": "gcc -O -c a.c"} {
		c := Parse(strings.Fields(line), "/")
		assert.Equal(t, level, c.Level(), line)
		assert.Equal(t, level != "" && level != "-O0", c.Optimises(), line)
	}
}

func TestCompilerLink(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x86_64-linux-gnu-gcc-12"), []byte("#!/bin/sh\n"), 0o777))
	require.NoError(t, os.Symlink("x86_64-linux-gnu-gcc-12", filepath.Join(dir, "mycc")))
	require.NoError(t, os.Symlink("/bin/echo", filepath.Join(dir, "other")))
	assert.Empty(t, Parse([]string{"./mycc", "-c", "a.c"}, dir).Reason)
	assert.Equal(t, NoGCC, Parse([]string{"./other", "-c", "a.c"}, dir).Reason)
}

func TestResponseFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write("args", "-c 'my file.c' \"-Da=\\\"b\\\"\"\n @inner \\@x -o\n")
	write("inner", "-fauto-profile=old @missing")
	write("loop", "@loop a.c")
	c := Parse([]string{"gcc", "-O2", "@args", "out.o"}, dir)
	assert.Equal(t, []string{"my file.c"}, c.Sources)
	assert.Equal(t, "old", c.Profile)
	assert.Equal(t, []string{"gcc", "-O2", "@args", "out.o", "-fauto-profile=p"}, c.WithProfile("p"))
	assert.Equal(t, []string{"-O2", "my file.c", `-Da="b"`}, c.PreprocessArgs())

	write("value", "out.o -I")
	c = Parse([]string{"gcc", "-c", "a.c", "-o", "@value", "inc", "b.c"}, dir)
	assert.Equal(t, "out.o", c.Object, "an option and its value in two files")
	assert.Equal(t, []string{"a.c", "b.c"}, c.Sources)

	for text, unclear := range map[string]bool{
		`-DA=\"x\" "-DB=\"y\\z" 'c d' e\ f`: false, `'a\b'`: true, `"a\b"`: true, `x "a\\\"b" 'it\`: true, "a\\\nb": true, `a\`: true, `\' \\`: false, "'": false,
	} {
		write("quoted", "-c a.c "+text)
		assert.Equal(t, unclear, Parse([]string{"gcc", "@quoted"}, dir).HidesNames() != "", text)
	}

	c = Parse([]string{"gcc", "-c", "@loop"}, dir)
	assert.Len(t, c.Sources, maxResponseDepth)
}

func TestSplitResponse(t *testing.T) {
	for text, want := range map[string][]string{
		"":                    nil,
		" a\tb\nc ":           {"a", "b", "c"},
		`'a b' "c d" e\ f`:    {"a b", "c d", "e f"},
		`'a\b' "a\"b" ''`:     {`a\b`, `a"b`, ""},
		`a'b'c "unfinished`:   {"abc", "unfinished"},
		`C:\\x -D"A=\"b c\""`: {`C:\x`, `-DA="b c"`},
	} {
		words, _ := SplitWords(text)
		assert.Equal(t, want, words, text)
	}
}

// Meson's checks of the compiler are recognised by the folder of their sources.
func TestTrialOfMeson(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "build")
	assert.Equal(t, Trial, Parse([]string{"cc", "sanitycheckc.c", "-o", "x"}, filepath.Join(dir, "meson-private")).Reason)
	assert.Equal(t, Reason(""), Parse([]string{"cc", "-c", "../sanitycheck.c"}, dir).Reason)
}
