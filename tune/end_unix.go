//go:build unix

package tune

import (
	"os/exec"
	"syscall"
)

// endWithAll has a command end with all that it has started.
func endWithAll(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
