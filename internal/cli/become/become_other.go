//go:build !unix

package become

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/go-afdo/afdo/internal/cli"
)

// Program runs another program as a child and returns its exit status as a [cli.StatusError]. It
// ignores interrupts, which the child gets as well.
func Program(e *cli.Env, argv, environment []string) error {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environment
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return Status(exit)
	}
	return err
}

// Stdin does nothing, because Program passes standard input on.
func Stdin(*os.File) error { return nil }

// Status returns the exit status of a program that has ended.
func Status(exit *exec.ExitError) cli.StatusError { return cli.StatusError(exit.ExitCode()) }
