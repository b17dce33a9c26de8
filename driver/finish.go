package driver

import (
	"slices"
	"strings"

	"github.com/go-afdo/afdo/driver/command"
	"github.com/go-afdo/afdo/slice"
)

// earlyInliner is the parameter that GCC 12 and 13 need: before they read the counts of inlined
// functions, they inline these, and only one call deep. Functions that were inlined deeper lose
// their counts. GCC before 12 used 10 rounds with a profile.
const earlyInliner = "max-early-inliner-iterations"

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
	p.addParam(plan)
}

// addParam adds the parameter that the compiler needs to a plan.
func (p *preparation) addParam(plan *Plan) {
	param := p.compiler.Param(p.command)
	if p.NoParams || param == "" {
		return
	}
	plan.Argv = slices.Insert(plan.Argv, len(p.command.Launcher)+1, param)
	p.trace("%v gets %s", p.compiler, param)
}

// header returns a plan for a command that precompiles a header. It gets the parameter of the
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
	p.addParam(plan)
	return plan, err
}

// Param returns the parameter without which the compiler loses counts of a profile, empty if it
// needs none or the command sets it.
func (c *Compiler) Param(command *command.Line) string {
	if !c.inlinesOnce() || command.Mentions(earlyInliner) {
		return ""
	}
	return "--param=" + earlyInliner + "=10"
}

// inlinesOnce reports whether the compiler is one that needs [earlyInliner].
func (c *Compiler) inlinesOnce() bool { return c.isGCC(12) || c.isGCC(13) }

// sayNoneOf says that a slice of a program has no function: those that the profile has of the
// sources are others now, or it has none.
func (p *preparation) sayNoneOf(program *slice.Program) {
	for _, m := range program.Match(p.command.Sources, p.command.Dir) {
		if slices.ContainsFunc(m.Units, func(unit string) bool { return hasFunctions(program, unit) }) {
			p.warnOfCode("others", "the profile has functions of %s, and none that is there now: is it of older sources? \"afdo explain\" tells more", m.Path)
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
