package driver

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runUntilDeath runs a command that ends when this process does, even if a signal kills that.
func runUntilDeath(cmd *exec.Cmd) error {
	runtime.LockOSThread() // the system looks at the thread that has started it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return cmd.Run()
}
