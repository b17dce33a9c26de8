// Command afdo-exec does the same as "afdo exec", but starts faster if the same compile has run
// before. If nothing has changed since, it runs the compiler with the command and the slice of that
// time. Otherwise it replaces itself by "afdo exec", from the program afdo in the same folder.
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

// run finds the compiler command that the launcher has cached for these arguments, and runs it. If
// there is none, or if it fails, run replaces the process by "afdo exec".
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

// command returns the compiler command in the arguments of "afdo exec", after the most common
// flags. It returns nil if there is any other flag.
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
