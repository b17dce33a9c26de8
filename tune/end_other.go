//go:build !unix

package tune

import "os/exec"

// endWithAll leaves a command as it is.
func endWithAll(*exec.Cmd) {}
