// Package repeat finds the command that the launcher has prepared for a compile before, if nothing
// that decided it has changed since. Package driver does the same and prepares what is missing, but
// a program that imports it takes longer to start.
package repeat

import (
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// A Plan is a command to run.
type Plan struct {
	Argv []string
	Env  []string // settings that the environment needs besides
}

// Key returns the key for arguments of a program that runs a launcher in a folder, an absolute
// path. [driver.Launcher.PlanKey] keeps plans under it. Other arguments or other values of the
// variables of the environment that the launcher reads have other keys.
//
// [driver.Launcher.PlanKey]: https://pkg.go.dev/github.com/go-afdo/afdo/driver#Launcher
func Key(args []string, dir string) string { return planned.Key(args, dir) }

// Find returns the plan that is kept under a key for a compile in a folder. It returns nil if there
// is none, or if the launcher might make another one: the compiler, the profile, the slice, an
// input or the launcher has changed. Find reads the cache of [driver.OpenCache], looks at the state
// of each input, and counts the compile in the statistics. It runs no program.
//
// [driver.OpenCache]: https://pkg.go.dev/github.com/go-afdo/afdo/driver#OpenCache
func Find(key string, argv []string, dir string) *Plan {
	start := planned.ProcessorTime()
	folder, err := store.DefaultDir()
	if err != nil {
		return nil
	}
	cache, err := store.OpenStore(folder)
	if err != nil {
		return nil
	}
	p := planned.Find(cache, key, argv, dir)
	if p == nil || !p.Count(cache, planned.ProcessorTime()-start) {
		return nil
	}
	return &Plan{Argv: p.Argv, Env: p.Env}
}
