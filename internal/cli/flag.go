package cli

import "errors"

// A Flag is the value of a flag of the command line, of any type. It implements [pflag.Value].
type Flag[T any] struct {
	To    *T                           // where the value is stored
	Parse func(text string) (T, error) // converts the text of the command line
	Kind  string                       // what the help calls the value, such as "SIZE"

	// Once, if it is not empty, is the error for giving the flag again with another text. The same
	// text may be given again, as happens when a shell completes a command line.
	Once string

	text  string
	given bool
}

// String returns the text that the user has given for the flag, or "" if there is none.
func (f *Flag[T]) String() string { return f.text }

// Set parses the text that the user has given for the flag, and stores the value.
func (f *Flag[T]) Set(text string) (err error) {
	if f.Once != "" && f.given && f.text != text {
		return errors.New(f.Once)
	}
	if *f.To, err = f.Parse(text); err == nil {
		f.text, f.given = text, true
	}
	return err
}

// Type returns the word for the value of the flag in the help, such as SHARE.
func (f *Flag[T]) Type() string { return f.Kind }

// OnceFlag returns a flag for a text that can be given only once, because a second one would be
// ignored. once is the error for giving it again with another text.
func OnceFlag(to *string, once string) *Flag[string] {
	return &Flag[string]{To: to, Parse: func(text string) (string, error) { return text, nil }, Kind: "string", Once: once}
}
