// Package together has commands end with all that they have started.
package together

import (
	"os/exec"
	"time"
)

// patience is how long the output of a command that was ended may stay open.
const patience = 5 * time.Second

// End has a command, which was made with a context, end together with all that it has started once
// the context is done. Where there are no groups of processes, the command alone is ended.
func End(cmd *exec.Cmd) {
	endGroup(cmd)
	cmd.WaitDelay = patience
}
