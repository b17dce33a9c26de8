package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-afdo/afdo/compile/driver/command"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/internal/saturating"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/profile"
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
	Reason  command.Reason // of AsItIs
	Slice   string         // the path of the slice, empty if there is none
	Bytes   int64          // the size of the slice if it was written, else 0
}

// ErrNoProfile is returned by Prepare for a compile if there is no profile to use.
var ErrNoProfile = errors.New("no profile")

// sliceSuffix is appended to the path of an object.
const sliceSuffix = ".afdo"

// SlicePath returns the path of the slice that belongs to an object.
func SlicePath(object string) string { return object + sliceSuffix }

// Prepare makes the slice of a command that runs in the folder dir, an absolute path, and returns
// the plan to run. A command that compiles nothing runs unchanged.
//
// Errors are errors of reading the profile and of writing the slice. The statistics of the cache
// count the command in any case.
func (l *Launcher) Prepare(argv []string, dir string) (*Plan, error) {
	switch {
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("driver: the folder %q is not an absolute path", dir)
	case l.Bits < 0:
		return nil, fmt.Errorf("driver: %d significant bits", l.Bits)
	}
	start := planned.ProcessorTime()
	p := preparation{Launcher: l, command: command.Parse(argv, dir)}
	plan, err := p.plan()
	if p.replaced() { // maybe while it was being written: what was read of it may be of both
		time.Sleep(settling)
		p.trace("%s has been replaced meanwhile: once more", p.profile.name)
		plan, err = p.plan()
		if p.replaced() {
			err = fmt.Errorf("%s is being replaced: move new profiles there, under another name first", p.profile.name)
		}
	}
	if err == nil {
		p.keepHere(plan)
		p.finish(plan)
		p.keepPlan(plan)
	}
	l.Cache.Record(p.count(plan, err, planned.ProcessorTime()-start))
	l.Cache.trimNowAndThen()
	return plan, err
}

// count returns what the statistics have of a command.
func (p *preparation) count(plan *Plan, err error, took time.Duration) Count {
	c := Count{Outcome: Failed, Times: 1, Time: took, Preprocessed: p.preprocessed}
	if len(p.command.Sources) > 0 {
		c.File = p.command.Path(p.command.Sources[0])
	}
	if err != nil {
		return c
	}
	c.Outcome, c.Reason, c.Bytes = plan.Outcome, plan.Reason, plan.Bytes
	if plan.Slice == "" || plan.Outcome == Whole {
		return c
	}
	if slice, err := os.Stat(p.command.Path(plan.Slice)); err == nil {
		c.SliceBytes, c.ProfileBytes = slice.Size(), p.profile.info.Size()
	}
	return c
}

// settling is the time that a profile which is being replaced gets.
const settling = 200 * time.Millisecond

// replaced reports whether the profile is another file than when it was looked at.
func (p *preparation) replaced() bool {
	if p.profile == nil || !p.profile.info.Mode().IsRegular() {
		return false
	}
	now, err := lookAtProfile(p.profile.name, p.profile.path)
	return err != nil || now.state != p.profile.state
}

// warn says something once in a build.
func (p *preparation) warn(format string, args ...any) {
	p.warned = true
	p.Launcher.warn(format, args...)
}

// warnOf says one thing of a kind in a build, for the first command that it is about.
func (p *preparation) warnOf(what command.Reason, format string, args ...any) {
	p.warned = true
	p.Launcher.warnOf(what, format, args...)
}

func (l *Launcher) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if l.Warn != nil && l.Cache.files().Once(text) {
		l.Warn(text)
	}
}

// warnOfCode is warnOf about what the profile has of the sources. It is silent without
// optimisation, and if the compiler is about to report errors. So it has the compiler check the
// sources, once in a build.
func (p *preparation) warnOfCode(what command.Reason, format string, args ...any) {
	p.warned = true
	if p.Warn == nil || !p.command.Optimises() || !p.Cache.files().Due(string(what)) {
		return
	}
	if compiles(p.command, p.compiler) {
		p.warnOf(what, format, args...)
	}
}

func (l *Launcher) warnOf(what command.Reason, format string, args ...any) {
	if l.Warn != nil && l.Cache.files().Once(string(what)) {
		l.Warn(fmt.Sprintf(format, args...))
	}
}

func (l *Launcher) trace(format string, args ...any) {
	if l.Trace != nil {
		l.Trace(fmt.Sprintf(format, args...))
	}
}

// A preparation is the work for one command.
type preparation struct {
	*Launcher
	command  *command.Line
	compiler *Compiler
	profile  *profileFile

	preprocessed int64 // how many times the preprocessor ran
	restored     bool  // the slice is from the cache
	remembers    bool  // the slice remembers the lines of its functions, so it depends on them, too

	made   *beside // nil if the slice is not beside the object
	warned bool    // there was something to say, even if it has been said in this build
}

// asItIs returns the command as it was given.
func (p *preparation) asItIs(why command.Reason, format string, args ...any) (*Plan, error) {
	p.trace("running "+filepath.Base(p.command.Compiler)+" without the profile: "+format, args...)
	return &Plan{Argv: p.command.Argv(), Outcome: AsItIs, Reason: why}, nil
}

func (p *preparation) plan() (*Plan, error) {
	c := p.command
	if c.Reason == command.NoGCC && p.answersLikeGCC() {
		c.TakeForGCC()
	}
	if c.ReadsOnlyStdin() && p.Stdin != nil {
		p.takeStdin()
	}
	if c.Reason != "" {
		return p.noCompile()
	}
	if launcher := planned.ParentLauncher(); launcher != "" {
		p.warnOf("before", "%s runs before the launcher and does not see slices, so nothing is cached: put it after the launcher, %q", launcher, "afdo exec ... -- "+launcher+" gcc ...")
	} else if mayFollowCcache(c) {
		p.warnOf("maybe before", "%s=1 is set, so nothing is cached. If ccache has set it because ccache runs before the launcher, put ccache after it: %q", ccacheDisabled, "afdo exec ... -- ccache gcc ...")
	}
	if c.Clang {
		return p.planClang()
	}
	name, path, err := p.profilePath()
	if err != nil {
		return nil, err
	}
	if path == "" {
		return p.asItIs(OwnProfile, "its -fauto-profile=%s is no profile that can be read", c.Profile)
	}
	p.compiler, err = FindCompiler(c, p.Cache)
	if errors.Is(err, ErrNotGCC) {
		p.warnOf(OldGCC, "%v: it runs without the profile", err)
		return p.asItIs(OldGCC, "%v", err)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return p.asItIs(NoCompiler, "%v", err) // to run it says so
	}
	if err != nil {
		return nil, err
	}
	if p.profile, err = lookAtProfile(name, path); err != nil {
		return nil, err
	}
	if name == c.Profile && p.profile.reads(p.compiler.Reads()) {
		return p.asItIs(OwnProfile, "the compiler reads its -fauto-profile=%s itself", c.Profile)
	}
	return p.slice()
}

// takeStdin reads the source that is standard input.
func (p *preparation) takeStdin() {
	text, err := p.Stdin()
	if err != nil {
		p.warnOf("stdin", "standard input cannot be read as a source: %v", err)
		return
	}
	p.command.TakeStdin(text)
}

// answersLikeGCC asks a program with an unknown name, such as mpicc, whether it is a compiler of
// GCC. It only asks a program that is about to compile, and not a launcher that runs another
// compiler.
func (p *preparation) answersLikeGCC() bool {
	c := p.command
	if !c.MayBeGCC() {
		return false
	}
	_, err := FindCompiler(c, p.Cache)
	return err == nil
}

// noCompile is for commands that compile nothing.
func (p *preparation) noCompile() (*Plan, error) {
	c := p.command
	if c.Profile != "" && c.LTO && isV4(c.Path(c.Profile)) {
		p.trace("running the command without -fauto-profile=%s: %s", c.Profile, c.Reason)
		return &Plan{Argv: c.WithProfile(""), Outcome: AsItIs, Reason: LTOLink}, nil
	}
	if c.Reason == command.ReadsStdin {
		p.warnOf(c.Reason, "a source is standard input or a pipe, which can be read once: it is compiled without the profile")
	}
	if c.Reason == command.NoGCC && c.SeemsToCompile() {
		p.warn("%s is not GCC or clang that afdo knows; running it without a profile", c.Compiler)
	}
	if c.PrecompilesHeader() {
		return p.header()
	}
	return p.asItIs(c.Reason, "%s", c.Reason)
}

// profilePath returns the profile to use, its name for messages and its path, none if the command
// has one that is the compiler's business.
func (p *preparation) profilePath() (name, path string, err error) {
	switch own := p.command.Profile; {
	case own != "" && isGCOV(p.command.Path(own)):
		return own, p.command.Path(own), nil
	case own != "":
		return "", "", nil
	case p.Profile == "":
		return "", "", ErrNoProfile
	}
	return p.given()
}

// slice writes the slice of the command if necessary.
func (p *preparation) slice() (*Plan, error) {
	c := p.command
	in, err := FindInputs(c, p.compiler, p.Cache)
	if errors.Is(err, ErrNoText) {
		p.warnOf("no text", "%s: %v; using the whole profile", c.Sources[0], err)
		return p.whole()
	}
	if err != nil { // as a rule the compiler is about to say the same
		return p.asItIs(Unreadable, "%v", err)
	}
	found := "the last run"
	if !in.Reused {
		found = "the compiler's -E"
		p.preprocessed++
	}
	p.trace("%d files, from %s", len(in.Files), found)
	s := newStamp(p, in)
	path := p.slicePath()
	if path != "" && s.Holds(p.Cache.files(), c.Path(path), in.record) {
		p.trace("%v, slice %s is up to date", p.compiler, path)
		p.made = &beside{s, in}
		return &Plan{Argv: c.WithProfile(path), Outcome: UpToDate, Slice: path}, nil
	}
	data, samples, err := p.takeOrKept(s, in)
	if errors.Is(err, ErrNoSlice) {
		p.warnOf("no slice", "%v: files are compiled with the whole profile", err)
		return p.whole()
	}
	if err != nil {
		return nil, err
	}
	plan, err := p.handOver(path, data, s, in)
	if err == nil && !samples {
		plan.Outcome = Nothing
	}
	return plan, err
}

// slicePath returns where the slice is to be, nothing if it has no place beside the object: "gcc
// prog.c -o prog" would write prog.afdo, which may well be the profile.
func (p *preparation) slicePath() string {
	if name := p.command.KeyedLauncher(); name != "" {
		p.trace("%s does not look into the slice, so its content is in its name", name)
		return ""
	}
	path := slicePathOf(p.command)
	if info, err := os.Stat(p.command.Path(path)); path != "" && err == nil && os.SameFile(info, p.profile.info) {
		p.trace("the profile is where the slice would be")
		return ""
	}
	return path
}

// handOver writes a slice beside the object, or where that cannot be, into the cache.
func (p *preparation) handOver(path string, data []byte, s planned.Stamp, in *Inputs) (*Plan, error) {
	c := p.command
	changed, err := false, errors.New("it has no place there")
	if path != "" {
		changed, err = WriteSlice(c.Path(path), data)
		if err == nil {
			inputs := uint64(0)
			if p.remembers {
				inputs = in.State()
			}
			s.Keep(p.Cache.files(), c.Path(path), data, inputs)
			p.made = &beside{s, in}
		}
	}
	if err != nil {
		p.trace("the slice is not beside the object: %v", err)
		if path, changed, err = p.keepSlice(data); err != nil {
			p.warnOf(NoPlace, "compiling without the profile, because the slice cannot be written: %v", err)
			return p.asItIs(NoPlace, "the slice can be written nowhere")
		}
	}
	plan := &Plan{Argv: c.WithProfile(path), Outcome: Same, Slice: path}
	what := "unchanged"
	if changed {
		plan.Outcome, plan.Bytes, what = Sliced, int64(len(data)), "written"
		if p.restored {
			plan.Outcome = Restored
		}
	}
	size := fmt.Sprintf("%d bytes", len(data))
	if !p.compiler.Clang {
		size += fmt.Sprintf(" of version %d", p.compiler.Reads())
	}
	p.trace("%v, slice %s %s: %s", p.compiler, path, what, size)
	return plan, nil
}

// takeOrKept returns the slice from the cache if it is there, and otherwise takes it out of the
// profile. A fresh checkout has no slices beside its objects, but the cache has them.
func (p *preparation) takeOrKept(s planned.Stamp, in *Inputs) (data []byte, samples bool, err error) {
	key := fmt.Sprintf("%d\x00%d", s, in.State())
	if kept, ok := p.Cache.files().Get(store.Taken, key); ok && len(kept) > 0 {
		p.trace("the slice is in the cache")
		p.restored = true
		p.remembers = kept[0] != 0
		return kept[1:], true, nil
	}
	data, samples, err = p.take(in)
	if err == nil && samples && !p.replaced() {
		kept := []byte{0}
		if p.remembers {
			kept[0] = 1
		}
		p.Cache.files().Put(store.Taken, key, append(kept, data...))
	}
	return data, samples, err
}

// take takes the slice out of the profile, and reports whether it has samples; if not, it says so.
func (p *preparation) take(in *Inputs) (data []byte, samples bool, err error) {
	text, err := in.Text()
	if err != nil {
		return nil, false, err
	}
	if p.profile.llvm != noLLVM {
		data, samples, err = p.takeLLVM(text)
		if err == nil && !samples {
			p.sayNothing()
		}
		return data, samples, err
	}
	program, closeFile, err := p.openProgram()
	if err != nil {
		return nil, false, err
	}
	defer closeFile()
	request := slice.Request{Text: text, Target: p.compiler.target(), Bits: p.Bits}
	files := rebase.NewFiles(in.Paths(p.command))
	if !p.NoRebase {
		request.Sources, request.Edited, files.Text = files.Differs, files, text
	}
	part, err := program.Select(request)
	if err != nil {
		return nil, false, p.profile.wrap(err)
	}
	if p.NoRebase {
		p.warnIfStale(files.Stale(part, p.sources()))
	} else {
		part = p.rebase(part, files)
	}
	if samples = part.NumFunctions() > 0; !samples {
		p.sayNoneOf(program)
	}
	data, err = encodeProfile(part, p.compiler)
	return data, samples, err
}

// rebase moves counts to where their lines are in the files of the command.
func (p *preparation) rebase(part *profile.Profile, files *rebase.Files) *profile.Profile {
	p.remembers = files.Asked()
	if !p.remembers {
		p.warnIfStale(files.Stale(part, p.sources()))
	}
	part, report := files.Slice(part)
	if report == nil {
		return part
	}
	var changed int
	var samples, kept uint64
	for _, f := range report.Functions {
		if f.Outcome != rebase.Unchanged && f.Outcome != rebase.Unknown {
			p.trace("%s of %s is %s since the profile was made", f.Symbol, f.Unit, f.Outcome)
			changed, samples, kept = changed+1, saturating.Add(samples, f.Samples), saturating.Add(kept, f.Kept)
		}
	}
	if changed > 0 {
		p.trace("moved the counts of %s: of %d samples, %d have a line", plural(changed, "function"), samples, kept)
	}
	p.warnIfStale(report.Samples-report.Kept, report.Samples)
	return part
}

// DefaultStaleWarn is the default of [Launcher.StaleWarn].
const DefaultStaleWarn = 0.2

// warnIfStale warns once in a build if many samples of a compile do not fit its sources.
func (p *preparation) warnIfStale(stale, compared uint64) {
	threshold := p.StaleWarn
	if threshold == 0 {
		threshold = DefaultStaleWarn
	}
	share := float64(stale) / max(float64(compared), 1)
	if share > threshold && threshold < 1 {
		p.warnOf("stale", "%s: %.0f%% of its samples in the profile are for lines that it does not have any more: record a new profile soon; \"afdo explain\" shows the functions", p.command.Sources[0], 100*share)
	}
}

// whole gives the command the whole profile, in the version that the compiler reads.
func (p *preparation) whole() (*Plan, error) {
	path, n, err := p.wholeProfile()
	if err != nil {
		return nil, err
	}
	p.trace("%v, the whole profile %s", p.compiler, path)
	return &Plan{Argv: p.command.WithProfile(path), Outcome: Whole, Slice: path, Bytes: n}, nil
}

// isV4 reports whether a file is a profile of version 4.
func isV4(path string) bool { return formatOf(path) == anyprof.V4 }

// isGCOV reports whether a file is a profile of GCC, of any version.
func isGCOV(path string) bool { return formatOf(path).GCOV() }

// formatOf detects the format of a file by its first bytes. It is 0 if unknown, or if the file
// cannot be read.
func formatOf(path string) anyprof.Format {
	f, _, err := files.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	head := make([]byte, anyprof.HeadLen)
	n, _ := f.ReadAt(head, 0)
	format, err := anyprof.Detect(head[:n])
	if err != nil {
		return 0
	}
	return format
}

// sources returns the paths of the sources of the command.
func (p *preparation) sources() (paths []string) {
	for _, source := range p.command.Sources {
		paths = append(paths, p.command.Path(source))
	}
	return paths
}
