//go:build !unix

package compile

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
)

// ReplaceProcess runs another program and ends with its exit status. An
// interrupt reaches both; it is the program's to end on it.
func ReplaceProcess(e *verb.Env, argv, environment []string) error {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environment
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitStatus(exit)
	}
	return err
}

// replaceStdin does nothing, because ReplaceProcess passes standard input on.
func replaceStdin(*os.File) error { return nil }

// exitStatus returns the status of a program that has ended.
func exitStatus(exit *exec.ExitError) cli.StatusError { return cli.StatusError(exit.ExitCode()) }
