package together

import (
	"os/exec"
	"syscall"
)

// EndWithParent has a command end when the thread that starts it does, even if a signal kills this
// process. The caller has to lock the thread, see [runtime.LockOSThread].
func EndWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
