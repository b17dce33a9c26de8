package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/go-afdo/afdo/anyprof"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/driver"
	"github.com/go-afdo/afdo/driver/command"
	"github.com/go-afdo/afdo/driver/compdb"
	"github.com/go-afdo/afdo/explain"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/profile"
)

// A compile is one source that a command of a build compiles.
type compile struct {
	command  *command.Line
	source   string
	profiled bool // the build has it use the profile
}

// loadWithFormat reads a whole profile, and tells its format.
func (e *env) loadWithFormat(path string) (p *profile.Profile, format anyprof.Format, err error) {
	err = e.withFile(path, func(f *input.File, k kind.Kind) error {
		format = f.Format()
		return dispatch(e, "explain", k, func(k kind.CanLoad) error {
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
		return databaseCompiles(x.database)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	compiles, why := compilesOf(argv, dir)
	if len(compiles) == 0 {
		return nil, fmt.Errorf("%w: %s", explain.ErrNoCompile, why)
	}
	return compiles, nil
}

func compilesOf(argv []string, dir string) ([]compile, command.Reason) {
	argv, launched := driver.CutExec(argv)
	c := command.Parse(argv, dir)
	if c.Reason != "" {
		return nil, c.Reason
	}
	var compiles []compile
	for _, source := range c.Sources {
		compiles = append(compiles, compile{c, source, launched || driver.HasProfile(c)})
	}
	return compiles, ""
}

func databaseCompiles(path string) ([]compile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	entries, err := compdb.Parse(data, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", human.Name(path), err)
	}
	var compiles []compile
	for _, entry := range entries {
		part, _ := compilesOf(entry.Args, entry.Directory)
		compiles = append(compiles, part...)
	}
	if len(compiles) == 0 {
		return nil, fmt.Errorf("%s: none of %s compiles anything", human.Name(path), counted(len(entries), "command"))
	}
	return compiles, nil
}

// compileAll runs compiles, some at a time. The first error in their order is the result.
func (e *env) compileAll(ctx context.Context, c *explain.Compiling, compiles []compile, x *explaining) ([]*explain.Code, error) {
	doing := progress.Start(e.Err)
	defer doing.Stop()
	doing.Say("compiling %s", counted(len(compiles), "source"))
	codes, errs := make([]*explain.Code, len(compiles)), make([]error, len(compiles))
	var done atomic.Int64
	inParallel(len(compiles), x.jobs, func(i int) {
		codes[i], errs[i] = c.Compile(ctx, compiles[i].command, compiles[i].source)
		doing.Say("compiled %d of %s", done.Add(1), counted(len(compiles), "source"))
	})
	some := false
	for _, c := range compiles {
		some = some || c.profiled
	}
	for i, code := range codes {
		if code != nil && some && !compiles[i].profiled && x.database != "" {
			code.Unprofiled()
		}
	}
	return codes, errors.Join(errs...)
}

// inParallel calls do with each number below n, some at the same time.
func inParallel(n, jobs int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(jobs, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
