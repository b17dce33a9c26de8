package verb

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/spf13/cobra"
)

// Output says where and in which format a verb writes a profile, as the flags -o and --to select
// it.
type Output struct {
	Path  string
	To    FormatFlag
	Usual string // format if neither --to nor the extension of the output selects one; "" for none

	// Set by Resolve:
	Out     kind.Output
	Kind    kind.Kind      // the kind that the format belongs to
	Format  anyprof.Format // 0 if the format does not belong to GCOV profiles
	assumed bool           // the format is Usual, because none was selected
}

// UsualFormat is the format in which GCOV profiles are written if the command line does not select
// one.
const UsualFormat = "v4c"

// AddFlags adds to a verb the flags -o and --to, and the flags that the kinds of profile define for
// writing.
func (o *Output) AddFlags(e *Env, cmd *cobra.Command) {
	f := cmd.Flags()
	o.To.kinds = e.Kinds
	AddOutputFlag(cmd, &o.Path)
	usage := "format to write: " + strings.Join(e.Kinds.FormatNames(), ", ") + "; that of OUT's extension if not given"
	if o.Usual != "" {
		usage += ", else " + o.Usual + " for GCOV profiles"
	}
	f.Var(&o.To, "to", usage)
	e.AddKindFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(e.Kinds.FormatNames(), cobra.ShellCompDirectiveNoFileComp))
}

// AddOutputFlag adds to a verb the flag -o. Unlike [Output.AddFlags], it does not add --to.
func AddOutputFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "output", "o", cli.Stdio, `file to write, "-" for standard output; compressed if its name ends with .zst`)
}

// Resolve determines the format of the output from the flags. It returns an error for an output
// that does not suit the verb, before any work is done.
func (o *Output) Resolve(e *Env) error {
	format, k, ok := e.Kinds.Format(o.To.Name)
	if !ok {
		format, k, ok = e.Kinds.FormatOfPath(o.Path)
		if !ok {
			format, k, ok = e.Kinds.Format(o.Usual)
			o.assumed = ok
		}
		if !ok {
			return errNoFormat()
		}
	}
	o.Out, o.Kind = kind.Output{Path: o.Path, Format: format}, k
	if IsGCOV(k) {
		o.Format = gcovkind.FormatNamed(format.Name)
	}
	for _, k := range e.Kinds {
		if k, ok := k.(kind.HasFlags); ok {
			if err := k.CheckFlags(format.Name); err != nil {
				return err
			}
		}
	}
	if !format.Text && o.Out.OnTerminal(&e.Env) {
		return cli.Usagef("%s is not for a terminal: use -o FILE", format.Name)
	}
	return nil
}

// errNoFormat returns the error for a command line that does not say in which format to write.
func errNoFormat() error {
	return cli.Usagef("missing flag --to: the name of the output does not say the format")
}

// Suits returns an error if the command line selects no format and k is not the kind of GCOV
// profiles, because the format that is used by default is one of GCOV profiles.
func (o *Output) Suits(k kind.Kind) error {
	if o.assumed && !IsGCOV(k) {
		return errNoFormat()
	}
	return nil
}

// A FormatFlag is the value of --to, a format in which profiles can be written.
type FormatFlag struct {
	kinds kind.Table
	Name  string
}

// String returns the name of the format.
func (f *FormatFlag) String() string { return f.Name }

// Set sets the format by its name or by a compiler that reads it.
func (f *FormatFlag) Set(name string) error {
	format, _, ok := f.kinds.Format(name)
	if !ok {
		return fmt.Errorf("want one of %s; or gcc12 to gcc16 or clang for what these read", strings.Join(f.kinds.FormatNames(), ", "))
	}
	f.Name = format.Name
	return nil
}

// Type returns the word that stands for the value of the flag in the help.
func (f *FormatFlag) Type() string { return "FORMAT" }

// WrittenFacts is the JSON report of a verb on the file that it has written.
type WrittenFacts struct {
	Output  string         `json:"output"`
	Format  string         `json:"format,omitempty"`
	Size    int64          `json:"size"`  // size of the file in bytes
	Notes   []string       `json:"notes"` // messages on standard error, such as what the format cannot store
	Inputs  int            `json:"inputs,omitempty"`
	Skipped []SkippedFacts `json:"skipped,omitempty"`
}

// SkippedFacts is an input that a merge has left out, with the error that was the reason.
type SkippedFacts struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

func AddWrittenFlag(cmd *cobra.Command, json *bool) {
	cmd.Flags().BoolVar(json, "json", false, "say what was written as JSON on standard output")
}

// TellWritten calls write, which writes the file at a path. If json is set, it then prints a report
// on the file. facts adds to that report.
func (e *Env) TellWritten(json bool, path string, write func() error, facts func(f *WrittenFacts)) error {
	if !json {
		return write()
	}
	if path == cli.Stdio {
		return cli.Usagef("--json writes to standard output: name a file for the profile with -o")
	}
	f := &WrittenFacts{Output: path, Notes: []string{}}
	e.Notes = &f.Notes
	err := write()
	if err != nil && !errors.Is(err, cli.StatusError(cli.StatusPartial)) {
		return err
	}
	info, statErr := os.Stat(path)
	if statErr != nil {
		return statErr
	}
	f.Size = info.Size()
	facts(f)
	if err := output.JSON(e.Out, f); err != nil {
		return err
	}
	return err
}
