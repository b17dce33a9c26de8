package become

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/together"
)

// Child runs another program as a child and waits for it. It passes on the signals SIGINT, SIGTERM
// and SIGHUP to the child. The error is an [*exec.ExitError] if the program fails.
func Child(e *cli.Env, argv, environment []string, stderr io.Writer) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	together.EndWithParent(cmd)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment, e.In, e.Out, stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s)
			case <-ended:
				return
			}
		}
	}()
	return cmd.Wait()
}

// Failed reports whether a program failed by itself. It returns false if a signal of a user or of
// another process ended it, such as SIGINT or SIGKILL.
func Failed(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return true
	}
	switch status.Signal() {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL, syscall.SIGPIPE:
		return false
	}
	return true
}
