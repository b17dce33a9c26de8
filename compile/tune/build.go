package tune

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/shell"
)

// launcherSettings are environment variables that make a build run another program, such as ccache,
// before each compiler. That program would bypass the scripts that [tuning.writeScripts] puts in
// place of compilers, or cache their results.
var launcherSettings = []string{"CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_Fortran_COMPILER_LAUNCHER", "CCACHE_PREFIX", "AFDO_PROFILE"}

// withoutLaunchers removes from an environment the variables that make a build run ccache or
// another launcher before its compilers, see launcherSettings. It also turns ccache off.
func withoutLaunchers(env []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return slices.Contains(launcherSettings, name)
	})
	return append(kept, "CCACHE_DISABLE=1")
}

// A variant describes one build of the program: the profile and the flags that its compilers get in
// addition to those for debug info. The zero variant is a build without a profile.
type variant struct {
	profile  string   // path of a profile, if any
	exec     []string // flags for "afdo exec"
	layout   string   // prefix of the files of "afdo layout", if any
	flags    []string // flags for all compilers, also when they link
	gccFlags []string // flags for compilers of GCC
}

// build copies the source tree to the folder copied, and runs the build command there with the
// profile and flags of v.
func (t *tuning) build(ctx context.Context, copied string, v variant) error {
	if err := copyTree(t.Tree, t.ours(), copied); err != nil {
		return err
	}
	name := filepath.Base(copied)
	log, bin := t.in(name+".compiles"), t.in(name+".bin")
	for _, path := range []string{log, t.reachedLog(copied)} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := t.writeScripts(ctx, bin, log, t.reachedLog(copied), v); err != nil {
		return err
	}
	env := []string{"PATH=" + bin + string(filepath.ListSeparator) + setting(t.env, "PATH"), "AFDO_CACHE_DIR=" + t.in("cache")}
	env = append(env, t.compilerSettings(bin)...)
	if t.rust {
		env = append(env, "RUSTC_WRAPPER="+filepath.Join(bin, rustWrapper))
	}
	if err := t.configureAgain(ctx, copied, env); err != nil {
		return err
	}
	argv := make([]string, len(t.Build))
	for i, word := range t.Build {
		argv[i] = t.inCopy(word, copied)
	}
	if _, err := t.do(ctx, task{argv: argv, dir: copied, env: env}); err != nil {
		return err
	}
	if _, err := os.Stat(log); err != nil {
		return fmt.Errorf("tune: %w: if the tree has been built already, let the build begin with cleaning, such as sh -c 'make clean && make'; if the build names a compiler by its path, have it take CC, CXX and FC", errNoCompiler)
	}
	return nil
}

// inCopy returns a word of a command with each path of the source tree replaced by the path of the
// copy of the tree in the folder copied.
func (t *tuning) inCopy(word, copied string) string {
	var b strings.Builder
	for at := 0; at < len(word); {
		tree := t.treeAt(word, at)
		if tree == "" {
			b.WriteByte(word[at])
			at++
			continue
		}
		b.WriteString(copied)
		at += len(tree)
	}
	return b.String()
}

// treeAt returns the path of the source tree if a word of a command contains it at byte offset at.
// The tree has one path with and one without symbolic links, and treeAt returns the one in the
// word. Otherwise it returns "".
func (t *tuning) treeAt(word string, at int) string {
	for _, tree := range t.trees {
		if rest, ok := strings.CutPrefix(word[at:], tree); ok && beginsPath(word[:at]) && endsName(rest) {
			return tree
		}
	}
	return ""
}

// beforePath matches what may precede a path within a word of a command: nothing, an option, or an
// @.
var beforePath = pattern.Of(`^(-[\w-]*|@)?$`)

// beginsPath reports whether a path may begin after the given text. For example, /src is a path in
// "-I/src", but not in "/usr/src", "./src" or "$HOME/src".
func beginsPath(before string) bool {
	word := before[strings.LastIndexAny(before, " \t\n=:,;({<>|&`")+1:]
	return beforePath().MatchString(strings.NewReplacer(`"`, "", "'", "").Replace(word))
}

// nameByte matches a text that begins with a character of a file name.
var nameByte = pattern.Of(`^([\w.+~%@-]|[^\x00-\x7f])`)

// endsName reports whether a file name ends before the text after, because that text does not begin
// with a character of a file name.
func endsName(after string) bool { return !nameByte().MatchString(after) }

// writeScripts writes a script for each compiler to the folder bin. A script appends its command
// line to the file log and runs the compiler. If the variant has a profile, the script runs it
// through "afdo exec", which appends a line for each compile to the file reached.
//
// For preprocessing (-E) a script runs the compiler without "afdo exec": a program may call the
// preprocessor that its configure step found, and the time of "afdo exec" would be added to that of
// the program.
func (t *tuning) writeScripts(ctx context.Context, bin, log, reached string, v variant) error {
	if err := emptyFolder(bin); err != nil {
		return err
	}
	for name, path := range t.compilers {
		argv := []string{path}
		if v.profile != "" {
			argv = []string{t.Afdo, "exec", "--profile", v.profile, "--json", reached, "--fallback"}
			argv = append(argv, v.exec...)
			if v.layout != "" {
				argv = append(argv, "--layout", v.layout)
			}
			argv = append(argv, "--", path)
		}
		flags := t.compilerFlags(ctx, path, v)
		script := fmt.Sprintf("#!/bin/sh\nprintf '%%s %%s\\n' %s \"$*\" >> %s\ncase \" $* \" in *' -E '*) exec %s \"$@\" ;; esac\nexec %s \"$@\" %s\n",
			shell.Quote(name), shell.Quote(log), shell.Quote(path), shell.Line(argv), shell.Line(flags))
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o777); err != nil {
			return err
		}
	}
	if t.rust {
		return t.writeRustWrapper(bin, log, reached, v.profile)
	}
	return nil
}

// uniqueNames is the flag by which clang gives static functions names that no other file has, so
// that a layout can name them. Clang finds static functions of a profile only if both builds have
// this flag, or neither has.
const uniqueNames = "-funique-internal-linkage-names"

// compilerFlags returns the flags that a compiler gets in a build: for debug info, for a layout,
// and those of the variant. Clang gets DWARF 4, because valgrind cannot read its DWARF 5.
func (t *tuning) compilerFlags(ctx context.Context, compiler string, v variant) []string {
	if !t.isClang(ctx, compiler) {
		return slices.Concat([]string{"-g"}, v.flags, v.gccFlags)
	}
	flags := []string{"-gdwarf-4", "-fdebug-info-for-profiling", "-Wno-unused-command-line-argument"}
	if t.Layout {
		flags = append(flags, uniqueNames)
	}
	return append(flags, v.flags...)
}

// isClang reports whether the compiler at a path is clang. It runs each compiler at most once to
// find out, because PATH often has dozens of them, and every build writes a script for each.
func (t *tuning) isClang(ctx context.Context, compiler string) bool {
	is, known := t.clang[compiler]
	if !known {
		c, err := toolchain.Find(ctx, command.Parse([]string{compiler}, "/"), nil)
		is = err == nil && c.Clang
		t.clang[compiler] = is
	}
	return is
}

// built returns the names of the compilers that the build without a profile ran, the last one
// first.
func (t *tuning) built() ([]string, error) {
	log, err := files.ReadFile(t.in("base.compiles"), maxOwn)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range slices.Backward(strings.Split(string(log), "\n")) {
		name, _, _ := strings.Cut(line, " ")
		if isCompiler := t.compilers[name] != "" || name == rustc; isCompiler && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// checkOptimised returns an error if no compile of the build optimises, because compilers then
// ignore profiles.
func (t *tuning) checkOptimised() error {
	log, err := files.ReadFile(t.in("base.compiles"), maxOwn)
	if err != nil {
		return err
	}
	compiles := 0
	for line := range strings.Lines(string(log)) {
		words := strings.Fields(line)
		c := command.Parse(words, t.base)
		switch {
		case len(words) > 0 && words[0] == rustc:
			if strings.Contains(line, "opt-level=") && !strings.Contains(line, "opt-level=0") {
				return nil
			}
			compiles++
		case len(c.Sources) == 0 || c.Reason != "":
		case c.Optimises():
			return nil
		default:
			compiles++
		}
	}
	if compiles == 0 {
		return nil // of other languages, or not understood
	}
	return fmt.Errorf("tune: %w: none of the %d compiles optimises, so they would ignore the profile: build with -O2, for CMake with -DCMAKE_BUILD_TYPE=Release, for Meson with --buildtype=release, for cargo with --release", errCannotTune, compiles)
}

// findCompilers returns the paths of the compilers that an environment has in PATH, CC and similar
// variables, by program name.
func findCompilers(env []string) map[string]string {
	compilers := make(map[string]string)
	for _, folder := range filepath.SplitList(setting(env, "PATH")) {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			name := e.Name()
			if compilers[name] != "" || !command.IsCompilerName(name) {
				continue
			}
			if path, err := command.Parse([]string{filepath.Join(folder, name)}, folder).CompilerPath(); err == nil {
				compilers[name] = path
			}
		}
	}
	for _, name := range compilerVariables {
		if c := command.Parse(strings.Fields(setting(env, name)), "/"); filepath.IsAbs(c.Compiler) {
			compilers[filepath.Base(c.Compiler)] = c.Compiler
		}
	}
	return compilers
}

// setting returns the value of an environment variable, which is the last one if it is set twice.
func setting(env []string, name string) string {
	for _, s := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(s, name+"="); ok {
			return value
		}
	}
	return ""
}

// compilerVariables are the environment variables that name the compilers for C, C++ and Fortran.
var compilerVariables = []string{"CC", "CXX", "FC"}

// buildVariables are the other environment variables that affect a build by make or by a configure
// script.
var buildVariables = []string{"CPPFLAGS", "CFLAGS", "CXXFLAGS", "FFLAGS", "FCFLAGS", "LDFLAGS", "LDLIBS", "LIBS", "MAKEFLAGS"}

// buildSettings returns the values of all environment variables that affect a build.
func (t *tuning) buildSettings() []string {
	var settings []string
	for _, name := range slices.Concat(compilerVariables, buildVariables) {
		settings = append(settings, setting(t.env, name))
	}
	return settings
}

// compilerSettings returns an environment setting for each of compilerVariables that is set. In its
// value, the script in the folder bin replaces the compiler and a ccache before it.
func (t *tuning) compilerSettings(bin string) []string {
	var settings []string
	for _, name := range compilerVariables {
		c := command.Parse(strings.Fields(setting(t.env, name)), "/")
		if base := filepath.Base(c.Compiler); c.Compiler != "" && t.compilers[base] != "" {
			script := filepath.Join(bin, base)
			if strings.ContainsAny(script, " \t") {
				script = base // is in PATH; builds split CC at spaces
			}
			words := append([]string{script}, c.Args...)
			settings = append(settings, name+"="+strings.Join(words, " "))
		}
	}
	return settings
}
