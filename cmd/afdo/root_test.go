package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo"
)

func TestStatusAndError(t *testing.T) {
	shop := example(".afdo")
	for _, c := range []struct {
		args   []string
		status int
		err    string // the first line of standard error
	}{
		{[]string{}, statusUsage, "afdo: no verb"},
		{[]string{"--nonsense"}, statusUsage, "afdo: unknown flag: --nonsense"},
		{[]string{"shwo", shop}, statusUsage, `afdo: unknown command "shwo" for "afdo"`},
		{[]string{"show"}, statusUsage, "afdo: no FILE"},
		{[]string{"show", shop, "more"}, statusUsage, `afdo: unexpected argument "more"`},
		{[]string{"show", "--nonsense", shop}, statusUsage, "afdo: unknown flag: --nonsense"},
		{[]string{"units", "--sort", "size", shop}, statusUsage, `afdo: invalid argument "size" for "--sort" flag: want one of file, path, samples, functions`},
		{[]string{"lookup", shop}, statusUsage, "afdo: neither --unit nor --symbol"},
		{[]string{"lookup", "no such file"}, statusUsage, "afdo: neither --unit nor --symbol"},
		{[]string{"convert", shop}, statusUsage, `afdo: required flag(s) "to" not set`},
		{[]string{"convert", shop, "--to", "v5"}, statusUsage, `afdo: invalid argument "v5" for "--to" flag: want one of v4, v4c, v3, v2, text`},
		{[]string{"convert", shop, "--to", "v4", "--big-endian"}, statusUsage, "afdo: --big-endian is for v2 and v3: v4 has one byte order"},
		{[]string{"show", "no such file"}, statusFault, "afdo: open no such file: no such file or directory"},
		{[]string{"show", "."}, statusFault, "afdo: read .: is a directory"},
		{[]string{"show", "-"}, statusFault, "afdo: standard input: not a profile: it is empty"},
		{[]string{"lookup", shop, "--unit", "nonsense"}, statusFault, "afdo: " + shop + `: unit "nonsense": not found`},
		{[]string{"show", shop}, statusDone, ""},
		{[]string{"show", "--help"}, statusDone, ""},
		{[]string{"help"}, statusDone, ""},
		{[]string{"--version"}, statusDone, ""},
		{[]string{"completion", "bash"}, statusDone, ""},
	} {
		r := afdoRun(c.args...)
		assert.Equal(t, c.status, r.status, "afdo %q", c.args)
		first, rest, _ := strings.Cut(r.err, "\n")
		assert.Equal(t, c.err, first, "afdo %q", c.args)
		if c.status == statusUsage {
			assert.Contains(t, rest, "Try 'afdo", "afdo %q", c.args)
		} else {
			assert.Empty(t, rest, "afdo %q", c.args)
		}
		assert.Equal(t, c.status == statusDone, r.out != "", "afdo %q: %s", c.args, r.out)
	}
}

func TestVersion(t *testing.T) {
	assert.Regexp(t, `^afdo \S+, GCOV format version 4, go\S+ \w+/\w+\n$`, must(t, "--version"))
}

func TestHelpNamesEveryVerb(t *testing.T) {
	out := must(t, "--help")
	for _, cmd := range newRoot(&env{}, verbs[:]...).Commands() {
		assert.Contains(t, out, "\n  "+cmd.Name()+" ")
		assert.Contains(t, must(t, cmd.Name(), "--help"), cmd.Use)
	}
}

// A verb does the same whether the others have been made or not.
func TestVerbAlone(t *testing.T) {
	for _, v := range verbs {
		all, alone := newRoot(&env{}, verbs[:]...), newRoot(&env{}, verbsFor([]string{v.name, "FILE"})...)
		require.Len(t, alone.Commands(), 1, v.name)
		want, _, err := all.Find([]string{v.name})
		require.NoError(t, err)
		got, _, err := alone.Find([]string{v.name})
		require.NoError(t, err)
		require.Equal(t, v.name, got.Name())
		require.Empty(t, got.Aliases)
		require.Equal(t, want.UsageString(), got.UsageString())
	}
	for _, args := range [][]string{nil, {"help", "show"}, {"shwo"}, {"--version"}, {"__complete", "show"}} {
		require.Len(t, verbsFor(args), len(verbs), "%q", args)
	}
}

func TestMessageSaysWhoSpeaksOnce(t *testing.T) {
	fault := &afdo.FormatError{Section: 2, Type: afdo.SectionSymbolInfo, Offset: 9, Err: afdo.ErrCount, Detail: "7"}
	const said = "section 2 (symbol info) at offset 9: bad count: 7"
	assert.Equal(t, said, message(fault))
	assert.Equal(t, "x: "+said, message(fmt.Errorf("x: %w", fault)))
	assert.Equal(t, `x: unit "u": `+said, message(fmt.Errorf("x: %w", fmt.Errorf("profile: unit %q: %w", "u", fault))))
	assert.Equal(t, "an afdo: inside", message(errors.New("an afdo: inside")))
}

func TestCompletion(t *testing.T) {
	complete := func(args ...string) []string {
		r := afdoRun(append([]string{"__complete"}, args...)...)
		require.Equal(t, statusDone, r.status)
		lines := strings.Split(r.out, "\n")
		var offered []string
		for _, line := range lines {
			if line != "" && line[0] != ':' {
				offered = append(offered, line)
			}
		}
		return offered
	}
	assert.Equal(t, []string{"v4", "v4c", "v3", "v2", "text"}, complete("convert", "x", "--to", ""))
	assert.Equal(t, []string{"file", "path", "samples", "functions"}, complete("units", "x", "--sort", ""))
	assert.Contains(t, complete("lookup", example(".afdo"), "--unit", ""), "src/cart.cc")
	assert.Empty(t, complete("lookup", "no such file", "--unit", ""))
	assert.Empty(t, complete("lookup", "--unit", ""))
}
