package produce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/samplekind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/produce/create"
	"github.com/go-afdo/afdo/produce/rebase"
	"github.com/go-afdo/afdo/produce/verdict"
	"github.com/go-afdo/afdo/profile"
)

const createHelp = `Make a profile of what a profiler has recorded of the program BIN.

IN is perf.data, with branch stacks (perf record -b) or without, also the folder that
"perf record --threads" makes; the text of "perf script -F event,ip,brstack
--show-mmap-events"; callgrind.out of "valgrind --tool=callgrind --dump-instr=yes"; a
CPU profile of pprof or OpenTelemetry; address samples, the text that --to samples
writes; or BOLT's pre-aggregated text, which --to preagg writes, as --to fdata writes
what llvm-bolt -data takes. The format is recognised by content. Several recordings add
up. Without --profile it is perf.data; "-" is standard input. --sizes names one by steps
(afdo record) for the sizes of memcpy and memset calls alone, which no other recorder has.

--to pprof writes what "go build -pgo" takes, of a BIN that Go's compiler has built: calls
with their weights, by lines. The recording needs call stacks (perf record -g), or branch
stacks such as those of "afdo record".

Of a BIN that clang has put pseudo probes into, LLVM's formats have the counts of these;
debug info is not needed then. If the recording has both call stacks and branch stacks,
--contexts counts each function by the chains of calls that led to it.

BIN is the file that ran: an executable, a shared object, a kernel or a kernel
module. It has debug info (-g, or at least -g1), or there is a file with it: the one
that --debug-file names, else one for its build ID below /usr/lib/debug, else the one
that its .gnu_debuglink names. Split debug info is read from .dwo files and BIN.dwp.

One event counts: one that counts execution, such as cycles, instructions, branches or
processor time, with branch stacks if there are any. A line says which one if there are
several. --event names another. A recording of something else, such as page faults or
allocations, is refused unless --event names it. In profiles of pprof and OpenTelemetry,
the event is the type of the values, which are divided by the sampling period.

Only samples of BIN count. In a recording with build IDs these are the samples of its
build ID, otherwise those of files of its name. --name gives a regular expression for
their paths instead.

With branch stacks, the code between two branches counts and calls are known. Without
them, a sample counts where it was taken, calls are those of call stacks, and head counts
and calls are estimates. The count of a line is the largest of its instructions' counts.
docs/guide/create.md has all rules.

In v4 and v4c, the profile remembers a few bits of each line of its functions, so that
"afdo rebase", "afdo slice" and "afdo exec" find the lines again once the sources were
edited. The sources are read where debug info says, unless they are newer than BIN, or
in the folders that --source names. --no-sources leaves that away.

Of code of GCC, v4 and v4c also store how often each block of machine code ran, and the
lines and columns that it comes from. --no-evidence leaves that away.

An empty profile is not written, nor one of so few samples that it would do harm, unless
--allow-poor is given: docs/guide/create.md says how many it takes. Standard error tells how many
samples were used, and how good the profile is.`

func NewCreate(e *verb.Env) *cobra.Command {
	var c creating
	cmd := &cobra.Command{
		Use:   "create --binary BIN [--profile IN]... [-o OUT] [--to FORMAT]",
		Short: "Make a profile of a recording and the program that ran",
		Long:  createHelp,
		Args:  verb.Args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.check(e); err != nil {
				return err
			}
			return runCreate(cmd.Context(), e, &c)
		},
	}
	c.addFlags(e, cmd)
	return cmd
}

// runCreate makes a profile from recordings, writes it, and prints a report.
func runCreate(ctx context.Context, e *verb.Env, c *creating) error {
	doing := progress.Start(e.Progress())
	defer doing.Stop()
	file, binary, err := c.open(doing)
	if err != nil {
		return err
	}
	defer file.Close()
	set, facts, err := readSamples(e, c, file, binary, doing)
	if err != nil {
		return err
	}
	if c.to.samples != nil {
		err = output.Write(e.Out, c.out.Path, func(w io.Writer) error { return c.to.samples(ctx, w, set, file, binary) })
		err = c.explain(err, new(create.Report))
	} else {
		err = createProfile(ctx, e, c, file, set, facts, doing)
	}
	doing.Stop()
	if err != nil {
		return err
	}
	facts.warn(e)
	if c.json {
		return output.JSON(e.Out, facts)
	}
	facts.tell(e, c)
	return nil
}

// open opens the program whose run was recorded, with its debug info.
func (c *creating) open(doing *progress.Line) (*symbolize.File, *samples.Binary, error) {
	doing.Say("opening %s", human.Name(c.binary))
	file, err := symbolize.Open(c.binary, c.debugOptions()...)
	if err != nil {
		return nil, nil, err
	}
	binary, err := samples.NewBinary(file.ELF(), c.binary)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: %w", human.Name(c.binary), err)
	}
	return file, binary, nil
}

// createProfile makes the profile of a set of samples and writes it.
func createProfile(ctx context.Context, e *verb.Env, c *creating, file *symbolize.File, set *samples.Set, facts *CreateFacts, doing *progress.Line) error {
	to, ok := c.out.Kind.(kind.CanEncode)
	if !ok {
		return fmt.Errorf("%s cannot hold what afdo create makes", c.out.Out.Format.Name)
	}
	options := c.options
	options.Path = c.paths.Change()
	options.Progress = func(done, all int) {
		doing.Say("reading debug info: %s of %s functions", human.Number(done), human.Number(all))
	}
	llvm, isLLVM := c.out.Kind.(*samplekind.Kind)
	options.WideDiscriminators = isLLVM
	options.ObservedHeads = options.ObservedHeads || isLLVM // as llvm-profgen
	remembering := newRemembering(c.binary, c.sources)
	if c.remembers {
		options.Declared = remembering.declare
	}
	doing.Say("reading debug info")
	if c.contexts || isLLVM && file.HasProbes() && !c.noProbes {
		make := create.ProbeProfile
		if c.contexts {
			make = create.ContextProfile
		}
		p, report, err := make(file, set, options)
		if err := c.judge(err, report, facts); err != nil {
			return err
		}
		e.Warnf("the counts are those of pseudo probes: compile with -fpseudo-probe-for-profiling to use them")
		return kind.WriteWith(&e.Env, c.out.Out, func(w io.Writer) (string, error) {
			return llvm.EncodeSamples(w, c.out.Out.Format.Name, p)
		})
	}
	p, report, err := create.Profile(ctx, file, set, options)
	if errors.Is(err, symbolize.ErrNoDebugInfo) && file.HasProbes() {
		return fmt.Errorf("%w; it was compiled with -fpseudo-probe-for-profiling, and profiles by its probes are for clang: --to extbinary", err)
	}
	if err := c.judge(err, report, facts); err != nil {
		return err
	}
	if isLLVM {
		llvm.FlowSensitive = report.FlowSensitive
	}
	if c.remembers {
		doing.Say("reading sources")
		if facts.Sources, err = remembering.remember(p); err != nil {
			return err
		}
	}
	doing.Say("writing %s", human.Name(c.out.Path))
	return kind.Write(&e.Env, to, c.out.Out, p)
}

// judge adds statistics of the new profile to facts. err is the error of making the profile. judge
// returns it with advice. It also returns an error if the samples are too poor for a profile that
// helps, unless --allow-poor was given.
func (c *creating) judge(err error, report *create.Report, facts *CreateFacts) error {
	if share := verdict.Contradicted(&facts.all, report); errors.Is(err, create.ErrThreshold) && share > 0.5 {
		return fmt.Errorf("%w; "+verdict.Contradiction, err, human.Percent(share))
	}
	if err != nil {
		return c.explain(err, report)
	}
	facts.setProfile(report)
	if err := facts.Quality.refuse(); err != nil && !c.allowPoor {
		return err
	}
	return nil
}

// remedies maps errors of package create to what the user can do about them.
var remedies = []struct {
	err error
	do  string
}{
	{symbolize.ErrNoDebugInfo, "compile with -g1 or more, or name the file that has it with --debug-file"},
	{create.ErrNoBranches, "record with perf record -b, or leave --need-branches away"},
	{create.ErrThreshold, "record longer, or lower --min-samples"},
	{create.ErrNoDeclarations, "with clang, compile with -g, or add -fdebug-info-for-profiling to -g1"},
	{create.ErrNoCalls, "record with perf record -g, or with afdo record"},
	{create.ErrNoContexts, "record with perf record -b --call-graph fp of a program built with -fno-omit-frame-pointer, or leave --contexts away"},
	{create.ErrNoProbes, "compile with -fpseudo-probe-for-profiling, or go by debug info with --no-probes"},
	{create.ErrNoLines, "compile with -g1 or more"},
	{create.ErrNoCode, "is this the file that ran, with its symbols?"},
}

// explain adds to an error of package create what the user can do about it, such as a flag of the
// compiler.
func (c *creating) explain(err error, report *create.Report) error {
	for _, r := range remedies {
		switch {
		case !errors.Is(err, r.err):
			continue
		case r.err == create.ErrNoProbes && c.contexts:
			r.do = "compile with -fpseudo-probe-for-profiling, or leave --contexts away"
		case r.err == create.ErrNoLines && len(report.Missing) > 0:
			r.do = "keep the .dwo files, or make BIN.dwp of them with dwp"
		}
		return fmt.Errorf("%w; %s", err, r.do)
	}
	return err
}

// readSamples reads the samples of all recordings and adds them up. binary is the program whose
// samples are wanted.
func readSamples(e *verb.Env, c *creating, file *symbolize.File, binary *samples.Binary, doing *progress.Line) (*samples.Set, *CreateFacts, error) {
	facts := newCreateFacts(c, file)
	set := new(samples.Set)
	for _, path := range c.profiles {
		name := human.Name(input.Name(path))
		doing.Say("reading %s", name)
		part, report, err := readSampleFile(e, c, path, binary)
		var none *samples.NoSamplesError
		if errors.As(err, &none) && len(c.profiles) > 1 {
			e.Warnf("%s: %s", name, cli.Message(err))
			facts.Read(path, none.Report)
			continue
		}
		if errors.Is(err, samples.ErrEmpty) && len(c.profiles) > 1 {
			e.Warnf("%s is empty, and left out", name)
			continue
		}
		if err != nil {
			if path == usualRecording && errors.Is(err, fs.ErrNotExist) { // which nobody has named
				err = fmt.Errorf("%w; --profile names the recording", err)
			}
			return nil, nil, input.Wrap(name, err)
		}
		if err := c.checkInput(path, file, binary, part, report); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		set.Merge(part)
		facts.Read(path, report)
		for _, text := range c.remarks(part, report) {
			e.Warnf("%s: %s", name, text)
		}
	}
	if err := c.addSizes(e, set, file, binary); err != nil {
		return nil, nil, err
	}
	if err := create.EndRanges(file, set); err != nil {
		return nil, nil, err
	}
	if set.Empty() {
		return nil, nil, fmt.Errorf("none of the inputs has samples of %s", human.Name(c.binary))
	}
	return set, facts, nil
}

// addSizes adds the sizes of calls in the recording that --sizes names to set, and nothing else of
// the recording. So exact counts stay exact.
func (c *creating) addSizes(e *verb.Env, set *samples.Set, file *symbolize.File, binary *samples.Binary) error {
	if c.sizes == "" {
		return nil
	}
	part, report, err := readSampleFile(e, c, c.sizes, binary)
	if err == nil {
		err = c.checkInput(c.sizes, file, binary, part, report)
	}
	if err == nil && part.Sizes.Len() == 0 && report.Bursts == 0 {
		err = errors.New("no sizes of memcpy and memset calls: use a recording of afdo record --event steps")
	}
	if err != nil {
		return input.Wrap(human.Name(input.Name(c.sizes)), err)
	}
	set.Merge(&samples.Set{Sizes: part.Sizes})
	return nil
}

// remarks returns texts that tell the user which samples of a recording were ignored or changed.
// part has the samples of the recording, and report describes how they were read.
func (c *creating) remarks(part *samples.Set, report *samples.Report) (texts []string) {
	if hint := report.TraceHint(); hint != "" {
		texts = append(texts, hint+"; that is not used")
	}
	if c.contexts && part.NumTraces() == 0 && len(c.profiles) > 1 {
		texts = append(texts, "no sample has both a call stack and a branch stack, so none counts in contexts")
	}
	if !verdict.Proved(part, report) {
		texts = append(texts, "it has neither a build ID nor names of functions, so nothing proves that "+human.Name(c.binary)+" is the program that ran")
	}
	texts = append(texts, eventRemarks(report)...)
	if report.Flattened {
		texts = append(texts, "its calling contexts were added up")
	}
	if report.Guessed {
		texts = append(texts, "its ranges do not tell what the addresses are counted from: that was guessed")
	}
	return texts
}

// eventRemarks returns remarks about the perf event whose samples are used, if there are others or
// it may not be suitable.
func eventRemarks(report *samples.Report) (texts []string) {
	var others []string
	for _, e := range report.Events {
		if !e.Used && e.Samples > 0 {
			others = append(others, e.Name+" ("+human.Counted(e.Samples, "sample")+")")
		}
	}
	switch {
	case len(others) > 0:
		texts = append(texts, "the event "+report.Event+" counts, and not "+strings.Join(others, ", ")+": --event chooses another")
	case report.Event != "" && report.Counts == samples.CountsUnknown:
		texts = append(texts, "the name "+report.Event+" does not say what was counted: it should be instructions, branches, cycles or processor time")
	}
	if report.Filter != "" {
		texts = append(texts, "its branch stacks have only some branches ("+report.Filter+"), so addresses count, and code between two branches does not: record all branches with perf record -b")
	}
	return texts
}

func readSampleFile(e *verb.Env, c *creating, path string, binary *samples.Binary) (*samples.Set, *samples.Report, error) {
	if path == cli.Stdio {
		return samples.Read(e.In, binary, c.input)
	}
	if input.IsURL(path) {
		return nil, nil, cli.Usagef("%s: create reads recordings from files; download it, or pipe it to --profile -", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return samples.ReadFolder(os.DirFS(path), binary, c.input)
	}
	return samples.Read(f, binary, c.input)
}

// checkInput returns an error if a recording is of another program or another build, or if a flag
// does not apply to its format.
func (c *creating) checkInput(path string, file *symbolize.File, binary *samples.Binary, part *samples.Set, report *samples.Report) error {
	if c.input.PID != 0 && report.Format != samples.PerfData && report.Format != samples.PerfScript {
		return fmt.Errorf("--pid is for perf.data and perf script, not for %v", report.Format)
	}
	if err := c.checkName(binary, report); err != nil {
		return err
	}
	if c.name != "" || c.input.BuildID != "" {
		path = "" // the user says that this is the program, whatever the ages
	}
	return verdict.Belongs(path, file, binary, part, report)
}

// checkName returns an error if --name matches other files of the recording besides the program.
// Addresses in a library would count as addresses in the program.
func (c *creating) checkName(binary *samples.Binary, report *samples.Report) error {
	if c.name == "" {
		return nil
	}
	selected := slices.DeleteFunc(slices.Clone(report.Objects), func(o samples.Object) bool { return !o.Ours })
	isProgram := func(o samples.Object) bool {
		if o.BuildID != "" && strings.EqualFold(o.BuildID, binary.BuildID) {
			return true
		}
		return path.Base(strings.TrimSuffix(o.Name, " (deleted)")) == filepath.Base(binary.Path)
	}
	other := slices.IndexFunc(selected, func(o samples.Object) bool { return !isProgram(o) })
	if other < 0 || !slices.ContainsFunc(selected, isProgram) {
		return nil
	}
	return fmt.Errorf("--name %s selects %s as well as the program: give a pattern that only the program matches, such as '/%s$'",
		human.Name(c.name), human.Name(selected[other].Name), human.Name(filepath.Base(binary.Path)))
}

// A remembering stores short hashes of the source lines of functions in a new profile. With these
// hashes, counts can be moved to the right lines after the source was edited.
type remembering struct {
	folders  []string // the folders of --source
	built    time.Time
	declared map[rebaseSymbol]rebase.Declaration
	texts    map[string]string // for each file with a declaration, the source file that was compiled
	sources  rebase.Sources
}

type rebaseSymbol struct{ unit, name string }

// sourcesFacts report on the hashes of source lines in a new profile. They have the number of
// functions with hashes, and the source files whose functions got none.
type sourcesFacts struct {
	Functions int      `json:"functions"` // functions with samples
	Known     int      `json:"known"`     // functions with hashes of their source lines
	Unread    []string `json:"unread"`
	Newer     []string `json:"newer"` // source files that are newer than the program
}

// newRemembering returns a remembering for the program at the path binary. It does not know any
// function yet. folders are folders with source files.
func newRemembering(binary string, folders []string) *remembering {
	r := &remembering{folders: folders, declared: make(map[rebaseSymbol]rebase.Declaration), texts: make(map[string]string)}
	if info, err := os.Stat(binary); err == nil {
		r.built = info.ModTime()
	}
	return r
}

// declare records where a function of the program is declared, for [remembering.remember].
func (r *remembering) declare(d create.Declaration) {
	r.declared[rebaseSymbol{d.Unit, d.Symbol}] = rebase.Declaration{Symbol: d.Symbol, File: d.File, Line: int(d.Line)}
	r.texts[d.File] = d.Source
}

// remember stores hashes of the source lines of functions in the profile p. It reads the source
// files in which these functions are declared.
func (r *remembering) remember(p *profile.Profile) (*sourcesFacts, error) {
	facts := &sourcesFacts{Unread: []string{}, Newer: []string{}}
	for _, dir := range r.folders {
		if err := r.sources.AddFolder(dir); err != nil {
			return nil, err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(r.texts)) {
		if file == "" || r.sources.Has(file) {
			continue
		}
		text := file
		if _, err := os.Stat(file); err != nil { // it may be a part of an amalgamation, which has #line
			text = r.texts[file]
		}
		info, err := os.Stat(text)
		switch {
		case err == nil && info.ModTime().After(r.built):
			facts.Newer = append(facts.Newer, text)
		case err != nil || r.sources.ReadFile(text) != nil || !r.sources.Has(file):
			facts.Unread = append(facts.Unread, file)
		}
	}
	facts.Functions, facts.Known = r.sources.Remember(p, func(unit, symbol string) (rebase.Declaration, bool) {
		d, ok := r.declared[rebaseSymbol{unit, symbol}]
		return d, ok
	})
	facts.Newer = slices.Compact(facts.Newer)
	return facts, nil
}

// warn prints a warning with the number of functions for which no hashes of source lines were
// stored, and the reasons.
func (f *sourcesFacts) warn(e *verb.Env) {
	if f == nil || f.Functions == f.Known {
		return
	}
	said := ""
	for _, left := range []struct {
		files []string
		why   string
	}{{f.Unread, "cannot be read"}, {f.Newer, "newer than the program"}} {
		if n := len(left.files); n > 0 {
			said += "; " + human.Counted(n, "file") + " " + left.why + ", such as " + human.Name(left.files[0])
		}
	}
	e.Warnf("no source information stored for %s of %s: after edits their counts cannot be moved%s", human.Number(f.Functions-f.Known), human.Counted(f.Functions, "function"), said)
}
