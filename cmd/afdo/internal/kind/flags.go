package kind

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"
)

// A OneProgram is the value of a flag that is the path of a program. Giving the flag again with
// another path is an error, because only one program is read.
type OneProgram string

// Set sets the path. It returns an error if the flag was given before with another path.
func (o *OneProgram) Set(value string) error {
	if *o != "" && string(*o) != value {
		return errors.New("the flag is given twice, and one program is read: run the command for each program, and merge the results")
	}
	*o = OneProgram(value)
	return nil
}

func (o *OneProgram) String() string { return string(*o) }

// Type is the name of the value in help texts.
func (*OneProgram) Type() string { return "string" }

// A BinaryFlag is the flag --binary of a kind. Several kinds and the verb itself may define this
// flag for a verb; they share its value.
type BinaryFlag struct {
	own    OneProgram
	shared []func() string
}

// AddTo adds the flag to a verb, except to create, which has a --binary of its own.
func (b *BinaryFlag) AddTo(verb *cobra.Command, usage string) {
	f := verb.Flags()
	if flag := f.Lookup("binary"); flag != nil {
		b.shared = append(b.shared, flag.Value.String)
	} else if verb.Name() != "create" {
		f.Var(&b.own, "binary", usage)
	}
}

// Path returns the path of the program, or "".
func (b *BinaryFlag) Path() string {
	path := string(b.own)
	for _, value := range b.shared {
		path = cmp.Or(path, value())
	}
	return path
}
