package compile

import (
	"context"
	"errors"
	"os/exec"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/cli/become"
)

// listSuffix is what "afdo layout" appends to a prefix for the name of clang's list.
const listSuffix = "_cc_profile.txt"

// execWithLayout runs a compile with its part of a layout, and once more if functions of the part
// turn out to be stale.
func execWithLayout(ctx context.Context, e *verb.Env, o *execOptions, l *driver.Launcher, plan *driver.Plan, dir string, environment []string) error {
	list := o.layout + listSuffix
	with, err := l.WithLayout(ctx, plan.Argv, dir, list, !o.noCheck)
	if err != nil {
		return err
	}
	switch {
	case plan.Without != nil:
		err = runWithProfile(e, o, with.Argv, environment, func() ([]string, error) {
			without, err := l.WithLayout(ctx, plan.Without, dir, list, false)
			if err != nil {
				return nil, err
			}
			with.Object = "" // nothing of the layout fits code without the profile
			return without.Argv, nil
		})
	case with.Object == "":
		return e.Become(with.Argv, environment)
	default:
		err = become.Child(&e.Env, with.Argv, environment, e.Err)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return become.Status(exit)
	}
	if err != nil || with.Object == "" {
		return err
	}
	again, err := with.Recheck()
	if err != nil {
		e.Warnf("the layout of %s is not checked: %v", with.Object, err)
	}
	if again {
		return e.Become(with.Argv, environment)
	}
	return nil
}
