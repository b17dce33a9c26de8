// Command afdo-exec does the same as "afdo exec", but starts faster if the same compile has run
// before. If nothing has changed since, it runs the compiler with the command and the slice of that
// time. Otherwise it replaces itself by "afdo exec", from the program afdo in the same folder.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/become"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/settings"
)

func main() {
	e := cli.Env{In: os.Stdin, Out: os.Stdout, Err: cli.Printer{W: os.Stderr}}
	os.Exit(exitStatus(&e, run(&e, os.Args[1:])))
}

// run runs the compiler command that "afdo exec" has cached for these arguments, in place of this
// process. If none is cached, run runs "afdo exec" in place of this process. A cached command has
// succeeded with the same inputs before, so it does not fail because of the profile.
func run(e *cli.Env, args []string) error {
	if _, err := settings.Load(); err != nil {
		return runAfdo(e, args) // which reports the error
	}
	flags, argv := command(args)
	dir, err := os.Getwd()
	if len(argv) == 0 || err != nil {
		return runAfdo(e, args)
	}
	plan := planned.Find(planned.Key(flags, argv, dir), argv, dir)
	if plan == nil {
		return runAfdo(e, args)
	}
	return become.Program(e, plan.Argv, plan.Environ())
}

// command splits the arguments into the flags of "afdo exec" and the compiler command after them.
// Each flag has the form NAME=VALUE. If there is any flag but the most common ones, command returns
// no compiler command, and afdo handles the arguments.
func command(args []string) (flags, argv []string) {
	for len(args) > 0 {
		name, value, joined := strings.Cut(strings.TrimPrefix(args[0], "--"), "=")
		switch {
		case args[0] == "--":
			return flags, args[1:]
		case !strings.HasPrefix(args[0], "-"):
			return flags, args
		case args[0] == "--no-rebase", args[0] == "--no-params":
			value = "true"
		case args[0] == "--profile" && len(args) > 1, args[0] == "--as" && len(args) > 1:
			args = args[1:]
			value = args[0]
		case !joined, name != "profile" && name != "as":
			return nil, nil
		}
		flags = append(flags, name+"="+value)
		args = args[1:]
	}
	return nil, nil
}

// runAfdo replaces this process by "afdo exec", from the program afdo in the folder of this
// program, or else in $PATH.
func runAfdo(e *cli.Env, args []string) error {
	program := "afdo"
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), program+filepath.Ext(self))
		if _, err := os.Stat(beside); err == nil {
			program = beside
		}
	}
	return become.Program(e, append([]string{program, "exec"}, args...), os.Environ())
}

// exitStatus returns the exit status for an error. It prints the error, unless that is only an exit
// status.
func exitStatus(e *cli.Env, err error) int {
	var status cli.StatusError
	switch {
	case errors.As(err, &status):
		return int(status)
	case err != nil:
		fmt.Fprintf(e.Err, "afdo: %s\n", cli.Message(err))
		return cli.StatusFault
	}
	return cli.StatusDone
}
