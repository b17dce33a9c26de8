package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-afdo/afdo/cmd/afdo/internal/near"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/pattern"
	"github.com/go-afdo/afdo/internal/shell"
)

// An oldTool is another program, such as create_gcov or llvm-profdata, that afdo can replace. If
// afdo is started by a link with the name of that program, it translates the options of the program
// into flags of a verb.
type oldTool struct {
	verb     []string             // the verb of afdo that replaces the tool, with flags that are always given
	options  map[string]oldOption // the tool's options, by name without dashes
	defaults [][2]string          // options and their values, used if the command line lacks the option
}

// An oldOption says how an option of another tool is translated. One of its fields is set. If none
// is set, afdo ignores the option.
type oldOption struct {
	flag   string              // it becomes the flag of this name, with the same value
	files  string              // the same; a value "@LIST" names a file with a value on each line
	values map[string][]string // it has one of these values, each of which becomes arguments
	switches
}

// switches say how an option that can be on or off is translated, for either case.
type switches struct {
	toggle  bool
	on, off []string
	lacking bool // afdo cannot do what the option switches on
}

// ofBinary stands for a file name in the options of afdo that replace an old tool's option.
// Before they are used, it becomes a regular expression for the name of the file that --binary
// names.
const ofBinary = "{binary}"

var (
	ignored      = oldOption{}
	toggle       = oldOption{switches: switches{toggle: true}}
	branchStacks = oldOption{switches: switches{toggle: true, off: []string{"--no-branches"}}}
	anyBuildID   = oldOption{switches: switches{toggle: true, on: []string{"--name", ofBinary}}}
	profilers    = oldOption{values: map[string][]string{"perf": {"--input", "perf"}, "perf_spe": {"--input", "perf"}, "text": {"--input", "samples"}}}
	gcovVersions = oldOption{values: map[string][]string{"1": {"--to", "v2"}, "2": {"--to", "v2"}, "3": {"--to", "v3"}}} // GCC 12 and later read no version 1
	lacking      = oldOption{switches: switches{toggle: true, lacking: true}}
	withContexts = oldOption{values: map[string][]string{"0": {"--contexts"}, "false": {"--contexts"}}}
	llvmFormats  = oldOption{values: map[string][]string{
		"text": {"--to", "sampletext"}, "binary": {"--to", "binary"}, "extbinary": {"--to", "extbinary"},
	}}
)

// propellerTool is the key in oldTools for create_llvm_prof with --format=propeller. With that
// option it makes a layout, and has other options than for a profile.
const propellerTool = "create_llvm_prof --format=propeller"

// toFormat returns an option that has no value and that is translated to --to with the given
// format.
func toFormat(name string) oldOption {
	return oldOption{switches: switches{toggle: true, on: []string{"--to", name}}}
}

// asksForPropeller matches the option by which create_llvm_prof makes a layout for Propeller.
var asksForPropeller = pattern.Of(`(^| )--?format[= ]propeller( |$)`)

// propellerOptions are the options of both tools that make a layout. The Linux kernel's
// documentation calls generate_propeller_profiles with the options of create_llvm_prof.
var propellerOptions = map[string]oldOption{
	"binary": {flag: "--binary"}, "profile": {files: "--profile"}, "profiler": profilers, "debug_binary": {flag: "--debug-file"},
	"cc_profile": {flag: "--cc-profile"}, "out": {flag: "--cc-profile"}, "ld_profile": {flag: "--ld-profile"}, "propeller_symorder": {flag: "--ld-profile"},
	"format": {values: map[string][]string{"propeller": nil}}, "propeller_output_module_name": toggle,
	"ignore_build_id": anyBuildID, "profiled_binary_name": {flag: "--name"}, "logtostderr": toggle, "v": ignored,
}

// oldTools has the tools that afdo can replace, by their names. docs/guide/create.md has them as a
// table.
var oldTools = map[string]oldTool{
	"create_gcov": {
		verb: []string{"create"},
		options: map[string]oldOption{
			"binary": {flag: "--binary"}, "profile": {flag: "--profile"}, "gcov": {flag: "-o"}, "gcov_version": gcovVersions,
			"profiler": profilers, "use_lbr": branchStacks, "ignore_build_id": anyBuildID, "debug_binary": {flag: "--debug-file"},
			"logtostderr": toggle, "v": ignored,
		},
		defaults: [][2]string{{"gcov", "fbdata.afdo"}, {"gcov_version", "2"}},
	},
	"create_llvm_prof": {
		verb: []string{"create", "--no-probes"},
		options: map[string]oldOption{
			"binary": {flag: "--binary"}, "profile": {flag: "--profile"}, "out": {flag: "-o"}, "format": llvmFormats,
			"profiler": profilers, "use_lbr": branchStacks, "ignore_build_id": anyBuildID, "debug_binary": {flag: "--debug-file"},
			"use_discriminator_encoding": toggle, "use_fs_discriminator": toggle, "logtostderr": toggle, "v": ignored,
		},
		defaults: [][2]string{{"out", "code.prof"}, {"format", "binary"}},
	},
	"generate_propeller_profiles": {verb: []string{"layout"}, options: propellerOptions},
	propellerTool:                 {verb: []string{"layout"}, options: propellerOptions},
	"profile_merger": {
		verb: []string{"merge"},
		options: map[string]oldOption{
			"is_llvm":     {switches: switches{toggle: true, on: []string{"--to", "binary"}}},
			"output_file": {flag: "-o"}, "gcov_version": gcovVersions, "format": llvmFormats,
			"logtostderr": toggle, "v": ignored,
		},
		defaults: [][2]string{{"gcov_version", "2"}, {"output_file", "fbdata.afdo"}},
	},
	"dump_gcov": {
		verb:    []string{"convert", "--to", "text"},
		options: map[string]oldOption{"gcov_version": ignored, "logtostderr": toggle, "v": ignored},
	},
	"profile_diff": {
		verb:    []string{"diff"},
		options: map[string]oldOption{"compare_function": toggle, "logtostderr": toggle, "v": ignored},
	},
	"llvm-profgen": {
		verb: []string{"create"},
		options: map[string]oldOption{
			"binary": {flag: "--binary"}, "perfdata": {flag: "--profile"}, "pd": {flag: "--profile"},
			"perfscript": {flag: "--profile"}, "ps": {flag: "--profile"},
			"unsymbolized-profile": {flag: "--profile"}, "up": {flag: "--profile"},
			"output": {flag: "-o"}, "o": {flag: "-o"}, "format": llvmFormats, "pid": {flag: "--pid"}, "debug-binary": {flag: "--debug-file"},
			"kernel": toggle, "use-dwarf-correlation": {switches: switches{toggle: true, on: []string{"--no-probes"}}}, "update-total-samples": toggle, "ignore-stack-samples": toggle,
			"gen-cs-nested-profile": withContexts, "csspgo-preinliner": lacking, "csprof-merge-cold-context": lacking, "trim-cold-profile": lacking,
		},
		defaults: [][2]string{{"format", "extbinary"}},
	},
	"llvm-profdata merge": {
		verb: []string{"merge", "--to", "profdata"},
		options: map[string]oldOption{
			"instr": toggle, "sample": toggle, "text": toFormat("proftext"), "binary": toggle,
			"o": {flag: "-o"}, "output": {flag: "-o"}, "sparse": {switches: switches{toggle: true, on: []string{"--sparse"}}},
			"j": ignored, "num-threads": ignored,
		},
	},
	"llvm-profdata merge --sample": {
		verb: []string{"merge", "--to", "extbinary"},
		options: map[string]oldOption{
			"sample": toggle, "o": {flag: "-o"}, "output": {flag: "-o"},
			"text": toFormat("sampletext"), "binary": toFormat("binary"), "extbinary": toFormat("extbinary"),
			"compress-all-sections": {switches: switches{toggle: true, on: []string{"--compress"}}}, "use-md5": {switches: switches{toggle: true, on: []string{"--md5"}}},
			"prof-sym-list": {flag: "--prof-sym-list"}, "j": ignored, "num-threads": ignored,
			"function": {flag: "--only-names"}, "no-function": {flag: "--strip-names"},
		},
	},
	"llvm-profdata show --function": {
		verb:    []string{"lookup"},
		options: map[string]oldOption{"function": {flag: "--symbol"}, "instr": toggle, "counts": toggle, "json": {switches: switches{toggle: true, on: []string{"--json"}}}},
	},
	"llvm-profdata show": {
		verb:    []string{"show"},
		options: map[string]oldOption{"instr": toggle, "sample": toggle, "detailed-summary": toggle, "json": {switches: switches{toggle: true, on: []string{"--json"}}}},
	},
	"llvm-profdata show --sample": {
		verb:    []string{"convert", "--to", "sampletext"},
		options: map[string]oldOption{"sample": toggle, "all-functions": toggle, "function": {flag: "--only-names"}, "o": {flag: "-o"}, "output": {flag: "-o"}},
	},
	"llvm-profdata overlap": {
		verb:    []string{"diff"},
		options: map[string]oldOption{"sample": toggle, "instr": toggle},
	},
}

// toolOf returns the key in oldTools for a command line of another tool. name is the name of the
// tool. The key may contain a subcommand, as in "llvm-profdata merge". rest has the arguments
// without the subcommand.
func toolOf(name string, args []string) (key string, rest []string) {
	switch {
	case name == "create_llvm_prof" && asksForPropeller().MatchString(strings.Join(args, " ")):
		return propellerTool, args
	case name == "llvm-profdata" && len(args) > 0:
		key = name + " " + args[0]
		for _, option := range []string{"sample", "function"} {
			if _, ok := oldTools[key+" --"+option]; ok && has(args, option) && !has(args, "detailed-summary") {
				return key + " --" + option, args[1:]
			}
		}
		if _, ok := oldTools[key]; ok || noSuchTool[key] != "" {
			return key, args[1:]
		}
	}
	return name, args
}

// has reports whether arguments contain an option, with one or two dashes and with or without a
// value.
func has(args []string, option string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "-"+option || name == "--"+option
	})
}

// noSuchTool has error messages for other tools, and subcommands of them, that afdo cannot replace.
var noSuchTool = map[string]string{
	"llvm-profdata":       "afdo has its subcommands merge, show and overlap, which list their options with --help",
	"sample_merger":       "\"afdo create\" adds up the recordings of several --profile, and writes their samples with --to samples",
	"llvm-profdata order": "afdo makes no order from the traces of an instrumented program: use LLVM's llvm-profdata, or \"afdo layout\" with a recording",
}

// noSuchOption has error messages for options of other tools that afdo cannot translate.
var noSuchOption = map[string]string{
	"remapping-file": "afdo does not rename symbols by a remapping file: use LLVM's llvm-profdata",
	"function":       onlySamples, "no-function": onlySamples,
}

const onlySamples = "afdo merges chosen functions of sample profiles alone: add --sample, or call \"afdo merge\" with --only-names or --strip-names; for instrumentation profiles use LLVM's llvm-profdata"

// help prints which options of a tool afdo translates.
func (t *oldTool) help(e *verb.Env, name string) int {
	names := slices.Sorted(maps.Keys(t.options))
	text := human.Wrap("", 2, fmt.Sprintf("%s is \"afdo %s\" here and takes these options: --%s", name, t.verb[0], strings.Join(names, ", --")), fewestColumns-1)
	if _, err := fmt.Fprintf(e.Out, "%s'afdo %s --help' has more.\n", text, t.verb[0]); err != nil {
		return cli.StatusFault
	}
	return cli.StatusDone
}

// runAs runs a command line that may be one of another tool. The name of the tool is the name by
// which the program was started, or the first argument. runAs translates the arguments into flags
// of a verb and runs that verb. A command line of afdo itself runs unchanged.
func runAs(e *verb.Env, program string, args []string) int {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	key, rest := toolOf(name, args)
	if _, ok := oldTools[key]; !ok && noSuchTool[key] == "" && len(args) > 0 {
		name = args[0]
		key, rest = toolOf(name, args[1:])
	}
	tool, ok := oldTools[key]
	if why := noSuchTool[key]; why != "" {
		fmt.Fprintf(e.Err, "%s: %s\n", name, why)
		return cli.StatusUsage
	}
	if !ok {
		return run(e, args)
	}
	if has(rest, "help") || has(rest, "h") {
		return tool.help(e, key)
	}
	translated, err := tool.translate(rest)
	if err != nil {
		fmt.Fprintf(e.Err, "%s: %s\n", name, cli.Message(err))
		fmt.Fprintf(e.Err, "This is afdo by the name of %s, which lists its options with --help.\n", key)
		return cli.StatusUsage
	}
	fmt.Fprintf(e.Err, "%s: the same as afdo %s\n", name, shell.Line(translated))
	for _, word := range rest {
		if option := tool.options[strings.TrimLeft(word, "-")]; option.lacking {
			fmt.Fprintf(e.Err, "%s: afdo has nothing like %s, so the profile is made without it\n", name, word)
		}
	}
	return run(e, translated)
}

// translate converts the arguments of another tool to a command line of afdo. If an option is given
// several times, the last one counts.
func (t *oldTool) translate(args []string) ([]string, error) {
	given := make(map[string]string)
	var order, operands []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			operands = append(operands, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		name, option, value, err := t.find(name, value, hasValue)
		if err != nil {
			return nil, err
		}
		if !option.toggle && !hasValue {
			if len(args) == 0 {
				return nil, cli.Usagef("%s has no value", arg)
			}
			value, args = args[0], args[1:]
		}
		if _, ok := given[name]; !ok {
			order = append(order, name)
		}
		given[name] = value
	}
	var defaults []string
	for _, d := range t.defaults {
		if _, ok := given[d[0]]; !ok {
			defaults = append(defaults, d[0])
			given[d[0]] = d[1]
		}
	}
	// Of flags that are given twice the last one counts, so what says less comes first.
	says := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(order, func(a, b string) int { return says[t.options[a].toggle] - says[t.options[b].toggle] })
	return t.build(append(defaults, order...), given, operands)
}

// find returns the option of a tool with the given name and value: its name in t.options, its
// translation, and its value. An option that can be on or off may be written as noNAME, which has
// the value "false".
func (t *oldTool) find(name, value string, hasValue bool) (string, oldOption, string, error) {
	option, ok := t.options[name]
	if !ok {
		if positive := strings.TrimPrefix(name, "no"); t.options[positive].toggle && !hasValue {
			return positive, t.options[positive], "false", nil
		}
		if why := noSuchOption[name]; why != "" {
			return "", option, "", cli.Usagef("%s", why)
		}
		names := near.New(name)
		for known := range t.options {
			names.Add("--"+known, known)
		}
		return "", option, "", cli.Usagef("the option %q is not known%s", name, listNear(names))
	}
	if option.toggle && !hasValue {
		value = "true"
	}
	return name, option, value, nil
}

// build returns afdo's command line. order has the names of the tool's options in their order,
// given their values, and operands the arguments that are not options.
func (t *oldTool) build(order []string, given map[string]string, operands []string) ([]string, error) {
	line := slices.Clone(t.verb)
	for _, name := range order {
		option, value := t.options[name], given[name]
		switch {
		case option.flag != "":
			line = append(line, option.flag, value)
		case option.files != "":
			names, err := listed(value)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				line = append(line, option.files, name)
			}
		case option.values != nil:
			words, ok := option.values[value]
			if !ok {
				return nil, cli.Usagef("--%s is one of %s here, not %q", name, strings.Join(slices.Sorted(maps.Keys(option.values)), ", "), value)
			}
			line = append(line, words...)
		case option.toggle:
			words, err := option.switched(name, value)
			if err != nil {
				return nil, err
			}
			line = append(line, words...)
		}
	}
	for i, word := range line {
		if word == ofBinary {
			line[i] = "(^|/)" + regexp.QuoteMeta(filepath.Base(given["binary"])) + "$"
		}
	}
	return append(line, operands...), nil
}

// maxList is the size in bytes of the largest list of files that [listed] reads.
const maxList = 1 << 20

// listed returns the values of an option that may name a list. For "@LIST" these are the lines of
// the file LIST. Any other value stands for itself.
func listed(value string) ([]string, error) {
	path, isList := strings.CutPrefix(value, "@")
	if !isList {
		return []string{value}, nil
	}
	text, err := files.ReadFile(path, maxList)
	if err != nil {
		return nil, err
	}
	names := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: the list of recordings is empty", human.Name(path))
	}
	return names, nil
}

// switched returns the flags of afdo for an option that can be on or off. value is the option's
// value, such as "true". name is its name, for errors.
func (s *switches) switched(name, value string) ([]string, error) {
	switch strings.ToLower(value) {
	case "true", "1", "t", "yes", "y":
		return s.on, nil
	case "false", "0", "f", "no", "n":
		return s.off, nil
	}
	return nil, cli.Usagef("--%s is true or false, not %q", name, value)
}
