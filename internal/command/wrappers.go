package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// launchers are programs that run the compiler given after them and act as that compiler.
var launchers = []string{"ccache", "sccache", "distcc", "icecc", "buildcache", "gomacc", "rewrapper"}

// keyed are the launchers that keep objects by command line and preprocessed source, and do not
// know that a profile is read, too. ccache does.
var keyed = []string{"sccache", "buildcache", "gomacc", "rewrapper"}

// elsewhere are the launchers that have other machines compile, which do not have the slice.
var elsewhere = []string{"distcc", "icecc"}

// A wrapper is a program of the system that runs the command after its own options.
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
		if IsLauncher(rest[0]) {
			n = 1
		} else if w, ok := wrappers[ProgramName(rest[0])]; ok {
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

// IsLauncher reports whether a program runs the compiler given after it, such as ccache.
func IsLauncher(word string) bool { return slices.Contains(launchers, ProgramName(word)) }

// KeyedLauncher returns the first launcher of the command that would take an object of another
// slice of the same name, or "" if there is none.
func (c *Line) KeyedLauncher() string {
	for _, word := range c.Launcher {
		if name := ProgramName(word); slices.Contains(keyed, name) {
			return name
		}
	}
	return ""
}

// Distributes reports whether a program has other machines compile, as distcc does.
func Distributes(word string) bool { return slices.Contains(elsewhere, ProgramName(word)) }

func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, "-")
}

// CutExec returns a command line without "afdo exec ... --" in front, and whether that was there.
func CutExec(argv []string) (rest []string, cut bool) {
	if len(argv) < 2 || ProgramName(argv[0]) != "afdo" || argv[1] != "exec" {
		return argv, false
	}
	if i := slices.Index(argv, "--"); i >= 0 {
		return argv[i+1:], true
	}
	return argv, false
}

// ProgramName returns the name of a program without folder and .exe.
func ProgramName(word string) string {
	return strings.TrimSuffix(word[strings.LastIndexAny(word, `/\`)+1:], ".exe")
}

// isCompiler reports whether the name of a program is the name of a compiler of GCC, with an
// optional target before it and an optional version after it, or whether the program is a link to
// such a program.
func isCompiler(word, dir string) bool { return isNamed(word, dir, hasCompilerName) }

// baseCompilerName returns the name of a compiler without target and version.
func baseCompilerName(word string) string {
	name := strings.TrimRight(ProgramName(word), "0123456789.")
	name = strings.TrimSuffix(name, "-")
	return name[strings.LastIndexByte(name, '-')+1:]
}

// compilerNames are what compilers of GCC are called.
var compilerNames = []string{"gcc", "g++", "cc", "c++", "gfortran", "gdc", "gccgo", "gccrs", "gcobol"}

func hasCompilerName(word string) bool { return slices.Contains(compilerNames, baseCompilerName(word)) }

// SeemsToCompile reports whether a command of a compiler that is not known looks like one that
// compiles.
func (c *Line) SeemsToCompile() bool {
	return slices.Contains(c.Args, "-c") && slices.ContainsFunc(c.Args, func(arg string) bool {
		return languageOf("", arg) != nil
	})
}

// MayBeGCC reports whether a command with an unknown compiler looks like a compile, and does not
// run a compiler given after it.
func (c *Line) MayBeGCC() bool {
	return c.SeemsToCompile() && !hasCompilerName(c.Args[0]) && !hasClangName(c.Args[0])
}

// TakeForGCC reads a command whose compiler is not known as one of GCC.
func (c *Line) TakeForGCC() { c.readArgs() }

// CompilerPath returns the path of the command's compiler. It skips launchers that have the
// compiler's name.
func (c *Line) CompilerPath() (string, error) { return lookPath(c.Compiler, c.Dir) }

// lookPath finds a program in $PATH. It skips launchers that have the program's name.
func lookPath(name, dir string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		path, err := exec.LookPath(name)
		if err != nil || !isMasked(path) {
			return path, err
		}
		name = filepath.Base(name)
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil && !isMasked(path) {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// isMasked reports whether a program is a link to a launcher, as those in /usr/lib/ccache are.
func isMasked(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	return err == nil && IsLauncher(target)
}
