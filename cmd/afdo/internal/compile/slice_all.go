package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/go-afdo/afdo/cmd/afdo/internal/input"
	"github.com/go-afdo/afdo/cmd/afdo/internal/kind/gcovkind"
	"github.com/go-afdo/afdo/cmd/afdo/internal/output"
	"github.com/go-afdo/afdo/cmd/afdo/internal/progress"
	"github.com/go-afdo/afdo/cmd/afdo/internal/verb"
	"github.com/go-afdo/afdo/compile/driver"
	"github.com/go-afdo/afdo/compile/slice"
	"github.com/go-afdo/afdo/internal/cli"
	"github.com/go-afdo/afdo/internal/cli/human"
	"github.com/go-afdo/afdo/internal/command"
	"github.com/go-afdo/afdo/internal/files"
	"github.com/go-afdo/afdo/internal/launch/clangprofile"
	"github.com/go-afdo/afdo/internal/launch/inputs"
	"github.com/go-afdo/afdo/internal/launch/slicefile"
	"github.com/go-afdo/afdo/internal/launch/store"
	"github.com/go-afdo/afdo/profile"
)

// buildSlices contains the flags of "afdo slice --all", which writes the slices for all compiles of
// a build.
type buildSlices struct {
	enabled  bool
	dir      string
	database string
}

func (b *buildSlices) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&b.enabled, "all", false, "write the slices of all compiles of a build")
	f.StringVarP(&b.dir, "dir", "d", "", "folder for these slices")
	f.StringVar(&b.database, "compile-commands", "", "compilation database, compile_commands.json, that lists them")
}

// A job is the work of writing the slice for one command of a build.
type job struct {
	command verb.BuildCommand
	path    string // path of the slice, relative to the folder of -d
}

// check returns an error for flags of "afdo slice" that do not go with --all.
func (all *buildSlices) check(s *slicing, out verb.Output) error {
	switch {
	case all.dir == "":
		return cli.Missing("flag -d, the folder for --all")
	case all.database == "":
		return cli.Missing("flag --compile-commands for --all")
	case len(s.units) > 0 || len(s.deps) > 0:
		return cli.Usagef("--all goes without --unit and --deps")
	case out.Path != cli.Stdio:
		return cli.Usagef("--all writes into the folder of -d, not to -o")
	}
	return nil
}

// sliceAll writes the slices of a GCOV profile for all compiles of a build. It reads the profile at
// path only once.
func sliceAll(e *verb.Env, path string, all *buildSlices, s *slicing, out verb.Output, target slice.Target) error {
	if err := all.check(s, out); err != nil {
		return err
	}
	return cutAll(e, path, all, func(work func(cutter) error) error {
		return e.WithGCOV("slice", path, func(in *gcovkind.Input) error {
			program, err := s.openProgram(in, true, target)
			if err != nil {
				return err
			}
			return work(gccCutter(program, target, s.bits, out, s.noRebase))
		})
	})
}

// A cutter makes the slices of one profile. cut returns the encoded slice for a compile, given the
// text and the files that the compile reads; any reports whether the slice has a function. whole
// returns the encoded whole profile.
type cutter struct {
	cut   func(text *slice.Text, in *inputs.Inputs, c *command.Line) (data []byte, any bool, err error)
	whole func() ([]byte, error)
}

// gccCutter returns a [cutter] that makes slices of a GCOV profile for GCC. bits is the number of
// significant bits to which counts are rounded, or 0.
func gccCutter(program *slice.Program, target slice.Target, bits int, out verb.Output, noRebase bool) cutter {
	encoded := func(part *profile.Profile) ([]byte, error) {
		var file bytes.Buffer
		err := encodeSlice(&file, out, part)
		return file.Bytes(), err
	}
	return cutter{
		cut: func(text *slice.Text, in *inputs.Inputs, c *command.Line) ([]byte, bool, error) {
			part, err := cutSlice(out.Format, program, slice.Request{Text: text, Target: target, Bits: bits}, c.Paths(in.Files), noRebase)
			if err != nil {
				return nil, false, err
			}
			data, err := encoded(part)
			return data, part.NumFunctions() > 0, err
		},
		whole: func() ([]byte, error) {
			part, err := program.Whole(bits)
			if err != nil {
				return nil, err
			}
			return encoded(part)
		},
	}
}

// cutAll writes the slices for all compiles of a build. It calls withCutter to open the profile at
// path. withCutter calls work with a [cutter] for that profile, which makes the slices.
func cutAll(e *verb.Env, path string, all *buildSlices, withCutter func(work func(cutter) error) error) error {
	jobs, err := readJobs(e, all)
	if err != nil {
		return err
	}
	doing := progress.Begin(e.Progress(), "reading %s", human.Name(path))
	defer doing.Stop()
	return withCutter(func(c cutter) error {
		a := sliceAllState{cutter: c, progress: doing, dir: all.dir, jobs: len(jobs)}
		var err error
		if a.cache, err = store.Default(); err != nil {
			a.remark("%v", err)
		}
		err = inParallel(len(jobs), runtime.GOMAXPROCS(0), func(i int) error {
			if err := a.do(jobs[i]); err != nil {
				return fmt.Errorf("%s: %w", human.Name(jobs[i].path), err)
			}
			return nil
		})
		doing.Stop()
		a.report(e)
		if err == nil && a.left > 0 {
			err = fmt.Errorf("%d of %d commands have no slice", a.left, len(jobs))
		}
		return err
	})
}

// report prints the warnings of all workers. It sorts them first, so their order does not depend on
// which worker was faster.
func (a *sliceAllState) report(e *verb.Env) {
	slices.Sort(a.remarks)
	for _, line := range slices.Compact(a.remarks) {
		e.Warnf("%s", line)
	}
	if n := len(a.nothing); n > 0 {
		slices.Sort(a.nothing)
		e.Warnf("the profile has nothing of %d of %d sources: %s", n, a.jobs, printableList(a.nothing))
	}
}

// readJobs returns a job for each compile in the compilation database, with the path of its slice.
func readJobs(e *verb.Env, all *buildSlices) ([]job, error) {
	commands, root, err := verb.ReadDatabase(all.database)
	if err != nil {
		return nil, err
	}
	var jobs []job
	seen := make(map[string]bool)
	for _, c := range commands {
		path := underRoot(c.Path(c.Object), root) + slicefile.Suffix(c.Line)
		if seen[path] {
			e.Warnf("%s is compiled twice: the slice of the first command is taken", human.Name(c.Object))
			continue
		}
		seen[path] = true
		jobs = append(jobs, job{c, path})
	}
	return jobs, nil
}

// underRoot returns a path relative to the folder root. For a path outside of root, it returns the
// absolute path without the leading slash or drive.
func underRoot(path, root string) string {
	path = filepath.Clean(path)
	rel, err := filepath.Rel(root, path)
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	path = path[len(filepath.VolumeName(path)):]
	return strings.TrimLeft(path, `/\`)
}

// sliceAllState is the state that the goroutines of [cutAll] share.
type sliceAllState struct {
	cutter
	cache    *store.Store
	progress *progress.Line
	dir      string // output folder, from -d
	jobs     int

	mu      sync.Mutex
	done    int
	remarks []string
	nothing []string // sources whose slice has no function
	left    int      // commands without a slice
}

// do makes the slice of a job and writes it into the output folder.
func (a *sliceAllState) do(j job) error {
	data, err := a.encoded(&j.command)
	if err != nil {
		return err
	}
	if data != nil {
		folder, err := files.MakeWithin(a.dir, filepath.Dir(j.path))
		if err != nil {
			return err
		}
		if _, err := slicefile.Write(filepath.Join(folder, filepath.Base(j.path)), data); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done++
	a.progress.Say("%d of %d slices", a.done, a.jobs)
	return nil
}

// encoded returns the encoded slice for a command of the build. If it is not known what the
// compiler reads, this is the whole profile. It returns nil if the command gets no slice.
func (a *sliceAllState) encoded(c *verb.BuildCommand) ([]byte, error) {
	source := human.Name(c.Sources[0])
	in, err := c.Inputs(context.Background(), a.cache)
	if errors.Is(err, inputs.ErrNoText) {
		a.remark("%s: %v: its slice is the whole profile", source, err)
		return a.whole()
	}
	if err != nil {
		a.leaveOut("%s: %v", source, err)
		return nil, nil
	}
	text, err := in.Text()
	if err != nil {
		return nil, err
	}
	data, any, err := a.cut(text, in, c.Line)
	if err == nil && !any {
		a.mu.Lock()
		a.nothing = append(a.nothing, source)
		a.mu.Unlock()
	}
	return data, err
}

func (a *sliceAllState) remark(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remarks = append(a.remarks, fmt.Sprintf(format, args...))
}

// leaveOut counts a command that gets no slice, and records a warning with the reason.
func (a *sliceAllState) leaveOut(format string, args ...any) {
	a.remark(format, args...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left++
}

// sliceForClang writes one slice or, with --all, the slices for all compiles of a build, for clang.
// The format of the slices is that of the profile, extbinary or profdata.
func sliceForClang(e *verb.Env, path string, all *buildSlices, s *slicing, out verb.Output) error {
	if name := out.Out.Format.Name; name != "extbinary" && name != "profdata" {
		return cli.Usagef("--to %s: a slice is a GCOV profile, extbinary or profdata", name)
	}
	switch {
	case s.bits != 0:
		return cli.Usagef("--quantize is for GCOV profiles")
	case s.compiler.name != "":
		return cli.Usagef("--for is for GCOV profiles")
	case all.enabled:
		if err := all.check(s, out); err != nil {
			return err
		}
		return cutAll(e, path, all, func(work func(cutter) error) error {
			return withClangProfile(path, &s.summary, out, func(p *clangprofile.Profile) error { return work(clangCutter(p, path)) })
		})
	case len(s.units) == 0 || len(s.deps) == 0:
		return cli.Usagef("a profile for clang knows no files: name the source with --unit and what it includes with --deps, or use --all")
	}
	files, err := readDepfiles(s.deps)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	text := inputs.Read(slices.Concat(files, s.units), dir)
	return withClangProfile(path, &s.summary, out, func(p *clangprofile.Profile) error {
		return output.Write(e.Out, out.Path, func(w io.Writer) error {
			n, err := p.WriteSlice(w, text, s.units)
			if err == nil && n == 0 {
				e.Warnf("the profile has nothing of %s", printableList(s.units))
			}
			return err
		})
	})
}

// withClangProfile opens a profile for clang, calls use with it, and closes it. The slices get the
// summary that the flags in summary select. It is an error if the output has another format than
// the profile.
func withClangProfile(path string, summary *summaryFlags, out verb.Output, use func(*clangprofile.Profile) error) error {
	p, err := clangprofile.Open(path)
	if err != nil {
		return input.Wrap(path, err)
	}
	defer p.Close()
	if format := p.Format(); format != out.Out.Format.Name {
		return cli.Usagef("--to %s: slices of %s are %s", out.Out.Format.Name, filepath.Base(path), format)
	}
	if !summary.exact && !p.IsInstrumented() {
		s, err := summary.read(p.Summary)
		if err != nil {
			return input.Wrap(path, err)
		}
		p.SetSummary(slice.SteadyForClang(s))
	}
	return input.Wrap(path, use(p))
}

// clangCutter returns a [cutter] that makes slices of a profile for clang. path is the file of the
// profile.
func clangCutter(p *clangprofile.Profile, path string) cutter {
	return cutter{
		cut: func(text *slice.Text, _ *inputs.Inputs, c *command.Line) ([]byte, bool, error) {
			var file bytes.Buffer
			n, err := p.WriteSlice(&file, text, c.Sources)
			return file.Bytes(), n > 0, err
		},
		whole: func() ([]byte, error) { return os.ReadFile(path) },
	}
}

// countersFormat is the value of --to that selects .gcda files. In these files GCC expects counts
// for the arcs of control flow graphs.
const countersFormat = "gcda"

// sliceArcs infers, from a profile, counts of the arcs in the control flow graphs of all compiles
// of a build. It writes them as .gcda files, and prints the options with which GCC reads these
// files.
func sliceArcs(e *verb.Env, path string, all *buildSlices) error {
	if !all.enabled || all.dir == "" || all.database == "" {
		return cli.Usagef("--to gcda goes with --all, -d and --compile-commands: counters depend on the compile")
	}
	commands, _, err := verb.ReadDatabase(all.database)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(all.dir)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	doing := progress.Start(e.Err)
	defer doing.Stop()
	var mu sync.Mutex
	said, done := map[string]bool{}, 0
	l := driver.Launcher{Profile: path, Arcs: true, ArcsFolder: folder, Warn: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !said[text] {
			said[text] = true
			doing.Stop()
			e.Warnf("%s", text)
		}
	}}
	l.Cache, _ = driver.OpenCache() // it is only slower without
	written := 0
	err = inParallel(len(commands), runtime.GOMAXPROCS(0), func(i int) error {
		c := commands[i]
		plan, err := l.Prepare(context.Background(), c.Argv(), c.Dir)
		mu.Lock()
		defer mu.Unlock()
		if done++; err != nil {
			return fmt.Errorf("%s: %w", human.Name(c.Sources[0]), err)
		}
		if filepath.Ext(plan.Slice) == ".gcda" {
			written++
		}
		doing.Say("%d of %d compiles", done, len(commands))
		return nil
	})
	doing.Stop()
	if err == nil {
		_, err = fmt.Fprintf(e.Out, "%s\n", strings.Join(driver.ArcOptions(folder), " "))
		e.Warnf("counters for %d of %d compiles in %s", written, len(commands), human.Name(all.dir))
	}
	return err
}
