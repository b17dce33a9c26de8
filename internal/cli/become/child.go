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

// Child runs another program and waits for it. The program gets the signals that ask this process
// to end. The error is an [*exec.ExitError] if the program fails.
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

// Failed reports whether a program has failed by itself: it was not ended from outside.
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
