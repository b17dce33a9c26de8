package kind

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/internal/cli"
)

// ProgramFlag returns a flag for the path of a program. Giving the flag again with another path is
// an error, because only one program is read.
func ProgramFlag(to *string) pflag.Value {
	return cli.OnceFlag(to, "the flag is given twice, and one program is read: run the command for each program, and merge the results")
}

// A BinaryFlag is the flag --binary, with which the user names the program that belongs to a
// profile. Several kinds of profile and a verb may each define this flag for the verb. All of them
// get the same value.
type BinaryFlag struct{ flag *pflag.Flag }

// AddTo adds the flag to a verb, except to create, which has a --binary of its own.
func (b *BinaryFlag) AddTo(verb *cobra.Command, usage string) {
	if verb.Name() == "create" {
		return
	}
	f := verb.Flags()
	if f.Lookup("binary") == nil {
		f.Var(ProgramFlag(new(string)), "binary", usage)
	}
	b.flag = f.Lookup("binary")
}

// Path returns the path of the program, or "".
func (b *BinaryFlag) Path() string {
	if b.flag == nil {
		return ""
	}
	return b.flag.Value.String()
}
