package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// A countFlag is the value of --number: how many lines to print, 0 for all.
type countFlag uint

// String returns the number in decimal digits.
func (c *countFlag) String() string { return strconv.FormatUint(uint64(*c), 10) }

// Set takes a number.
func (c *countFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return errors.New("want a number, 0 for all")
	}
	*c = countFlag(n)
	return nil
}

// Type is what the help calls the value.
func (c *countFlag) Type() string { return "N" }

// A wordFlag is the value of a flag that is one of some words.
type wordFlag struct {
	value *string
	words []string
}

// addSortFlag gives a verb the flag --sort, whose usage names the orders that there are.
func addSortFlag(cmd *cobra.Command, order *string, usage string, orders []string) {
	cmd.Flags().Var(&wordFlag{order, orders}, "sort", fmt.Sprintf(usage, strings.Join(orders, ", ")))
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(orders, cobra.ShellCompDirectiveNoFileComp))
}

// String returns the word.
func (w *wordFlag) String() string {
	if w.value == nil {
		return ""
	}
	return *w.value
}

// Set takes a word.
func (w *wordFlag) Set(word string) error {
	if !slices.Contains(w.words, word) {
		return fmt.Errorf("want one of %s", strings.Join(w.words, ", "))
	}
	*w.value = word
	return nil
}

// Type is what the help calls the value.
func (w *wordFlag) Type() string { return "ORDER" }

// A onceFlag is the value of a flag that can be given only once: of two, one would be ignored. The
// same value may come again, as it does when a shell completes a command line.
type onceFlag struct {
	value *string
	set   bool
}

// String returns the value.
func (o *onceFlag) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

// Set takes the value, once.
func (o *onceFlag) Set(text string) error {
	if o.set && *o.value != text {
		return errors.New("it is given twice")
	}
	*o.value, o.set = text, true
	return nil
}

// Type is what the help calls the value.
func (o *onceFlag) Type() string { return "string" }
