package compile

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// countersFormat is the name of the format of counters of arcs.
const countersFormat = "gcda"

// sliceArcs writes the counters of all compiles of a build, and prints the options with which GCC
// reads them.
func sliceArcs(e *verb.Env, path string, all *buildSlices) error {
	if !all.enabled || all.dir == "" || all.database == "" {
		return cli.Usagef("--to gcda goes with --all, -d and --compile-commands: counters depend on the compile")
	}
	commands, _, err := verb.ReadDatabase(all.database)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(all.dir)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	doing := progress.Start(e.Err)
	defer doing.Stop()
	var mu sync.Mutex
	said, done := map[string]bool{}, 0
	l := driver.Launcher{Profile: path, Arcs: true, ArcsFolder: folder, Warn: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !said[text] {
			said[text] = true
			doing.Stop()
			e.Warnf("%s", text)
		}
	}}
	l.Cache, _ = driver.OpenCache() // it is only slower without
	written := 0
	err = inParallel(len(commands), runtime.GOMAXPROCS(0), func(i int) error {
		c := commands[i]
		plan, err := l.Prepare(context.Background(), c.Argv(), c.Dir)
		mu.Lock()
		defer mu.Unlock()
		if done++; err != nil {
			return fmt.Errorf("%s: %w", human.Name(c.Sources[0]), err)
		}
		if filepath.Ext(plan.Slice) == ".gcda" {
			written++
		}
		doing.Say("%d of %d compiles", done, len(commands))
		return nil
	})
	doing.Stop()
	if err == nil {
		_, err = fmt.Fprintf(e.Out, "%s\n", strings.Join(driver.ArcOptions(folder), " "))
		e.Warnf("counters for %d of %d compiles in %s", written, len(commands), human.Name(all.dir))
	}
	return err
}
