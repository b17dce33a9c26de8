package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// newTree writes files to a new source tree and returns options for it. It sets PATH to a folder
// with few programs, because tune runs every compiler in PATH to find out its version.
func newTree(t *testing.T, files map[string]string) (Options, *strings.Builder) {
	t.Helper()
	t.Setenv("PATH", testenv.OnlyPrograms(t, "sh", "cc", "as", "ld", "true", "sleep"))
	tree := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644))
	}
	var said strings.Builder
	return Options{Tree: tree, Folder: filepath.Join(tree, "work"), Out: &said, Afdo: "/bin/false"}, &said
}

func TestCopyTree(t *testing.T) {
	o, _ := newTree(t, map[string]string{"a/b.c": "1", "work/old": "2", ".git/config": "3"})
	require.NoError(t, os.Symlink("b.c", filepath.Join(o.Tree, "a/link")))
	require.NoError(t, os.Chmod(filepath.Join(o.Tree, "a/b.c"), 0o755))
	past := time.Unix(1e9, 0)
	require.NoError(t, os.Chtimes(filepath.Join(o.Tree, "a/b.c"), past, past))
	to := filepath.Join(o.Folder, "copy")
	require.NoError(t, copyTree(o.Tree, []string{o.Folder}, to))
	info, err := os.Stat(filepath.Join(to, "a/b.c"))
	require.NoError(t, err)
	assert.True(t, info.ModTime().Equal(past), "make goes by times")
	assert.Equal(t, os.FileMode(0o755), info.Mode())
	link, err := os.Readlink(filepath.Join(to, "a/link"))
	require.NoError(t, err)
	assert.Equal(t, "b.c", link)
	assert.NoDirExists(t, filepath.Join(to, "work"))
	assert.NoDirExists(t, filepath.Join(to, ".git"))

	before, err := fingerprint(o.Tree, []string{o.Folder})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(o.Folder, "more"), nil, 0o644))
	same, err := fingerprint(o.Tree, []string{o.Folder})
	require.NoError(t, err)
	assert.Equal(t, before, same)
	require.NoError(t, os.WriteFile(filepath.Join(o.Tree, "a/b.c"), []byte("4"), 0o644))
	other, err := fingerprint(o.Tree, []string{o.Folder})
	require.NoError(t, err)
	assert.NotEqual(t, before, other)
}

// The error of a step that fails contains the end of the command's output, and says what to do.
func TestFailingSteps(t *testing.T) {
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	o.Build = []string{"sh", "-c", "echo about to fail; exit 3"}
	_, err := Run(context.Background(), o)
	var failed *CommandError
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, err.Error(), "building without a profile: ")
	assert.Contains(t, err.Error(), "exit status 3\nabout to fail")

	o.Build = []string{"true"}
	_, err = Run(context.Background(), o)
	require.ErrorIs(t, err, errNoCompiler)
	assert.Contains(t, err.Error(), "make clean")

	o.Build, o.Limit = []string{"sh", "-c", "sleep 60 & wait"}, 100*time.Millisecond
	_, err = Run(context.Background(), o)
	require.Error(t, err)
	require.ErrorIs(t, err, ErrStopped)
	assert.Equal(t, "tune: stopped while building without a profile: the time limit of 100ms is over", err.Error())

	o.Folder = o.Tree
	_, err = Run(context.Background(), o)
	assert.Error(t, err)
	assert.NoFileExists(t, filepath.Join(o.Tree, ".gitignore"))
}

// Compilers are found in PATH, by CC and by CXX, and the log shows that a build ran them.
func TestScripts(t *testing.T) {
	testenv.Tool(t, "cc")
	o, said := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	t.Setenv("CC", "ccache cc -pipe")
	o.Build = []string{"sh", "-c", `$CC -O2 -c a.c && cc -o a a.o && echo "$CC" > used`}
	_, err := Run(context.Background(), o)
	var failed *CommandError
	require.True(t, errors.As(err, &failed) || errors.Is(err, errNoRecorder), "%v", err) // there is no afdo here
	used, err := os.ReadFile(filepath.Join(o.Folder, "base/used"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(o.Folder, "base.bin/cc")+" -pipe\n", string(used))
	log, err := os.ReadFile(filepath.Join(o.Folder, "base.compiles"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(log), "\n"))
	assert.NoFileExists(t, filepath.Join(o.Tree, "a"), "the tree stays as it is")
	commands, err := os.ReadFile(filepath.Join(o.Folder, "log"))
	require.NoError(t, err)
	assert.Contains(t, string(commands), `base.bin:"$PATH"`)
	assert.NotContains(t, said.String(), "(cd ", "commands are in the log")

	var steps []string
	o.Doing = func(s Step) {
		steps = append(steps, fmt.Sprintf("%d of %d: %s: %s", s.Number, s.Total, s.Name, s.Detail))
	}
	o.Verbose = true
	_, _ = Run(context.Background(), o)
	assert.Contains(t, steps, "1 of 8: building without a profile: done before")
	assert.Contains(t, said.String(), "(cd ")

	t.Setenv("CFLAGS", "-O2")
	steps = nil
	_, _ = Run(context.Background(), o)
	assert.NotContains(t, steps, "1 of 8: building without a profile: done before", "the environment says how to build")
}

// Every build writes a script for each compiler in PATH, of which there may be dozens. tune asks
// each compiler only once whether it is clang.
func TestCompilersAreAskedOnce(t *testing.T) {
	dir := t.TempDir()
	cc, asked := filepath.Join(dir, "cc"), filepath.Join(dir, "asked")
	require.NoError(t, os.WriteFile(cc, []byte("#!/bin/sh\necho >> "+asked+"\necho gcc version 12.2.0\n"), 0o700))
	tuning := &tuning{compilers: map[string]string{"cc": cc}, clang: make(map[string]bool)}
	var runs []string
	for range 2 {
		require.NoError(t, tuning.writeScripts(t.Context(), filepath.Join(dir, "bin"), "log", "reached", variant{}))
		lines, err := os.ReadFile(asked)
		require.NoError(t, err)
		runs = append(runs, string(lines))
	}
	assert.Equal(t, runs[0], runs[1])
}

// A program that was configured to call the preprocessor does so without "afdo exec", and clang
// gets no options of GCC.
func TestScriptOfCompiler(t *testing.T) {
	cc := testenv.Tool(t, "cc")
	dir := t.TempDir()
	tuning := &tuning{Options: Options{Afdo: filepath.Join(dir, "no-afdo")}, compilers: map[string]string{"cc": cc}, clang: make(map[string]bool)}
	require.NoError(t, tuning.writeScripts(t.Context(), filepath.Join(dir, "bin"), filepath.Join(dir, "log"), filepath.Join(dir, "reached"), variant{profile: "p"}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.c"), []byte("int a;\n"), 0o600))
	tuning.compilers["clang"] = filepath.Join(dir, "clang")
	testenv.FakeCompiler(t, tuning.compilers["clang"], "clang version 22.1.0", "")
	require.NoError(t, tuning.writeScripts(t.Context(), filepath.Join(dir, "mapped"), "log", "reached", variant{gccFlags: []string{"-fonly-gcc"}}))
	for name, has := range map[string]bool{"cc": true, "clang": false} {
		script, err := os.ReadFile(filepath.Join(dir, "mapped", name))
		require.NoError(t, err)
		assert.Equal(t, has, strings.Contains(string(script), "-fonly-gcc"), name)
	}
	for option, works := range map[string]bool{"-E": true, "-c": false} {
		cmd := exec.Command(filepath.Join(dir, "bin/cc"), option, "a.c")
		cmd.Dir = dir
		out, err := cmd.Output()
		assert.Equal(t, works, err == nil, option)
		assert.Equal(t, works, strings.Contains(string(out), "int a;"), option)
	}
}

// Builds split CC at spaces, so a script in a folder with a space is found through PATH.
func TestFolderWithSpace(t *testing.T) {
	testenv.Tool(t, "cc")
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder, o.Folder = []string{"./a"}, []string{"./a"}, Clock, filepath.Join(o.Tree, "a b")
	t.Setenv("CC", "cc -pipe")
	o.Build = []string{"sh", "-c", "$CC -O2 -o a a.c"}
	_, err := Run(t.Context(), o)
	assert.ErrorContains(t, err, "training: ", "there is no afdo here")
	log, err := os.ReadFile(filepath.Join(o.Folder, "base.compiles"))
	require.NoError(t, err)
	assert.Equal(t, "cc -pipe -O2 -o a a.c\n", string(log))
}

// A build without optimisation is refused before the training.
func TestUnoptimised(t *testing.T) {
	testenv.Tool(t, "cc")
	o, said := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	o.Build = []string{"sh", "-c", "cc -O2 -E a.c; cc -O0 a.c -o a; cc -c a.c"}
	_, err := Run(context.Background(), o)
	require.ErrorIs(t, err, errCannotTune)
	assert.Contains(t, err.Error(), "none of the 2 compiles optimises")
	assert.NotContains(t, said.String(), "afdo record")

	o.Build[2] += " -Os"
	_, err = Run(context.Background(), o)
	assert.NotErrorIs(t, err, errCannotTune)

	for options, fails := range map[string]bool{"-C debuginfo=2": true, "-C opt-level=0": true, "-C opt-level=3": false} {
		log := "rustc --crate-name build_script_build -C opt-level=0 build.rs\nrustc --crate-name x " + options + " x.rs\n"
		require.NoError(t, os.WriteFile(filepath.Join(o.Folder, "base.compiles"), []byte(log), 0o600))
		err := (&tuning{Options: o}).checkOptimised()
		assert.Equal(t, fails, errors.Is(err, errCannotTune), options)
	}
}

// Arguments in the log of compiles are not taken for compilers, whatever they contain.
func TestLogOfCompilers(t *testing.T) {
	testenv.Tool(t, "cc")
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return sizeof TEXT == 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	o.Build = []string{"cc", `-DTEXT="a\nb"`, "-o", "a", "a.c"}
	_, err := Run(context.Background(), o)
	assert.NotErrorIs(t, err, errNoCompiler)
	built, err := (&tuning{Options: o, compilers: findCompilers(os.Environ())}).built()
	require.NoError(t, err)
	assert.Equal(t, []string{"cc"}, built)
}

// A tree whose path contains a symbolic link is copied like any other, and both of its paths are
// replaced by the path of the copy.
func TestLinkedTree(t *testing.T) {
	testenv.Tool(t, "cc")
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	tree := o.Tree
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(tree, link))
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	o.Tree, o.Folder = link, filepath.Join(link, "work")
	o.Build = []string{"sh", "-c", "cd " + link + " && cc -o a " + tree + "/a.c && cd '" + tree + "' && cc -o b a.c"}
	_, err := Run(context.Background(), o)
	assert.NotErrorIs(t, err, errNoCompiler)
	for _, name := range []string{"a", "b"} {
		assert.NoFileExists(t, filepath.Join(tree, name), "the tree stays as it is")
		assert.FileExists(t, filepath.Join(tree, "work/base", name))
	}
}

func TestPathsOfTree(t *testing.T) {
	tuning := tuning{trees: longestFirst("/x", "/x/tree")}
	for word, want := range map[string]string{
		"/x/tree": "$c", "/x/tree/a": "$c/a", "-C/x/tree": "-C$c", "cd /x/tree;'/x/tree/b':/x/tree": "cd $c;'$c/b':$c",
		"/x/tree-2": "$c/tree-2", "/x/trees/a": "$c/trees/a", "/x.old/a": "/x.old/a", "/xy": "/xy",
		"/xä": "/xä", "-I/usr/x/a -isystem/x/a": "-I/usr/x/a -isystem$c/a", "file:///x/a": "file:///x/a", "P=/x:/x/tree": "P=$c:$c",
		"./x/a": "./x/a", "cd ../x": "cd ../x", "x/x/a": "x/x/a", "$HOME/x/a": "$HOME/x/a", "${H}/x ~/x": "${H}/x ~/x", `"$(pwd)"/x/a`: `"$(pwd)"/x/a`,
		`"/x/a" -I"/x/b" '-L/x'`: `"$c/a" -I"$c/b" '-L$c'`, "@/x/a {/x/a,/x/b} $(cat</x/a) ${V:-/x/a} 2>/x/a": "@$c/a {$c/a,$c/b} $(cat<$c/a) ${V:-$c/a} 2>$c/a",
	} {
		assert.Equal(t, want, tuning.inCopy(word, "$c"), word)
	}
}

// A build command that is itself a compiler is found in the log as well.
func TestBuildIsCompiler(t *testing.T) {
	testenv.Tool(t, "cc")
	o, _ := newTree(t, map[string]string{"a.c": "int main(void) { return 0; }\n"})
	o.Train, o.Measure, o.Recorder = []string{"./a"}, []string{"./a"}, Clock
	o.Build = []string{"cc", "-o", "a", "a.c"}
	_, err := Run(context.Background(), o)
	assert.NotErrorIs(t, err, errNoCompiler)
	assert.FileExists(t, filepath.Join(o.Folder, "base/a"))
	log, err := os.ReadFile(filepath.Join(o.Folder, "base.compiles"))
	require.NoError(t, err)
	assert.Equal(t, "cc -o a a.c\n", string(log))
}

// Of a long output, the end is kept.
func TestTail(t *testing.T) {
	said := outputTail{logf: func(string, ...any) {}}
	line := strings.Repeat("x", 99) + "\n"
	for range 1000 {
		_, _ = said.Write([]byte(line))
	}
	_, _ = said.Write([]byte("the end\n"))
	assert.LessOrEqual(t, len(said.String()), maxTail)
	assert.True(t, strings.HasPrefix(said.String(), "x") && strings.HasSuffix(said.String(), "the end\n"))
}

// Lines that afdo has printed in a build are logged.
func TestNotes(t *testing.T) {
	var said []string
	n := outputTail{logf: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	for _, part := range []string{"cc a.c\naf", "do: crashed\nand afdo: not", " this\nafdo: no end"} {
		_, _ = n.Write([]byte(part))
	}
	assert.Equal(t, []string{"# afdo: crashed"}, said)
	assert.Contains(t, n.String(), "cc a.c\nafdo: crashed\n")
}

func TestPerfCount(t *testing.T) {
	n, ok := perfCount([]byte("# started on\n\n12345,,instructions:u,100,100.00,,\n"))
	assert.True(t, ok)
	assert.Equal(t, uint64(12345), n)
	_, ok = perfCount([]byte("<not supported>,,instructions:u,0,100.00,,\n"))
	assert.False(t, ok)
}
