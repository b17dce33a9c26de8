package produce

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/samplekind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/samples"
	"github.com/go-afdo/afdo/input/symbolize"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/produce/create"
)

// A creating contains the flags of the verb create.
type creating struct {
	binary    string
	debugFile string
	profiles  []string
	sizes     string // recording of which only the sizes of calls are used
	out       verb.Output
	to        createFormat
	input     samples.Options
	options   create.Options
	paths     PathChanges
	sources   []string
	json      bool
	allowPoor bool
	remembers bool // the output stores hashes of source lines

	name, base               string
	noBranches, needBranches bool
	noProbes, contexts       bool
}

// A createFormat is the value of --to: a format of profiles, or one of address samples.
type createFormat struct {
	*verb.FormatFlag
	samples writeSamples // nil for profiles
}

// A writeSamples writes address samples to w, in one format.
type writeSamples func(ctx context.Context, w io.Writer, set *samples.Set, file *symbolize.File, binary *samples.Binary) error

// samplesFormats are the formats for address samples, by their words for --to. They are a text that
// "afdo create" can read, two formats of BOLT, and the format that Go's compiler reads. The formats
// of BOLT are by address (perf2bolt --pa) and by symbol (llvm-bolt -data).
var samplesFormats = map[string]writeSamples{
	"samples": func(_ context.Context, w io.Writer, set *samples.Set, _ *symbolize.File, _ *samples.Binary) error {
		return set.Write(w)
	},
	"preagg": func(_ context.Context, w io.Writer, set *samples.Set, _ *symbolize.File, b *samples.Binary) error {
		return set.WritePreAggregated(w, b)
	},
	"fdata": func(_ context.Context, w io.Writer, set *samples.Set, f *symbolize.File, _ *samples.Binary) error {
		return create.WriteFdata(w, f, set)
	},
	"pprof": func(ctx context.Context, w io.Writer, set *samples.Set, f *symbolize.File, _ *samples.Binary) error {
		return create.WritePprof(ctx, w, f, set)
	},
}

// Set sets the format to the one with the given name.
func (f *createFormat) Set(name string) error {
	if f.samples = samplesFormats[name]; f.samples != nil {
		return nil
	}
	return f.FormatFlag.Set(name)
}

// usualRecording is the name of the file to which perf record and afdo record write by default.
const usualRecording = "perf.data"

// The words of flags, with their meanings.
var (
	createInputs = []verb.Choice[samples.Format]{
		{Word: "", Meaning: samples.Unknown}, {Word: "perf", Meaning: samples.PerfData}, {Word: "script", Meaning: samples.PerfScript}, {Word: "callgrind", Meaning: samples.Callgrind},
		{Word: "samples", Meaning: samples.Text}, {Word: "preagg", Meaning: samples.PreAggregated}, {Word: "pprof", Meaning: samples.Pprof}, {Word: "otlp", Meaning: samples.OpenTelemetry},
	}
	createCombine  = []verb.Choice[create.Combine]{{Word: "max", Meaning: create.CombineMax}, {Word: "sum", Meaning: create.CombineSum}}
	createSuffixes = []verb.Choice[create.Suffixes]{
		{Word: "selected", Meaning: create.SelectedSuffixes}, {Word: "none", Meaning: create.NoSuffixes}, {Word: "all", Meaning: create.AllSuffixes},
	}
)

func (c *creating) addFlags(e *verb.Env, cmd *cobra.Command) {
	f := cmd.Flags()
	c.out.Usual = verb.UsualFormat
	c.out.AddFlags(e, cmd)
	c.to.FormatFlag = &c.out.To
	to := f.Lookup("to")
	to.Value, to.Usage = &c.to, to.Usage+`; or samples, preagg or fdata, for address samples; or pprof, for go build -pgo`
	c.addRecordingFlags(cmd, "file that has the debug info of BIN")
	f.StringVar(&c.input.Event, "event", "", "use the samples of this event, even if it does not count execution")

	f.StringVar(&c.sizes, "sizes", "", "recording by steps of which only the sizes of memcpy and memset calls are used")
	f.BoolVar(&c.noBranches, "no-branches", false, "count where samples were taken, even if there are branch stacks")
	f.BoolVar(&c.needBranches, "need-branches", false, "fail if there are no branch stacks")
	f.BoolVar(&c.noProbes, "no-probes", false, "go by the lines of debug info, even if BIN has pseudo probes and the format is LLVM's")
	f.BoolVar(&c.contexts, "contexts", false, "count by chains of calls (pseudo probes, and samples with call stack and branch stack)")
	verb.AddChoice(cmd, &c.options.Combine, "combine", "", "how the counts of a line's instructions become one", createCombine...)
	f.Uint64Var(&c.options.MinSamples, "min-samples", create.DefaultMinSamples, "leave out functions with no more samples than this")
	f.BoolVar(&c.options.ObservedHeads, "no-head-estimate", false, "leave the head count of a function at 0 if no sample shows an entry of it")
	f.BoolVar(&c.allowPoor, "allow-poor", false, "write a profile of too few samples, too")
	verb.AddChoice(cmd, &c.options.Suffixes, "suffixes", "", "suffixes to cut from names", createSuffixes...)
	f.BoolVar(&c.options.RawDiscriminators, "raw-discriminators", false, "take the discriminators of GCC 16 and Clang as they are")
	f.StringArrayVar(&c.paths.Strip, "strip-prefix", nil, "remove this folder from the front of source paths")
	f.StringArrayVar(&c.paths.Maps, "map-prefix", nil, "OLD=NEW: replace one folder by another")
	f.StringArrayVar(&c.sources, "source", nil, "folder with the sources, if they are not where debug info says; may be several")
	cmd.MarkFlagsMutuallyExclusive("source", "no-sources")
}

// addRecordingFlags adds to cmd the flags that name the program and its recordings, and those that
// select samples.
func (c *creating) addRecordingFlags(cmd *cobra.Command, debugFile string) {
	f := cmd.Flags()
	f.Var(kind.ProgramFlag(&c.binary), "binary", "program, library, kernel or module that ran")
	f.StringVar(&c.debugFile, "debug-file", "", debugFile)
	f.StringArrayVar(&c.profiles, "profile", []string{usualRecording}, `recording, "-" for standard input`)
	verb.AddChoice(cmd, &c.input.Format, "input", "", "what IN is, in place of what its content says", createInputs...)
	f.StringVar(&c.input.BuildID, "build-id", "", "build ID of the samples to use, instead of BIN's own")
	f.StringVar(&c.name, "name", "", "use the samples of files whose path matches this regular expression")
	f.Int32Var(&c.input.PID, "pid", 0, "use the samples of one process")
	f.StringVar(&c.base, "base", "", "where BIN was loaded, for perf script's text without mappings")
	f.BoolVar(&c.json, "json", false, "report on the samples as JSON on standard output")
}

// check returns an error for flags of "afdo create" that contradict each other, before any work is
// done. It also computes options from the flags.
func (c *creating) check(e *verb.Env) error {
	switch {
	case c.binary == "":
		return cli.Missing("flag --binary")
	case c.json && c.out.Path == cli.Stdio:
		return cli.Usagef("--json writes to standard output: name a file for the profile with -o")
	case c.noBranches && c.needBranches:
		return cli.Usagef("--no-branches and --need-branches contradict each other")
	case c.noBranches:
		c.options.Ranges = create.IgnoreRanges
	case c.needBranches:
		c.options.Ranges = create.NeedRanges
	}
	inputs := []string{c.binary}
	if c.to.samples == nil { // samples may be added to their own file
		inputs = append(append(inputs, c.profiles...), c.sizes)
	}
	if err := verb.NotOnto(c.out.Path, inputs...); err != nil {
		return err
	}
	if c.to.samples == nil {
		if err := c.out.Resolve(e); err != nil {
			return err
		}
	}
	c.findExtensions()
	if err := c.checkContexts(); err != nil {
		return err
	}
	if err := verb.StdinOnce(append(slices.Clone(c.profiles), c.sizes)...); err != nil {
		return err
	}
	return c.checkSelection()
}

// checkContexts returns an error if --contexts is given, but other flags exclude calling contexts
// or the format cannot store them.
func (c *creating) checkContexts() error {
	if c.input.Contexts = c.contexts; !c.contexts {
		return nil
	}
	if c.noProbes || c.noBranches {
		return cli.Usagef("--contexts needs pseudo probes and branch stacks")
	}
	if _, isLLVM := c.out.Kind.(*samplekind.Kind); !isLLVM || c.out.Out.Format.Name == "binary" {
		return cli.Usagef("--contexts needs a format that has them: --to extbinary or sampletext")
	}
	return nil
}

// findExtensions determines which extensions of the format the output gets: hashes of source lines,
// and counts of machine code.
func (c *creating) findExtensions() {
	if k, ok := c.out.Kind.(*gcovkind.Kind); ok && gcovkind.IsV4(c.out.Format) {
		c.remembers, c.options.Evidence = !k.NoSources, !k.NoEvidence
	}
	c.input.Jumps = c.options.Evidence
}

// checkSelection computes options from the flags that select which samples are used.
func (c *creating) checkSelection() (err error) {
	if strings.Trim(c.input.BuildID, "0123456789abcdefABCDEF") != "" {
		return cli.Usagef("--build-id %s: not hexadecimal digits", c.input.BuildID)
	}
	if c.name != "" {
		if c.input.Name, err = regexp.Compile(c.name); err != nil {
			return cli.Usagef("--name: %v", err)
		}
	}
	if c.base != "" {
		c.input.HasBase = true
		if c.input.Base, err = strconv.ParseUint(c.base, 0, 64); err != nil {
			return cli.Usagef("--base is an address such as 0x555555554000, not %q", c.base)
		}
	}
	return c.paths.Check()
}

func (c *creating) debugOptions() (options []symbolize.Option) {
	if c.debugFile != "" {
		options = append(options, symbolize.DebugFile(c.debugFile))
	}
	if c.options.Evidence {
		options = append(options, symbolize.Columns())
	}
	return options
}

// PathChanges contains the values of the flags --strip-prefix and --map-prefix, which change the
// paths of source files in a profile.
type PathChanges struct {
	Strip, Maps []string
	changes     []prefixChange
}

// A prefixChange replaces the beginning of a path of a source file. The beginning ends with a
// slash.
type prefixChange struct{ from, to string }

func (p *PathChanges) Check() error {
	for _, m := range p.Maps {
		from, to, ok := strings.Cut(m, "=")
		if !ok || from == "" {
			return cli.Usagef("--map-prefix is OLD=NEW, not %q", m)
		}
		if to != "" {
			to = folderPrefix(to)
		}
		p.changes = append(p.changes, prefixChange{folderPrefix(from), to})
	}
	for _, from := range p.Strip {
		p.changes = append(p.changes, prefixChange{from: folderPrefix(from)})
	}
	return nil
}

// folderPrefix returns the beginning that the paths of all files in a folder have: the folder with
// a slash at its end.
func folderPrefix(folder string) string { return strings.TrimRight(folder, "/") + "/" }

// Change returns a function that replaces the first prefix in p that a path begins with, or nil if
// p has no prefixes.
func (p *PathChanges) Change() func(string) string {
	if len(p.changes) == 0 {
		return nil
	}
	return func(path string) string {
		for _, c := range p.changes {
			if rest, ok := strings.CutPrefix(path, c.from); ok {
				return c.to + rest
			}
		}
		return path
	}
}
