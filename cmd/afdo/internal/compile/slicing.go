package compile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo"
	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/depfile"
	"github.com/go-afdo/afdo/internal/launch/inputs"
)

// slicing contains the flags that the verbs slice and fingerprint share.
type slicing struct {
	units    []string
	deps     []string
	compiler compilerName
	bits     int // --quantize
	noRebase bool
	summary  summaryFlags
}

func (s *slicing) addFlags(e *verb.Env, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.units, "unit", nil, "path of a source file; may be repeated")
	f.StringArrayVar(&s.deps, "deps", nil, "dependency file that lists what the source includes; may be repeated")
	f.Var(&s.compiler, "for", "compiler that reads the slice, such as gcc12 or gcc16")
	addQuantizeFlag(cmd, &s.bits)
	s.summary.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("unit", e.CompleteUnits)
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(compilers, cobra.ShellCompDirectiveNoFileComp))
}

// openProgram opens a profile from which slices for a target compiler are made. If many is set, it
// loads the profile into memory, because many slices will be made. Otherwise it reads only what the
// slice needs of a version 4 file.
func (s *slicing) openProgram(in *gcovkind.Input, many bool, target slice.Target) (*slice.Program, error) {
	if many || !gcovkind.IsV4(in.Format) {
		p, err := in.Profile()
		if err != nil {
			return nil, err
		}
		return s.summary.apply(slice.FromProfile(p), target)
	}
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	program, err := slice.FromReader(r)
	if err != nil {
		return nil, err
	}
	return s.summary.apply(program, target)
}

// request returns the description of the slice to make: for the units of --unit and the headers in
// files, which come from --deps. It prints on standard error which of these the profile does not
// have.
func (s *slicing) request(e *verb.Env, program *slice.Program, target slice.Target, files []string) (slice.Request, error) {
	dir, err := os.Getwd()
	if err != nil {
		return slice.Request{}, err
	}
	units, err := matchUnits(e, program, s.units, dir)
	if err != nil {
		return slice.Request{}, err
	}
	headers := matchHeaders(e, program, files, dir)
	request := slice.Request{Units: append(units, headers...), Target: target, Bits: s.bits}
	// Dependency files that list headers of the system list all files that a compile reads. Files
	// of -MMD do not. Files of -MD do, at least the headers that the compiler itself includes.
	isSystem := func(name string) bool {
		return filepath.IsAbs(name) && strings.Contains(filepath.ToSlash(name), "/include/")
	}
	if slices.ContainsFunc(files, isSystem) {
		text := inputs.Read(slices.Concat(files, s.units), dir)
		if !text.Empty() {
			request.Text = text
		}
	}
	return request, nil
}

// readDepfiles returns the paths of source files and headers in dependency files, which compilers
// write with -MD.
func readDepfiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		read, err := depfile.Prerequisites(data)
		if err != nil {
			return nil, input.Wrap(path, err)
		}
		files = append(files, read...)
	}
	return files, nil
}

// matchUnits returns the paths of the profile's units for the paths that the user has given, which
// are relative to dir. A path without a unit is not an error, because a compiler with the whole
// profile would not find it either.
func matchUnits(e *verb.Env, program *slice.Program, paths []string, dir string) ([]string, error) {
	var units []string
	for _, m := range program.Match(paths, dir) {
		switch len(m.Units) {
		case 0:
			e.Warnf("unit %s is not in the profile", human.Name(m.Path))
		case 1:
			units = append(units, m.Units[0])
		default:
			return nil, fmt.Errorf("unit %s is ambiguous: %s", human.Name(m.Path), printableList(m.Units))
		}
	}
	return units, nil
}

// matchHeaders returns the paths of the profile's units for files that dependency files list. Most
// system headers have no unit. So it prints only the number of files without one.
func matchHeaders(e *verb.Env, program *slice.Program, paths []string, dir string) []string {
	var units []string
	unknown := 0
	for _, m := range program.Match(paths, dir) {
		switch len(m.Units) {
		case 0:
			unknown++
		case 1:
			units = append(units, m.Units[0])
		default:
			e.Warnf("file %s is ambiguous and left out: %s", human.Name(m.Path), printableList(m.Units))
		}
	}
	if unknown > 0 {
		e.Warnf("%d of %d files in --deps are not in the profile", unknown, len(paths))
	}
	return units
}

// printableList returns a list of paths as text for messages. If there are many, the text has only
// the first few.
func printableList(paths []string) string {
	const most = 5
	var list []string
	for _, path := range paths[:min(len(paths), most)] {
		list = append(list, human.Name(path))
	}
	if more := len(paths) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// compilers are the values of --for that shell completion suggests.
var compilers = []string{"gcc12", "gcc13", "gcc14", "gcc15", "gcc16"}

// A compilerName is the value of --for: the compiler that will read the slice. The zero
// compilerName means that --for was not given.
type compilerName struct {
	name   string
	target slice.Target
}

func (c *compilerName) String() string { return c.name }

func (c *compilerName) Set(name string) error {
	version, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(name, "gcc"), "-"))
	if err != nil || version < 10 || !strings.HasPrefix(name, "gcc") {
		return errors.New("want gcc10 or a later one")
	}
	c.name, c.target = name, slice.Version2
	if version >= 16 {
		c.target = slice.Version3
	}
	return nil
}

func (c *compilerName) Type() string { return "COMPILER" }

// targetOf returns the compiler for which a slice in format f is made. It is an error if the
// compiler of --for does not read that format.
func (c *compilerName) targetOf(f anyprof.Format) (slice.Target, error) {
	target := slice.Version3
	if f == anyprof.V2 {
		target = slice.Version2
	}
	if c.name == "" {
		return target, nil
	}
	if gcovkind.IsOld(f) && target != c.target {
		return 0, cli.Usagef("--for %s: that compiler reads v%d, not %s", c.name, c.target, f.String())
	}
	return c.target, nil
}

// addQuantizeFlag adds the flag --quantize: the number of significant bits to which counts are
// rounded, or 0 to leave them exact.
func addQuantizeFlag(cmd *cobra.Command, bits *int) {
	cmd.Flags().Var(&cli.Flag[int]{To: bits, Parse: parseBits, Kind: "BITS"}, "quantize", "round counts to that many significant bits, 1 to 64")
}

func parseBits(text string) (int, error) {
	bits, err := strconv.Atoi(text)
	if err != nil || bits < 1 || bits > 64 {
		return 0, errors.New("want 1 to 64")
	}
	return bits, nil
}

// summaryFlags contains the flags that choose the summary of slices for GCC 16 and clang.
type summaryFlags struct {
	file  string
	exact bool
	clang bool // slices are for clang
}

func (s *summaryFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.file, "summary", "", "profile whose summary slices for GCC 16 and clang have")
	f.BoolVar(&s.exact, "exact-summary", false, "slices for GCC 16 and clang have the summary as it is, not rounded to powers of two")
	cmd.MarkFlagsMutuallyExclusive("summary", "exact-summary")
}

// read returns the summary that slices get. This is the summary of the profile that --summary
// names. Without --summary it is the result of own, the summary of the profile that is sliced.
func (s *summaryFlags) read(own func() (*afdo.Summary, error)) (*afdo.Summary, error) {
	if s.file != "" {
		return driver.ReadSummary(s.file)
	}
	return own()
}

// apply returns program with the summary that all its slices get. The counts of this summary are
// rounded to powers of two, so that it rarely changes. With --exact-summary, and for a compiler
// that reads no summary, apply returns program unchanged.
func (s *summaryFlags) apply(program *slice.Program, target slice.Target) (*slice.Program, error) {
	if target == slice.Version2 && !s.clang || s.exact {
		return program, nil
	}
	summary, err := s.read(program.Summary)
	if err != nil {
		return nil, err
	}
	if s.clang {
		return program.WithSummary(slice.SteadyForClang(summary)), nil
	}
	return program.WithSummary(slice.Steady(summary)), nil
}
