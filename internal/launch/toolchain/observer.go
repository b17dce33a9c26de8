package toolchain

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/record"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/trace"
	"github.com/go-afdo/afdo/internal/together"
)

// An Observer runs a compiler, and notes what the compiler asks of the file system.
type Observer struct {
	Path  string    // of the program
	Dir   string    // in which it runs
	Plain bool      // the program has the name of a compiler, and is no script
	start time.Time // of the first run
	asked map[string]trace.Use

	foreign bool // other programs than the parts of a compiler ran, so the environment counts
	blind   bool // not all is known that was asked
}

func NewObserver(path, dir string) *Observer {
	o := &Observer{Path: path, Dir: dir, start: record.Now(), asked: make(map[string]trace.Use)}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		base := filepath.Base(target)
		hasName := slices.ContainsFunc([]string{"gcc", "g++", "c++", "clang"}, func(name string) bool { return strings.Contains(base, name) })
		o.Plain = hasName && !isScript(target)
	}
	return o
}

// isScript reports whether a program is a script, which has another program run it.
func isScript(path string) bool {
	f, _, err := files.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = f.ReadAt(head, 0)
	return err == nil && string(head) == "#!"
}

// Command returns a command that runs the program with the given arguments and with English
// messages.
func (o *Observer) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, o.Path, args...)
	cmd.Dir = o.Dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool {
		return strings.HasPrefix(setting, "DEPENDENCIES_OUTPUT=") || strings.HasPrefix(setting, "SUNPRO_DEPENDENCIES=")
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

// Run runs a command of [Observer.Command]. It notes the paths that are looked up and the programs
// that run.
func (o *Observer) Run(cmd *exec.Cmd) error {
	o.foreign = o.foreign || !o.Plain
	log, err := trace.Run(cmd.Dir, !o.Plain, func() error { return RunUntilDeath(cmd) })
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

// noteProgram notes a program that ran. The shells and tools of a script look programs up in $PATH.
func (o *Observer) noteProgram(program trace.Program, first string) {
	o.asked[program.Path] |= trace.Open
	if program.Path != first && !strings.HasPrefix(filepath.Base(program.Path), "cc1") {
		o.blind = o.blind || o.Plain // it was taken for a compiler, and links were not noted
		o.foreign = true
	}
	if o.Plain || program.Name == "" || strings.Contains(program.Name, "/") {
		return
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		o.asked[filepath.Join(folder, program.Name)] |= trace.Status
	}
}

// Fill stores the noted paths and the states of their files in a record. It reports whether the
// record can be kept: all is known that was looked up, and nothing has changed since the first run.
func (o *Observer) Fill(r *record.Record, cache *store.Store, files []string) bool {
	if o.foreign {
		r.Environment = record.WholeEnvironment()
	}
	return r.Add(cache, o.Dir, files, o.asked, o.start) && !o.blind
}

// RunUntilDeath runs a command that ends when this process does. It does not wait for processes
// that the command leaves in the background and that have its output open, such as a server.
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

// Ask runs the program and returns its output. A program that fails has no output, which is not an
// error.
func (o *Observer) Ask(ctx context.Context, args ...string) ([]byte, error) {
	cmd := o.Command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := o.Run(cmd)
	if _, failed := err.(*exec.ExitError); failed {
		return nil, nil
	}
	return out.Bytes(), err
}
