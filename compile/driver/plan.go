package driver

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
)

// complete adds options to a plan that has a profile, so that the compiler makes good use of the
// profile. It also sets Plan.Without, the same command without the profile. It warns if the compile
// does not optimise, because the compiler then ignores the profile.
func (r *run) complete(u *unit, plan *Plan) {
	if plan.Slice == "" {
		return
	}
	r.keepHere(u.Line, plan)
	if !u.Optimises() {
		r.warnOf("optimises", "%s is compiled without optimisation, where a profile does nothing", u.Sources[0])
	}
	plan.Without = u.WithProfile("")
	r.addOptions(u.Line, u.compiler, u.arcs, plan)
}

// addOptions adds options to the command of a plan, with which the compiler makes better use of the
// counts in the profile. arcs is true if these are counts of arcs, and false if they are counts of
// lines.
func (r *run) addOptions(c *command.Line, compiler *toolchain.Compiler, arcs bool, plan *Plan) {
	options := compiler.Options(c)
	if arcs {
		options = toolchain.ArcOptions(c.Mentions)
	}
	if r.NoParams || len(options) == 0 {
		return
	}
	plan.Argv = slices.Insert(plan.Argv, len(c.Launcher)+1, options...)
	r.trace("%v gets %s", compiler, strings.Join(options, " "))
}

// Keep stores the plan in the cache under a key that identifies the command, the folder and the
// environment, so that the same command runs again without the launcher. Call it only after the
// command has succeeded: a command that fails with its profile is run again without the profile,
// but not if its plan was found in the cache.
//
// Keep does nothing if there is no cache, if the slice is not beside the object, if the compile had
// something to warn of, or if the plan depends on more than the command, the environment and files.
func (p *Plan) Keep(key string) {
	if p.again != nil {
		p.again.Keep(p.cache, key)
	}
}

// prepareAgain sets the fields of a plan that [Plan.Keep] stores in the cache, for later runs of
// the same command without the launcher. It does not set them if a later run needs the launcher,
// for example to give the same warning again.
func (r *run) prepareAgain(u *unit, plan *Plan) {
	if r.Cache == nil || !u.beside || r.warned || !u.repeats(plan) {
		return
	}
	again := &planned.Plan{
		Command: u.Argv(), Dir: u.Dir, Argv: plan.Argv, Env: plan.Env,
		Files: []record.File{record.Look("", u.compiler.Path), {Path: u.file.path, State: u.file.state}, self()},
		Slice: u.Path(plan.Slice), Stamp: u.stamp, Inputs: u.inputs.Record.Key, Result: u.inputs.Record.Result(),
	}
	if !strings.Contains(u.Line.Compiler, "/") {
		again.Program, again.Path = u.Line.Compiler, u.compiler.Path
	}
	const time = -1 // no other number is negative
	line := u.count(&Plan{Outcome: OutcomeUpToDate, Slice: plan.Slice}, nil, time)
	line.Preprocessed = 0
	again.Before, again.After, _ = strings.Cut(line.Line(), "-1")
	plan.again, plan.cache = again, r.Cache.files()
}

// repeats reports whether a plan may be stored for later runs of the same command. It may if
// everything that the plan depends on can be checked before it is reused.
func (u *unit) repeats(plan *Plan) bool {
	c := u.Line
	optionFile := func(arg string) bool { return strings.HasPrefix(arg, "@") }
	if !slices.Contains([]Outcome{OutcomeUpToDate, OutcomeSame, OutcomeSliced, OutcomeRestored}, plan.Outcome) || slices.ContainsFunc(c.Argv(), optionFile) ||
		c.Stdin != nil || u.inputs.Record.Key == "" || u.inputs.Record.Environment != 0 || c.Mentions(inputs.Native) || u.file.path != c.Path(u.file.name) {
		return false
	}
	if len(c.Launcher) > 1 || len(c.Launcher) == 1 && !command.IsLauncher(c.Launcher[0]) {
		return false // nice, env and the like, which have options
	}
	if os.Getenv(ccacheDisabled) != "" {
		return false // whether that is worth a warning depends on the parent process
	}
	path, err := exec.LookPath(c.Compiler)
	return err == nil && (path == u.compiler.Path || strings.Contains(c.Compiler, "/")) // else a link to ccache comes first
}

// keepHere makes sure that a command with a profile runs on this machine, because other machines do
// not have the profile. For icecc, it sets an environment variable that forbids other machines. It
// sets the variable even if the command does not name icecc, because a link or a setting of ccache
// may start icecc. distcc runs commands with a profile on this machine by itself. If the command
// uses such a program, keepHere warns that it will not distribute the compile.
func (r *run) keepHere(c *command.Line, plan *Plan) {
	if setting := os.Getenv("ICECC"); setting != "no" && setting != "disable" {
		plan.Env = append(plan.Env, "ICECC=no")
	}
	words := append(slices.Clone(c.Launcher), strings.Fields(os.Getenv("CCACHE_PREFIX"))...)
	for _, word := range words {
		if command.Distributes(word) {
			r.warnOf("elsewhere", "%s compiles files with a profile on this machine, as others do not have it", command.ProgramName(word))
		}
	}
}
