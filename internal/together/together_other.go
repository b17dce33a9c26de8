//go:build !unix

package together

import "os/exec"

// endGroup does nothing: this system has no process groups.
func endGroup(*exec.Cmd) {}
