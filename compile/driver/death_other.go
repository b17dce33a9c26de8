//go:build !linux

package driver

import "os/exec"

// runUntilDeath runs a command. No system but Linux ends it with this process.
func runUntilDeath(cmd *exec.Cmd) error { return cmd.Run() }
