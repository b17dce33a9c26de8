package compile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/cmd/afdo/internal/jsonstream"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/become"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/planned"
	"github.com/go-afdo/afdo/internal/launch/store"
)

const execHelp = `Run a compiler with the slice of the profile that this compile uses.

Put it before the compiler, and before ccache if you use that:

  make CC="afdo exec --profile prof.v4 -- gcc"
  cmake -DCMAKE_C_COMPILER_LAUNCHER="afdo;exec;--profile;/path/prof.v4;--" ...

The slice is written next to the object, under its name and ".afdo", in the
version that the compiler reads, and the compiler gets -fauto-profile=SLICE.
If a new profile changes nothing for this compile, the slice file is not touched,
and the object and its entry in ccache stay valid.

FILE may be a URL: the file is downloaded into the cache, and each compile asks the
server whether it has changed. That takes the program afdo-fetch for http and https,
and afdo-fetch-blob for s3, gs and azblob.

If the profile remembers its sources, as "afdo create" makes it, counts are moved to
where their lines are now in the files that the compile reads; see "afdo help rebase".
With --no-rebase they stay where they are. LLVM's profiles remember nothing: give clang
one of version 4. If more than 20% of the samples of a compile, or the share that
--stale-warn gives, are for lines that the sources do not have any more, exec says so
once in a build.

Without --profile, the profile is $AFDO_PROFILE. A -fauto-profile=X in the
command overrides both if X is a profile that GCC does not read itself, as of version
4. The command runs unchanged if X is any other file, and if it links, preprocesses,
compiles nothing, or runs another compiler. The exit status is the compiler's, or 128
and the number of the signal that ended the compiler. Languages other than C and C++,
such as Fortran, get the whole profile.

GCC also gets options with which its code is faster, unless the command sets them:
docs/guide/tutorial.md has the list and the reasons. --no-params adds none.

With --as arcs, GCC gets the counts of the arcs of its control flow graphs instead, as an
instrumented program would have counted them, with -fprofile-use. That takes one more
compile of each source, which ends before it makes code. docs/guide/slices.md has the rest.

Slices for GCC 16 and clang, and whole profiles, have the thresholds of the profile's
summary, rounded to powers of two, so that a new profile does not change every slice.
--summary FILE takes the summary of another profile, such as the first one of the year.
--exact-summary does not round: use it for full LTO links with modules from elsewhere.

A compile that fails runs once more without the profile. If that works, the compiler
does not cope with the profile, such as by an internal error: the object is that of the
second run, and exec reports it. With --fallback, a compile also goes on without the
profile if a slice cannot be made.

Clang gets slices, too: of GCOV profiles and of LLVM's sample profiles, in any format,
by -fprofile-sample-use=, and of indexed instrumentation profiles by -fprofile-use=.
Such an option in the command overrides FILE.

With --layout PREFIX, clang gets the part of PREFIX_cc_profile.txt, which "afdo layout"
makes, that is about functions of this compile, and no list if there are none. It works
with and without a profile. If the list has hashes of blocks, the object is compared with
them: a compile with functions that changed since the recording is repeated without the
layout of these. --no-layout-check turns that off.

A GCOV profile may be of any version. One without an index is copied once, with an
index, into the cache, which also keeps facts about compilers and headers: see
"afdo help cache".`

// execOptions contains the flags of the verb exec.
type execOptions struct {
	profile  string
	bits     int // --quantize
	noRebase bool
	summary  summaryFlags
	arcs     bool
	noParams bool
	fallback bool
	layout   string
	noCheck  bool
	stale    verb.Share
	verbose  bool
	log      string
}

func NewExec(e *verb.Env) *cobra.Command {
	o := execOptions{stale: driver.DefaultStaleWarn}
	cmd := &cobra.Command{
		Use:   "exec [--profile FILE] -- COMPILER ARGS...",
		Short: "Run a compiler with the slice that it needs",
		Long:  execHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Missing("argument COMPILER")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runExec(cmd, e, &o, args) },
	}
	cmd.ValidArgsFunction = completeCompiler
	f := cmd.Flags()
	f.SetInterspersed(false) // the compiler's flags are its own
	f.StringVar(&o.profile, "profile", "", "profile to slice; $AFDO_PROFILE if not given")
	addQuantizeFlag(cmd, &o.bits)
	f.BoolVar(&o.noRebase, "no-rebase", false, "leave counts where they are in sources that were edited")
	o.summary.addFlags(cmd)
	addHandoverFlag(cmd, &o.arcs)
	f.BoolVar(&o.noParams, "no-params", false, "add no options but that for the profile")
	f.BoolVar(&o.fallback, "fallback", false, "compile without the profile if a slice cannot be made")
	f.StringVar(&o.layout, "layout", "", "give clang its part of `PREFIX`_cc_profile.txt, where it places blocks and functions")
	f.BoolVar(&o.noCheck, "no-layout-check", false, "do not look for functions that changed since the layout was made")
	f.Var(&o.stale, "stale-warn", "warn if more of a compile's samples are for lines that are gone, 100% for never")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "report on standard error what is done")
	f.StringVar(&o.log, "json", "", "append a line of JSON to a `FILE` that says what is done")
	return cmd
}

// addHandoverFlag adds the flag --as to a verb. It selects how GCC gets the counts of a profile: by
// source line, or by arc of the control flow graph. arcs is set for the latter.
func addHandoverFlag(cmd *cobra.Command, arcs *bool) {
	verb.AddChoice(cmd, arcs, "as", "", "how GCC gets counts, by lines or as counts of arcs",
		verb.Choice[bool]{Word: "lines", Meaning: false}, verb.Choice[bool]{Word: "arcs", Meaning: true})
}

// completeCompiler completes the words after "afdo exec" in a shell: first the name of a program in
// $PATH, and then names of files.
func completeCompiler(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 || begun == "" {
		return nil, cobra.ShellCompDirectiveDefault
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		found, _ := filepath.Glob(filepath.Join(folder, begun+"*")) // a name with a * completes nothing
		for _, path := range found {
			if program, err := exec.LookPath(path); err == nil {
				names = append(names, filepath.Base(program))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveDefault
}

func runExec(cmd *cobra.Command, e *verb.Env, o *execOptions, argv []string) error {
	debug.SetGCPercent(1000) // this process does not live long
	dir, err := os.Getwd()
	if err != nil {
		e.Warnf("%v: the command runs without the profile", err)
		return e.Become(argv, os.Environ())
	}
	var flags []string
	cmd.Flags().Visit(func(f *pflag.Flag) { flags = append(flags, f.Name+"="+f.Value.String()) })
	key := planned.Key(flags, argv, dir)
	if plan := planned.Find(key, argv, dir); plan != nil {
		return e.Become(plan.Argv, plan.Environ())
	}
	stdin := keptStdin{env: e}
	l := driver.Launcher{
		Profile: o.profile, Bits: o.bits, NoRebase: o.noRebase, Summary: o.summary.file, ExactSummary: o.summary.exact, NoParams: o.noParams,
		StaleWarn: float64(o.stale),
		Arcs:      o.arcs,
		Stdin:     stdin.keep,
		Warn:      func(text string) { e.Warnf("%s", text) },
	}
	if o.verbose {
		l.Trace = l.Warn
	}
	l.Profile = cmp.Or(l.Profile, os.Getenv("AFDO_PROFILE"))
	if l.Cache, err = driver.OpenCache(); err != nil && (o.verbose || errors.Is(err, store.ErrSetting)) {
		e.Warnf("%v", err)
	}
	start := time.Now()
	plan, err := l.Prepare(cmd.Context(), argv, dir)
	if stdin.lost != nil {
		return stdin.lost
	}
	if errors.Is(err, driver.ErrNoProfile) {
		if o.layout == "" {
			return cli.Usagef("no profile: use --profile FILE or set AFDO_PROFILE")
		}
		plan, err = &driver.Plan{Argv: argv, Outcome: driver.OutcomeAsItIs}, nil
	}
	if o.log != "" {
		if err := newExecFacts(argv, dir, start, plan, err).appendTo(o.log); err != nil {
			e.Warnf("--json: %v", err) // no reason not to compile
		}
	}
	if err != nil {
		if !o.fallback && !errors.Is(err, syscall.EMFILE) {
			return err
		}
		e.Warnf("%s: compiling without the profile", cli.Message(err))
		return e.Become(command.Parse(argv, dir).WithProfile(""), os.Environ())
	}
	with := exec.Cmd{Env: append(os.Environ(), plan.Env...)}
	environment := with.Environ()
	if o.layout != "" {
		return execWithLayout(cmd.Context(), e, o, &l, plan, dir, environment)
	}
	if plan.Without != nil {
		failed := false
		err := runWithProfile(e, plan.Argv, environment, func() ([]string, error) { failed = true; return plan.Without, nil })
		if err == nil && !failed && !o.verbose && o.log == "" {
			plan.Keep(key)
		}
		return err
	}
	return e.Become(plan.Argv, environment)
}

// runWithProfile runs the compiler command argv, which uses a profile, with the given environment.
// If the compiler fails, runWithProfile runs the command that without returns, which compiles the
// same source without a profile. If both fail, it returns the error of the first.
func runWithProfile(e *verb.Env, argv, environment []string, without func() ([]string, error)) error {
	err := become.Child(&e.Env, argv, environment, e.Err)
	if errors.Is(err, syscall.EMFILE) { // a child needs more open files than the compiler
		return e.Become(argv, environment)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	status := become.Status(exit)
	if !become.Failed(exit) {
		return status
	}
	again, err := without()
	if err != nil {
		return err
	}
	if file, ok := e.In.(io.Seeker); ok {
		_, _ = file.Seek(0, io.SeekStart) // a source that is standard input
	}
	if err := become.Child(&e.Env, again, environment, io.Discard); err != nil {
		return status // the compiler has reported why
	}
	e.Warnf("the compiler fails with the profile and not without it, so this file is compiled without: %s", strings.Join(again, " "))
	return nil
}

// listSuffix is the ending of the name of a file that "afdo layout" writes: the list of the order
// of basic blocks that clang reads. The prefix of the name comes from the user.
const listSuffix = "_cc_profile.txt"

// execWithLayout compiles a source file with the entries of a code layout for its functions. plan
// has the command. If the compiler's output shows that some entries do not fit the code any more,
// it compiles once more without these entries.
func execWithLayout(ctx context.Context, e *verb.Env, o *execOptions, l *driver.Launcher, plan *driver.Plan, dir string, environment []string) error {
	list := o.layout + listSuffix
	with, err := l.WithLayout(ctx, plan.Argv, dir, list, !o.noCheck)
	if err != nil {
		return err
	}
	switch {
	case plan.Without != nil:
		err = runWithProfile(e, with.Argv, environment, func() ([]string, error) {
			without, err := l.WithLayout(ctx, plan.Without, dir, list, false)
			if err != nil {
				return nil, err
			}
			with.Object = "" // nothing of the layout fits code without the profile
			return without.Argv, nil
		})
	case with.Object == "":
		return e.Become(with.Argv, environment)
	default:
		err = become.Child(&e.Env, with.Argv, environment, e.Err)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return become.Status(exit)
	}
	if err != nil || with.Object == "" {
		return err
	}
	again, err := with.Recheck()
	if err != nil {
		e.Warnf("the layout of %s is not checked: %v", with.Object, err)
	}
	if again {
		return e.Become(with.Argv, environment)
	}
	return nil
}

// ExecFacts is the JSON report of "afdo exec" on one compile. It describes the command that was run
// and the slice of the profile that the command used.
type ExecFacts struct {
	Version   int            `json:"schema_version"`
	Directory string         `json:"directory"`
	Arguments []string       `json:"arguments"` // as in compile_commands.json
	Outcome   driver.Outcome `json:"outcome"`
	Reason    command.Reason `json:"reason,omitempty"`
	Slice     string         `json:"slice,omitempty"`
	Bytes     int64          `json:"bytes"`   // size of the slice, if it was written
	Seconds   float64        `json:"seconds"` // time that exec took before it started the compiler
	Error     string         `json:"error,omitempty"`
}

func newExecFacts(argv []string, dir string, start time.Time, plan *driver.Plan, err error) *ExecFacts {
	f := &ExecFacts{Version: jsonstream.Version, Directory: dir, Arguments: argv, Outcome: driver.OutcomeFailed, Seconds: time.Since(start).Seconds()}
	if err != nil {
		f.Error = cli.Message(err)
		return f
	}
	f.Outcome, f.Reason, f.Slice, f.Bytes = plan.Outcome, plan.Reason, plan.Slice, plan.Bytes
	return f
}

// appendTo appends the report to a file as a line of JSON. It writes the line at once, because
// several compiles of a build may append to the same file.
func (f *ExecFacts) appendTo(path string) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(jsonstream.EscapeBidi(line.Bytes()))
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// maxStdin is the size of the largest source on standard input in bytes: 256 MiB, the limit for
// sources that are files.
const maxStdin = 256 << 20

// keptStdin reads a source file from standard input for "afdo exec", and makes standard input
// readable once more for the compiler.
type keptStdin struct {
	env  *verb.Env
	lost error // why the compiler can no longer read the source, or nil
}

// keep reads all of standard input and returns it. It replaces standard input by a temporary file
// with the same contents, which the compiler can read. The file has no name, so it disappears when
// the compiler ends.
func (k *keptStdin) keep() ([]byte, error) {
	file, err := files.CreateTemp("", "afdo-stdin-*")
	if err != nil {
		return nil, err // standard input is as it was
	}
	text, size, err := readInto(file.File, k.env.In)
	if err == nil && k.env.In == os.Stdin {
		err = become.Stdin(file.File)
	}
	if err != nil {
		k.lost = fmt.Errorf("standard input: %w", err)
		return nil, k.lost
	}
	k.env.In = file.File
	if size > maxStdin {
		return nil, fmt.Errorf("it has %d bytes, more than %d", size, maxStdin)
	}
	return text, nil
}

// readInto copies everything from in to a file, and returns the first maxStdin bytes of it and the
// number of all bytes. The next read from file begins at its start.
func readInto(file *os.File, in io.Reader) (text []byte, size int64, err error) {
	if size, err = io.Copy(file, in); err != nil {
		return nil, 0, err
	}
	text = make([]byte, min(size, maxStdin))
	if _, err := file.ReadAt(text, 0); err != nil && err != io.EOF {
		return nil, 0, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return text, size, err
}
