package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// launchers are programs that run the compiler behind them and take its place.
var launchers = []string{"ccache", "sccache", "distcc", "icecc", "buildcache", "gomacc", "rewrapper"}

// keyed are the launchers that keep objects by command line and preprocessed source, and do not
// know that a profile is read, too. ccache does.
var keyed = []string{"sccache", "buildcache", "gomacc", "rewrapper"}

// keyedByPath returns the launcher that would take an object of another slice of the same name, if
// there is one.
func (c *Command) keyedByPath() string {
	for _, word := range c.Launcher {
		if slices.Contains(keyed, programName(word)) {
			return programName(word)
		}
	}
	return ""
}

// elsewhere are the launchers that have other machines compile, which do not have the slice.
var elsewhere = []string{"distcc", "icecc"}

// keepHere has a command with a profile run on this machine. Distcc does so by itself; icecc would
// have another one say that there is no such file. It may come from a link or from ccache's
// settings, so it is told in any case.
func (p *preparation) keepHere(plan *Plan) {
	if plan.Slice == "" {
		return
	}
	if setting := os.Getenv("ICECC"); setting != "no" && setting != "disable" {
		plan.Env = append(plan.Env, "ICECC=no")
	}
	words := append(slices.Clone(p.command.Launcher), strings.Fields(os.Getenv("CCACHE_PREFIX"))...)
	for _, word := range words {
		if name := programName(word); slices.Contains(elsewhere, name) {
			p.warnOf("elsewhere", "%s compiles files with a profile on this machine, as others do not have it", name)
		}
	}
}

// A wrapper is a program of the system that runs a command behind its own options.
type wrapper struct {
	withValue string // options whose value is the next argument
	operands  int    // arguments before the command
	settings  bool   // NAME=VALUE arguments come before the command
}

var wrappers = map[string]wrapper{
	"env":     {withValue: "-u --unset", settings: true},
	"ionice":  {withValue: "-c -n --class --classdata"},
	"nice":    {withValue: "-n --adjustment"},
	"nohup":   {},
	"setsid":  {},
	"stdbuf":  {withValue: "-i -o -e"},
	"taskset": {operands: 1},
	"time":    {withValue: "-f -o --format --output"},
	"timeout": {withValue: "-k -s --kill-after --signal", operands: 1},
}

// splitLaunchers splits a command line before the compiler. The settings are
// NAME=VALUE words that the compiler finds in its environment.
func splitLaunchers(argv []string) (before, rest, settings []string) {
	rest = argv
	for len(rest) > 1 {
		n := 0
		if isLauncher(rest[0]) {
			n = 1
		} else if w, ok := wrappers[programName(rest[0])]; ok {
			n = w.skip(rest)
		} else if len(before) > 0 && isSetting(rest[0]) { // ccache takes them, too
			n = 1
		}
		if n == 0 || n >= len(rest) {
			break
		}
		for _, word := range rest[:n] {
			if isSetting(word) {
				settings = append(settings, word)
			}
		}
		before, rest = argv[:len(before)+n], rest[n:]
	}
	return before, rest, settings
}

// skip returns how many words a wrapper takes, itself included.
func (w *wrapper) skip(argv []string) int {
	values := strings.Fields(w.withValue)
	i := 1
	for ; i < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		if argv[i] == "--" {
			i++
			break
		}
		if slices.Contains(values, argv[i]) {
			i++
		}
	}
	for w.settings && i < len(argv) && isSetting(argv[i]) {
		i++
	}
	return i + w.operands
}

func isLauncher(word string) bool { return slices.Contains(launchers, programName(word)) }

func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, "-")
}

// programName returns the name of a program without folder and .exe.
func programName(word string) string {
	return strings.TrimSuffix(word[strings.LastIndexAny(word, `/\`)+1:], ".exe")
}

// isCompiler reports whether a program is called gcc, g++, cc or c++, maybe with a target before it
// and a version behind it, or is a link to one that is.
func isCompiler(word, dir string) bool {
	if hasCompilerName(word) {
		return true
	}
	path, err := lookPath(word, dir)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && target != path && hasCompilerName(target)
}

// baseCompilerName returns the name of a compiler without target and version.
func baseCompilerName(word string) string {
	name := strings.TrimRight(programName(word), "0123456789.")
	name = strings.TrimSuffix(name, "-")
	return name[strings.LastIndexByte(name, '-')+1:]
}

func hasCompilerName(word string) bool {
	name := baseCompilerName(word)
	return name == "gcc" || name == "g++" || name == "cc" || name == "c++"
}

// seemsToCompile reports whether a command of a compiler that is not known looks like one that
// compiles.
func (c *Command) seemsToCompile() bool {
	return slices.Contains(c.Args, "-c") && slices.ContainsFunc(c.Args, func(arg string) bool {
		return slices.Contains(extensions, filepath.Ext(arg))
	})
}

// parentLauncher returns the name of the launcher that runs this process, if the
// system tells and it is one.
func parentLauncher() string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm")
	if err == nil && isLauncher(strings.TrimSpace(string(name))) {
		return strings.TrimSpace(string(name))
	}
	return ""
}
