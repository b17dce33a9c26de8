//go:build unix

package become

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/go-afdo/afdo/internal/cli"
)

// Program turns this process into another program, whose exit status
// and signals then are its own. If that cannot be, the status is a shell's.
func Program(e *cli.Env, argv, environment []string) error {
	path, err := exec.LookPath(argv[0])
	if err == nil {
		err = &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, argv, environment)}
	}
	e.Warnf("%v", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return cli.StatusError(statusNotFound)
	}
	return cli.StatusError(statusCannotRun)
}

// Stdin makes a file the standard input of this process and of what replaces it.
func Stdin(file *os.File) error { return unix.Dup2(int(file.Fd()), 0) }

// Status returns the status of a shell for a program that has ended.
func Status(exit *exec.ExitError) cli.StatusError {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return cli.StatusError(statusSignal + int(status.Signal()))
	}
	return cli.StatusError(exit.ExitCode())
}

// The exit statuses of shells for a program that cannot be run, and for one that is not there. One
// that a signal has ended has the sum of the last one and the number of the signal.
const (
	statusCannotRun = 126
	statusNotFound  = 127
	statusSignal    = 128
)
