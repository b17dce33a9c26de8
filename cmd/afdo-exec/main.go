// Command afdo-exec does what "afdo exec" does, and starts faster: it is the launcher alone,
// without the other verbs. It stands beside afdo and has "afdo exec" run what it does not know: all
// flags but the usual ones, and sources on standard input.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/go-afdo/afdo/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/become"
)

func main() {
	debug.SetGCPercent(1000) // this process does not live long
	e := cli.Env{In: os.Stdin, Out: os.Stdout, Err: cli.Printer{W: os.Stderr}}
	os.Exit(exitStatus(&e, run(&e, os.Args[1:])))
}

// run prepares a command and becomes it. It returns only with an error.
func run(e *cli.Env, args []string) error {
	l, argv := parse(args)
	dir, err := os.Getwd()
	if argv == nil || err != nil {
		return runAfdo(e, args)
	}
	if l.Profile == "" {
		l.Profile = os.Getenv("AFDO_PROFILE")
	}
	l.Warn = func(text string) { e.Warnf("%s", text) }
	l.Stdin = func() ([]byte, error) {
		os.Exit(exitStatus(e, runAfdo(e, args)))
		return nil, nil
	}
	if l.Cache, err = driver.OpenCache(); errors.Is(err, driver.ErrCacheSetting) {
		e.Warnf("%v", err)
	}
	plan, err := l.Prepare(argv, dir)
	if errors.Is(err, driver.ErrNoProfile) {
		return runAfdo(e, args) // which prints how to give one
	}
	if err != nil {
		return err
	}
	environment := exec.Cmd{Env: append(os.Environ(), plan.Env...)}
	return become.Program(e, plan.Argv, environment.Environ())
}

// parse reads the usual flags of "afdo exec". argv is the command behind them, nil if there is none
// or if there is any other flag.
func parse(args []string) (l *driver.Launcher, argv []string) {
	l = new(driver.Launcher)
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		switch {
		case args[0] == "--":
			return l, command(args[1:])
		case !strings.HasPrefix(args[0], "-"):
			return l, command(args)
		case args[0] == "--no-rebase":
			l.NoRebase = true
		case args[0] == "--no-params":
			l.NoParams = true
		case name == "--profile" && joined:
			l.Profile = value
		case name == "--profile" && len(args) > 1:
			l.Profile, args = args[1], args[1:]
		default:
			return nil, nil
		}
		args = args[1:]
	}
	return nil, nil
}

// command returns a command, nil for none.
func command(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	return argv
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
