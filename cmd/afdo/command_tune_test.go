package main

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

func TestTuneUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"missing argument BUILD: afdo tune":                                          {"--train", "x"},
		"missing flag --train: afdo tune":                                            {"--", "make"},
		`"--recorder" flag: want one of best, branches, steps, callgrind, cpu-clock`: {"--train", "x", "--recorder", "x", "--", "make"},
		"--rounds -1 measures nothing":                                               {"--train", "x", "--rounds", "-1", "--", "make"},
		`--env is NAME=VALUE, not "=x"`:                                              {"--train", "x", "--env", "=x", "--", "make"},
		"--time-limit -1s leaves no time":                                            {"--train", "x", "--time-limit", "-1s", "--", "make"},
	} {
		r := afdoRun(append([]string{"tune"}, args...)...)
		assert.Equal(t, cli.StatusUsage, r.status, args)
		assert.Contains(t, r.err, want)
	}
}

// TestHowToBuild checks that the printed build command is the user's complete command, with "afdo
// exec" before the compilers.
func TestHowToBuild(t *testing.T) {
	cxx := []string{"clang++-22", "gcc-16", "cc"}
	const cc = `CC="afdo exec --profile p.afdo -- gcc-16" CXX="afdo exec --profile p.afdo -- clang++-22"`
	const cmake = `-DCMAKE_C_COMPILER_LAUNCHER="afdo;exec;--profile;p.afdo;--" -DCMAKE_CXX_COMPILER_LAUNCHER="afdo;exec;--profile;p.afdo;--"`
	shell := func(line string) []string { return []string{"sh", "-c", line} }
	for want, o := range map[string]tune.Options{
		"make " + cc + " -j2":                                    {Build: []string{"make", "-j2"}},
		"./configure " + cc + " --static && make":                {Build: shell("./configure --static && make")},
		"make " + cc + " clean && make " + cc + " -j2":           {Build: shell("make clean && make -j2")},
		"cmake " + cmake + " build && ninja -C build":            {Build: []string{"ninja", "-C", "build"}},
		"cmake " + cmake + " out && cmake --build out -j2":       {Build: []string{"cmake", "--build", "out", "-j2"}},
		cc + " meson setup build && ninja -C build":              {Build: shell("meson setup build && ninja -C build")},
		"afdo exec --profile p.afdo -- clang++-22 -O2 a.cc -o a": {Build: []string{"clang++-22", "-O2", "a.cc", "-o", "a"}},
		"cmake " + cmake + " -B b -G Ninja . && cmake --build b": {Build: shell("cmake -B b -G Ninja . && cmake --build b")},
		"export CFLAGS='-O3 -g'; make " + cc:                     {Build: shell("make"), Env: []string{"CFLAGS=-O3 -g"}},
		"CFLAGS='-O3 -g' make " + cc:                             {Build: []string{"make"}, Env: []string{"CFLAGS=-O3 -g"}},
		cc + " ./build.sh fast":                                  {Build: []string{"./build.sh", "fast"}},
		strings.Replace("make "+cc, "gcc-16", "clang -m64", 1):   {Build: []string{"make", "CC=clang -m64", "CXX=clang++-22"}},
		"make " + cc[strings.Index(cc, "CXX="):] + " -C a " + strings.Replace(cc[:strings.Index(cc, " CXX=")], "gcc-16", "clang-22", 1): {Build: []string{"make", "-C", "a", "CC=clang-22"}},
		strings.Replace(cc, "gcc-16", "cc", 1) + " ./configure && make":                                                                 {Build: shell(`CC=cc CXX="clang++-22" ./configure && make`)},
		"export CC=gcc-16 CXX=clang++-22; cmake " + cmake + " -B c":                                                                     {Build: shell("cmake -B c"), Env: []string{"CC=gcc-16", "CXX=clang++-22"}},
	} {
		assert.Equal(t, want, compile.HowToBuild(&o, &tune.Result{Try: tune.Try{Profile: "p.afdo"}, Compilers: cxx}))
	}
	wd, err := os.Getwd()
	require.NoError(t, err)
	for want, o := range map[string]tune.Options{
		`make CC="afdo exec --profile $PWD/work/p.afdo --no-params -- gcc"`:                     {Build: []string{"make"}},
		`cd src && make CC="afdo exec --profile ` + wd + `/work/p.afdo --no-params -- gcc" all`: {Build: shell("cd src && make all")},
	} {
		r := &tune.Result{Try: tune.Try{Exec: []string{"--no-params"}, Profile: wd + "/work/p.afdo"}, Compilers: []string{"gcc"}}
		assert.Equal(t, want, compile.HowToBuild(&o, r))
	}
	build := func(r *tune.Result, env []string, argv ...string) string {
		return compile.HowToBuild(&tune.Options{Build: argv, Env: env}, r)
	}
	assert.Equal(t, `make CC="afdo exec --profile 'my p.afdo' -- gcc"`, build(&tune.Result{Try: tune.Try{Profile: "my p.afdo"}, Compilers: []string{"gcc"}}, nil, "make"))
	assert.Equal(t, `make CC="afdo exec --profile p.afdo -- cc" FC="afdo exec --profile p.afdo -- gfortran-12"`, build(&tune.Result{Try: tune.Try{Profile: "p.afdo"}, Compilers: []string{"gfortran-12", "cc"}}, nil, "make"))
	tree := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tree, "Makefile"), []byte("CFLAGS = -O2\n#CC = cc -x\nCC = gcc -ansi\nCC= gcc -std=gnu99 -fpic\nCXX := $(CROSS)g++ -w\n"), 0o600))
	assert.Equal(t, `make CC="afdo exec --profile p.afdo -- gcc -std=gnu99 -fpic" CXX="afdo exec --profile p.afdo -- g++"`,
		compile.HowToBuild(&tune.Options{Build: []string{"make"}, Tree: tree}, &tune.Result{Try: tune.Try{Profile: "p.afdo"}, Compilers: []string{"g++", "gcc"}}))
	r := &tune.Result{Try: tune.Try{Profile: "p.afdo"}, Compilers: []string{"rustc"}, RustOption: "-Zprofile-sample-use="}
	assert.Equal(t, "RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Cdebuginfo=1 -Zprofile-sample-use=p.afdo' sh -c 'cargo build -r'", build(r, []string{"RUSTC_BOOTSTRAP=1"}, "sh", "-c", "cargo build -r"))
	assert.Equal(t, "RUSTC_BOOTSTRAP=1 RUSTFLAGS='-Ctarget-cpu=native -Cdebuginfo=1 -Zprofile-sample-use=p.afdo' cargo build", build(r, []string{"RUSTFLAGS=-Ctarget-cpu=native"}, "cargo", "build"))
	t.Setenv("CC", "clang-22")
	assert.Equal(t, `CC=clang-22 cmake -DCMAKE_C_COMPILER_LAUNCHER="afdo;exec;--profile;p.afdo;--" .`, build(&tune.Result{Try: tune.Try{Profile: "p.afdo"}, Compilers: []string{"clang-22"}}, nil, "cmake", "."))

	here := filepath.Join(t.TempDir(), "my tree")
	require.NoError(t, os.Mkdir(here, 0o700))
	t.Chdir(here)
	assert.Equal(t, `make CC="afdo exec --profile '`+here+`/p.afdo' -- gcc"`, build(&tune.Result{Try: tune.Try{Profile: here + "/p.afdo"}, Compilers: []string{"gcc"}}, nil, "make"),
		"$PWD has a blank, and the shell that runs the compiler would split it")
}

// TestTuneJSON runs all steps of tune with a real compiler and callgrind. Package tune tests steps
// that were done before or fail.
func TestTuneJSON(t *testing.T) {
	testenv.NeedSweep(t)
	t.Parallel()
	testenv.Tool(t, "gcc")
	testenv.Tool(t, "valgrind")
	testenv.Tool(t, "awk")
	s := newSite(t)
	require.NoError(t, os.CopyFS(s.dir, os.DirFS("../../docs/guide/autofdo")))
	s.run("sh", "-c", "awk -v seed=1 -f text.awk | head -n 60 > training.txt; awk -v seed=2 -f text.awk | head -n 60 > other.txt")
	s.write("build.sh", "cc -O2 -o words words.c table.c\n")
	s.setenv("PATH", testenv.OnlyPrograms(t, "afdo", "sh", "cc", "as", "ld", "valgrind", "cat")) // each compiler in PATH is asked what it is
	args := []string{
		"afdo", "tune", "--recorder", "callgrind", "--rounds", "12", "-o", "words.afdo",
		"--train", "./words < training.txt", "--measure", "./words < $INPUT", "--env", "INPUT=other.txt", "--json", "--", "sh", "build.sh",
	}
	cmd := s.command(args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, said.String())
	keepJSON(t, "tune", string(out))
	var facts compile.TuneFacts
	require.NoError(t, json.Unmarshal(out, &facts))
	assert.Contains(t, []tune.Verdict{tune.Faster, tune.Slower, tune.Undecided}, facts.Verdict)
	assert.Equal(t, []string{"words"}, facts.Programs)
	assert.Equal(t, tune.Callgrind, facts.Recorder)
	assert.Equal(t, new(bool), facts.Differs)
	assert.Regexp(t, `^INPUT=other.txt CC="afdo exec --profile \$PWD/words(\.part)?.afdo( --as arcs| --no-params)? -- cc" sh build.sh$`, facts.Build)
	measures := make(map[string]compile.TuneMeasure)
	for _, m := range facts.Measures {
		measures[m.What] = m
	}
	for _, what := range []string{"processor time", "time", "instructions", "code"} {
		m, ok := measures[what]
		require.True(t, ok, what)
		assert.Positive(t, m.Before)
		assert.Positive(t, m.After)
		assert.NotNil(t, m.Low)
	}
	assert.Less(t, measures["instructions"].Change, -0.01, "it does less for the same text")
	assert.NoFileExists(t, s.path("words"), "the tree has the profile and the folder, and nothing else that is new")

	assert.Equal(t, cli.StatusDone, afdoRun("show", s.path("words.afdo")).status)
	assert.NotContains(t, said.String(), "indexed a copy", "the profile has an index")
	assert.Contains(t, s.run("afdo", "lookup", "words.afdo", "--unit", s.path("table.c")), "table_add", "units have the paths of the tree")

	again := s.run(append(args[:len(args)-4:len(args)-4], "--", "sh", "build.sh")...)
	for i, step := range []string{"building without a profile", "running the measured program once", "training", "creating the profile", "building with the profile"} {
		assert.Contains(t, again, fmt.Sprintf("%d of 8  %-40s done before\n", i+1, step))
	}
	assert.Contains(t, again, "Verdict: ")
	for line := range strings.Lines(again) {
		assert.LessOrEqual(t, len(line), 81, line)
	}

	quiet := s.run(append(args[:len(args)-4:len(args)-4], "-q", "--", "sh", "build.sh")...)
	assert.Contains(t, quiet, "Verdict: ")
	assert.NotContains(t, quiet, "done before")

	s.write("build.sh", "cc -O2 -o words words.c table.c && echo more >&2 && false\n")
	failed := s.fails(cli.StatusFault, append(args[:len(args)-4:len(args)-4], "--", "sh", "build.sh")...)
	assert.Contains(t, failed, "exit status 1\nmore\n")
	assert.Contains(t, failed, "run the same command again")
	assert.Contains(t, failed, "files outside of it need an absolute path")
}

// builds are projects with the same source, each with another build system. Their build folder is
// "out".
var builds = map[string]struct {
	tools    []string
	files    map[string]string
	before   string // command that configures the tree before tune runs
	build    []string
	program  string
	settings []string
	says     string // text in the progress output
	want     string // text in the error, or ""
}{
	"CMake, configured": {
		tools:  []string{"cmake", "gcc"},
		files:  map[string]string{"CMakeLists.txt": "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(sorter sort.c)\n"},
		before: "cmake -S . -B out -DCMAKE_BUILD_TYPE=Release && cmake --build out",
		build:  []string{"cmake", "--build", "out"}, program: "out/sorter",
	},
	"Meson, configured": {
		tools:  []string{"meson", "ninja", "gcc"},
		files:  map[string]string{"meson.build": "project('p', 'c')\nexecutable('sorter', 'sort.c')\n"},
		before: "meson setup out -Dbuildtype=release && ninja -C out",
		build:  []string{"ninja", "-C", "out"}, program: "out/sorter",
	},
	"cargo": {
		tools: []string{"cargo", "rustc"},
		files: map[string]string{
			"Cargo.toml":  "[package]\nname = \"sorter\"\nversion = \"0.1.0\"\nedition = \"2018\"\n",
			"src/main.rs": rustSorter,
		},
		before: "true", build: []string{"cargo", "build", "--release"}, program: "target/release/sorter",
	},
	"a way that cannot be built": {
		tools:  []string{"gcc"},
		before: "true", build: []string{"sh", "-c", "if grep -q 'as arcs' \"$(command -v gcc)\"; then exit 1; fi; gcc -O2 -o sorter sort.c"}, program: "./sorter",
		says: "note: building with profile as arcs fails",
	},
	"only a linker": {
		tools:  []string{"gcc"},
		before: "true", build: []string{"sh", "-c", "gcc -x none -c -O2 -g -fno-auto-profile sort.c && gcc -o sorter sort.o"}, program: "./sorter",
		want: "no compile used the profile",
	},
}

const sorter = `static int numbers[3000];
static __attribute__((noinline)) int smallest(int from) {
	int at = from;
	for (int i = from; i < 3000; i++)
		if (numbers[i] < numbers[at])
			at = i;
	return at;
}
int main(void) {
	unsigned v = 1;
	for (int i = 0; i < 3000; i++)
		numbers[i] = (int)((v = v * 1103515245 + 12345) >> 8);
	for (int i = 0; i < 3000; i++) {
		int at = smallest(i), n = numbers[i];
		numbers[i] = numbers[at], numbers[at] = n;
	}
	return numbers[0] > numbers[2999];
}
`

const rustSorter = `#[inline(never)]
fn smallest(v: &[i64], from: usize) -> usize {
    let mut at = from;
    for i in from..v.len() {
        if v[i] < v[at] {
            at = i;
        }
    }
    at
}
fn main() {
    let mut s: u32 = 1;
    let mut v: Vec<i64> = (0..3000).map(|_| { s = s.wrapping_mul(1103515245).wrapping_add(12345); (s >> 8) as i64 }).collect();
    for i in 0..v.len() {
        let at = smallest(&v, i);
        v.swap(i, at);
    }
    assert!(v[0] <= v[2999]);
}
`

// checkNamesOfCargo checks that the profile has the symbol names of an ordinary build.
func checkNamesOfCargo(t *testing.T, s *site) {
	s.run("env", "RUSTC_BOOTSTRAP=1", "cargo", "build", "--release")
	f, err := elf.Open(s.path("target/release/sorter"))
	require.NoError(t, err)
	defer f.Close()
	symbols, err := f.Symbols()
	require.NoError(t, err)
	at := slices.IndexFunc(symbols, func(symbol elf.Symbol) bool { return strings.Contains(symbol.Name, "smallest") })
	require.GreaterOrEqual(t, at, 0)
	text := s.run("afdo", "convert", "afdo-tune/tuned.afdo", "--to", "sampletext", "-o", "-")
	require.True(t, strings.Contains(text, symbols[at].Name+":"), "%s is not in the profile", symbols[at].Name)
}

// TestTuneBuilds runs all steps of tune on trees that were configured already and on a program in
// Rust.
func TestTuneBuilds(t *testing.T) {
	testenv.NeedSweep(t)
	for name, b := range builds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testenv.Tool(t, "valgrind")
			for _, tool := range b.tools {
				if testenv.Optional(t, tool) == "" {
					t.Skipf("%s is not installed", tool)
				}
			}
			s := newSite(t)
			s.write("sort.c", sorter)
			for path, text := range b.files {
				s.write(path, text)
			}
			s.run("sh", "-c", b.before)
			args := []string{"afdo", "tune", "--recorder", "callgrind", "--rounds", "1", "--no-count", "--train", b.program}
			cmd := s.command(append(append(append(args, b.settings...), "--"), b.build...)...)
			out, err := cmd.CombinedOutput()
			if b.want != "" {
				require.Error(t, err)
				require.Contains(t, string(out), b.want)
				return
			}
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "used by 1 of 1 compiles")
			require.Contains(t, string(out), b.says)
			if name == "cargo" {
				checkNamesOfCargo(t, s)
			}
		})
	}
}
