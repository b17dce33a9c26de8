package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-afdo/afdo/compile/arcs"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
)

// A Launcher gives compiles the slices of a profile that they use. It runs before a compiler, or
// within a program that runs compilers.
type Launcher struct {
	// Profile is the path or the URL of the profile. GCC can use profiles of GCOV, and clang also
	// those of LLVM. If a command names a profile itself, the launcher uses that one, unless GCC
	// can read the file without help. A file of a server is downloaded to Cache when it has
	// changed.
	Profile string

	// Bits, unless 0, is the number of significant bits to which counts are rounded. It must not be
	// negative.
	Bits int

	// NoRebase leaves counts at the lines of the profiled sources. Without it, counts are moved to
	// where these lines are in sources that were edited since, see [rebase.Slice]. This needs a
	// profile with information about its sources.
	NoRebase bool

	// Slices and whole profiles for GCC 16 and for clang get a rounded summary, see [slice.Steady]
	// and [slice.SteadyForClang]. It is rounded from the summary of the profile at the path
	// Summary, or if that is empty, of Profile. With ExactSummary, they get the summary of Profile
	// as it is, which changes with each recording. Instrumentation profiles always keep theirs.
	Summary      string
	ExactSummary bool

	// StaleWarn is a share of a compile's samples, from 0 to 1. If more of them are for lines that
	// its sources no longer have, Warn is called, once in a build. 0 means DefaultStaleWarn, and
	// with 1 Warn is never called.
	StaleWarn float64

	// Arcs gives GCC the counts of the arcs of its control flow graphs, with -fprofile-use.
	// Compiles for which that is not possible get counts by lines, and Warn is called with the
	// reason.
	Arcs bool

	// ArcsFolder, unless empty, is the folder for the counters of all compiles of a build. The
	// caller then runs all compiles with the options that [ArcOptions] returns.
	ArcsFolder string

	// OnArcs, unless nil, is called for each compile whose counts of arcs were inferred, with a
	// report of the inference.
	OnArcs func(*arcs.Report)

	// NoParams adds only the option that names the profile. Without NoParams, GCC also gets
	// options with which its code is faster.
	NoParams bool

	// Cache stores what earlier runs have found out. It may be nil, which is slow.
	Cache *Cache

	// Stdin returns a source that is standard input. It is called if the command compiles such a
	// source. The command, which runs afterwards, must be able to read standard input again. If
	// Stdin is nil or fails, the command runs without a profile.
	Stdin func() ([]byte, error)

	// Warn is called with messages for users, with each at most once in a build. Trace is called
	// with a line for each thing that the launcher does. Either may be nil.
	Warn, Trace func(text string)
}

// A Plan is a command line to run in place of the given one, with the profile that the compiler
// reads.
type Plan struct {
	Argv    []string
	Without []string // the command without the profile, to run if Argv fails because of it; nil if Argv has no profile
	Env     []string // environment variables to add, each NAME=VALUE
	Outcome Outcome
	Reason  Reason // why the command is unchanged, if Outcome is OutcomeAsItIs
	Slice   string // the path of the slice, empty if there is none
	Bytes   int64  // the size of the slice if it was written, else 0

	again *planned.Plan // for Keep, nil if it has nothing to store
	cache *store.Store
}

// ErrNoProfile is returned by Prepare if neither the launcher nor the command names a profile.
var ErrNoProfile = errors.New("no profile")

// Prepare makes the slice for a command that will run in the folder dir, an absolute path, and
// returns the plan to run. For a command that compiles nothing, the plan is to run the command
// unchanged. To make the slice, Prepare may run the compiler: to ask for its version, and to
// preprocess the sources. When ctx is done, these runs of the compiler are ended.
//
// Prepare fails if the profile cannot be read or the slice cannot be written. The statistics of the
// cache count the command in any case.
func (l *Launcher) Prepare(ctx context.Context, argv []string, dir string) (*Plan, error) {
	switch {
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("driver: the folder %q is not an absolute path", dir)
	case l.Bits < 0:
		return nil, fmt.Errorf("driver: %d significant bits", l.Bits)
	}
	start := planned.ProcessorTime()
	r := &run{Launcher: l, ctx: ctx, start: command.Line{Dir: dir}}
	u := &unit{Line: r.readCommand(argv, dir)}
	plan, err := r.prepare(u)
	if u.file.replaced() { // maybe while it was being written: what was read of it may be of both
		time.Sleep(settling)
		r.trace("%s has been replaced meanwhile: once more", u.file.name)
		plan, err = r.prepare(u)
		if u.file.replaced() {
			err = fmt.Errorf("%s is being replaced: move new profiles there, under another name first", u.file.name)
		}
	}
	if err == nil {
		r.complete(u, plan)
		r.prepareAgain(u, plan)
	}
	l.Cache.files().Note(u.count(plan, err, planned.ProcessorTime()-start))
	l.Cache.files().TrimNowAndThen()
	return plan, err
}

// settling is how long Prepare waits before it tries again, if the profile was replaced while
// Prepare was reading it.
const settling = 200 * time.Millisecond

// A unit is a command that compiles, with the results of the stages of its preparation that have
// run so far, such as finding the profile and the compiler. Each stage reads the results of earlier
// stages and sets its own. The comment after a field names the stage that sets it.
type unit struct {
	*command.Line                     // readCommand
	file          *profileFile        // findProfile; nil before
	compiler      *toolchain.Compiler // toolchain.Find
	inputs        *inputs.Inputs      // inputs.Find
	stamp         planned.Stamp       // handOver: a hash of what the slice depends on, see newStamp
	beside        bool                // handOver: the slice is beside the object, or counters were written with a stamp
	arcs          bool                // handOver: the compile gets counters of arcs instead of a slice

	preprocessed int64 // stages: how many times the preprocessor ran
}

// prepare returns the plan for a command. If the slice cannot be made, the plan uses the whole
// profile or none, depending on the reason.
func (r *run) prepare(u *unit) (*Plan, error) {
	if u.Reason != "" {
		return r.noCompile(u.Line)
	}
	r.warnOfParent(u.Line)
	plan, err := r.stages(u)
	switch as := (*unchanged)(nil); {
	case errors.As(err, &as):
		return r.asItIs(u.Line, as.reason, as.why)
	case errors.Is(err, inputs.ErrNoText):
		r.warnOf("no text", "%s: %v; using the whole profile", u.Sources[0], err)
		return r.whole(u)
	case errors.Is(err, clangprofile.ErrNoSlice):
		r.warnOf("no slice", "%v: files are compiled with the whole profile", err)
		return r.whole(u)
	}
	return plan, err
}

// stages finds the profile, the compiler and the inputs of a command that compiles, and then makes
// the slice for it. If the error is an [*unchanged], the command should run without a slice.
func (r *run) stages(u *unit) (plan *Plan, err error) {
	file, err := r.findProfile(u.Line)
	if err != nil {
		return nil, err
	}
	if u.compiler, err = toolchain.Find(r.ctx, u.Line, r.Cache.files()); err != nil {
		return nil, r.withoutCompiler(err)
	}
	if u.file, err = file.look(); err != nil {
		return nil, err
	}
	if !u.Clang && file.name == u.Profile && file.reads(u.compiler.Reads()) {
		return nil, &unchanged{ReasonOwnProfile, fmt.Sprintf("the compiler reads its -fauto-profile=%s itself", u.Profile)}
	}
	if u.inputs, err = inputs.Find(r.ctx, u.Line, u.compiler, r.Cache.files()); errors.Is(err, inputs.ErrNoText) {
		return nil, err
	}
	if err != nil { // as a rule the compiler is about to say the same
		return nil, &unchanged{ReasonUnreadable, err.Error()}
	}
	found := "the last run"
	if !u.inputs.Reused {
		found = "the compiler's -E"
		u.preprocessed++
	}
	r.trace("%d files, from %s", len(u.inputs.Files), found)
	return r.handOver(u)
}

// count returns the entry of a command in the statistics of the cache. plan and err are the results
// of [run.prepare], and took is its processor time.
func (u *unit) count(plan *Plan, err error, took time.Duration) store.Count {
	c := store.Count{Outcome: OutcomeFailed, Times: 1, Time: took, Preprocessed: u.preprocessed}
	if len(u.Sources) > 0 {
		c.File = u.Path(u.Sources[0])
	}
	if err != nil {
		return c
	}
	c.Outcome, c.Reason, c.Bytes = plan.Outcome, plan.Reason, plan.Bytes
	if plan.Slice == "" || plan.Outcome == OutcomeWhole {
		return c
	}
	if slice, err := os.Stat(u.Path(plan.Slice)); err == nil {
		c.SliceBytes, c.ProfileBytes = slice.Size(), u.file.info.Size()
	}
	return c
}

// withoutCompiler converts an error of toolchain.Find. If the compiler is too old or not installed,
// it warns and returns an [*unchanged], so that the command runs without a profile. It returns any
// other error as it is.
func (r *run) withoutCompiler(err error) error {
	switch {
	case errors.Is(err, toolchain.ErrNotGCC):
		r.warnOf(ReasonOldGCC, "%v: it runs without the profile", err)
		return &unchanged{ReasonOldGCC, err.Error()}
	case errors.Is(err, toolchain.ErrNotClang):
		r.warnOf(ReasonOldClang, "%v: it runs without a slice", err)
		return &unchanged{ReasonOldClang, err.Error()}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return &unchanged{ReasonNoCompiler, err.Error()} // to run it reports that
	}
	return err
}
