package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/table"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/settings"
)

func newVersionCommand(e *verb.Env) *cobra.Command {
	return newFactsVerb("version", "Print the version of afdo", "", func(json bool) error { return printVersion(e, json) })
}

// newFactsVerb returns a verb without arguments that prints facts, as JSON if --json is given.
func newFactsVerb(name, short, long string, print func(json bool) error) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Long:  long,
		Args:  verb.Args(),
		RunE:  func(*cobra.Command, []string) error { return print(json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print JSON")
	return cmd
}

func printVersion(e *verb.Env, json bool) error {
	if json {
		return output.JSON(e.Out, map[string]any{
			"version": cli.ProgramVersion(), "commit": buildSetting("vcs.revision"), "gcov_version": afdo.Version, "go_version": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		})
	}
	_, err := fmt.Fprintf(e.Out, "afdo %s%s, GCOV format version %d, %s %s/%s\n", cli.ProgramVersion(), commit(), afdo.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

const configHelp = `Print the settings, and where each comes from: the environment, the configuration file or
the default. Flags of a command line win over both. An empty value stands for the default.

The file is afdo/config in the user's folder for configuration files, or $AFDO_CONFIG. It has
a line NAME=VALUE for each setting, and lines of comments that begin with #:
`

func newConfigCommand(e *verb.Env) *cobra.Command {
	long := configHelp
	for _, s := range settings.All {
		long += fmt.Sprintf("\n  %-17s  %s", s.Name, s.Meaning)
	}
	return newFactsVerb("config", "Print the settings and where they come from", long, func(json bool) error { return printConfig(e, json) })
}

// A ConfigFact is one setting in the JSON of "afdo config".
type ConfigFact struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	From    string `json:"from"`
	Meaning string `json:"meaning"`
}

// loadedSettings are the names of the settings that come from the configuration file. errSettings
// is the error of reading that file, which all verbs report.
var (
	loadedSettings []string
	errSettings    error
)

func printConfig(e *verb.Env, json bool) error {
	path := settings.Path()
	var facts []ConfigFact
	lines := table.Table{Columns: "lll"}
	lines.Row("Setting", "From", "Value")
	for _, s := range settings.All {
		f := ConfigFact{s.Name, s.Usual, "default", s.Meaning}
		if value, set := os.LookupEnv(s.Name); set {
			f.Value, f.From = cmp.Or(value, s.Usual), "environment"
		}
		if slices.Contains(loadedSettings, s.Name) {
			f.From = "file"
		}
		facts = append(facts, f)
		lines.Row(f.Name, f.From, f.Value)
	}
	if json {
		return output.JSON(e.Out, map[string]any{"file": path, "settings": facts})
	}
	if _, err := fmt.Fprintf(cli.Printer{W: e.Out}, "File: %s\n\n", cmp.Or(path, "none, as the environment names no folder for it")); err != nil {
		return err
	}
	return lines.Write(cli.Printer{W: e.Out}, 0)
}

// commit returns the commit of the sources and its date, in parentheses. It returns "" if the build
// has not recorded them, as in a build of a downloaded module.
func commit() string {
	revision := buildSetting("vcs.revision")
	if revision == "" {
		return ""
	}
	modified := map[string]string{"true": ", modified"}[buildSetting("vcs.modified")]
	return fmt.Sprintf(" (commit %.12s of %s%s)", revision, buildSetting("vcs.time"), modified)
}

// buildSetting returns the value of a setting with which Go has built this program, such as
// "vcs.revision". It returns "" if it is not known.
func buildSetting(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}
