package driver

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/compile/driver/command"
	"github.com/go-afdo/afdo/compile/slice"
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

// finish adds to a plan with a profile what the compiler needs besides, and how to do without. It
// warns if the compiler makes nothing of it.
func (p *preparation) finish(plan *Plan) {
	if plan.Slice == "" {
		return
	}
	if !p.command.Optimises() {
		p.warnOf("optimises", "%s is compiled without optimisation, where a profile does nothing", p.command.Sources[0])
	}
	plan.Without = p.command.WithProfile("")
	p.addOptions(plan)
}

// addOptions adds the options that the compiler needs to a plan.
func (p *preparation) addOptions(plan *Plan) {
	options := p.compiler.Options(p.command)
	if p.NoParams || len(options) == 0 {
		return
	}
	plan.Argv = slices.Insert(plan.Argv, len(p.command.Launcher)+1, options...)
	p.trace("%v gets %s", p.compiler, strings.Join(options, " "))
}

// header returns a plan for a command that precompiles a header. It gets the options of the
// compiles that include the header, because GCC stores the parameters in the precompiled header and
// restores them over those of the command line.
func (p *preparation) header() (*Plan, error) {
	plan, err := p.asItIs(p.command.Reason, "%s", p.command.Reason)
	if p.command.Clang || p.Profile == "" && p.command.Profile == "" {
		return plan, err
	}
	compiler, unknown := FindCompiler(p.command, p.Cache)
	if unknown != nil { // the compiles that include the header report it
		return plan, err
	}
	p.compiler = compiler
	p.addOptions(plan)
	return plan, err
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

// sayNoneOf says that a slice of a program has no function: either the compile defines none of
// those that the profile has of the sources, or the profile has none of the sources.
func (p *preparation) sayNoneOf(program *slice.Program) {
	for _, m := range program.Match(p.command.Sources, p.command.Dir) {
		if slices.ContainsFunc(m.Units, func(unit string) bool { return hasFunctions(program, unit) }) {
			p.warnOfCode("others", "the profile has functions of %s, but this compile defines none of them: the sources have changed, or macros differ; \"afdo explain\" tells more", m.Path)
			return
		}
	}
	p.sayNothing()
}

// hasFunctions reports whether a unit has functions. It returns true for a unit that cannot be
// read: this only serves a warning, and the slice exists.
func hasFunctions(program *slice.Program, unit string) bool {
	has, err := program.HasFunctions(unit)
	return has || err != nil
}

// sayNothing says that the profile has nothing of the sources.
func (p *preparation) sayNothing() {
	p.warnOfCode("nothing", "the profile has nothing of %s; \"afdo cache\" counts how many there are", strings.Join(p.command.Sources, ", "))
}

// WithoutProfile returns a command line without any profile, for one that fails with it.
func WithoutProfile(argv []string, dir string) []string {
	return command.Parse(argv, dir).WithProfile("")
}

// beside is what a slice beside an object was made of.
type beside struct {
	stamp planned.Stamp
	in    *Inputs
}

// keepPlan keeps the plan of a command, to be found by package repeat. It keeps none if anything
// decided it besides the command, the variables of the environment and the files that a plan lists.
func (p *preparation) keepPlan(plan *Plan) {
	c := p.command
	if p.PlanKey == "" || p.Cache == nil || p.made == nil || p.warned || !p.repeats(plan) {
		return
	}
	kept := planned.Plan{
		Command: c.Argv(), Dir: c.Dir, Argv: plan.Argv, Env: plan.Env,
		Files: []record.File{record.Look("", p.compiler.Path), {Path: p.profile.path, State: p.profile.state}, self()},
		Slice: c.Path(plan.Slice), Stamp: p.made.stamp, Inputs: p.made.in.record.Key, Text: p.made.in.Sum(),
	}
	if !strings.Contains(c.Compiler, "/") {
		kept.Programs = []string{c.Compiler, p.compiler.Path}
	}
	const time = -1 // no other number is negative
	line := p.count(&Plan{Outcome: UpToDate, Slice: plan.Slice}, nil, time)
	line.Preprocessed = 0
	kept.Before, kept.After, _ = strings.Cut(line.line(), "-1")
	kept.Keep(p.Cache.files(), p.PlanKey)
}

// repeats reports whether a plan depends on nothing that could change without a sign.
func (p *preparation) repeats(plan *Plan) bool {
	c := p.command
	optionFile := func(arg string) bool { return strings.HasPrefix(arg, "@") }
	if !slices.Contains([]Outcome{UpToDate, Same, Sliced, Restored}, plan.Outcome) || slices.ContainsFunc(c.Argv(), optionFile) ||
		c.Stdin != nil || len(c.Settings) > 0 || p.made.in.record.Key == "" || p.profile.path != c.Path(p.profile.name) {
		return false
	}
	if len(c.Launcher) > 1 || len(c.Launcher) == 1 && !command.IsLauncher(c.Launcher[0]) {
		return false // nice, env and the like, which have options
	}
	if os.Getenv(ccacheDisabled) != "" {
		return false // whether that is worth a warning depends on the parent process
	}
	path, err := exec.LookPath(c.Compiler)
	return err == nil && (path == p.compiler.Path || strings.Contains(c.Compiler, "/")) // else a link to ccache comes first
}

// keepHere makes distributing launchers run a command with a profile on this machine. Distcc does
// so by itself. icecc would run it on another machine, where the profile does not exist. icecc may
// be started by a link or by ccache's settings, so its environment variable is set in any case.
func (p *preparation) keepHere(plan *Plan) {
	if plan.Slice == "" {
		return
	}
	if setting := os.Getenv("ICECC"); setting != "no" && setting != "disable" {
		plan.Env = append(plan.Env, "ICECC=no")
	}
	words := append(slices.Clone(p.command.Launcher), strings.Fields(os.Getenv("CCACHE_PREFIX"))...)
	for _, word := range words {
		if command.Distributes(word) {
			p.warnOf("elsewhere", "%s compiles files with a profile on this machine, as others do not have it", command.ProgramName(word))
		}
	}
}

// mayFollowCcache reports whether ccache may have run this process. If ccache does not know how to
// cache a command, it sets CCACHE_DISABLE=1 and becomes that command, and it knows no compiler that
// another program runs. But others set CCACHE_DISABLE, too. The setting is not ccache's if the
// parent process has it, or if the command runs ccache itself.
func mayFollowCcache(c *command.Line) bool {
	isCcache := func(word string) bool { return command.ProgramName(word) == "ccache" }
	if os.Getenv(ccacheDisabled) != "1" || slices.ContainsFunc(c.Launcher, isCcache) {
		return false
	}
	parent, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ")
	return err == nil && !strings.Contains("\x00"+string(parent), "\x00"+ccacheDisabled+"=")
}

// ccacheDisabled is the variable that ccache sets for the programs that it runs.
const ccacheDisabled = "CCACHE_DISABLE"
