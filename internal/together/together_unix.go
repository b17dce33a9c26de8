//go:build unix

package together

import (
	"os/exec"
	"syscall"
)

// endGroup has a command be of a group that ends with it, as a whole.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
