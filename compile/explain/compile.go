package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-afdo/afdo/format/anyprof"
	"github.com/go-afdo/afdo/format/gcov"
	"github.com/go-afdo/afdo/format/llvm/sampleprof"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/toolchain"
	"github.com/go-afdo/afdo/profile"
)

// A Compiling compiles sources with a profile, and reads what the compiler reports about the use of
// the profile. It writes only into a temporary folder. Its methods may be called by many
// goroutines.
type Compiling struct {
	// NoParams compiles with no options but the one for the profile. Without NoParams, GCC also
	// gets the options that "afdo exec" adds.
	NoParams bool

	folder  string
	profile *profile.Profile
	path    string // of the profile
	format  anyprof.Format
	write   map[uint32]func() (string, error) // see profileFor
}

// NewCompiling returns a Compiling for the profile p, which was read from the file path. The caller
// must call Close, which removes temporary files.
func NewCompiling(path string, p *profile.Profile, format anyprof.Format) (*Compiling, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "afdo-explain-")
	if err != nil {
		return nil, err
	}
	c := &Compiling{folder: folder, profile: p, path: path, format: format}
	c.write = make(map[uint32]func() (string, error))
	for _, version := range []uint32{0, 2, 3} {
		c.write[version] = sync.OnceValues(func() (string, error) { return c.writeVersion(version) })
	}
	return c, nil
}

// Close removes the temporary folder.
func (c *Compiling) Close() error { return os.RemoveAll(c.folder) }

// writeVersion writes the profile to the temporary folder and returns the path. The format is the
// given version of GCC's format, or LLVM's ExtBinary if version is 0.
func (c *Compiling) writeVersion(version uint32) (path string, err error) {
	var file bytes.Buffer
	if version == 0 {
		samples, _ := sampleprof.FromGCOV(c.profile)
		err = sampleprof.WriteExtBinary(&file, samples, sampleprof.WriteOptions{})
	} else {
		_, err = gcov.Write(&file, c.profile, gcov.WriteOptions{Version: version})
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.path, err)
	}
	path = filepath.Join(c.folder, fmt.Sprintf("profile.v%d", version))
	return path, os.WriteFile(path, file.Bytes(), 0o600)
}

// ErrNoCompile is matched by the errors of [Compiling.Compile] for a command that does not compile.
var ErrNoCompile = errors.New("nothing to explain")

// Compile compiles one source of a command into the temporary folder, and returns the functions and
// statements for which the compiler found counts. dir is the folder in which the command runs. The
// command's own outputs do not change. The source is compiled three times: with the profile,
// without it, and with -O2 unless the command has that.
func (c *Compiling) Compile(ctx context.Context, argv []string, dir, source string) (*Code, error) {
	command := command.Parse(argv, dir)
	if command.Reason != "" {
		return nil, fmt.Errorf("explain: %w: %s", ErrNoCompile, command.Reason)
	}
	compiler, err := toolchain.Find(ctx, command, nil)
	if err != nil {
		return nil, err
	}
	profile, err := c.profileFor(compiler)
	if err != nil {
		return nil, err
	}
	code, err := c.compile(ctx, command, compiler, source, profile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return code, nil
}

// profileFor returns the path of the profile in the format that a compiler reads.
func (c *Compiling) profileFor(compiler *toolchain.Compiler) (string, error) {
	switch {
	case c.format.GCOV():
		return c.write[compiler.Reads()]() // clang reads version 0
	case compiler.Clang && !c.format.Sample():
		return "", fmt.Errorf("%s: clang reads sample profiles, not %v", c.path, c.format)
	case compiler.Clang:
		return c.path, nil
	}
	return "", fmt.Errorf("%s: GCC reads no %v: \"afdo convert --to v4c -o OUT %s\" makes a profile that it reads", c.path, c.format, c.path)
}

// A usageReport describes how a compiler reports its use of a profile: flags are the options that
// make the compiler write the report, and read is the function that reads the report.
type usageReport struct {
	flags []string
	read  func(*Code, io.Reader) error
}

// usageReportOf returns how a compiler reports its use of a profile. The options in the result make
// the compiler read the profile and write its report to file.
func usageReportOf(compiler *toolchain.Compiler, profile, file string) usageReport {
	switch {
	case compiler.Clang:
		return usageReport{[]string{
			"-fprofile-sample-use=" + profile, "-g", "-fdebug-info-for-profiling", "-fno-lto", "-fsave-optimization-record=yaml",
			"-foptimization-record-passes=sample-profile", "-foptimization-record-file=" + file,
		}, (*Code).readRemarks}
	case compiler.Reads() == 3:
		return usageReport{[]string{"-fauto-profile=" + profile, "-g", "-fno-lto", "-fdump-ipa-afdo_offline-all=" + file}, (*Code).readOffline}
	}
	return usageReport{[]string{"-fauto-profile=" + profile, "-g", "-fno-lto", "-fdump-ipa-afdo-lineno=" + file}, (*Code).readLines}
}

// compile compiles one source, and reads the compiler's report and the debug info of the object.
func (c *Compiling) compile(ctx context.Context, command *command.Line, compiler *toolchain.Compiler, source, profile string) (*Code, error) {
	folder, err := os.MkdirTemp(c.folder, "unit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	base := filepath.Base(source) // GNAT takes no object of another name
	object, dump := filepath.Join(folder, strings.TrimSuffix(base, filepath.Ext(base))+".o"), filepath.Join(folder, "said")
	how := usageReportOf(compiler, profile, dump)
	if !c.NoParams {
		how.flags = append(how.flags, compiler.Options(command)...)
	}
	if before := command.ModulesBefore(source, folder); before != nil {
		if err := toolchain.Run(ctx, command.Dir, folder, before); err != nil {
			return nil, err
		}
	}
	if err := toolchain.Run(ctx, command.Dir, folder, command.CompileTo(source, object, how.flags...)); err != nil {
		return nil, err
	}
	code := &Code{
		Name: source, Compiler: compiler.String(), source: command.Path(source), noBlocks: compiler.ReadsNoBlocks(),
		addsBodies: compiler.Clang || compiler.Reads() == 3,
	}
	if !command.Optimises() {
		code.fault = Unoptimised
	}
	if err := c.readObjects(ctx, command, source, object, code); err != nil {
		return nil, err
	}
	f, _, err := files.Open(dump)
	if errors.Is(err, fs.ErrNotExist) { // nothing was optimised
		code.bodies = make(map[string]*body)
		return code, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return code, how.read(code, f)
}

// usualLevel is the level of optimisation of most builds.
const usualLevel = "-O2"

// readObjects reads the debug info of three compiles of the source: with the profile, without it at
// the command's level of optimisation, and without it at -O2 if that is another level. The compiles
// inline different calls, and so have code in different lines. The profiled program may be like any
// of them.
func (c *Compiling) readObjects(ctx context.Context, command *command.Line, source, object string, code *Code) error {
	if err := code.readDebugInfo(ctx, object); err != nil {
		return err
	}
	code.shapes = append(code.shapes, shapesOf(code.debug))
	ways := [][]string{{"-g", "-fno-lto"}}
	if command.Level() != usualLevel {
		ways = append(ways, []string{"-g", "-fno-lto", usualLevel})
	}
	for _, flags := range ways {
		if err := toolchain.Run(ctx, command.Dir, filepath.Dir(object), command.CompileTo(source, object, flags...)); err != nil {
			return err
		}
		if err := code.readDebugInfo(ctx, object); err != nil {
			return err
		}
		code.shapes = append(code.shapes, shapesOf(code.debug))
	}
	return nil
}
