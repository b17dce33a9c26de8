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
	// Profile is the path or the URL of the profile, in any format: of GCOV for GCC and clang, of
	// LLVM for clang. A profile that the command names comes before it, unless GCC reads that file
	// itself. A file of a server is downloaded into Cache when it has changed.
	Profile string

	// Bits, unless 0, is to how many significant bits counts are rounded. It is not negative.
	Bits int

	// NoRebase leaves counts where they are in sources that were edited since the profile was made.
	// Otherwise they are moved, see [rebase.Slice], if the profile remembers its sources.
	NoRebase bool

	// Slices for GCC 16 and for clang have a rounded summary, see [slice.Steady] and
	// [slice.SteadyForClang]: of the profile at the path Summary, or if that is empty, of Profile.
	// So have whole profiles for these compilers. With ExactSummary, both have the exact summary of
	// Profile, which changes with each recording. Instrumentation profiles always have that.
	Summary      string
	ExactSummary bool

	// StaleWarn is the largest share of a compile's samples that may be for lines that its sources
	// no longer have. Above it, Warn is called, once in a build. 0 means DefaultStaleWarn, and with
	// 1 Warn is never called.
	StaleWarn float64

	// Arcs gives GCC the counts of the arcs of its control flow graphs, with -fprofile-use.
	// Compiles for which that is not possible get counts by lines, and Warn is called with the
	// reason.
	Arcs bool

	// ArcsFolder, unless empty, is the folder for all counters of a build, which the caller gives
	// to all compiles with the options that [ArcOptions] returns.
	ArcsFolder string

	// OnArcs, unless nil, is called with what the inference of counts of arcs did for a compile.
	OnArcs func(*arcs.Report)

	// NoParams adds only the option that names the profile. Without NoParams, GCC 12 and 13 get the
	// options that [Compiler.Options] returns as well.
	NoParams bool

	// Cache keeps what can be known from earlier runs; nil is allowed, and slow.
	Cache *Cache

	// PlanKey, unless empty, is the key of package repeat under which Cache keeps the plan of a
	// compile whose slice is beside its object. A plan is not kept if Warn would be called, whether
	// or not that has happened in this build.
	PlanKey string

	// Stdin returns a source that is standard input. The command that is run afterwards must be
	// able to read it again. It is called for a command that compiles such a source. If it is nil
	// or fails, the command runs without a profile.
	Stdin func() ([]byte, error)

	// Warn is called with what users should know, for each thing once in a
	// build, and Trace with everything that is done. Either may be nil.
	Warn, Trace func(text string)
}

// A Plan is a command to run, with its profile.
type Plan struct {
	Argv    []string
	Without []string // what to run should that fail for the profile; nil if there is none
	Env     []string // settings that the environment needs besides
	Outcome Outcome
	Reason  Reason // of AsItIs
	Slice   string // the path of the slice, empty if there is none
	Bytes   int64  // the size of the slice if it was written, else 0
}

// ErrNoProfile is returned by Prepare for a compile if there is no profile to use.
var ErrNoProfile = errors.New("no profile")

// Prepare makes the slice of a command that runs in the folder dir, an absolute path, and returns
// the plan to run. A command that compiles nothing runs unchanged. The context ends the compilers
// that Prepare asks and has preprocess the sources.
//
// Errors are errors of reading the profile and of writing the slice. The statistics of the cache
// count the command in any case.
func (l *Launcher) Prepare(ctx context.Context, argv []string, dir string) (*Plan, error) {
	switch {
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("driver: the folder %q is not an absolute path", dir)
	case l.Bits < 0:
		return nil, fmt.Errorf("driver: %d significant bits", l.Bits)
	}
	start := planned.ProcessorTime()
	r := &run{Launcher: l, ctx: ctx}
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
		r.keepPlan(u, plan)
	}
	l.Cache.files().Note(u.count(plan, err, planned.ProcessorTime()-start))
	l.Cache.files().TrimNowAndThen()
	return plan, err
}

// settling is the time that a profile which is being replaced gets.
const settling = 200 * time.Millisecond

// A unit is a command that compiles, with the output of each stage that has run for it. A stage
// reads the outputs of the stages before it and sets its own.
type unit struct {
	*command.Line                     // of readCommand
	file          *profileFile        // of findProfile, nil before
	compiler      *toolchain.Compiler // of toolchain.Find
	inputs        *inputs.Inputs      // of inputs.Find
	stamp         planned.Stamp       // of handOver: what the slice was made of
	beside        bool                // the slice is beside the object, or counters have a stamp
	arcs          bool                // the slice is counters of arcs

	preprocessed int64 // how many times the preprocessor ran
}

// prepare runs the stages for a command, and returns the plan.
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

// stages finds the profile, the compiler and the inputs of a command that compiles, and hands the
// profile over to the compiler. An error that is an [*unchanged] lets the command run as it is.
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

// count returns what the statistics have of a command.
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

// withoutCompiler is called with an error of toolchain.Find. If the compiler is too old or is not
// there, it returns an [*unchanged], so that the command runs as it is; otherwise it returns the
// error.
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
