package contrib

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/builder"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/testkit/testenv"
	"github.com/go-afdo/afdo/profile"
)

// A workspace is a folder that Bazel builds in, without a network.
type workspace struct {
	*testing.T
	bazel, dir, output string
}

// newWorkspace returns a workspace with the rules and the command. Bazel 4 needs two repositories
// of its own tools; stubs of their rules are enough.
func newWorkspace(t *testing.T) *workspace {
	testenv.NeedSweep(t)
	path := testenv.Optional(t, "bazel")
	w := &workspace{t, path, t.TempDir(), t.TempDir()}
	version, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	if text := strings.TrimSpace(string(version)); text != "bazel no_version" && !strings.HasPrefix(text, "bazel 4.") {
		t.Skipf("this is made for Debian's Bazel 4.2.3, not %s", text)
	}
	rules, err := os.ReadFile("bazel/afdo.bzl")
	require.NoError(t, err)
	w.write(".bazelrc", "startup --output_user_root="+w.output+" --max_idle_secs=60\n")
	w.write("WORKSPACE", "")
	w.write("afdo/BUILD", "")
	w.write("afdo/afdo.bzl", string(rules))
	w.write("tools/BUILD", "exports_files(['afdo'])\n")
	out, err := exec.Command("go", "build", "-o", filepath.Join(w.dir, "tools", "afdo"), "../cmd/afdo").CombinedOutput()
	require.NoError(t, err, "%s", out)
	w.stub("rules_cc", "cc", "toolchain_type(name = 'toolchain_type', visibility = ['//visibility:public'])\n", "cc_binary", "cc_library", "cc_toolchain", "cc_toolchain_suite")
	w.stub("rules_java", "java", "", "java_binary", "java_import", "java_library", "java_package_configuration", "java_runtime", "java_toolchain")
	t.Cleanup(func() {
		_, _ = w.run(path, "shutdown")
		_ = exec.Command("chmod", "-R", "u+w", w.output).Run()
	})
	return w
}

func (w *workspace) write(name, text string) {
	path := filepath.Join(w.dir, name)
	require.NoError(w, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(w, os.WriteFile(path, []byte(text), 0o666))
}

// replace makes Bazel use a folder of the workspace in place of a repository that it would
// download.
func (w *workspace) replace(repository, dir string) {
	w.append(".bazelrc", "build --override_repository="+repository+"="+filepath.Join(w.dir, dir)+"\n")
}

func (w *workspace) append(name, text string) {
	old, err := os.ReadFile(filepath.Join(w.dir, name))
	require.NoError(w, err)
	w.write(name, string(old)+text)
}

// stub makes a repository whose rules only call Bazel's built-in rules of the same names.
func (w *workspace) stub(repository, folder, build string, rules ...string) {
	dir := "repositories/" + repository
	w.write(dir+"/WORKSPACE", "")
	w.write(dir+"/"+folder+"/BUILD", build)
	var defs strings.Builder
	for _, rule := range rules {
		fmt.Fprintf(&defs, "%s = native.%[1]s\n", rule)
	}
	w.write(dir+"/"+folder+"/defs.bzl", defs.String())
	w.replace(repository, dir)
}

func (w *workspace) run(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// build builds everything, and returns how many compiles and how many slices Bazel had to make.
func (w *workspace) build() (compiles, slices int) {
	out, err := w.run(w.bazel, "build", "-s", "//:main")
	require.NoError(w, err, out)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "SUBCOMMAND: # //:lib") {
			compiles += strings.Count(line, "[action 'Compiling ")
			slices += strings.Count(line, "[action 'Slicing ")
		}
	}
	return compiles, slices
}

const (
	numLibraries = 6
	numRefreshed = 2
)

// refresh writes a profile with other counts for the first few libraries.
func (w *workspace) refresh(changed int) {
	p := profile.New()
	for i := range numLibraries {
		var body profile.Body
		count := uint64(100)
		if i < changed {
			count = 1_000
		}
		body.Count(1, 0, count)
		p.AddFunction(p.AddSymbol(p.AddUnit(fmt.Sprintf("/elsewhere/a%d.c", i)), fmt.Sprintf("f%d", i)), profile.Function{HeadCount: count, Records: body.Records()})
	}
	var file bytes.Buffer
	require.NoError(w, builder.Write(&file, p, builder.Options{}))
	w.write("prof.v4", file.String())
}

// TestBazelRefresh builds with the rules for Bazel: each library has a slice, and libraries depend
// on one another. A refresh of the profile makes all slices again, and compiles only the libraries
// whose slices differ.
func TestBazelRefresh(t *testing.T) {
	w := newWorkspace(t)
	c, err := toolchain.Find(t.Context(), command.Parse([]string{testenv.Tool(t, "gcc")}, w.dir), nil)
	require.NoError(t, err)
	build := "load('//afdo:afdo.bzl', 'afdo_cc_library')\n"
	for i := range numLibraries {
		deps := ""
		if i > 0 {
			deps = fmt.Sprintf("':lib%d'", i-1)
		}
		w.write(fmt.Sprintf("a%d.c", i), fmt.Sprintf("#include \"h%d.h\"\n#include \"p%[1]d.h\"\nint f%[1]d(int x) { return NUMBER + twice%[1]d(x); }\n", i))
		w.write(fmt.Sprintf("b%d.c", i), fmt.Sprintf("int g%d(int x) { return x; }\n", i))
		w.write(fmt.Sprintf("p%d.h", i), fmt.Sprintf("static int twice%d(int x) { return 2 * x; }\n", i))
		w.write(fmt.Sprintf("h%d.h", i), fmt.Sprintf("int f%d(int x);\n", i))
		build += fmt.Sprintf("afdo_cc_library(name = 'lib%d', srcs = ['a%[1]d.c', 'b%[1]d.c', 'p%[1]d.h'], hdrs = ['h%[1]d.h'], copts = ['-O2', '-DNUMBER=1'], deps = [%s], profile = 'prof.v4', afdo = '//tools:afdo', format = 'v%d')\n", i, deps, c.Reads())
	}
	w.write("main.c", fmt.Sprintf("#include \"h%d.h\"\nint main(void) { return f%[1]d(1) - 3; }\n", numLibraries-1))
	w.write("BUILD", build+fmt.Sprintf("cc_binary(name = 'main', srcs = ['main.c'], deps = [':lib%d'])\n", numLibraries-1))
	expect := func(compiles, slices int) {
		t.Helper()
		gotCompiles, gotSlices := w.build()
		require.Equal(t, []int{compiles, slices}, []int{gotCompiles, gotSlices}, "compiles and slices")
	}
	w.refresh(0)
	expect(2*numLibraries, numLibraries)
	expect(0, 0)
	w.refresh(numRefreshed)
	expect(2*numRefreshed, numLibraries)
	out, err := exec.Command(filepath.Join(w.dir, "bazel-bin", "main")).CombinedOutput()
	require.NoError(t, err, "%s", out)

	out, err = os.ReadFile(filepath.Join(w.dir, "bazel-bin", "lib1_slice.slices", "slice.o.afdo"))
	require.NoError(t, err)
	require.Contains(t, string(out), "f1")
	require.NotContains(t, string(out), "f2")
	actions, err := w.run(w.bazel, "aquery", "mnemonic('AfdoSlice', //:all)")
	require.NoError(t, err, actions)
	slicing := strings.Split(actions, "action '")[1:]
	require.Len(t, slicing, numLibraries)
	for _, action := range slicing {
		require.Contains(t, action, "ExecutionInfo: {no-remote: 1}")
	}
}

// TestBazelWholeProfile runs the block of docs/guide/builds.md. Debian's Bazel lacks the program
// that unpacks instrumented profiles, without which it accepts no profile.
func TestBazelWholeProfile(t *testing.T) {
	w := newWorkspace(t)
	tools := filepath.Join("repositories", "bazel_tools")
	require.NoError(t, os.CopyFS(filepath.Join(w.dir, tools), os.DirFS("/usr/share/bazel/embedded_tools")))
	w.replace("bazel_tools", tools)
	w.write(tools+"/BUILD", "exports_files(['WORKSPACE'])\n")
	w.append(tools+"/tools/zip/BUILD", "filegroup(name = 'unzip_fdo', srcs = ['//:WORKSPACE'])\n")
	w.write(".bazelignore", "repositories\n")
	w.write("BUILD", "cc_binary(name = 'f0', srcs = ['a0.c'])\n")
	w.write("a0.c", "int f0(int x) { return x; }\nint main(void) { return f0(0); }\n")
	w.refresh(0)
	require.NoError(t, os.Rename(filepath.Join(w.dir, "prof.v4"), filepath.Join(w.dir, "prog.afdo")))
	page, err := os.ReadFile("../docs/guide/builds.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(page), "```sh bazel\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	w.append(".bazelrc", "build -s\n")
	out, err := w.run("sh", "-e", "-c", "PATH=$PWD/tools:$PATH; "+block)
	require.NoError(t, err, out)
	require.Regexp(t, `-fauto-profile=\S*/prog\.v2\.afdo\b.* -c a0\.c`, out)
}
