//go:build unix

package together

import (
	"os/exec"
	"syscall"
)

// endGroup puts a command into a process group of its own, and kills the whole group when the
// command's context is done.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
