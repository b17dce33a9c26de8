// Command afdo-exec does what "afdo exec" does, and starts faster. It finds the plan of a compile
// that has run before, if nothing has changed since, and runs the compiler with the slice of that
// time. For everything else it becomes "afdo exec", which stands beside it.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/become"
	"github.com/go-afdo/afdo/internal/launch/repeat"
	"github.com/go-afdo/afdo/internal/settings"
)

func main() {
	e := cli.Env{In: os.Stdin, Out: os.Stdout, Err: cli.Printer{W: os.Stderr}}
	os.Exit(exitStatus(&e, run(&e, os.Args[1:])))
}

// run runs the command that the launcher has planned before. If there is no such plan, or the
// planned command fails, it becomes "afdo exec".
func run(e *cli.Env, args []string) error {
	if _, err := settings.Load(); err != nil {
		return runAfdo(e, args) // which reports the error
	}
	argv := command(args)
	dir, err := os.Getwd()
	if len(argv) == 0 || err != nil {
		return runAfdo(e, args)
	}
	key := repeat.Key(args, dir)
	plan := repeat.Find(key, argv, dir)
	if plan == nil {
		return runAfdo(e, append([]string{"--plan-key=" + key}, args...))
	}
	environment := exec.Cmd{Env: append(os.Environ(), plan.Env...)}
	err = become.Child(e, plan.Argv, environment.Environ(), os.Stderr)
	var exit *exec.ExitError
	if errors.As(err, &exit) && become.Failed(exit) { // it may be the profile's fault
		return runAfdo(e, append([]string{"--failed=" + strconv.Itoa(int(become.Status(exit)))}, args...))
	}
	if exit != nil {
		return become.Status(exit)
	}
	return err
}

// command returns the command after the usual flags of "afdo exec". It returns nil if there is any
// other flag.
func command(args []string) []string {
	for len(args) > 0 {
		name, _, joined := strings.Cut(args[0], "=")
		switch {
		case args[0] == "--":
			return args[1:]
		case !strings.HasPrefix(args[0], "-"):
			return args
		case args[0] == "--no-rebase", args[0] == "--no-params", (name == "--profile" || name == "--as") && joined:
		case (name == "--profile" || name == "--as") && len(args) > 1:
			args = args[1:]
		default:
			return nil
		}
		args = args[1:]
	}
	return nil
}

// runAfdo becomes "afdo exec": the program beside this one, or else the one in $PATH.
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

// exitStatus returns the exit status for an error, and prints the error unless it is a status.
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
