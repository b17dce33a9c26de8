// Command afdo reads, writes and converts GCOV AutoFDO profiles. See "afdo help".
package main

//go:generate sh ../../testdata/generate.sh

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/compile"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcdakind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/instrprofkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/memprofkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/samplekind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/look"
	"github.com/go-afdo/afdo/cmd/afdo/internal/merge"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/produce"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/input/record"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/become"
	"github.com/go-afdo/afdo/internal/fetch"
	"github.com/go-afdo/afdo/internal/launch/trace"
	"github.com/go-afdo/afdo/internal/lines"
	"github.com/go-afdo/afdo/internal/settings"
)

func main() {
	record.RunHelper()
	trace.RunHelper()
	input.LimitMemory()
	e := newEnv(cli.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	loadedSettings, errSettings = settings.Load()
	os.Exit(runAs(e, os.Args[0], os.Args[1:]))
}

// newEnv returns the environment of the verbs, for one run of the command with the given standard
// streams.
func newEnv(std cli.Env) *verb.Env {
	e := &verb.Env{Env: std, Kinds: newKinds()}
	e.Become = func(argv, environment []string) error { return become.Program(&e.Env, argv, environment) }
	return e
}

// newKinds returns the kinds of profile, in the order of the help. Package kind says how to add
// one.
func newKinds() kind.Table {
	return kind.Table{
		new(gcovkind.Kind),
		new(samplekind.Kind),
		new(memprofkind.Kind),
		new(instrprofkind.Kind),
		new(gcdakind.Kind),
	}
}

// A runError is an error of running a verb. All other errors that cobra returns are about the
// command line.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// run runs the command line args of afdo, and returns the exit status.
func run(e *verb.Env, args []string) int {
	root := newRoot(e, verbsFor(args)...)
	help := bufio.NewWriter(e.Out) // keeps the error of writing, which cobra does not report
	root.SetOut(help)
	print := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { printHelp(print, e.Out, cmd, args) })
	root.SetArgs(append([]string{}, args...)) // not nil, which would mean os.Args
	if len(args) > 0 && args[0] == completionVerb {
		checkShells(root)
	}
	cmd, err := root.ExecuteC()
	if failed := help.Flush(); failed != nil {
		err = runError{failed}
	}
	if err == nil {
		return cli.StatusDone
	}
	var (
		status cli.StatusError
		usage  *cli.UsageError
		ran    runError
	)
	if errors.As(err, &status) {
		return int(status)
	}
	message := cli.Message(err)
	if cli.IsMissing(err) {
		message += ": " + strings.TrimSuffix(cmd.UseLine(), " [flags]")
	}
	result := cli.StatusFault
	if errors.As(err, &usage) || !errors.As(err, &ran) {
		result = cli.StatusUsage
	}
	if wantsJSON(cmd, args) {
		_ = output.JSON(e.Err, map[string]any{"error": message, "exit_status": result})
		return result
	}
	fmt.Fprintf(e.Err, "%s %s\n", cli.Colored(e.Err, cli.Red, "afdo:"), message)
	if result == cli.StatusUsage && errSettings == nil {
		fmt.Fprintf(e.Err, "Try '%s --help'.\n", cmd.CommandPath())
	}
	return result
}

// wantsJSON reports whether errors are printed as JSON: the command line has the flag --json, and
// the verb has such a flag. That is also found if parsing has failed at a flag before it.
func wantsJSON(cmd *cobra.Command, args []string) bool {
	args = args[:slices.Index(append(slices.Clip(args), "--"), "--")]
	json := cmd.Flags().Lookup("json")
	return json != nil && json.Value.Type() == "bool" && (json.Value.String() == "true" || slices.Contains(args, "--json"))
}

const rootHelp = `afdo makes, reads, writes and converts AutoFDO profiles, the samples by which GCC
(-fauto-profile) and LLVM optimise, and LLVM's instrumentation and memory profiles.

FILE may be in any format, which is recognised by content, and compressed with
gzip or zstd; "-" is standard input. The formats are called:

  v4     GCOV version 4
  v4c    GCOV version 4 in compact encoding
  v3     GCOV version 3, for GCC 16
  v2     GCOV version 2, for GCC 12 to 15
  text   the textual form of version 4

  extbinary, binary, sampletext   LLVM's sample profiles
  profdata, proftext              LLVM's instrumentation profiles
  memprof, yaml                   LLVM's memory profiles
  gcda                            counters of GCC's -fprofile-generate

--to takes these names, and gcc12 to gcc16 and clang for what these compilers read.
The JSON that verbs print with --json is described in spec/schema of the sources.

Exit status: 0 done, 1 the data is at fault or, for "diff --exit-code", the profiles
differ, 2 wrong usage, 3 done but for inputs that were skipped.`

// A group is a heading in the help, with several verbs below it.
type group string

const (
	making      group = "Make profiles:"
	inspecting  group = "Inspect them:"
	compiling   group = "Compile with them:"
	maintaining group = "Maintain them, and afdo:"
)

// A listedVerb is a verb in the list of the help. make returns its cobra command.
type listedVerb struct {
	name  string
	group group
	make  func(*verb.Env) *cobra.Command
}

// verbs are all verbs, in the order of the help: the most used verbs come first.
var verbs = [...]listedVerb{
	{"record", making, produce.NewRecord},
	{"create", making, produce.NewCreate},
	{"merge", making, merge.NewMerge},
	{"convert", making, merge.NewConvert},
	{"rebase", making, produce.NewRebase},
	{"layout", making, produce.NewLayout},
	{"top", inspecting, look.NewTop},
	{"report", inspecting, look.NewReport},
	{"diff", inspecting, look.NewDiff},
	{"annotate", inspecting, look.NewAnnotate},
	{"show", inspecting, look.NewShow},
	{"units", inspecting, look.NewUnits},
	{"lookup", inspecting, look.NewLookup},
	{"pprof", inspecting, look.NewPprof},
	{"tune", compiling, compile.NewTune},
	{"exec", compiling, compile.NewExec},
	{"explain", compiling, compile.NewExplain},
	{"slice", compiling, compile.NewSlice},
	{"fingerprint", compiling, compile.NewFingerprint},
	{"check", maintaining, look.NewCheck},
	{"index", maintaining, merge.NewIndex},
	{"cache", maintaining, compile.NewCache},
	{"config", maintaining, newConfigCommand},
	{"version", maintaining, newVersionCommand},
}

// verbsFor returns the verbs that are needed for a command line: the verb that is its first
// argument. If the first argument is not a verb, it returns all verbs. Help, completion and the
// error for an unknown verb list all of them.
func verbsFor(args []string) []listedVerb {
	for i, v := range verbs {
		if len(args) > 0 && args[0] == v.name {
			return verbs[i : i+1]
		}
	}
	return verbs[:]
}

// newRoot returns the command afdo with the given verbs. It runs whenever afdo starts, so it must
// be fast. A verb that needs large tables makes them when it runs.
func newRoot(e *verb.Env, verbs ...listedVerb) *cobra.Command {
	var version, json bool
	root := &cobra.Command{
		Use:           "afdo VERB [flags] FILE...",
		Short:         "Read, write and convert GCOV AutoFDO profiles",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(root, args[0])
			}
			return nil
		},
		RunE: func(root *cobra.Command, _ []string) error {
			if version {
				return printVersion(e, json)
			}
			return root.Help()
		},
	}
	root.SetIn(e.In)
	root.SetErr(e.Err)
	root.Flags().BoolVar(&version, "version", false, "print the version and exit")
	root.Flags().BoolVar(&json, "json", false, "print the version as JSON")
	addGlobalFlags(e, root)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCommand())
	for _, g := range []group{making, inspecting, compiling, maintaining} {
		root.AddGroup(&cobra.Group{ID: string(g), Title: string(g)})
	}
	root.SetHelpCommandGroupID(string(maintaining))
	root.SetCompletionCommandGroupID(string(maintaining))
	for _, v := range verbs {
		cmd := v.make(e)
		cmd.GroupID = string(v.group)
		root.AddCommand(cmd)
	}
	if len(verbs) > 1 {
		root.AddCommand(newManCommand(e)) // makes a manual page of each verb
	}
	for _, cmd := range append(root.Commands(), root) {
		markRunErrors(cmd)
	}
	return root
}

// newHelpCommand returns the verb help. Unlike cobra's, it returns an error for a word that is not
// a verb.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Print the help of a verb",
		RunE: func(help *cobra.Command, args []string) error {
			cmd, rest, err := help.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(help.Root(), strings.Join(args, " "))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
		ValidArgsFunction: func(help *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, cmd := range help.Root().Commands() {
				if strings.HasPrefix(cmd.Name(), begun) {
					names = append(names, cmd.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// completionVerb is the name of the verb that cobra adds for completion in shells.
const completionVerb = "completion"

// checkShells makes the verb completion refuse shells that cobra does not support.
func checkShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd(completionVerb)
	if cmd, _, err := root.Find([]string{completionVerb}); err == nil {
		cmd.RunE = func(*cobra.Command, []string) error { return cli.Usagef("want one of bash, zsh, fish and powershell") }
		cmd.Args = cobra.ArbitraryArgs
	}
}

// markRunErrors makes a command return errors of its verb as [runError]. All other errors that
// cobra returns are about the command line.
func markRunErrors(cmd *cobra.Command) {
	runE := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := runE(cmd, args); err != nil {
			return runError{err}
		}
		return nil
	}
}

// addGlobalFlags adds the flags that all verbs have: --quiet, and the limits of downloads. The
// limits are the largest size, how long a server may be silent and how slowly it may send. They may
// also come from the environment.
func addGlobalFlags(e *verb.Env, root *cobra.Command) {
	var limits fetch.Limits
	flags := root.PersistentFlags()
	flags.Var(sizeFlag(&limits.MaxSize), "max-download", "largest file to read from a URL, 1G by default")
	flags.DurationVar(&limits.Timeout, "timeout", 0, "how long a server may be silent, 1m by default")
	flags.Var(sizeFlag(&limits.MinRate), "min-rate", "bytes that a server has to send in a second, 1M by default")
	flags.BoolVarP(&e.Quiet, "quiet", "q", false, "print errors and results only")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if errSettings != nil {
			return errSettings
		}
		for name, variable := range map[string]string{"max-download": "AFDO_MAX_DOWNLOAD", "timeout": "AFDO_TIMEOUT", "min-rate": "AFDO_MIN_RATE"} {
			if value := os.Getenv(variable); value != "" && !flags.Changed(name) {
				if err := flags.Set(name, value); err != nil {
					return cli.Usagef("%s: %v", variable, err)
				}
			}
		}
		fetch.SetLimits(limits)
		return nil
	}
}

// sizeFlag returns a flag for a number of bytes, such as 500M.
func sizeFlag(to *int64) *cli.Flag[int64] {
	return &cli.Flag[int64]{To: to, Parse: lines.ParseSize, Kind: "SIZE"}
}
