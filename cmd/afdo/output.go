package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/kind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/internal/cli"
)

// outputFlags say where a profile goes and in which format.
type outputFlags struct {
	path  string
	to    formatFlag
	usual string // format if neither --to nor the name of the output tells, "" for none

	// Once they are resolved:
	out     kind.Output
	kind    kind.Kind       // of the format
	format  gcovkind.Format // 0 for the format of another kind
	assumed bool            // the format is the usual one
}

// usualFormat is what verbs that make whole GCOV profiles write if nothing tells another format.
const usualFormat = "v4c"

// addFlags gives a verb the flags -o and --to, and those that kinds have for output.
func (o *outputFlags) addFlags(e *env, cmd *cobra.Command) {
	f := cmd.Flags()
	o.to.kinds = e.kinds
	addOutputFlag(cmd, &o.path)
	usage := "format to write: " + strings.Join(e.kinds.FormatNames(), ", ") + "; that of OUT's extension if not given"
	if o.usual != "" {
		usage += ", else " + o.usual + " for GCOV profiles"
	}
	f.Var(&o.to, "to", usage)
	e.addKindFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(e.kinds.FormatNames(), cobra.ShellCompDirectiveNoFileComp))
}

// addOutputFlag gives a verb the flag -o alone.
func addOutputFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "output", "o", cli.Stdio, `file to write, "-" for standard output`)
}

// resolve finds out the format, and refuses what makes no sense before any work is done.
func (o *outputFlags) resolve(e *env) error {
	format, k, ok := e.kinds.Format(o.to.name)
	if !ok {
		format, k, ok = e.kinds.FormatOfPath(o.path)
		if !ok {
			format, k, ok = e.kinds.Format(o.usual)
			o.assumed = ok
		}
		if !ok {
			return errNoFormat()
		}
	}
	o.out, o.kind = kind.Output{Path: o.path, Format: format}, k
	if isGCOV(k) {
		o.format = gcovkind.FormatNamed(format.Name)
	}
	for _, k := range e.kinds {
		if k, ok := k.(kind.HasFlags); ok {
			if err := k.CheckFlags(format.Name); err != nil {
				return err
			}
		}
	}
	if !format.Text && o.out.OnTerminal(&e.Env) {
		return cli.Usagef("%s is not for a terminal: use -o FILE", format.Name)
	}
	return nil
}

// errNoFormat is the error of a command line that does not tell what to write.
func errNoFormat() error {
	return cli.Usagef("--to FORMAT is required: the name of the output does not tell")
}

// suits refuses to write profiles of a kind in the usual format, which is for GCOV profiles.
func (o *outputFlags) suits(k kind.Kind) error {
	if o.assumed && !isGCOV(k) {
		return errNoFormat()
	}
	return nil
}

// A formatFlag is the value of --to.
type formatFlag struct {
	kinds kind.Table
	name  string
}

// String returns the name of the format.
func (f *formatFlag) String() string { return f.name }

// Set takes the format of a name.
func (f *formatFlag) Set(name string) error {
	format, _, ok := f.kinds.Format(name)
	if !ok {
		return fmt.Errorf("want one of %s; or gcc12 to gcc16 or clang for what these read", strings.Join(f.kinds.FormatNames(), ", "))
	}
	f.name = format.Name
	return nil
}

// Type is what the help calls the value.
func (f *formatFlag) Type() string { return "FORMAT" }
