package driver

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/record"
)

// earlyInliner is the parameter that GCC 12 and 13 need: before they read the counts of inlined
// functions, they inline these, and only one call deep. Functions that were inlined deeper lose
// their counts. GCC before 12 used 10 rounds with a profile.
const earlyInliner = "max-early-inliner-iterations"

// noUnrolling is the option that GCC 12 needs. With a profile by samples, it unrolls all hot loops
// eight times, without looking at how often they repeat: a loop that repeats three times gets
// slower, and code grows. GCC 13 and later unroll none because of such a profile.
const noUnrolling = "-fno-unroll-loops"

// These options have GCC make fewer branches that a processor cannot predict. Where the profiled
// program had a conditional move, no samples show which way the condition went, and GCC takes one
// way for certain. The tracer copies the code of this way. And GCC makes no conditional move of a
// branch that it can predict. The limit for its cost is the one that GCC documents for branches
// that cannot be predicted.
const (
	noTracer      = "-fno-tracer"
	ifConversion  = "max-rtl-if-conversion-predictable-cost"
	unpredictable = "40"
)

// complete adds to a plan with a profile what the compiler needs besides, and how to do without the
// profile. It warns if the compiler makes nothing of it.
func (r *run) complete(u *unit, plan *Plan) {
	if plan.Slice == "" {
		return
	}
	r.keepHere(u.Line, plan)
	if !u.Optimises() {
		r.warnOf("optimises", "%s is compiled without optimisation, where a profile does nothing", u.Sources[0])
	}
	plan.Without = u.WithProfile("")
	if u.arcs {
		return // the other options compensate for what counts by lines lack
	}
	r.addOptions(u.Line, u.compiler, plan)
}

// addOptions adds the options that a compiler needs to a plan.
func (r *run) addOptions(c *command.Line, compiler *Compiler, plan *Plan) {
	options := compiler.Options(c)
	if r.NoParams || len(options) == 0 {
		return
	}
	plan.Argv = slices.Insert(plan.Argv, len(c.Launcher)+1, options...)
	r.trace("%v gets %s", compiler, strings.Join(options, " "))
}

// Options returns the options that the compiler needs to make good use of a profile. It leaves out
// the options that the command sets itself.
func (c *Compiler) Options(command *command.Line) (options []string) {
	if (c.isGCC(12) || c.isGCC(13)) && !command.Mentions(earlyInliner) {
		options = append(options, "--param="+earlyInliner+"=10")
	}
	if c.isGCC(12) && !command.Mentions("unroll-") {
		options = append(options, noUnrolling)
	}
	if !c.Clang && !command.Mentions("tracer") {
		options = append(options, noTracer)
	}
	if !c.Clang && !command.Mentions(ifConversion) {
		options = append(options, "--param="+ifConversion+"="+unpredictable)
	}
	return options
}

// WithoutProfile returns a command line without any profile, for one that fails with it.
func WithoutProfile(argv []string, dir string) []string {
	return command.Parse(argv, dir).WithProfile("")
}

// keepPlan keeps the plan of a command, to be found by package repeat. It keeps none if anything
// decided it besides the command, the variables of the environment and the files that a plan lists.
func (r *run) keepPlan(u *unit, plan *Plan) {
	if r.PlanKey == "" || r.Cache == nil || !u.beside || r.warned || !u.repeats(plan) {
		return
	}
	kept := planned.Plan{
		Command: u.Argv(), Dir: u.Dir, Argv: plan.Argv, Env: plan.Env,
		Files: []record.File{record.Look("", u.compiler.Path), {Path: u.file.path, State: u.file.state}, self()},
		Slice: u.Path(plan.Slice), Stamp: u.stamp, Inputs: u.inputs.record.Key, Text: u.inputs.Sum(),
	}
	if !strings.Contains(u.Line.Compiler, "/") {
		kept.Programs = []string{u.Line.Compiler, u.compiler.Path}
	}
	const time = -1 // no other number is negative
	line := u.count(&Plan{Outcome: OutcomeUpToDate, Slice: plan.Slice}, nil, time)
	line.Preprocessed = 0
	kept.Before, kept.After, _ = strings.Cut(line.line(), "-1")
	kept.Keep(r.Cache.files(), r.PlanKey)
}

// repeats reports whether a plan depends on nothing that could change without a sign.
func (u *unit) repeats(plan *Plan) bool {
	c := u.Line
	optionFile := func(arg string) bool { return strings.HasPrefix(arg, "@") }
	if !slices.Contains([]Outcome{OutcomeUpToDate, OutcomeSame, OutcomeSliced, OutcomeRestored}, plan.Outcome) || slices.ContainsFunc(c.Argv(), optionFile) ||
		c.Stdin != nil || len(c.Settings) > 0 || u.inputs.record.Key == "" || u.inputs.record.Environment != 0 || c.Mentions(native) || u.file.path != c.Path(u.file.name) {
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

// keepHere makes distributing launchers run a command with a profile on this machine. Distcc does
// so by itself. icecc would run it on another machine, where the profile does not exist. icecc may
// be started by a link or by ccache's settings, so its environment variable is set in any case.
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
