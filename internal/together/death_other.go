//go:build !linux

package together

import "os/exec"

// EndWithParent does nothing: only Linux can end a command with its parent.
func EndWithParent(*exec.Cmd) {}
