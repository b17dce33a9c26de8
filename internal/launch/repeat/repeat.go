// Package repeat finds the compiler command that the launcher prepared in an earlier run of the
// same compile, if nothing that the command depends on has changed since. Package driver does the
// same, and prepares a new command if necessary, but a program that imports package driver takes
// longer to start.
package repeat

import (
	"slices"

	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
)

// Key returns the cache key of the compiler command that a launcher prepares for argv in dir, an
// absolute path. It depends on argv, on dir, on the launcher's flags, each as NAME=VALUE in any
// order, and on the environment variables that the launcher reads. Pass it to [driver.Plan.Keep],
// which stores the command.
//
// [driver.Plan.Keep]: https://pkg.go.dev/github.com/go-afdo/afdo/compile/driver#Plan.Keep
func Key(flags, argv []string, dir string) string {
	return planned.Key(append(slices.Sorted(slices.Values(flags)), argv...), dir)
}

// Find returns the cached compiler command with a key, for the command argv in dir. It returns nil
// if there is none, or if the compiler, the profile, the slice, an input or the launcher has
// changed, so that the launcher might prepare another command. Find reads the cache of
// [driver.OpenCache], checks the state of each input file, and counts the compile in the launcher's
// statistics. It runs no program.
//
// [driver.OpenCache]: https://pkg.go.dev/github.com/go-afdo/afdo/compile/driver#OpenCache
func Find(key string, argv []string, dir string) *planned.Plan {
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
	return p
}
