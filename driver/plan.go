package driver

import (
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/driver/command"
	"github.com/go-afdo/afdo/driver/internal/planned"
	"github.com/go-afdo/afdo/driver/internal/record"
)

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
