package together

import (
	"os/exec"
	"syscall"
)

// EndWithParent makes the kernel send SIGTERM to a command when the thread that starts it ends,
// even if this process is killed. The caller has to lock the thread, see [runtime.LockOSThread].
func EndWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
