package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/go-afdo/afdo/cmd/afdo/internal/near"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
)

// unknownVerb returns the error for a word that is not a verb. It suggests similar verbs.
func unknownVerb(root *cobra.Command, word string) error {
	if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
		return cli.Usagef("unknown verb %q: to look at the file, write \"afdo top %s\"", word, human.Name(word))
	}
	names := near.New(word)
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			names.Add(cmd.Name(), cmd.Name())
		}
	}
	return cli.Usagef("unknown verb %q%s", word, listNear(names))
}

// listNear lists what may have been meant.
func listNear(names *near.Names) string {
	best := names.Best()
	if len(best) == 0 {
		return ""
	}
	return ", near: " + strings.Join(best, ", ")
}

// foreignFlags maps flags of other tools to the flag of this command, or to "" if there is no need
// of one.
var foreignFlags = map[string]string{
	"format": "to", "out": "output", "output_file": "output", "gcov": "output",
	"perfdata": "profile", "perfscript": "profile", "pd": "profile", "ps": "profile",
	"sample": "", "instr": "", "memory": "",
}

// flagError rewords an error about an unknown flag or about a value that is not a number.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		if instead, ok := foreignFlags[unknown.GetSpecifiedName()]; ok && (instead == "" || cmd.Flags().Lookup(instead) != nil) {
			if instead == "" {
				return fmt.Errorf("%w: leave it away, the kind of FILE is recognised", err)
			}
			return fmt.Errorf("%w: it is called --%s here", err, instead)
		}
		names := near.New(unknown.GetSpecifiedName())
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names.Add("--"+f.Name, f.Name) })
		return fmt.Errorf("%w%s", err, listNear(names))
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		want := "want a number"
		if errors.Is(number.Err, strconv.ErrRange) {
			want = "out of range"
		}
		return errors.New(strings.Replace(err.Error(), number.Error(), want, 1))
	}
	return err
}
