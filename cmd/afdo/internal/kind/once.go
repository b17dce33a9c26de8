package kind

import "errors"

// A Once is the value of a flag that is given at most once, such as the one program that a
// profile is of.
type Once string

// Set takes the value. A second one is an error: the first would have no effect.
func (o *Once) Set(value string) error {
	if *o != "" && string(*o) != value {
		return errors.New("the flag is given twice, and one program is read: run the command for each program, and merge the results")
	}
	*o = Once(value)
	return nil
}

func (o *Once) String() string { return string(*o) }

// Type names the kind of value in help texts.
func (*Once) Type() string { return "string" }
