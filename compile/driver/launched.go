package driver

import (
	"os"
	"slices"

	"github.com/go-afdo/afdo/internal/command"
)

// CutExec returns a command line without "afdo exec ... --" in front, and whether that was there.
func CutExec(argv []string) (rest []string, cut bool) {
	if len(argv) < 2 || command.ProgramName(argv[0]) != "afdo" || argv[1] != "exec" {
		return argv, false
	}
	if i := slices.Index(argv, "--"); i >= 0 {
		return argv[i+1:], true
	}
	return argv, false
}

// HasProfile reports whether a command names a profile, or has a slice beside its object.
func HasProfile(c *command.Line) bool {
	if c.Profile != "" {
		return true
	}
	_, err := os.Stat(c.Path(SlicePath(c.Object)))
	return c.Object != "" && err == nil
}
