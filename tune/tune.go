// Package tune goes all the way from a program to a faster one: it builds the program, trains it
// under a recorder, makes a profile, builds again with that, and measures whether it has paid.
//
//	result, err := tune.Run(ctx, tune.Options{
//		Build: []string{"make"}, Train: []string{"./prog in"}, Folder: "work", ...
//	})
//
// It works in copies of the source tree, so the tree itself stays as it is, and runs compilers
// through a folder of scripts in front of PATH, so the build need not know of it. Each step is a
// command that could be run by hand. A step that was done before, with the same sources and
// commands, is not done again.
package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-afdo/afdo/internal/files"
)

// Options say what to build, how to run it, and where to work.
type Options struct {
	Build   []string // the command that builds the program
	Train   []string // commands for a shell, which the profile is made of
	Measure []string // those that are measured

	Tree string // the source tree, in which the commands run; "" for the current folder

	// Folder is for copies of the tree and everything else that tune makes. It must be new, empty
	// or from an earlier run, see [ErrFolder].
	Folder  string
	Profile string // where the profile goes; "" for a file in Folder
	Env     []string
	Rounds  int           // of measuring; 0 for [DefaultRounds]
	Limit   time.Duration // for everything together; 0 for none

	Recorder Recorder // [Best] unless told otherwise
	Again    bool     // do all steps, whatever was done before
	Afdo     string   // the path of the command afdo

	Out io.Writer // is told what is done, line by line; nil for nobody
}

// DefaultRounds is how often both programs are measured. Fewer than 6 can show no difference.
const DefaultRounds = 10

// A Verdict is what measuring has shown.
type Verdict string

// The verdicts.
const (
	Faster Verdict = "faster"
	Slower Verdict = "slower"
	Same   Verdict = "no difference" // that the noise allows to tell
)

// A Result is what has come out.
type Result struct {
	Verdict  Verdict
	Measures []Measure // the first is the one of the verdict
	Profile  string
	Programs []string // relative to the tree

	// Compilers are the names of those that the build has called, the last one first.
	Compilers []string

	Recorder Recorder
	Why      string // the recorder
	Differs  bool   // the two programs have printed different things
}

// ErrNoCompiler: the build has run no compiler that could be stood in for.
var ErrNoCompiler = errors.New("the build ran no compiler through PATH, CC, CXX or FC")

// A tuning is one run.
type tuning struct {
	Options
	base, fast string   // copies of the tree
	trees      []string // paths of the tree, the longest first: its own, and one through symbolic links
	state      *state
	key        string // of all that was done so far
	env        []string
	compilers  map[string]string // their paths, by name
}

// Run does all steps. An error of a command has the end of what it has printed.
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
		return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return result, err
}

func newTuning(o Options) (*tuning, error) {
	given, err := filepath.Abs(o.Tree)
	if err != nil {
		return nil, err
	}
	if o.Tree, err = realPath(given); err != nil {
		return nil, err
	}
	if o.Folder, err = realPath(o.Folder); err != nil {
		return nil, err
	}
	if o.Profile != "" {
		if o.Profile, err = realPath(o.Profile); err != nil {
			return nil, err
		}
	}
	if o.Rounds == 0 {
		o.Rounds = DefaultRounds
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if isWithin(o.Tree, o.Folder) {
		return nil, fmt.Errorf("tune: %s: %w: the source tree %s is in it", o.Folder, ErrFolder, o.Tree)
	}
	t := &tuning{Options: o, base: filepath.Join(o.Folder, "base"), fast: filepath.Join(o.Folder, "fast"), trees: longestFirst(o.Tree, given)}
	if err := claimFolder(o.Folder); err != nil {
		return nil, err
	}
	t.state = readState(t.in("state.json"))
	t.env = append(withoutLaunchers(os.Environ()), o.Env...)
	t.compilers = findCompilers(t.env)
	return t, nil
}

// isWithin reports whether a path is a folder or lies in it. Both are absolute.
func isWithin(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func longestFirst(paths ...string) []string {
	slices.SortFunc(paths, func(a, b string) int { return len(b) - len(a) })
	return paths
}

// realPath returns the path of a file without symbolic links, by which debuggers and recorders know
// it. Its last parts need not be there.
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

// ours returns the paths of what this makes, which is no part of the tree.
func (t *tuning) ours() []string { return []string{t.Folder, t.Profile} }

// in returns the path of something in the folder.
func (t *tuning) in(name string) string { return filepath.Join(t.Folder, name) }

func (t *tuning) say(format string, args ...any) { fmt.Fprintf(t.Out, format+"\n", args...) }

func (t *tuning) run(ctx context.Context) (*Result, error) {
	t.say("# everything is below %s; the tree %s stays as it is", t.Folder, t.Tree)
	tree, err := fingerprint(t.Tree, t.ours())
	if err != nil {
		return nil, err
	}
	t.key = keyOf(tree, t.Build, t.Env, t.compilers, t.buildSettings())
	if err := t.step("base", func() error { return t.build(ctx, t.base, nil) }); err != nil {
		return nil, fmt.Errorf("the build without a profile: %w", err)
	}
	r := &Result{}
	if r.Recorder, r.Why, err = chooseRecorder(t.Recorder); err != nil {
		return nil, err
	}
	t.say("# trained under %s: %s", r.Recorder, r.Why)
	t.key = keyOf(t.key, t.Train, string(r.Recorder))
	if err := t.step("train", func() error { return t.train(ctx, r.Recorder) }); err != nil {
		return nil, fmt.Errorf("the training: %w", err)
	}
	if err := t.step("profile", func() error { return t.createProfile(ctx) }); err != nil {
		return nil, fmt.Errorf("the profile: %w", err)
	}
	if err := t.step("fast", func() error { return t.build(ctx, t.fast, []string{t.in(profileName)}) }); err != nil {
		return nil, fmt.Errorf("the build with the profile: %w", err)
	}
	if r.Programs, err = t.programs(); err != nil {
		return nil, err
	}
	if r.Compilers, err = t.built(); err != nil {
		return nil, err
	}
	if r.Profile, err = t.deliver(); err != nil {
		return nil, err
	}
	return r, t.measure(ctx, r)
}

// profileName is the profile in the folder.
const profileName = "tuned.afdo"

// deliver copies the profile to where it is wanted.
func (t *tuning) deliver() (string, error) {
	if t.Profile == "" {
		return t.in(profileName), nil
	}
	data, err := os.ReadFile(t.in(profileName))
	if err != nil {
		return "", err
	}
	return t.Profile, files.Replace(t.Profile, data)
}
