package command

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// launchers are compiler launchers: programs that run the compiler given after them, with its
// arguments.
var launchers = []string{"ccache", "sccache", "distcc", "icecc", "buildcache", "gomacc", "rewrapper"}

// keyed are the launchers that cache objects by command line and preprocessed source. They do not
// read the profile, so they do not notice that it has changed. ccache does.
var keyed = []string{"sccache", "buildcache", "gomacc", "rewrapper"}

// distributors are the launchers that compile on other machines, where the profile does not exist.
var distributors = []string{"distcc", "icecc"}

// A wrapper describes the arguments of a program, such as nice, that runs another command.
type wrapper struct {
	withValue string // options whose value is the next argument
	operands  int    // number of arguments before the command
	isEnv     bool   // its arguments change the environment and the folder of the command
}

var wrappers = map[string]wrapper{
	"env":     {withValue: "-u -C --unset --chdir", isEnv: true},
	"ionice":  {withValue: "-c -n --class --classdata"},
	"nice":    {withValue: "-n --adjustment"},
	"nohup":   {},
	"setsid":  {},
	"stdbuf":  {withValue: "-i -o -e"},
	"taskset": {operands: 1},
	"time":    {withValue: "-f -o --format --output"},
	"timeout": {withValue: "-k -s --kill-after --signal", operands: 1},
}

// splitLaunchers sets Launcher to the launchers with their arguments, at the beginning of a command
// line, and applies what env changes for the compiler. The returned rest begins with the compiler.
func (c *Line) splitLaunchers(argv []string) (rest []string) {
	rest = argv
	for len(rest) > 1 {
		n := 0
		if IsLauncher(rest[0]) {
			n = 1
		} else if w, ok := wrappers[ProgramName(rest[0])]; ok {
			n = c.skip(&w, rest)
		} else if len(c.Launcher) > 0 && isSetting(rest[0]) { // of env or ccache
			c.Env = append(c.Env, rest[0])
			n = 1
		}
		if n == 0 || n >= len(rest) {
			break
		}
		c.Launcher, rest = argv[:len(c.Launcher)+n], rest[n:]
	}
	return rest
}

// skip returns the number of words at the beginning of argv that belong to a wrapper, including its
// name, and applies those of env. It returns 0 for an option of env that is not supported.
func (c *Line) skip(w *wrapper, argv []string) int {
	values := strings.Fields(w.withValue)
	i := 1
	for ; i < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		option := argv[i]
		if option == "--" {
			i++
			break
		}
		if slices.Contains(values, option) && i+1 < len(argv) {
			i++
			option += argv[i]
		}
		if w.isEnv && !c.applyEnv(option) {
			return 0
		}
	}
	return i + w.operands
}

// envOptions replaces the long names of options of env by the short ones.
var envOptions = strings.NewReplacer("--ignore-environment", "-i", "--unset=", "-u", "--unset", "-u", "--chdir=", "-C", "--chdir", "-C")

// applyEnv applies an option of env to the environment and the folder of the compiler: -i, -uNAME
// or -CFOLDER, or a long form of these. It returns false for another option.
func (c *Line) applyEnv(option string) bool {
	option = envOptions.Replace(option)
	if option == "-i" || option == "-" {
		c.Env = nil
	} else if name, ok := strings.CutPrefix(option, "-u"); ok {
		c.Env = slices.DeleteFunc(c.Env, func(setting string) bool { return strings.HasPrefix(setting, name+"=") })
	} else if folder, ok := strings.CutPrefix(option, "-C"); ok {
		c.Dir = c.Path(folder)
	} else {
		return false
	}
	return true
}

// Getenv returns the value of a variable in an environment, or "" if it is not set.
func Getenv(env []string, name string) string {
	for _, setting := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// IsLauncher reports whether a program is a compiler launcher, which runs the compiler given after
// it, such as ccache.
func IsLauncher(word string) bool { return slices.Contains(launchers, ProgramName(word)) }

// KeyedLauncher returns the first launcher of the command that caches objects but does not notice
// that the content of a profile has changed. It returns "" if there is none.
func (c *Line) KeyedLauncher() string {
	at := slices.IndexFunc(c.Launcher, func(word string) bool { return slices.Contains(keyed, ProgramName(word)) })
	if at < 0 {
		return ""
	}
	return ProgramName(c.Launcher[at])
}

// Distributes reports whether a program is a launcher that compiles on other machines, such as
// distcc.
func Distributes(word string) bool { return slices.Contains(distributors, ProgramName(word)) }

// isSetting reports whether a word of a command line has the form NAME=VALUE, and so sets an
// environment variable.
func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, "-")
}

// CutExec removes "afdo exec ... --" from the beginning of a command line. cut is false if it was
// not there.
func CutExec(argv []string) (rest []string, cut bool) {
	if len(argv) < 2 || ProgramName(argv[0]) != "afdo" || argv[1] != "exec" {
		return argv, false
	}
	if i := slices.Index(argv, "--"); i >= 0 {
		return argv[i+1:], true
	}
	return argv, false
}

// ProgramName returns the name of a program without its folder and the suffix .exe.
func ProgramName(word string) string {
	return strings.TrimSuffix(word[strings.LastIndexAny(word, `/\`)+1:], ".exe")
}

// baseCompilerName returns the name of a compiler without its folder, target and version.
func baseCompilerName(word string) string {
	name := strings.TrimRight(ProgramName(word), "0123456789.")
	name = strings.TrimSuffix(name, "-")
	return name[strings.LastIndexByte(name, '-')+1:]
}

// compilerNames lists the names of GCC's compilers, without target and version.
var compilerNames = []string{"gcc", "g++", "cc", "c++", "gfortran", "gdc", "gccgo", "gccrs", "gcobol"}

// hasCompilerName reports whether a name is that of a compiler of GCC, with an optional target
// before it and an optional version after it.
func hasCompilerName(word string) bool { return slices.Contains(compilerNames, baseCompilerName(word)) }

// SeemsToCompile reports whether a command looks like a compile, although the name of its program
// is not that of a compiler: it has the option -c and a source file.
func (c *Line) SeemsToCompile() bool {
	return slices.Contains(c.Args, "-c") && slices.ContainsFunc(c.Args, func(arg string) bool {
		return languageOf("", arg) != nil
	})
}

// MayBeGCC reports whether a program of an unknown name may be GCC. The command looks like a
// compile, and the first argument is not the name of a compiler. (If it were, the program would be
// a launcher.)
func (c *Line) MayBeGCC() bool {
	return c.SeemsToCompile() && !hasCompilerName(c.Args[0]) && !hasClangName(c.Args[0])
}

// TakeForGCC parses the command again as if its program, which has an unknown name such as mpicc,
// were GCC.
func (c *Line) TakeForGCC() { c.readArgs() }

// CompilerPath returns the path of the command's compiler. It skips symbolic links to launchers
// that have the compiler's name, such as those in /usr/lib/ccache.
func (c *Line) CompilerPath() (string, error) {
	name := c.Compiler
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		path, err := exec.LookPath(c.Path(name))
		if err != nil || !isMasked(path) {
			return path, err
		}
		name = filepath.Base(name)
	}
	for _, folder := range filepath.SplitList(cmp.Or(Getenv(c.Env, "PATH"), "/bin:/usr/bin")) {
		if path, err := exec.LookPath(filepath.Join(c.Path(folder), name)); err == nil && !isMasked(path) {
			return path, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// isMasked reports whether a program is a symbolic link to a launcher, such as those in
// /usr/lib/ccache.
func isMasked(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	return err == nil && IsLauncher(target)
}
