package verb

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// A Share is the value of a flag that is a percentage, above 0% and at most 100%. It is 0 if the
// flag is not given.
type Share float64

// String returns the percentage as text, or "" if the flag is not given.
func (s *Share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(*s), 'g', 6, 64) + "%"
}

// Set parses a percentage, such as "60%" or "60".
func (s *Share) Set(text string) error {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent > 0 && percent <= 100) {
		return errors.New("want a percentage such as 5%")
	}
	*s = Share(percent / 100)
	return nil
}

// Type returns the word that stands for the value of the flag in the help.
func (s *Share) Type() string { return "PERCENT" }

// A Choice is one of the words that a flag accepts, with its meaning.
type Choice[T any] struct {
	Word    string
	Meaning T
}

// A choiceFlag is the value of a flag that accepts one of several words.
type choiceFlag[T any] struct {
	word    string
	meaning *T
	choices []Choice[T]
}

// AddChoice adds to a verb a flag that accepts one of several words, which are listed after its
// usage. The first word is the default and may be empty. shorthand may be empty.
func AddChoice[T any](cmd *cobra.Command, meaning *T, name, shorthand, usage string, choices ...Choice[T]) {
	c := &choiceFlag[T]{choices[0].Word, meaning, choices}
	*meaning = choices[0].Meaning
	words := c.words()
	cmd.Flags().VarP(c, name, shorthand, usage+": "+strings.Join(words[:len(words)-1], ", ")+" or "+words[len(words)-1])
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// words returns the words that the flag accepts, without the empty one.
func (c *choiceFlag[T]) words() (words []string) {
	for _, choice := range c.choices {
		if choice.Word != "" {
			words = append(words, choice.Word)
		}
	}
	return words
}

// String returns the word to which the flag is set.
func (c *choiceFlag[T]) String() string { return c.word }

// Set sets the flag to one of the words that it accepts. Any other word is an error.
func (c *choiceFlag[T]) Set(word string) error {
	i := slices.IndexFunc(c.choices, func(known Choice[T]) bool { return known.Word == word })
	if i < 0 {
		return fmt.Errorf("want one of %s", strings.Join(c.words(), ", "))
	}
	c.word, *c.meaning = word, c.choices[i].Meaning
	return nil
}

// Type returns the word that stands for the value of the flag in the help.
func (c *choiceFlag[T]) Type() string { return "WORD" }

// Words returns a choice for each word, whose meaning is the word itself.
func Words(words []string) (choices []Choice[string]) {
	for _, word := range words {
		choices = append(choices, Choice[string]{word, word})
	}
	return choices
}

// OnceFlag returns a flag for a name or path of which a verb takes only one.
func OnceFlag(to *string) pflag.Value { return cli.OnceFlag(to, "it is given twice") }

// AddDemangleFlags gives a verb the flags --demangle and --no-demangle, which set demangle. It is
// set by default.
func AddDemangleFlags(cmd *cobra.Command, demangle *bool) {
	f := cmd.Flags()
	f.BoolVar(demangle, "demangle", true, "print the names of C++ and Rust functions as in the source")
	f.BoolFunc("no-demangle", "print the names as the assembler has them", func(text string) error {
		plain, err := strconv.ParseBool(text)
		*demangle = *demangle && !plain
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("demangle", "no-demangle")
}

// AddWholeFlag adds the flag --verbose to a verb that prints a list. With it, names are not
// shortened to the width of a terminal.
func (e *Env) AddWholeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&e.Whole, "verbose", "v", false, "print whole names in a terminal, too")
}

// Args returns a check for cobra that a command line has one argument for each of the names.
func Args(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return cli.Missing("argument " + names[len(args)])
		case len(args) > len(names):
			return cli.Usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// StdinOnce returns an error if more than one of the paths means standard input, which can be read
// only once.
func StdinOnce(paths ...string) error {
	if first := slices.Index(paths, cli.Stdio); first >= 0 && slices.Contains(paths[first+1:], cli.Stdio) {
		return cli.Usagef("standard input can be read only once")
	}
	return nil
}

// NotOnto returns an error if the output file is one of the input files, for verbs whose output is
// of another kind and would replace the input.
func NotOnto(out string, inputs ...string) error {
	to, err := os.Stat(out)
	if out == cli.Stdio || err != nil || !to.Mode().IsRegular() {
		return nil
	}
	for _, in := range inputs {
		if from, err := os.Stat(in); err == nil && os.SameFile(from, to) {
			return cli.Usagef("-o %s is an input, which it would replace: name another file", human.Name(out))
		}
	}
	return nil
}
