package compile

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/compile/explain"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// A compile is one source that a command of a build compiles.
type compile struct {
	command  verb.BuildCommand
	source   string
	profiled bool // the build has it use the profile
}

// loadWithFormat reads a whole profile, and returns its format, too.
func loadWithFormat(e *verb.Env, path string) (p *profile.Profile, format anyprof.Format, err error) {
	err = e.WithFile(path, func(f *input.File, k kind.Kind) error {
		format = f.Format()
		return verb.Dispatch(e, "explain", k, func(k kind.CanLoad) error {
			l, err := k.Load(f)
			if err == nil {
				p = l.Profile
			}
			return err
		}, nil)
	})
	return p, format, err
}

// compiles returns the compiles of a command line, or of all commands of the database.
func (x *explaining) compiles(argv []string) ([]compile, error) {
	if x.database != "" {
		commands, _, err := verb.ReadDatabase(x.database)
		return compilesOf(commands...), err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	c := verb.ParseBuildCommand(argv, dir)
	if c.Reason != "" {
		return nil, fmt.Errorf("%w: %s", explain.ErrNoCompile, c.Reason)
	}
	return compilesOf(c), nil
}

func compilesOf(commands ...verb.BuildCommand) (compiles []compile) {
	for _, c := range commands {
		profiled := c.Launched || driver.HasProfile(c.Line)
		for _, source := range c.Compiles() {
			compiles = append(compiles, compile{c, source, profiled})
		}
	}
	return compiles
}

// compileAll runs compiles, some at a time, until one fails.
func compileAll(ctx context.Context, e *verb.Env, c *explain.Compiling, compiles []compile, x *explaining) ([]*explain.Code, error) {
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	doing.Say("compiling %s", human.Counted(len(compiles), "source"))
	codes := make([]*explain.Code, len(compiles))
	var done atomic.Int64
	err := inParallel(len(compiles), x.jobs, func(i int) (err error) {
		codes[i], err = c.Compile(ctx, compiles[i].command.Line, compiles[i].source)
		doing.Say("compiled %d of %s", done.Add(1), human.Counted(len(compiles), "source"))
		return err
	})
	if err != nil {
		return nil, err
	}
	some := slices.ContainsFunc(compiles, func(c compile) bool { return c.profiled })
	for i, code := range codes {
		if some && !compiles[i].profiled && x.database != "" {
			code.Unprofiled()
		}
	}
	return codes, nil
}
