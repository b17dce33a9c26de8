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

// of returns how many of n lines are printed.
func (c countFlag) of(n int) int {
	if c == 0 || uint(n) < uint(c) {
		return n
	}
	return int(c)
}

// A choice is a word that a flag can have, and what it stands for.
type choice[T any] struct {
	word    string
	meaning T
}

// A choiceFlag is the value of a flag that is one of some words.
type choiceFlag[T any] struct {
	word    string
	meaning *T
	choices []choice[T]
}

// addChoice gives a verb a flag with some words, which the usage names at its end, of which the
// shorthand may be empty. The first one is the default, which may be the empty word.
func addChoice[T any](cmd *cobra.Command, meaning *T, name, shorthand, usage string, choices ...choice[T]) {
	c := &choiceFlag[T]{choices[0].word, meaning, choices}
	*meaning = choices[0].meaning
	words := c.words()
	cmd.Flags().VarP(c, name, shorthand, usage+": "+strings.Join(words[:len(words)-1], ", ")+" or "+words[len(words)-1])
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// words returns the words, without the empty one.
func (c *choiceFlag[T]) words() (words []string) {
	for _, choice := range c.choices {
		if choice.word != "" {
			words = append(words, choice.word)
		}
	}
	return words
}

// String returns the word.
func (c *choiceFlag[T]) String() string { return c.word }

// Set takes a word.
func (c *choiceFlag[T]) Set(word string) error {
	i := slices.IndexFunc(c.choices, func(known choice[T]) bool { return known.word == word })
	if i < 0 {
		return fmt.Errorf("want one of %s", strings.Join(c.words(), ", "))
	}
	c.word, *c.meaning = word, c.choices[i].meaning
	return nil
}

// Type is what the help calls the value.
func (c *choiceFlag[T]) Type() string { return "WORD" }

// named returns choices of words that stand for themselves.
func named(words []string) (choices []choice[string]) {
	for _, word := range words {
		choices = append(choices, choice[string]{word, word})
	}
	return choices
}

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
