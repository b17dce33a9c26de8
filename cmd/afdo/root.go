package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
)

// Exit statuses.
const (
	statusDone  = 0
	statusFault = 1 // the data is at fault, or a comparison differs
	statusUsage = 2
)

// An env is what a command reads from and writes to. Every verb gets it when
// it is made, so that tests run the real commands in their own process.
type env struct {
	in  io.Reader // standard input
	out io.Writer // standard output
	err io.Writer // standard error
}

// A usageError says that a command was called in a wrong way, which shows only when it runs.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// A runError is what a verb's RunE returns. Every other error that comes out
// of cobra is about the command line.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// A statusError ends the process with a status of its own. It prints nothing.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// run runs a command line and returns the exit status.
func (e *env) run(args []string) int {
	root := newRoot(e, verbsFor(args)...)
	root.SetArgs(append([]string{}, args...)) // not nil, which would mean os.Args
	cmd, err := root.ExecuteC()
	if err == nil {
		return statusDone
	}
	var status statusError
	if errors.As(err, &status) {
		return int(status)
	}
	fmt.Fprintf(e.err, "afdo: %s\n", message(err))
	if isUsage(err) {
		fmt.Fprintf(e.err, "Try '%s --help'.\n", cmd.CommandPath())
		return statusUsage
	}
	return statusFault
}

func isUsage(err error) bool {
	var usage *usageError
	var run runError
	return errors.As(err, &usage) || !errors.As(err, &run)
}

// packagePrefixes is how the errors of this project's packages begin. The
// command says who is speaking once, in front.
var packagePrefixes = []string{"afdo: ", "profile: ", "builder: ", "textfmt: ", "gcov: ", "slice: "}

// message returns the text of an error without the packages it came through.
func message(err error) string {
	text := err.Error()
	for _, prefix := range packagePrefixes {
		text = strings.TrimPrefix(text, prefix)
		text = strings.ReplaceAll(text, ": "+prefix, ": ")
	}
	return text
}

const rootHelp = `afdo reads, writes and converts GCOV AutoFDO profiles, the sample profiles of
GCC's -fauto-profile.

FILE may be in any format, which is recognised by content; "-" is standard
input. The formats are called:

  v4     GCOV version 4
  v4c    GCOV version 4 in compact encoding
  v3     GCOV version 3
  v2     GCOV version 2
  text   the textual form of version 4

Exit status: 0 done, 1 the data is at fault or a comparison differs, 2 wrong usage.`

// A verb makes a command of a name. None has another, an alias.
type verb struct {
	name string
	make func(*env) *cobra.Command
}

// verbs are in the order of the help.
var verbs = [...]verb{
	{"show", newShowCommand},
	{"units", newUnitsCommand},
	{"lookup", newLookupCommand},
	{"convert", newConvertCommand},
	{"index", newIndexCommand},
	{"check", newCheckCommand},
	{"top", newTopCommand},
	{"pprof", newPprofCommand},
	{"report", newReportCommand},
	{"slice", newSliceCommand},
	{"fingerprint", newFingerprintCommand},
	{"exec", newExecCommand},
	{"merge", newMergeCommand},
	{"diff", newDiffCommand},
}

// verbsFor returns the verb that a command line begins with, which knows nothing of the
// others, or else all: for help, for completion and for what is wrong.
func verbsFor(args []string) []verb {
	for i, v := range verbs {
		if len(args) > 0 && args[0] == v.name {
			return verbs[i : i+1]
		}
	}
	return verbs[:]
}

// newRoot returns the command with verbs. It runs at every start: what
// is costly to make is made by the verb that needs it.
func newRoot(e *env, verbs ...verb) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:           "afdo VERB [flags] FILE...",
		Short:         "Read, write and convert GCOV AutoFDO profiles",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(*cobra.Command, []string) error {
			if !version {
				return usageErrorf("no verb")
			}
			_, err := fmt.Fprintln(e.out, versionLine())
			return err
		},
	}
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	root.Flags().BoolVar(&version, "version", false, "print the version and exit")
	for _, v := range verbs {
		root.AddCommand(v.make(e))
	}
	for _, cmd := range append(root.Commands(), root) {
		markRunErrors(cmd)
	}
	return root
}

// markRunErrors makes the errors of a verb's RunE tell themselves from cobra's.
func markRunErrors(cmd *cobra.Command) {
	runE := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := runE(cmd, args); err != nil {
			return runError{err}
		}
		return nil
	}
}

// programVersion is the version of the command's module, as far as the build knows it.
func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func versionLine() string {
	return fmt.Sprintf("afdo %s, GCOV format version %d, %s %s/%s", programVersion(), afdo.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// wantArgs accepts one argument for each name.
func wantArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usageErrorf("no %s", names[len(args)])
		case len(args) > len(names):
			return usageErrorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
