// Package tune makes a program faster in one call: it builds the program, trains it under a
// recorder, creates a profile, builds again with the profile, and measures the effect.
//
//	result, err := tune.Run(ctx, tune.Options{
//		Build: []string{"make"}, Train: []string{"./prog in"}, Folder: "work", ...
//	})
//
// It works in copies of the source tree, so the tree itself does not change. It runs compilers
// through a folder of scripts at the front of PATH, so the build need not be adapted. Each step is
// a command that can also be run by hand. A step that was done before, with the same sources and
// commands, is reused. A program that calls [Run] should call record.RunHelper first in main:
// otherwise tune does not record by steps.
package tune

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-afdo/afdo/internal/files"
)

// Options configure [Run].
type Options struct {
	Build   []string // command that builds the program
	Train   []string // shell commands that run the program while it is recorded
	Measure []string // shell commands whose run time is measured

	Tree string // source tree in which the commands run; "" means the current folder

	// Folder is the working folder, for copies of the tree and all other files of tune. It must be
	// new, empty or from an earlier run.
	Folder  string
	Profile string // path of the profile; "" means a file in Folder
	Env     []string
	Rounds  int           // how often the measured commands run; 0 means as often as the verdict needs, 12 to 400 times
	Limit   time.Duration // time limit for the whole run; 0 means none

	Recorder Recorder // "" means [Best]
	Again    bool     // repeat steps that were done before
	NoCount  bool     // do not count instructions
	Layout   bool     // order the functions and blocks of the program as well
	Afdo     string   // path of the command afdo

	Out     io.Writer // receives notes for the user, line by line; nil means none
	Verbose bool      // Out also receives the commands, which the file "log" in Folder always has

	// Doing is called when a step begins, and when its Detail changes; nil means not.
	Doing func(Step)
}

// A Verdict says whether the program is faster with the profile.
type Verdict string

// These are the verdicts on a program that was built with the profile.
const (
	Faster    Verdict = "faster"
	Slower    Verdict = "slower"
	Undecided Verdict = "not decided" // the measured times show no difference that is certain
)

// A Result is the outcome of [Run].
type Result struct {
	Try               // the best of Tries
	Tries    []Try    // all ways of using the profile that were built and measured, in that order
	Programs []string // programs and libraries with samples in the training, relative to the tree

	// Compiles is how many compiles the build with the profile ran, and Used is how many of them
	// got samples from the profile.
	Used, Compiles int

	// Compilers are the names of the compilers that the build called, in reverse order.
	Compilers []string

	Recorder Recorder
	Why      string // reason for the choice of the recorder

	RustOption string // option of rustc for the profile, such as "-Zprofile-sample-use="
}

// ErrStopped is wrapped by the error of a run whose context ended, for example by a signal, or
// whose time limit was over.
var ErrStopped = errors.New("stopped")

// errNoCompiler is wrapped by the error for a build that ran none of the compilers through the
// scripts of tune.
var errNoCompiler = errors.New("the build ran no compiler through PATH, CC, CXX or FC")

// A tuning is the state of one call of [Run]: its options, the paths that it uses, and what its
// steps have found out.
type tuning struct {
	Options
	base, fast string   // copies of the tree, built without the profile and with it
	trees      []string // paths of the source tree, with and without symbolic links, the longest first
	state      *state
	key        string // hash of all inputs of the current step
	env        []string
	compilers  map[string]string // paths of compilers, by program name
	clang      map[string]bool   // answers of [tuning.isClang], by path of the compiler
	rust       bool              // cargo builds the program
	rustOptions
	counted map[string]uint64 // number of instructions of the measured commands, by copy of the tree
	doing   Step
	log     io.Writer
}

// Run builds, trains and measures the program as o says. If a command fails, the error wraps a
// [*CommandError] with the end of the command's output.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Limit, fmt.Errorf("the time limit of %v is over", o.Limit))
		defer cancel()
	}
	t, err := newTuning(o)
	if err != nil {
		return nil, err
	}
	result, err := t.run(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("tune: %w while %s: %w", ErrStopped, t.doing.Name, context.Cause(ctx))
	}
	return result, err
}

// newTuning checks the paths in o and finds the compilers. It writes no files.
func newTuning(o Options) (*tuning, error) {
	given, _ := filepath.Abs(o.Tree) // realPath returns the error
	o.Profile = cmp.Or(o.Profile, filepath.Join(o.Folder, profileName))
	var err error
	for _, path := range []*string{&o.Tree, &o.Folder, &o.Profile} {
		if *path, err = realPath(*path); err != nil {
			return nil, err
		}
	}
	o.Out = cmp.Or[io.Writer](o.Out, io.Discard)
	if o.Doing == nil {
		o.Doing = func(Step) {}
	}
	if isWithin(o.Tree, o.Folder) {
		return nil, fmt.Errorf("tune: %s: %w: the source tree %s is in it", o.Folder, errFolder, o.Tree)
	}
	t := &tuning{Options: o, base: filepath.Join(o.Folder, "base"), fast: filepath.Join(o.Folder, "fast"), trees: longestFirst(o.Tree, given)}
	t.counted, t.clang, t.log = make(map[string]uint64), make(map[string]bool), new(bytes.Buffer)
	t.env = append(withoutLaunchers(os.Environ()), o.Env...)
	t.compilers = findCompilers(t.env)
	return t, nil
}

// claim makes the working folder, or checks that an existing one was made by tune. It reads from
// the folder which steps have been done.
func (t *tuning) claim() error {
	if err := claimFolder(t.Folder); err != nil {
		return err
	}
	t.state = readState(t.in("state.json"))
	return nil
}

// isWithin reports whether an absolute path is an absolute folder or lies in it.
func isWithin(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// longestFirst sorts paths by length in descending order. If one path is the beginning of another,
// a search through the result finds the longer one first.
func longestFirst(paths ...string) []string {
	slices.SortFunc(paths, func(a, b string) int { return len(b) - len(a) })
	return paths
}

// realPath returns a path without symbolic links, as used by debuggers and recorders. The last
// elements of the path need not exist.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		real, err = realPath(parent)
		real = filepath.Join(real, filepath.Base(path))
	}
	return real, err
}

// ours returns the paths that tune itself writes to: its working folder, and the files at which the
// user gets the profiles. If they are in the source tree, tune leaves them out when it copies the
// tree.
func (t *tuning) ours() []string {
	return []string{t.Folder, t.delivered(profileName), t.delivered(partName)}
}

// in returns the path of a file or folder in the working folder, given its name there.
func (t *tuning) in(name string) string { return filepath.Join(t.Folder, name) }

// run runs all steps of tune, from checking the commands to measuring the last build, and returns
// the result.
func (t *tuning) run(ctx context.Context) (*Result, error) {
	t.logf("# tune works in copies below %s; it does not change the tree %s", t.Folder, t.Tree)
	t.doing.Name = "checking the machine and the commands"
	if err := t.check(ctx); err != nil {
		return nil, err
	}
	r := &Result{RustOption: t.profile}
	t.doing.Total = t.countSteps(ctx, t.expected())
	if err := t.announce(r); err != nil {
		return nil, err
	}
	if err := t.claim(); err != nil {
		return nil, err
	}
	log, err := t.openLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	for _, part := range []func(context.Context, *Result) error{t.buildPlain, t.record, t.buildTuned, t.tryWays} {
		if err := part(ctx, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// buildPlain builds the program without a profile, and checks that the result can be profiled.
func (t *tuning) buildPlain(ctx context.Context, r *Result) error {
	if err := t.reportLeftovers(); err != nil {
		return err
	}
	tree, err := fingerprint(t.Tree, t.ours())
	if err != nil {
		return err
	}
	t.key = keyOf(tree, t.Build, t.Env, t.compilers, t.buildSettings(), t.Layout)
	if err := t.step(buildingBase, func() error { return t.build(ctx, t.base, variant{}) }); err != nil {
		return err
	}
	r.Compilers, err = t.built()
	t.doing.Total = t.countSteps(ctx, r.Compilers)
	return cmp.Or(t.checkOptimised(), t.checkBuilt(), err)
}

// record runs the training commands under a recorder, and creates the profile from the recordings.
func (t *tuning) record(ctx context.Context, r *Result) (err error) {
	t.key = keyOf(t.key, t.Measure)
	if err := t.step(firstRunning, func() error { return t.firstRun(ctx) }); err != nil {
		return err
	}
	t.key = keyOf(t.key, t.Train, string(r.Recorder))
	if err := t.forgetShortTraining(); err != nil {
		return err
	}
	if err := t.step(training, func() error { return t.train(ctx, r.Recorder, r.Why) }); err != nil {
		return err
	}
	r.Recorder, r.Why = t.usedRecorder()
	t.key = keyOf(t.key, string(r.Recorder))
	return t.step(creating, func() error { return t.createProfile(ctx) })
}

// buildTuned builds the program with the profile, as "afdo exec" uses it by default.
func (t *tuning) buildTuned(ctx context.Context, r *Result) (err error) {
	if err := t.step(buildingFast, func() error { return t.build(ctx, t.fast, variant{profile: t.in(profileName)}) }); err != nil {
		return err
	}
	if r.Used, r.Compiles, err = t.reached(); err != nil {
		return err
	}
	if r.Programs, _, err = t.trained(); err != nil {
		return err
	}
	r.Profile, err = t.deliver(profileName)
	return err
}

// profileName is the name of the profile in the working folder.
const profileName = "tuned.afdo"

// delivered returns the path at which the user gets a profile of the working folder:
// Options.Profile for the whole profile. The profile without some functions gets the same path with
// "part" before the extension.
func (t *tuning) delivered(name string) string {
	return strings.TrimSuffix(t.Profile, filepath.Ext(t.Profile)) + strings.TrimPrefix(strings.TrimSuffix(name, ".afdo"), "tuned") + filepath.Ext(t.Profile)
}

// deliver copies a profile of the working folder to the path of [tuning.delivered].
func (t *tuning) deliver(name string) (string, error) {
	path := t.delivered(name)
	if path == t.in(name) {
		return path, nil
	}
	data, err := files.ReadFile(t.in(name), maxOwn)
	if err != nil {
		return "", err
	}
	return path, files.Replace(path, data)
}
