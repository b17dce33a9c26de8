package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/shell"
)

// Words of a build command after which settings are inserted.
var (
	configureWord = pattern.Of(`(^|[\s;&|(])(\S*configure)(\s|$)`)
	makeWord      = pattern.Of(`(^|[\s;&|(])(g?make)(\s|$)`)
	mesonWord     = pattern.Of(`(^|[\s;&|(])(meson)(\s|$)`)
	cmakeWord     = pattern.Of(`(^|[\s;&|(])(cmake)(\s+[^-\s]|\s+-[^-E]|\s*$)`) // not --build, -E and the like
	builtFolder   = pattern.Of(`(^|[\s;&|(])(?:cmake\s+--build|ninja\s+-C)\s+(\S+)`)
)

// HowToBuild returns a command for a shell that builds with the profile: the command of the build,
// with "afdo exec" before the compilers.
func HowToBuild(o *tune.Options, r *tune.Result) string {
	set := environment(o.Env)
	line := shell.Line(o.Build)
	if len(o.Build) == 3 && filepath.Base(o.Build[0]) == "sh" && o.Build[1] == "-c" {
		line = o.Build[2]
		if set != "" {
			set = "export " + strings.TrimSpace(set) + "; "
		}
	}
	if slices.Contains(r.Compilers, "rustc") {
		return buildRust(o, r)
	}
	launcher := newLauncher(r, line)
	variables := launcher.variables(r)
	switch {
	case command.IsCompilerName(filepath.Base(o.Build[0])):
		return set + launcher.words() + " " + line
	case cmakeWord().MatchString(line):
		return set + cmakeWord().ReplaceAllString(line, "${1}${2} "+literal(launcher.cmake(r))+"${3}")
	case mesonWord().MatchString(line):
		return set + insertAt(line, mesonWord().FindStringSubmatchIndex(line)[4], variables+" ")
	case configureWord().MatchString(line):
		return set + configureWord().ReplaceAllString(line, "${1}${2} "+literal(variables)+"${3}")
	case makeWord().MatchString(line):
		return set + makeWord().ReplaceAllString(line, "${1}${2} "+literal(variables)+"${3}")
	}
	if m := builtFolder().FindStringSubmatch(line); m != nil {
		if _, err := os.Stat(filepath.Join(o.Tree, m[2], "meson-private")); err == nil {
			return set + variables + " meson setup --wipe " + m[2] + " && " + line
		}
		return set + "cmake " + launcher.cmake(r) + " " + m[2] + " && " + line
	}
	return set + variables + " " + shell.Line(o.Build)
}

// literal quotes a text for the replacement of a regular expression.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

func insertAt(text string, at int, what string) string { return text[:at] + what + text[at:] }

// environment returns settings for a shell.
func environment(env []string) string {
	set := ""
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		set += name + "=" + shell.Quote(value) + " "
	}
	return set
}

// buildRust returns a command for cargo.
func buildRust(o *tune.Options, r *tune.Result) string {
	flags := "-Cdebuginfo=1 " + r.RustOption + r.Profile // without lines, LLVM finds no place for the counts
	var others []string
	if strings.HasPrefix(r.RustOption, "-Z") && !slices.Contains(o.Env, tune.AllowUnstable) {
		others = append(others, tune.AllowUnstable)
	}
	for _, setting := range o.Env {
		if value, ok := strings.CutPrefix(setting, "RUSTFLAGS="); ok {
			flags = value + " " + flags
			continue
		}
		others = append(others, setting)
	}
	return environment(others) + "RUSTFLAGS=" + shell.Quote(flags) + " " + shell.Line(o.Build)
}

// A launcher is the words before a compiler.
type launcher []string

// newLauncher returns the launcher for a result. Paths below the current folder begin with $PWD,
// unless the build changes to another folder.
func newLauncher(r *tune.Result, line string) launcher {
	path := func(path string) string {
		if rel := shownPath(path); rel != path && shell.Quote(rel) == rel && !strings.Contains(line, "cd ") {
			return "$PWD/" + rel
		}
		return shell.Quote(path)
	}
	l := append(launcher{"afdo", "exec", "--profile", path(r.Profile)}, r.Way.ExecFlags()...)
	if r.Layout != "" && r.Way == tune.WithLayout {
		l = append(l, "--layout", path(r.Layout))
	}
	return append(l, "--")
}

func (l launcher) words() string { return strings.Join(l, " ") }

// variables returns settings such as CC for a shell or for make.
func (l launcher) variables(r *tune.Result) string {
	var all []string
	for _, language := range languagesOf(r) {
		all = append(all, fmt.Sprintf(`%s="%s %s"`, language.variable, l.words(), language.compiler))
	}
	return strings.Join(all, " ")
}

// cmake returns options of CMake.
func (l launcher) cmake(r *tune.Result) string {
	var all []string
	for _, language := range languagesOf(r) {
		all = append(all, fmt.Sprintf(`-DCMAKE_%s_COMPILER_LAUNCHER="%s"`, language.cmake, strings.ReplaceAll(strings.Join(l, ";"), "'", "")))
	}
	return strings.Join(all, " ")
}

// A builtLanguage is a language of a build: its name in CMake, the variable by which builds find
// its compiler, and the compiler.
type builtLanguage struct{ cmake, variable, compiler string }

// languagesOf returns the languages of a build, with the compiler that was called last.
func languagesOf(r *tune.Result) []builtLanguage {
	languages := []builtLanguage{{cmake: "C", variable: "CC"}, {cmake: "CXX", variable: "CXX"}, {cmake: "Fortran", variable: "FC"}}
	for _, name := range slices.Backward(r.Compilers) { // the first one counts
		for i := range languages {
			if languages[i].variable == variableOf(name) {
				languages[i].compiler = name
			}
		}
	}
	return slices.DeleteFunc(languages, func(l builtLanguage) bool { return l.compiler == "" })
}

// variableOf returns the variable by which builds find a compiler.
func variableOf(compiler string) string {
	switch {
	case strings.Contains(compiler, "++"):
		return "CXX"
	case strings.Contains(compiler, "gfortran"):
		return "FC"
	}
	return "CC"
}
