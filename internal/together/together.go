// Package together ends commands with all processes that they have started.
package together

import (
	"os/exec"
	"time"
)

// patience is how long Wait waits for other processes to close the output of a command that was
// killed.
const patience = 5 * time.Second

// End makes a command, which was made with a context, end with all processes that it has started
// once the context is done. On systems without process groups, only the command itself is killed.
func End(cmd *exec.Cmd) {
	endGroup(cmd)
	cmd.WaitDelay = patience
}
