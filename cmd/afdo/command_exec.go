package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/driver"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/slice"
)

const execHelp = `Run a compiler with the slice of the profile that this compile uses.

It is put before the compiler, and before ccache where there is one:

  make CC="afdo exec --profile prof.v4 -- gcc"
  cmake -DCMAKE_CXX_COMPILER_LAUNCHER="afdo;exec;--profile;/path/prof.v4;--;ccache" ...

The slice is written beside the object, with ".afdo" behind its name, in the
version that the compiler reads, and the compiler gets -fauto-profile=SLICE.
As long as a new profile brings nothing new for this compile, the file stays as it
is, and so do the object and its entry in ccache.

Without --profile, the profile is $AFDO_PROFILE. A -fauto-profile=X in the
command whose file is of version 4 comes before both; for any other file, and for links,
preprocessing, other compilers, and whatever else compiles no C or C++, the
command runs as it is. Exit status and signals are the compiler's.

What is to be known of compilers and headers is kept in $AFDO_CACHE_DIR, or
else in the folder afdo of $XDG_CACHE_HOME.`

// execOptions are the flags of exec.
type execOptions struct {
	profile string
	bits    quantum
	verbose bool
}

func newExecCommand(e *env) *cobra.Command {
	var o execOptions
	cmd := &cobra.Command{
		Use:   "exec [--profile FILE] -- COMPILER ARGS...",
		Short: "Run a compiler with the slice that it needs",
		Long:  execHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no COMPILER")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return e.exec(&o, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // the compiler's flags are its own
	f.StringVar(&o.profile, "profile", "", "profile to take the slice of; $AFDO_PROFILE if not given")
	o.bits.addFlag(cmd)
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on standard error what is done")
	return cmd
}

// A launch is one run of a compiler.
type launch struct {
	*env
	options *execOptions
	command *driver.Command
	cache   *driver.Cache
}

func (e *env) exec(o *execOptions, argv []string) error {
	debug.SetGCPercent(400) // this process does not live long
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	l := launch{env: e, options: o, command: driver.ParseCommand(argv, dir), cache: driver.OpenCache()}
	argv, err = l.prepare()
	if err != nil {
		return err
	}
	return e.replaceProcess(argv)
}

// say tells what is done, if somebody wants to know.
func (l *launch) say(format string, args ...any) {
	if l.options.verbose {
		l.Warnf(format, args...)
	}
}

// asItIs returns the command line as it was given.
func (l *launch) asItIs(format string, args ...any) ([]string, error) {
	l.say("running the command as it is: "+format, args...)
	return l.command.Argv(), nil
}

// prepare makes the slice and returns the command line that is to be run.
func (l *launch) prepare() ([]string, error) {
	c := l.command
	if c.Reason != "" {
		if c.Profile != "" && c.LTO && isV4(c.Path(c.Profile)) {
			// An LTO link would read it, and needs no profile.
			l.say("running the command without -fauto-profile=%s: %s", c.Profile, c.Reason)
			return c.WithProfile(""), nil
		}
		return l.asItIs("%s", c.Reason)
	}
	profile, err := l.profile()
	if err != nil {
		return nil, err
	}
	if profile == "" {
		return l.asItIs("its -fauto-profile=%s is not of version 4", c.Profile)
	}
	compiler, err := driver.FindCompiler(c, l.cache)
	if errors.Is(err, driver.ErrNotGCC) {
		return l.asItIs("%v", err)
	}
	if err != nil {
		return nil, err
	}
	path, err := l.slice(profile, compiler)
	if err != nil {
		return nil, err
	}
	return c.WithProfile(path), nil
}

// profile returns the profile to use, none if the command has one that is the compiler's business.
func (l *launch) profile() (string, error) {
	given := l.options.profile
	if given == "" {
		given = os.Getenv("AFDO_PROFILE")
	}
	switch own := l.command.Profile; {
	case own != "" && isV4(l.command.Path(own)):
		return own, nil
	case own != "":
		return "", nil
	case given == "":
		return "", cli.Usagef("no profile: use --profile FILE or set AFDO_PROFILE")
	}
	return given, nil
}

// isV4 tells whether a file is a profile of version 4.
func isV4(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len("gcov"))
	_, err = f.ReadAt(head, 0)
	return err == nil && string(head) == "gcov"
}

// slice writes the slice of the command if need be, and returns its path.
func (l *launch) slice(profile string, compiler *driver.Compiler) (string, error) {
	c := l.command
	path, err := l.slicePath()
	if err != nil {
		return "", err
	}
	in, err := driver.FindInputs(c, compiler, l.cache)
	if err != nil {
		// As a rule the compiler is about to say the same.
		l.say("the headers are not known: %v", err)
		in = nil
	} else {
		l.say("%d files, from %s", len(in.Files), in.From)
	}
	stamp := newStamp(profile, compiler, in, int(l.options.bits))
	if stamp.holds(l.cache, c.Path(path)) {
		l.say("GCC %s, slice %s is up to date", compiler.Version, path)
		return path, nil
	}
	part, err := l.take(profile, compiler, in)
	if err != nil {
		return "", err
	}
	changed, err := writeSlice(path, part.data)
	if err != nil {
		return "", fmt.Errorf("cannot write the slice: %w", err)
	}
	stamp.keep(l.cache, c.Path(path))
	what := "unchanged"
	if changed {
		what = "written"
	}
	l.say("GCC %s, slice %s %s: %d bytes of version %d", compiler.Version, path, what, len(part.data), compiler.Reads())
	return path, nil
}

// slicePath returns where the slice is to be: beside the object, whose path it
// shares down to being relative, since debug information and ccache keep it.
// What is no file has its slice in the cache.
func (l *launch) slicePath() (string, error) {
	object := l.command.Object
	info, err := os.Stat(object)
	if err == nil && !info.Mode().IsRegular() || object == cli.Stdio || strings.HasPrefix(filepath.ToSlash(object), "/dev/") {
		path, err := l.cache.Path("slices", l.command.Path(l.command.Sources[0]))
		if err != nil {
			return "", err
		}
		return path + sliceSuffix, nil
	}
	return object + sliceSuffix, nil
}

// take takes the slice out of the profile.
func (l *launch) take(path string, compiler *driver.Compiler, in *driver.Inputs) (part *sliced, err error) {
	err = l.withInput("exec", path, func(p *gcovkind.Input) error {
		program, err := openProgram(p, false)
		if err != nil {
			return err
		}
		s := slicer{program: program, target: slice.Version2, bits: int(l.options.bits), out: outputFlags{format: gcovkind.V2}}
		if compiler.Reads() == 3 {
			s.target, s.out.format = slice.Version3, gcovkind.V3
		}
		part, err = s.slice(l.command, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, remark := range part.ambiguous {
		l.Warnf("%s", remark)
	}
	for _, source := range part.unknown {
		l.say("%s is not in the profile", source)
	}
	return part, nil
}
