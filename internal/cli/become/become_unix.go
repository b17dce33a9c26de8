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

// Program replaces this process by another program, and returns only if that fails. It then prints
// the reason and returns the exit status that a shell would have.
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

// Stdin makes a file the standard input of this process and of the program that replaces it.
func Stdin(file *os.File) error { return unix.Dup2(int(file.Fd()), 0) }

// Status returns the exit status of a program that has ended. If a signal ended it, the status is
// that of a shell: 128 plus the number of the signal.
func Status(exit *exec.ExitError) cli.StatusError {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return cli.StatusError(statusSignal + int(status.Signal()))
	}
	return cli.StatusError(exit.ExitCode())
}

// Exit statuses that shells use: for a program that cannot be run, for one that does not exist,
// and, plus the number of the signal, for one that a signal ended.
const (
	statusCannotRun = 126
	statusNotFound  = 127
	statusSignal    = 128
)
