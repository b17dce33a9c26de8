package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/cli/progress"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/slice"
)

// buildSlices are the flags for all slices of a build.
type buildSlices struct {
	enabled  bool
	dir      string
	database string
}

func (b *buildSlices) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&b.enabled, "all", false, "write the slices of all compiles of a build")
	f.StringVarP(&b.dir, "dir", "d", "", "folder for these slices")
	f.StringVar(&b.database, "compile-commands", "", "compilation database, compile_commands.json, that lists them")
}

// A job is one slice of a build.
type job struct {
	command *driver.Command
	path    string // of the slice
}

// sliceAll writes the slices of a build. The profile is read once.
func (e *env) sliceAll(path string, all *buildSlices, s *slicing, out outputFlags, target slice.Target) error {
	switch {
	case all.dir == "":
		return cli.Usagef("--all needs a folder: -d DIR")
	case all.database == "":
		return cli.Usagef("--all needs --compile-commands FILE")
	case len(s.units) > 0 || len(s.deps) > 0:
		return cli.Usagef("--all goes without --unit and --deps")
	case out.path != cli.Stdio:
		return cli.Usagef("--all writes into the folder of -d, not to -o")
	}
	jobs, err := e.readJobs(all)
	if err != nil {
		return err
	}
	doing := progress.Start(e.Err)
	defer doing.Stop()
	doing.Say("reading %s", human.Name(path))
	return e.withInput("slice", path, func(in *gcovkind.Input) error {
		program, err := openProgram(in, true)
		if err != nil {
			return err
		}
		a := sliceAllState{
			slicer:   slicer{program: program, target: target, bits: int(s.bits), out: out},
			cache:    driver.OpenCache(),
			progress: doing,
			jobs:     len(jobs),
		}
		err = a.run(jobs)
		doing.Stop()
		a.report(e)
		return err
	})
}

// report says what the workers have met, in an order that does not depend on theirs.
func (a *sliceAllState) report(e *env) {
	slices.Sort(a.remarks)
	for _, line := range slices.Compact(a.remarks) {
		e.Warnf("%s", line)
	}
	if n := len(a.unknown); n > 0 {
		slices.Sort(a.unknown)
		e.Warnf("%d of %d sources are not in the profile: %s", n, a.jobs, printableList(a.unknown))
	}
}

// readJobs reads the compilation database.
func (e *env) readJobs(all *buildSlices) ([]job, error) {
	data, err := os.ReadFile(all.database)
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(filepath.Dir(all.database))
	if err != nil {
		return nil, err
	}
	entries, err := driver.ParseDatabase(data, root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", all.database, err)
	}
	var jobs []job
	seen := make(map[string]bool)
	for _, entry := range entries {
		c := driver.ParseCommand(withoutLauncher(entry.Args), entry.Directory)
		if c.Reason != "" {
			continue
		}
		path := filepath.Join(all.dir, underRoot(c.Path(c.Object), root)) + sliceSuffix
		if seen[path] {
			e.Warnf("%s is compiled twice: the slice of the first command is taken", human.Name(c.Object))
			continue
		}
		seen[path] = true
		jobs = append(jobs, job{c, path})
	}
	return jobs, nil
}

// withoutLauncher returns a command without "afdo exec ... --" before it.
func withoutLauncher(args []string) []string {
	if len(args) > 1 && strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "afdo" && args[1] == "exec" {
		if i := slices.Index(args, "--"); i >= 0 {
			return args[i+1:]
		}
	}
	return args
}

// underRoot returns a path relative to a folder, and for one outside of it the whole path without its root.
func underRoot(path, root string) string {
	rel, err := filepath.Rel(root, path)
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	path = path[len(filepath.VolumeName(path)):]
	return strings.TrimLeft(path, `/\`)
}

// sliceAllState is work on the slices of a build.
type sliceAllState struct {
	slicer
	cache    *driver.Cache
	progress *progress.Line
	jobs     int

	mu      sync.Mutex
	done    int
	remarks []string
	unknown []string // sources that the profile does not have
}

// run does the jobs, several at once, and returns the error of one that failed.
func (a *sliceAllState) run(jobs []job) error {
	queue := make(chan job)
	failed := make(chan error, 1)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(1, len(jobs))) {
		workers.Go(func() {
			for j := range queue {
				if err := a.do(j); err != nil {
					select {
					case failed <- fmt.Errorf("%s: %w", j.path, err):
					default:
					}
				}
			}
		})
	}
	for _, j := range jobs {
		if len(failed) > 0 {
			break
		}
		queue <- j
	}
	close(queue)
	workers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func (a *sliceAllState) do(j job) error {
	part, err := a.slice(j.command, a.inputs(j.command))
	if err != nil {
		return err
	}
	if err := makeParents(j.path); err != nil {
		return err
	}
	_, err = writeSlice(j.path, part.data)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done++
	a.progress.Say("%d of %d slices", a.done, a.jobs)
	a.remarks = append(a.remarks, part.ambiguous...)
	a.unknown = append(a.unknown, part.unknown...)
	return err
}

// inputs finds the files of a command, nil if that fails.
func (a *sliceAllState) inputs(c *driver.Command) *driver.Inputs {
	compiler, err := driver.FindCompiler(c, a.cache)
	if err != nil {
		a.remark("%s: %v", c.Sources[0], err)
		return nil
	}
	in, err := driver.FindInputs(c, compiler, a.cache)
	if err != nil {
		a.remark("%s: the headers are not known: %v", c.Sources[0], err)
		return nil
	}
	return in
}

func (a *sliceAllState) remark(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remarks = append(a.remarks, fmt.Sprintf(format, args...))
}

// sliceSuffix is put behind the path of an object.
const sliceSuffix = ".afdo"

// A slicer makes the slices of commands.
type slicer struct {
	program *slice.Program
	target  slice.Target
	bits    int
	out     outputFlags
}

// A sliced is the slice of a command.
type sliced struct {
	data      []byte
	ambiguous []string // what is to be said of files that may be several units
	unknown   []string // sources that the profile does not have
}

// slice makes the slice of a command. The inputs are nil if they are not known.
func (s *slicer) slice(c *driver.Command, in *driver.Inputs) (*sliced, error) {
	request := slice.Request{Target: s.target, Bits: s.bits, Complete: in != nil}
	files := c.Sources
	if in == nil {
		request.Defined = driver.ScanFiles(files, c.Dir).Defined
	} else {
		files, request.Defined = in.Files, in.Defined
	}
	result := new(sliced)
	for _, m := range s.program.Match(files, c.Dir) {
		switch {
		case len(m.Units) == 1:
			request.Units = append(request.Units, m.Units[0])
		case len(m.Units) > 1:
			result.ambiguous = append(result.ambiguous,
				fmt.Sprintf("%s is ambiguous and left out: %s", human.Name(m.Path), printableList(m.Units)))
		case slices.Contains(c.Sources, m.Path):
			result.unknown = append(result.unknown, human.Name(m.Path))
		}
	}
	part, err := s.program.Select(request)
	if err != nil {
		return nil, err
	}
	result.data, err = encodeSlice(s.out, part)
	return result, err
}
