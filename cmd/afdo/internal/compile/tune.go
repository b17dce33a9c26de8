package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/tune"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/shell"
)

const tuneHelp = `Build a program, train it, build it again with a profile, and measure what that brings:

  afdo tune --train './prog train.txt' --measure './prog other.txt' -- make -j2
  afdo tune --train 'build/prog train.txt' --measure 'build/prog other.txt' -- \
    sh -c 'cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build'

All of it happens in copies of the source tree below --folder, which git ignores. In a
command, a path of the tree means the copy's. The build may be any command that finds its
compilers through PATH, CC, CXX or FC: scripts in front of PATH stand in for them, add -g,
and run them behind "afdo exec" the second time, without ccache and CMake's launchers.

The training runs under the best recorder that works: branch stacks, steps, which stop the
program for 5% of the time, or valgrind's callgrind, which is slow but exact. Samples of
time make a poor profile, and are the last choice. --train and --measure may be given
several times. Without --measure, the training is measured, which flatters the profile:
train with other input than you measure with.

Then both programs run in rounds, in random order, and up to eight times as many if the
result is not clear. The verdict is about the processor time: faster or slower if the
confidence interval of the change is beyond 0.5%, and otherwise not decided. Instructions
are counted as well: they do not vary, but they are not time.

For GCC, tune tries counts by lines and counts of arcs. While no way is faster, it tries
more, such as without the functions that get slower, and with a layout of the code. It
keeps the fastest program. If none is faster, it recommends the ordinary build.

A build folder that CMake or Meson has configured is configured again in the copies. For
cargo, tune asks rustc for its options, and allows a rustc that is no nightly the unstable
ones. If no compile used the profile, tune fails and says why.

--layout tries the layout in any case. It records the program that was built with the
profile once more. clang 17 or newer and lld take a list of blocks and functions ("afdo
layout"). Programs of other compilers are rewritten by llvm-bolt.

The file "log" in --folder has all commands; --verbose prints them. Finished steps are
reused if the commands and the tree are unchanged, unless --again is given.`

// tuning contains the flags of the verb tune, which records a program, builds it with the profile,
// and measures whether that is faster.
type tuning struct {
	tune.Options
	json bool
}

// tuneRecorders are the words of --recorder.
var tuneRecorders = []verb.Choice[tune.Recorder]{
	{Word: "best", Meaning: tune.Best}, {Word: "branches", Meaning: tune.Branches}, {Word: "steps", Meaning: tune.Steps}, {Word: "callgrind", Meaning: tune.Callgrind}, {Word: "cpu-clock", Meaning: tune.Clock},
}

func NewTune(e *verb.Env) *cobra.Command {
	var t tuning
	cmd := &cobra.Command{
		Use:   "tune --train COMMAND [--measure COMMAND] -- BUILD ARGS...",
		Short: "Build, train, build again and measure: is the program faster?",
		Long:  tuneHelp,
		Args: func(_ *cobra.Command, args []string) error {
			t.Build = args
			return t.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(cmd.Context(), e, &t) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the build's flags are its own
	f.StringArrayVar(&t.Train, "train", nil, "command for a shell that runs the program as it is used")
	f.StringArrayVar(&t.Measure, "measure", nil, "command for a shell that is measured; those of --train if not given")
	f.StringVar(&t.Tree, "tree", ".", "source tree")
	f.StringVar(&t.Folder, "folder", "afdo-tune", "folder for everything that is made")
	f.StringVarP(&t.Profile, "output", "o", "", "file for the profile; tuned.afdo in the folder if not given")
	f.StringArrayVar(&t.Env, "env", nil, "NAME=VALUE for the environment of all commands")
	f.IntVar(&t.Rounds, "rounds", 0, "how often both programs are measured; as often as needed if not given, 12 to 400")
	f.BoolVar(&t.NoCount, "no-count", false, "do not count instructions, which takes long under callgrind")
	f.BoolVar(&t.Layout, "layout", false, "lay out the code of the program, too")
	f.DurationVar(&t.Limit, "time-limit", 0, "fail if it takes longer than this, such as 30m")
	verb.AddChoice(cmd, &t.Recorder, "recorder", "", "what to train under", tuneRecorders...)
	f.BoolVar(&t.Again, "again", false, "do all steps again")
	f.BoolVar(&t.json, "json", false, "print the result as JSON; steps go to standard error")
	f.BoolVarP(&t.Verbose, "verbose", "v", false, "print the commands")
	return cmd
}

// A stepList prints the progress of "afdo tune". It prints a line for each finished step, and shows
// the current step on standard error. Notes and commands that are written to it appear between the
// lines.
type stepList struct {
	err, out io.Writer
	line     *progress.Line
	step     tune.Step
	began    time.Time
}

// show displays the step that tune begins, and prints the line of the step before it.
func (s *stepList) show(step tune.Step) {
	if step.Number != s.step.Number {
		s.finish()
		if more := step.Total - s.step.Total; more > 0 && step.Added != "" {
			fmt.Fprint(s.out, human.Wrap("", 2, fmt.Sprintf("%d more steps: %s", more, step.Added), tuneColumns))
		}
		s.began = time.Now()
		s.line = progress.Start(s.err)
	}
	s.step = step
	s.line.Say("%d of %d: %s", step.Number, step.Total, labelOf(step))
}

func labelOf(step tune.Step) string {
	return strings.TrimSuffix(step.Name+", "+strings.TrimPrefix(step.Detail, tune.DoneBefore), ", ")
}

// finish prints the line of the current step, which has ended, with the time that it took.
func (s *stepList) finish() {
	s.line.Stop()
	if s.step.Number == 0 {
		return
	}
	took := time.Since(s.began).Round(time.Second / 10).String()
	if s.step.Detail == tune.DoneBefore {
		took = tune.DoneBefore
	}
	fmt.Fprintf(s.out, "%d of %d  %-40s %s\n", s.step.Number, s.step.Total, labelOf(s.step), took)
}

func (s *stepList) Write(text []byte) (int, error) {
	s.line.Hide()
	if bytes.HasPrefix(text, []byte("note: ")) {
		_, err := io.WriteString(s.out, human.Wrap("", len("note: "), string(text), tuneColumns))
		return len(text), err
	}
	return s.out.Write(text)
}

// tuneColumns is the width of the text that tune prints.
const tuneColumns = 79

// check returns an error for flags of "afdo tune" that contradict each other or have impossible
// values.
func (t *tuning) check() error {
	switch {
	case len(t.Build) == 0:
		return cli.Missing("argument BUILD")
	case len(t.Train) == 0:
		return cli.Missing("flag --train")
	case t.Rounds < 0:
		return cli.Usagef("--rounds %d measures nothing", t.Rounds)
	case t.Limit < 0:
		return cli.Usagef("--time-limit %v leaves no time", t.Limit)
	}
	for _, setting := range t.Env {
		if name, _, ok := strings.Cut(setting, "="); !ok || name == "" {
			return cli.Usagef("--env is NAME=VALUE, not %q", setting)
		}
	}
	if len(t.Measure) == 0 {
		t.Measure = t.Train
	}
	return nil
}

// runTune runs "afdo tune" with the given flags, and prints the result.
func runTune(ctx context.Context, e *verb.Env, t *tuning) error {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	var err error
	if t.Afdo, err = os.Executable(); err != nil {
		return err
	}
	shown := stepList{err: e.Progress(), out: cli.Printer{W: e.Out}}
	switch {
	case e.Quiet:
		shown.out = io.Discard
	case t.json:
		shown.out = cli.Printer{W: e.Err}
	}
	t.Out, t.Doing = &shown, shown.show
	r, err := tune.Run(ctx, t.Options)
	if err == nil {
		shown.finish()
	}
	shown.line.Stop()
	var failed *tune.CommandError
	switch {
	case errors.Is(err, tune.ErrStopped):
		return fmt.Errorf("%w; run the same command again to go on: finished steps are reused", err)
	case errors.As(err, &failed):
		return fmt.Errorf("%w\nafdo: fix this and run the same command again: finished steps are reused. Commands run in a copy of the tree, so files outside of it need an absolute path", err)
	case err != nil:
		return err
	}
	if t.json {
		return output.JSON(e.Out, newTuneFacts(t, r))
	}
	return writeTuned(e.Out, t, r)
}

// These patterns find the names of build systems, such as configure, make and cmake, in the user's
// build command. HowToBuild inserts settings such as CC=... after these names.
var (
	configureWord = pattern.Of(`(^|[\s;&|(])(\S*configure)(\s|$)`)
	makeWord      = pattern.Of(`(^|[\s;&|(])(g?make)(\s|$)`)
	mesonWord     = pattern.Of(`(^|[\s;&|(])(meson)(\s|$)`)
	cmakeWord     = pattern.Of(`(^|[\s;&|(])(cmake)(\s+[^-\s]|\s+-[^-E]|\s*$)`) // configuring with CMake, not "cmake --build" or "cmake -E"
	builtFolder   = pattern.Of(`(^|[\s;&|(])(?:cmake\s+--build|ninja\s+-C)\s+(\S+)`)
)

// HowToBuild returns the shell command that "afdo tune" recommends for building with the profile.
// It is the user's build command, changed so that "afdo exec" starts each compiler.
func HowToBuild(o *tune.Options, r *tune.Result) string {
	if slices.Contains(r.Compilers, "rustc") {
		return buildRust(o, r)
	}
	line := shell.Line(o.Build)
	inShell := len(o.Build) == 3 && filepath.Base(o.Build[0]) == "sh" && o.Build[1] == "-c"
	if inShell {
		line = o.Build[2]
	}
	env := o.Env
	if cmakeWord().MatchString(line) {
		env = append(compilersOf(os.Environ()), env...)
	}
	set := environment(env)
	if inShell && set != "" {
		set = "export " + strings.TrimSpace(set) + "; "
	}
	launcher := newLauncher(r, line)
	switch {
	case command.IsCompilerName(filepath.Base(o.Build[0])):
		return set + launcher.words() + " " + line
	case cmakeWord().MatchString(line):
		return set + cmakeWord().ReplaceAllString(line, "${1}${2} "+literal(launcher.cmake(r))+"${3}")
	}
	line = launcher.beforeOwn(line)
	variables := launcher.variables(r, line)
	switch {
	case variables == "":
		return set + line
	case mesonWord().MatchString(line):
		at := mesonWord().FindStringSubmatchIndex(line)[4]
		return set + line[:at] + variables + " " + line[at:]
	case configureWord().MatchString(line):
		return set + configureWord().ReplaceAllString(line, "${1}${2} "+literal(variables)+"${3}")
	case makeWord().MatchString(line):
		return set + makeWord().ReplaceAllString(line, "${1}${2} "+literal(withOptions(variables, o.Tree))+"${3}")
	}
	if m := builtFolder().FindStringSubmatch(line); m != nil {
		if _, err := os.Stat(filepath.Join(o.Tree, m[2], "meson-private")); err == nil {
			return set + variables + " meson setup --wipe " + m[2] + " && " + line
		}
		return set + "cmake " + launcher.cmake(r) + " " + m[2] + " && " + line
	}
	return set + variables + " " + shell.Line(o.Build)
}

// compilersOf returns the settings of compilers in an environment, such as "CC=clang". CMake takes
// its compilers from there.
func compilersOf(environ []string) []string {
	return slices.DeleteFunc(environ, func(setting string) bool {
		name, value, _ := strings.Cut(setting, "=")
		return value == "" || name != "CC" && name != "CXX" && name != "FC"
	})
}

// compilerInMakefile matches a line of a makefile such as "CC = gcc -fpic": the variable of a
// compiler, and the options after the compiler.
var compilerInMakefile = pattern.Of(`(?m)^(CC|CXX|FC)\s*[:?]?=\s*\w\S*[ \t]+(-[^$"#\n]*[^$"#\s])\s*$`)

const maxMakefile = 1 << 20 // bytes; a larger makefile is not read

// withOptions inserts the options of [compilerInMakefile] into settings such as CC="afdo exec --
// gcc". variables has these settings, and tree is the folder of the makefile. A setting on make's
// command line replaces the whole variable of the makefile, so options such as -fpic would be lost
// otherwise.
func withOptions(variables, tree string) string {
	makefile, err := files.ReadFile(filepath.Join(tree, "makefile"), maxMakefile)
	if err != nil {
		makefile, _ = files.ReadFile(filepath.Join(tree, "Makefile"), maxMakefile)
	}
	options := make(map[string]string)
	for _, m := range compilerInMakefile().FindAllStringSubmatch(string(makefile), -1) {
		options[m[1]] = m[2] // the last one, as in make
	}
	for variable, of := range options {
		variables = regexp.MustCompile(`\b`+variable+`="[^"]*`).ReplaceAllString(variables, "${0} "+of)
	}
	return variables
}

// literal escapes each "$" of a text, for use as the replacement of a regular expression.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// environment returns environment variables as assignments that can be put before a shell command.
// For example, it returns "CC=gcc " for the variable CC.
func environment(env []string) string {
	set := ""
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		set += name + "=" + shell.Quote(value) + " "
	}
	return set
}

// buildRust returns a shell command that builds with cargo and the profile. It sets RUSTFLAGS.
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

// A launcher has the words of the "afdo exec" command that goes before the name of a compiler.
type launcher []string

// newLauncher returns the "afdo exec" command for a result of "afdo tune". Paths below the current
// folder begin with $PWD, so that the command works in subfolders. They are absolute if line, the
// user's build command, changes to another folder, or if $PWD would need quotes.
func newLauncher(r *tune.Result, line string) launcher {
	path := func(path string) string {
		if rel := shownPath(path); rel != path && shell.Quote(path) == path && !strings.Contains(line, "cd ") {
			return "$PWD/" + rel
		}
		return shell.Quote(path)
	}
	l := append(launcher{"afdo", "exec", "--profile", path(r.Profile)}, r.Exec...)
	if r.Layout != "" {
		l = append(l, "--layout", path(r.Layout))
	}
	return append(l, "--")
}

func (l launcher) words() string { return strings.Join(l, " ") }

// ownCompiler matches a setting of a compiler in a build command: CC=gcc, CC="gcc -m32" or
// 'CC=gcc -m32'.
var ownCompiler = pattern.Of(`(^|[\s;&|(])(?:'(CC|CXX|FC)=([^']*)'|(CC|CXX|FC)=("[^"]*"|'[^']*'|[^\s"';&|()]+))`)

// beforeOwn returns a build command line with the launcher before the compilers that it sets, such
// as clang in "make CC=clang". Of two settings of CC, make uses the last one, so a second setting
// could not replace the user's.
func (l launcher) beforeOwn(line string) string {
	return ownCompiler().ReplaceAllStringFunc(line, func(setting string) string {
		m := ownCompiler().FindStringSubmatch(setting)
		return fmt.Sprintf(`%s%s="%s %s"`, m[1], m[2]+m[4], l.words(), strings.Trim(m[3]+m[5], `"'`))
	})
}

// variables returns assignments such as CC="afdo exec -- gcc", for a shell or for make. There is
// one for each language whose compiler the build has called, unless line, the result of beforeOwn,
// has it already.
func (l launcher) variables(r *tune.Result, line string) string {
	return eachLanguage(r, func(b builtLanguage) string {
		if setting := fmt.Sprintf(`%s="%s `, b.variable, l.words()); !strings.Contains(line, setting) {
			return setting + b.compiler + `"`
		}
		return ""
	})
}

// cmake returns options such as -DCMAKE_C_COMPILER_LAUNCHER="afdo;exec;...;--". With these, CMake
// starts each compiler through "afdo exec".
func (l launcher) cmake(r *tune.Result) string {
	words := strings.ReplaceAll(strings.Join(l, ";"), "'", "")
	return eachLanguage(r, func(b builtLanguage) string { return fmt.Sprintf(`-DCMAKE_%s_COMPILER_LAUNCHER="%s"`, b.cmake, words) })
}

// A builtLanguage is a language of a build: its name in CMake, the variable by which builds find
// its compiler, and the compiler.
type builtLanguage struct{ cmake, variable, compiler string }

// eachLanguage calls word for each language whose compiler the build called, and joins the results
// with blanks. If the build called several compilers of a language, word gets the last one.
func eachLanguage(r *tune.Result, word func(builtLanguage) string) string {
	var words []string
	for _, b := range []builtLanguage{{cmake: "C", variable: "CC"}, {cmake: "CXX", variable: "CXX"}, {cmake: "Fortran", variable: "FC"}} {
		at := slices.IndexFunc(r.Compilers, func(name string) bool { return variableOf(name) == b.variable })
		if at >= 0 {
			b.compiler = r.Compilers[at]
			words = append(words, word(b))
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// variableOf returns the environment variable by which builds find a compiler, such as CXX for g++.
func variableOf(compiler string) string {
	switch {
	case strings.Contains(compiler, "++"):
		return "CXX"
	case strings.Contains(compiler, "gfortran"):
		return "FC"
	}
	return "CC"
}
