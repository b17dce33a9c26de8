package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/find"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
)

// maxCompletions is how many names are offered at most: a shell shows no more, and a profile may
// have millions.
const maxCompletions = 1000

// completeUnits offers the paths of the units of the GCOV profile that was named.
func (e *env) completeUnits(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return e.complete(args, begun, func(r *afdo.Reader, offer func(string) bool) error {
		for u, err := range r.Units() {
			if err != nil {
				return err
			}
			if !offer(u.Path()) {
				break
			}
		}
		return nil
	})
}

// completeSymbols offers the names of the symbols, of the unit of --unit if there is one.
func (e *env) completeSymbols(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return e.complete(args, begun, func(r *afdo.Reader, offer func(string) bool) error {
		if flag := cmd.Flags().Lookup("unit"); flag != nil && flag.Changed {
			u, err := find.Unit(r, flag.Value.String())
			if err != nil {
				return err
			}
			_, err = offerSymbols(u, offer)
			return err
		}
		for u, err := range r.Units() {
			if err != nil {
				return err
			}
			if more, err := offerSymbols(u, offer); !more {
				return err
			}
		}
		return nil
	})
}

// offerSymbols offers the symbols of a unit, and tells whether more are wanted.
func offerSymbols(u *afdo.Unit, offer func(string) bool) (more bool, err error) {
	for s, err := range u.Symbols() {
		if err != nil {
			return false, err
		}
		if !offer(s.Name()) {
			return false, nil
		}
	}
	return true, nil
}

// complete offers what begins like the word that is being typed. Nothing is said of a file that
// cannot be read.
func (e *env) complete(args []string, begun string, each func(*afdo.Reader, func(string) bool) error) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || args[0] == cli.Stdio {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	err := e.withInput("lookup", args[0], func(in *gcovkind.Input) error {
		r, err := in.Reader()
		if err != nil {
			return err
		}
		return each(r, func(name string) bool {
			if strings.HasPrefix(name, begun) {
				names = append(names, name)
			}
			return len(names) < maxCompletions
		})
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
