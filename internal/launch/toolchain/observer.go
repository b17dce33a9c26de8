package toolchain

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/trace"
	"github.com/go-afdo/afdo/internal/together"
)

// An Observer runs a compiler and collects the paths that the compiler looks up.
type Observer struct {
	Path  string               // of the compiler
	Dir   string               // in which it runs
	env   []string             // its environment
	plain bool                 // the program is named like a compiler and is not a script
	start time.Time            // of the first run
	asked map[string]trace.Use // the paths, and how they were used

	// UsersRules is set if the compiler has rules of the user, such as specs or a plugin, which may
	// read any environment variable.
	UsersRules bool

	foreign bool // other programs than parts of a compiler ran, so any environment variable may matter
	blind   bool // some lookups were not observed
}

// NewObserver returns an Observer of the compiler at a path, which will run in the folder dir, with
// the environment env.
func NewObserver(path, dir string, env []string) *Observer {
	o := &Observer{Path: path, Dir: dir, env: env, start: record.Now(), asked: make(map[string]trace.Use)}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		base := filepath.Base(target)
		hasName := slices.ContainsFunc([]string{"gcc", "g++", "c++", "clang"}, func(name string) bool { return strings.Contains(base, name) })
		o.plain = hasName && !isScript(target)
	}
	return o
}

// isScript reports whether a program file is a script, which another program interprets.
func isScript(path string) bool { return string(files.Head(path, 2)) == "#!" }

// Command returns a command that runs the compiler with the given arguments. Its messages are in
// English.
func (o *Observer) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, o.Path, args...)
	cmd.Dir = o.Dir
	cmd.Env = slices.DeleteFunc(slices.Clone(o.env), func(setting string) bool {
		return strings.HasPrefix(setting, "DEPENDENCIES_OUTPUT=") || strings.HasPrefix(setting, "SUNPRO_DEPENDENCIES=")
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

// Run runs a command that [Observer.Command] returned, and collects the paths that are looked up
// and the programs that are executed.
func (o *Observer) Run(cmd *exec.Cmd) error {
	o.foreign = o.foreign || !o.plain
	log, err := trace.Run(cmd.Dir, !o.plain, func() error { return RunUntilDeath(cmd) })
	if log == nil {
		o.blind = true
		return err
	}
	for path, use := range log.Uses {
		o.asked[path] |= use
	}
	o.asked[o.Path] |= trace.Open
	for _, program := range log.Programs {
		o.noteProgram(program, log.Programs[0].Path)
	}
	return err
}

// noteProgram adds a program that was executed to the collected paths. first is the path of the
// compiler. If the compiler is a script, it also adds every place in $PATH where the script may
// have looked for the program. The system runs the interpreter of a script under the name in the
// script's first line.
func (o *Observer) noteProgram(program trace.Program, first string) {
	o.asked[program.Path] |= trace.Open
	if program.Path != first && !strings.HasPrefix(filepath.Base(program.Path), "cc1") {
		o.blind = o.blind || o.plain // it was taken for a compiler, and links were not noted
		o.foreign = true
	}
	folders := filepath.SplitList(command.Getenv(o.env, "PATH"))
	if strings.Contains(program.Name, "/") {
		folders = []string{""}
	}
	if o.plain || program.Name == "" {
		return
	}
	for _, folder := range folders {
		o.asked[filepath.Join(folder, program.Name)] |= trace.Status
	}
}

// Opened reports whether the compiler was observed to open a path.
func (o *Observer) Opened(path string) bool { return o.asked[path]&trace.Open != 0 }

// Fill stores the collected paths and the states of their files in a record; files are the
// compiler's inputs. It reports whether the record may be cached: all lookups were observed, and no
// file has changed since the first run.
func (o *Observer) Fill(r *record.Record, cache *store.Store, files []string) bool {
	if o.foreign {
		r.Environment = record.WholeEnvironment(o.env)
	}
	ok := r.Add(cache, o.Dir, files, o.asked, o.start) && !o.blind
	if o.UsersRules || command.Getenv(o.env, "LD_PRELOAD") != "" || slices.ContainsFunc(r.Others, func(f record.File) bool { return filepath.Base(f.Path) == "specs" }) {
		r.Environment = record.WholeEnvironment(o.env)
	}
	return ok
}

// RunUntilDeath runs a command and makes it end when this process ends. If the command leaves a
// process in the background that keeps the command's output open, such as a server, RunUntilDeath
// does not wait for that process.
func RunUntilDeath(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	together.EndWithParent(cmd)
	cmd.WaitDelay = 2 * time.Second // enough for a filter of the output, which may end last
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// ask runs the compiler and returns its standard output. If the compiler fails, the output is empty
// and there is no error.
func (o *Observer) ask(ctx context.Context, args ...string) ([]byte, error) {
	cmd := o.Command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := o.Run(cmd)
	if _, failed := err.(*exec.ExitError); failed {
		return nil, nil
	}
	return out.Bytes(), err
}
